//! Links in the place of files and folders: nothing is written through them, and nothing that they lead to reaches a prompt or a log.
//!
//! A hard link to a file cannot be told from the file: git makes none, and who may make one to a private file could read it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::support::{World, snapshot};

/// What must stay where it is.
const SECRET: &str = "-----BEGIN OPENSSH PRIVATE KEY----- dGhlIHNlY3JldA";

/// An agent that keeps its prompt beside the worktree.
const KEEPS: &str = "cat >> ../prompt\n";

/// A world with a folder outside of the worktree that has, under every name that a link could lead to, a file with the secret.
fn with_secrets() -> World {
    let world = World::with_agent(KEEPS);
    for name in ["loop-state.json", "state.json", "context.md", "proposal.md", "tasks.md", "module.md", "config.json"] {
        for folder in
            ["", "x", "002-01_x", "ralph/002-01_x", "changes/002-01_x", "modules/002_m", ".state/ralph/002-01_x"]
        {
            let folder = world.beside("outside").join(folder);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join(name), format!("- [ ] {SECRET}\n")).unwrap();
        }
    }
    fs::write(world.beside("outside/key"), format!("- [ ] {SECRET}\n")).unwrap();
    world
}

/// Every file that was written beside what was there: the prompt, the log, the state, the records.
fn holds_secret(world: &World) -> Vec<PathBuf> {
    let outside = world.beside("outside");
    let all = walkdir::WalkDir::new(world.base()).into_iter().flatten().filter(|entry| entry.file_type().is_file());
    all.map(walkdir::DirEntry::into_path)
        .filter(|path| !path.starts_with(&outside))
        .filter(|path| fs::read(path).is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains("dGhlIHNlY3JldA")))
        .collect()
}

/// A change of ito with all its files.
fn ito_change(world: &World) {
    world.write(".ito/changes/002-01_x/proposal.md", "the proposal\n");
    world.write(".ito/changes/002-01_x/tasks.md", "- [ ] a task\n");
    world.write(".ito/modules/002_m/module.md", "the module\n");
}

/// Puts a link to `to` in the place of `path`, whatever is there.
fn put_link(path: &Path, to: &Path) {
    if path.is_dir() {
        fs::remove_dir_all(path).unwrap();
    } else if path.exists() {
        fs::remove_file(path).unwrap();
    }
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    symlink(to, path).unwrap();
}

/// Whatever is done in a world with a link at `place`, nothing outside is changed and nothing of it is told.
#[track_caller]
fn assert_kept(place: &str, to: &str, commands: &[&[&str]]) {
    let world = with_secrets();
    ito_change(&world);
    put_link(&world.root.join(place), &world.beside("outside").join(to));
    let before = snapshot(&world.beside("outside"));
    for args in commands {
        let told = world.wt(args);
        assert!(told.status.code().is_some(), "{place}, {args:?}: {told:?}");
        told.lacks("dGhlIHNlY3JldA").lacks("panicked");
        assert_eq!(snapshot(&world.beside("outside")), before, "{place}, {args:?}: something was written through it");
        assert_eq!(holds_secret(&world), Vec::<PathBuf>::new(), "{place}, {args:?}");
    }
}

const ON_CHANGE: &[&[&str]] = &[
    &["run", "task", "-c", "002-01_x", "--max", "1", "--raw"],
    &["run", "task", "-c", "002-01_x", "--dry-run"],
    &["resume", "--max", "5", "--raw"],
    &["context", "add", "more", "-c", "002-01_x"],
    &["context", "show", "-c", "002-01_x"],
    &["context", "clear", "-c", "002-01_x"],
    &["ralph", "--status", "--change", "002-01_x"],
    &["validate", "-c", "002-01_x"],
    &["status"],
    &["history"],
    &["monitor"],
    &["list", "--all"],
    &["doctor"],
    &["stop"],
];

#[test]
fn no_folder_of_ours_may_be_a_link() {
    for (place, to) in [
        (".claude", ""),
        (".claude/ralph", "ralph"),
        (".ito", ""),
        (".ito/.state", ".state"),
        (".ito/.state/ralph", "ralph"),
        (".ito/.state/ralph/002-01_x", "x"),
        (".ito/changes", "changes"),
        (".ito/changes/002-01_x", "x"),
        (".ito/modules", "modules"),
        (".ito/modules/002_m", "modules/002_m"),
    ] {
        assert_kept(place, to, ON_CHANGE);
    }
}

#[test]
fn no_file_of_ours_and_none_for_a_prompt_may_be_a_link() {
    for place in [
        ".claude/loop-state.json",
        ".claude/ralph-loop.log",
        ".claude/ralph-loop.log.1",
        ".claude/ralph-terminal.pid",
        ".claude/ralph-context.md",
        ".claude/ralph-raw.jsonl",
        ".ito/.state/ralph/002-01_x/state.json",
        ".ito/.state/ralph/002-01_x/context.md",
        ".ito/changes/002-01_x/proposal.md",
        ".ito/changes/002-01_x/tasks.md",
        ".ito/modules/002_m/module.md",
        ".ito/config.json",
        ".wt-loop.toml",
        "ito.json",
        "AGENTS.md",
        "CLAUDE.md",
    ] {
        assert_kept(place, "key", ON_CHANGE);
    }
}

#[test]
fn a_change_of_openspec_keeps_its_things_in_our_folder_and_nowhere_else() {
    for place in [".claude/ralph", ".claude/ralph/x", ".claude/ralph/x/state.json", ".claude/ralph/x/context.md"] {
        let world = with_secrets();
        world.change("x", 1);
        let to = if Path::new(place).extension().is_some() { "key" } else { "x" };
        put_link(&world.root.join(place), &world.beside("outside").join(to));
        let before = snapshot(&world.beside("outside"));
        for args in [
            &["run", "task", "-c", "x", "--max", "1"][..],
            &["context", "add", "y", "-c", "x"],
            &["context", "show", "-c", "x"],
        ] {
            world.wt(args).lacks("dGhlIHNlY3JldA").lacks("panicked");
        }
        assert_eq!(snapshot(&world.beside("outside")), before, "{place}");
        assert_eq!(holds_secret(&world), Vec::<PathBuf>::new(), "{place}");
    }
}

#[test]
fn a_tasks_md_that_is_a_link_is_no_tasks_md() {
    assert_kept(
        "tasks.md",
        "key",
        &[&["run", "task", "--max", "1"], &["run", "task", "--dry-run"], &["validate"], &["status"]],
    );
    assert_kept("sub", "x", &[&["run", "task", "--max", "1", "--harness", "rehearsal"]]);
    assert_kept(
        ".ito/changes/002-01_x/tasks.md",
        "key",
        &[&["run", "task", "-c", "002-01_x", "--max", "1", "--harness", "rehearsal"]],
    );
}

#[test]
fn a_tasks_md_that_is_a_link_is_told() {
    let world = with_secrets();
    put_link(&world.root.join("tasks.md"), &world.beside("outside/key"));
    for (options, then) in [(&[][..], "using manual done criteria"), (&["--done", "tasks"], "the loop is done when")] {
        world
            .wt(&[&["run", "task", "--dry-run"], options].concat())
            .exit(0)
            .stderr_has(&format!("wt-loop: warning: tasks.md is a symbolic link, so it is not read; {then}"))
            .lacks("No tasks.md found");
    }
}

#[test]
fn a_prompt_file_of_the_repository_is_not_read_where_a_link_leads_out() {
    let world = with_secrets();
    put_link(&world.root.join("prompts/key.md"), &world.beside("outside/key"));
    put_link(&world.root.join("linked"), &world.beside("outside"));
    for name in ["prompts/key.md", "linked/key", "./prompts/../prompts/key.md"] {
        for args in [
            &["run", "--prompt-file", name][..],
            &["run", "--dry-run", "--prompt-file", name],
            &["ralph", "--no-change", "--file", name],
        ] {
            world
                .wt(args)
                .exit(1)
                .lacks("dGhlIHNlY3JldA")
                .stderr_has("is a symlink, so it is not read")
                .stderr_has("hint: name the file that it leads to");
        }
    }
    assert_eq!(holds_secret(&world), Vec::<PathBuf>::new());
    // A link within the worktree is the repository's own affair, and what is named outside of it the user's.
    world.write("prompts/v2.md", "the second version\n");
    symlink("v2.md", world.root.join("prompts/now.md")).unwrap();
    world.wt(&["run", "--dry-run", "--prompt-file", "prompts/now.md"]).exit(0).stdout_has("the second version");
    world.wt(&["run", "--dry-run", "--prompt-file", "../outside/key"]).exit(0).stdout_has(SECRET);
}

#[test]
fn settings_of_the_user_may_be_a_link_and_those_of_the_repository_not() {
    let world = World::with_agent(KEEPS);
    fs::write(world.beside("dotfiles.toml"), "max = 1\n").unwrap();
    put_link(&world.beside("home/.config/wt-loop/config.toml"), &world.beside("dotfiles.toml"));
    world.wt(&["run", "task"]).exit(3);
    assert_eq!(world.state()["max_iterations"], 1);
    put_link(&world.root.join(".wt-loop.toml"), &world.beside("dotfiles.toml"));
    world.wt(&["run", "task"]).exit(1).stderr_has(".wt-loop.toml: ");
}

#[test]
fn a_folder_that_an_agent_replaces_by_a_link_is_not_written_through() {
    for place in [".claude", ".claude/ralph", ".claude/ralph/x"] {
        let world = World::with_agent(&format!("cat > /dev/null\nrm -rf {place}\nln -s \"$PWD/../outside\" {place}\n"));
        world.change("x", 1);
        fs::create_dir(world.beside("outside")).unwrap();
        let told = world.wt(&["run", "task", "-c", "x", "--max", "2"]).exit(1);
        told.stderr_has("is not a directory but a symbolic link");
        assert_eq!(fs::read_dir(world.beside("outside")).unwrap().count(), 0, "{place}");
    }
}

#[test]
fn the_users_own_folder_is_not_written_through_a_link_in_it() {
    let world = World::with_agent(KEEPS);
    fs::create_dir(world.beside("outside")).unwrap();
    put_link(&world.beside("home/.local/state/wt-loop/loops"), &world.beside("outside"));
    world.wt(&["run", "task", "--max", "1"]).exit(1).stderr_has("is not a directory but a symbolic link");
    assert_eq!(fs::read_dir(world.beside("outside")).unwrap().count(), 0);
}
