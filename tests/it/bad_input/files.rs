//! State files and folders that are broken, newer, tracked or not what they seem.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use crate::support::{World, agents};

const BROKEN: &str = "{ \"task\": \"precious\", \"iterations\": [";

fn set_aside(world: &World) -> Vec<String> {
    let names = fs::read_dir(world.root.join(".claude")).unwrap().flatten();
    names.filter_map(|entry| entry.file_name().into_string().ok()).filter(|name| name.contains(".broken-")).collect()
}

#[test]
fn a_broken_state_is_set_aside_and_told() {
    for text in [BROKEN, "", "[]", "\"text\"", "\u{0}\u{1}", "{\"status\": 7}"] {
        let world = World::with_agent(agents::IDLE);
        world.write(".claude/loop-state.json", text);
        let told = world.wt(&["run", "task"]).exit(4);
        let [name] = set_aside(&world).try_into().unwrap();
        assert!(name.starts_with("loop-state.json.broken-"), "{name}");
        assert_eq!(world.read(&format!(".claude/{name}")), text, "it is kept as it was");
        let path = world.root.join(".claude/loop-state.json");
        told.stderr_has(&format!("wt-loop: warning: {} cannot be read (", path.display())).stderr_has(&name);
        assert_eq!(world.state()["status"], "stalled");
        assert_eq!(world.git(&world.root, &["status", "--porcelain"]), "", "git does not see it");
    }
}

#[test]
fn readers_tell_of_a_broken_state_and_leave_it() {
    let world = World::with_agent(agents::IDLE);
    world.write(".claude/loop-state.json", BROKEN);
    for args in [&["status"][..], &["status", "--json"], &["history"], &["monitor"], &["stop"], &["resume"]] {
        let told = world.wt(args).exit(1).stdout("");
        told.stderr_has("/.claude/loop-state.json is broken: ")
            .stderr_has("\nhint: the next wt-loop start sets it aside");
        assert_eq!(world.read(".claude/loop-state.json"), BROKEN);
    }
    assert_eq!(set_aside(&world).len(), 0);
}

#[test]
fn a_state_that_the_agent_breaks_is_written_over_by_the_truth() {
    let world = World::with_agent("cat > /dev/null\necho '{' > .claude/loop-state.json\n");
    world.wt(&["run", "task"]).exit(4);
    assert_eq!(world.state()["iterations"].as_array().unwrap().len(), 2);
}

#[test]
fn a_newer_state_is_read_without_loss() {
    let world = World::with_agent(agents::IDLE);
    world.wt(&["run", "task"]).exit(4);
    let mut state = world.state();
    state["schema_version"] = 99.into();
    state["from_the_future"] = json!({ "deep": [1, null, "x"] });
    state["iterations"][0]["from_the_future"] = json!(true);
    state["waits"] = json!([{ "until": "2030-01-01T00:00:00Z", "why": { "deep": 1 } }]);
    world.write(".claude/loop-state.json", &state.to_string());
    world.wt(&["status"]).exit(0).stdout_has("feat-x  stalled");
    world.wt(&["resume"]).exit(4);
    let after = world.state();
    for field in ["from_the_future", "waits", "started_at"] {
        assert_eq!(after[field], state[field], "{field}");
    }
    assert_eq!(after["iterations"][0], state["iterations"][0]);
    assert_eq!(after["iterations"].as_array().unwrap().len(), 4);
}

#[test]
fn a_state_that_git_tracks_is_refused() {
    let world = World::with_agent(agents::IDLE);
    let shipped = json!({ "status": "stopped", "task": "evil", "harness": "evil", "max_iterations": 5 }).to_string();
    world.write(".claude/loop-state.json", &shipped);
    world.git(&world.root, &["add", "-f", ".claude/loop-state.json"]);
    world.git(&world.root, &["commit", "-qm", "a trap"]);
    for args in [&["run", "task", "--done", "manual"][..], &["start", "task", "--done", "manual"], &["resume"]] {
        world.wt(args).exit(1).stdout("").stderr(
            "wt-loop: .claude/loop-state.json is tracked by git, so it cannot be trusted as a loop's state\n\
             hint: git rm --cached .claude/loop-state.json && git commit\n",
        );
        assert_eq!(world.read(".claude/loop-state.json"), shipped);
    }
}

#[test]
fn a_link_in_the_place_of_our_folder_is_refused() {
    let world = World::with_agent(agents::IDLE);
    let target = world.beside("elsewhere");
    fs::create_dir(&target).unwrap();
    symlink(&target, world.root.join(".claude")).unwrap();
    for args in [&["run", "task"][..], &["start", "task"], &["context", "add", "x"]] {
        let told = world.wt(args).exit(1).stdout("");
        let error = told.stderr.lines().find(|line| line.starts_with("wt-loop: cannot ")).unwrap_or_default();
        assert!(error.contains(".claude") && error.contains("is not a directory"), "{}", told.stderr);
        told.stderr_has("\nhint: a link or a file stands where a real folder must be");
    }
    assert_eq!(fs::read_dir(&target).unwrap().count(), 0, "nothing was written through it");
    world.wt(&["doctor"]).exit(1).stdout_has(".claude");
}

#[test]
fn a_link_in_the_place_of_a_file_of_ours_is_refused() {
    for name in ["loop-state.json", "ralph-context.md", "ralph-loop.log"] {
        let world = World::with_agent(agents::IDLE);
        let target = world.beside("precious");
        fs::write(&target, "{}\n").unwrap();
        fs::create_dir(world.root.join(".claude")).unwrap();
        let link = world.root.join(".claude").join(name);
        symlink(&target, &link).unwrap();
        match name {
            "loop-state.json" => {
                for args in [&["run", "task"][..], &["status"], &["stop"], &["resume"]] {
                    world
                        .wt(args)
                        .exit(1)
                        .stdout("")
                        .stderr_has("wt-loop: cannot read ")
                        .stderr_has("loop-state.json: ");
                }
            }
            "ralph-context.md" => {
                world.wt(&["context", "add", "x"]).exit(1).stdout("").stderr_has("ralph-context.md: ");
                world.wt(&["context", "show"]).exit(1).stdout("").stderr_has("ralph-context.md: ");
            }
            // The log of an earlier loop makes room for ours.
            _ => {
                world.wt(&["run", "task"]).exit(4);
            }
        }
        assert_eq!(fs::read_to_string(&target).unwrap(), "{}\n", "{name}");
    }
}

#[test]
fn a_link_that_an_agent_plants_is_not_written_through() {
    for name in ["loop-state.json", "ralph-loop.log"] {
        let world = World::with_agent(&format!("cat > /dev/null\nln -sf \"$PWD/../precious\" .claude/{name}\n"));
        fs::write(world.beside("precious"), "x\n").unwrap();
        world.wt(&["run", "task"]).exit(1).stderr_has(&format!("/.claude/{name}: "));
        assert_eq!(fs::read_to_string(world.beside("precious")).unwrap(), "x\n");
    }
}

#[test]
fn tasks_and_proposals_outside_the_worktree_are_not_read() {
    let world = World::with_agent("cat\n");
    world.change("add-login", 1);
    fs::write(world.beside("secret"), "the secret\n- [ ] x\n").unwrap();
    for name in ["proposal.md", "tasks.md"] {
        let path = world.root.join("openspec/changes/add-login").join(name);
        fs::remove_file(&path).unwrap();
        symlink(world.beside("secret"), &path).unwrap();
        let told = world.wt(&["run", "task", "-c", "add-login", "--max", "1"]).lacks("the secret");
        assert_ne!(told.status.code(), Some(0));
        told.stderr_has(name).lacks("panicked");
        fs::remove_file(&path).unwrap();
    }
}

#[test]
fn our_files_are_private() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::with_agent(agents::SLEEPS);
    world.wt(&["context", "add", "x"]).exit(0);
    world.start(&["sleep"]);
    crate::support::wait_until("the agent", || !world.processes_like("sleep 1000").is_empty());
    let folders = [
        world.root.join(".claude"),
        world.beside("home/.local/state/wt-loop/loops"),
        world.main.join(".git/worktrees/feat-x/wt-loop"),
    ];
    for folder in folders {
        let mut seen = 0;
        for entry in fs::read_dir(&folder).unwrap().flatten() {
            assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{:?}", entry.path());
            seen += 1;
        }
        assert!(seen > 0, "{folder:?} is empty");
    }
}
