//! Least privilege: what we make is the user's alone, what an agent inherits is a login shell's, and no secret of the environment is
//! written down.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::support::{World, agents, run, wait_until};

/// Everything below these that is ours: not the repository's own files.
fn ours(world: &World) -> Vec<PathBuf> {
    let roots = [
        world.root.join(".claude"),
        world.root.join(".ito/.state"),
        world.beside("home/.local"),
        world.beside("run"),
        world.main.join(".git/worktrees/feat-x/wt-loop"),
    ];
    let all = roots.iter().flat_map(|root| walkdir::WalkDir::new(root).into_iter().flatten());
    all.map(walkdir::DirEntry::into_path).filter(|path| !path.to_string_lossy().contains("/run/tmux-")).collect()
}

fn mode(path: &Path) -> u32 {
    path.symlink_metadata().unwrap().permissions().mode() & 0o777
}

/// A loop of a change of ito, with all that it can write, whose agent sleeps.
fn busy(world: &World, umask: &str) {
    world.write(".ito/changes/002-01_x/proposal.md", "p\n");
    world.write(".ito/changes/002-01_x/tasks.md", "- [ ] t\n");
    let start = "umask $0; \"$1\" context add hello -c 002-01_x && \"$1\" context add loose && exec \"$1\" start 002-01_x task \
                 --launcher background --raw";
    let mut shell = world.command("sh");
    shell.args(["-c", start, umask]).arg(world.program());
    run(shell).exit(0);
    world.wait_for_log("sleeping");
}

#[test]
fn files_are_0600_and_folders_0700_whatever_the_umask_allows() {
    for umask in ["000", "022", "077", "027"] {
        let world = World::with_agent(agents::SLEEPS);
        busy(&world, umask);
        let found = ours(&world);
        assert!(found.len() > 12, "{found:?}");
        for path in &found {
            let expected = if path.is_dir() { 0o700 } else { 0o600 };
            let given = path == &world.beside("run");
            assert!(given || mode(path) == expected, "umask {umask}: {} is {:o}", path.display(), mode(path));
        }
        world.wt(&["stop"]).exit(0);
    }
}

#[test]
fn a_stricter_umask_is_respected() {
    let world = World::with_agent(agents::SLEEPS);
    // Nobody may write: as root one does all the same, and can look at what was made.
    if !nix::unistd::geteuid().is_root() {
        eprintln!("SKIPPED: a_stricter_umask_is_respected: only root can work under umask 0277");
        return;
    }
    busy(&world, "0277");
    for path in ours(&world) {
        let loosened = mode(&path) & 0o277;
        // What was there before, and sockets that have to be written to, are not made under it.
        let is_plain = path.is_file() || path.is_dir();
        let given = path == world.beside("run") || path == world.beside("home/.local");
        assert!(
            !is_plain || given || loosened == 0 || path.ends_with("run"),
            "{} is {:o}",
            path.display(),
            mode(&path)
        );
    }
    world.wt(&["stop"]).exit(0);
}

#[test]
fn an_agent_sees_three_descriptors_no_mask_and_no_ignored_signal() {
    // Looked at by the agent itself, in its first instant, with descriptors and signals of all kinds in the hands of the loop.
    let world = World::with_agent(
        "ls -l /proc/self/fd > \"$TMPDIR/fds\"\ngrep -E 'Sig(Blk|Ign)' /proc/self/status > \"$TMPDIR/signals\"\n",
    );
    world.change("x", 1);
    let mut shell = world.command("bash");
    let how = "exec 5< /etc/passwd 9> /dev/null; exec env --ignore-signal=HUP,PIPE,USR1 --block-signal=USR2 \"$0\" run t -c x --max 1 --raw";
    shell.args(["-c", how]).arg(world.program());
    run(shell).exit(3);
    let fds = fs::read_to_string(world.beside("tmp/fds")).unwrap();
    let open: Vec<&str> = fds.lines().filter_map(|line| line.split_whitespace().rev().nth(2)).collect();
    // The fourth is the one by which ls reads the list.
    assert_eq!(open, ["0", "1", "2", "3"], "{fds}");
    assert!(fds.lines().any(|line| line.contains("3 -> /proc/")), "{fds}");
    for foreign in ["passwd", ".claude", "wt-loop", ".lock", "socket:"] {
        let named =
            fds.lines().filter(|line| !line.contains(" 0 -> ") && !line.contains(" 1 -> ") && !line.contains(" 2 -> "));
        assert!(!named.into_iter().any(|line| line.contains(foreign)), "{foreign}: {fds}");
    }
    let signals = fs::read_to_string(world.beside("tmp/signals")).unwrap();
    for line in signals.lines() {
        let (set, value) = line.split_once(':').unwrap();
        // Two that the C library keeps for itself.
        let reserved = 1_u64 << 31 | 1 << 32;
        assert_eq!(u64::from_str_radix(value.trim(), 16).unwrap() & !reserved, 0, "{set}: {signals}");
    }
}

#[test]
fn no_secret_of_the_environment_is_written_or_shown() {
    const SECRET: &str = "sk-planted-0123456789";
    let secrets = [("ANTHROPIC_API_KEY", SECRET), ("MY_TOKEN", SECRET), ("AWS_SECRET_ACCESS_KEY", SECRET)];
    let world = World::with_agent(
        "cat > /dev/null\n[ \"$MY_TOKEN\" = sk-planted-0123456789 ] && echo 'it has its key'\necho '<promise>COMPLETE</promise>'\n\
         [ \"$WT_LOOP_RUN_ITERATION\" = 2 ] && sleep 1000\n",
    );
    world.write(".wt-loop.toml", "validation = [\"echo checked; false\"]\n");
    world.change("x", 1);
    let start = [
        "start",
        "x",
        "task",
        "--launcher",
        "background",
        "--raw",
        "--stall-threshold",
        "0",
        "--done",
        "manual",
        "--completion-promise",
        "COMPLETE",
    ];
    world.wt_env(&secrets, &start).exit(0).lacks(SECRET);
    world.wait_for_log("it has its key");
    wait_until("the second iteration", || world.log().matches("it has its key").count() == 2);
    for args in [
        &["status"][..],
        &["status", "--json"],
        &["history", "--json"],
        &["list", "--json"],
        &["doctor"],
        &["doctor", "--json"],
        &["validate", "--list"],
        &["run", "x", "--dry-run"],
        &["stop"],
        &["resume", "--max", "20", "--dry-run"],
    ] {
        world.wt_env(&secrets, args).lacks(SECRET);
    }
    // And where the loop could not be started, or fails.
    world.agent("claude", "echo broken >&2\nexit 1\n");
    world.wt_env(&secrets, &["run", "task", "--fail-fast"]).exit(1).lacks(SECRET);
    let all = walkdir::WalkDir::new(world.base()).into_iter().flatten().filter(|entry| entry.file_type().is_file());
    let script = world.beside("bin");
    let with_secret: Vec<PathBuf> = all
        .map(walkdir::DirEntry::into_path)
        .filter(|path| !path.starts_with(&script) && !path.starts_with(world.beside("tmp")))
        .filter(|path| fs::read(path).is_ok_and(|bytes| memchr::memmem::find(&bytes, SECRET.as_bytes()).is_some()))
        .collect();
    assert_eq!(with_secret, Vec::<PathBuf>::new());
    assert!(!ours(&world).is_empty());
}

#[test]
fn no_secret_stands_on_a_command_line() {
    const SECRET: &str = "sk-planted-9876543210";
    let world = World::with_agent(agents::SLEEPS);
    for launcher in ["background", "tmux"] {
        world.wt_env(&[("MY_TOKEN", SECRET)], &["start", "task", "--launcher", launcher]).exit(0);
        wait_until("the agent", || !world.processes_like("sleep 1000").is_empty());
        let told = world.processes().into_iter().find(|process| process.command.contains(SECRET));
        assert_eq!(told, None);
        world.wt(&["stop"]).exit(0);
        wait_until("the end of the agent", || world.processes_like("sleep 1000").is_empty());
    }
}
