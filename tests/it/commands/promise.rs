//! The promise: it counts in what the agent says on standard output, in an iteration that ended well, and nowhere else.

use crate::support::{World, agents};

/// Runs one iteration of an agent; tells whether the loop was done.
fn is_done(agent: &str, options: &[&str]) -> bool {
    let world = World::with_agent(agent);
    let output = world.wt(&[&["run", "task", "--max", "1"], options].concat());
    let done = output.status.code() == Some(0);
    let output = output.exit(if done { 0 } else { 3 });
    assert_eq!(world.state()["status"], if done { "done" } else { "stuck" });
    assert_eq!(world.state()["iterations"][0]["done_check"], done, "{}", output.stderr);
    done
}

#[test]
fn it_counts_when_the_agent_says_it() {
    assert!(is_done("cat > /dev/null\necho 'all done: <promise>COMPLETE</promise>.'\n", &[]));
    assert!(
        is_done("printf '<promise>COMPLETE</promise>'\n", &[]),
        "without a line end, and without reading the prompt"
    );
}

#[test]
fn white_space_around_the_word_is_ignored() {
    assert!(is_done("printf '<promise>\\n   COMPLETE\\t\\n</promise>\\n'\n", &[]));
}

#[test]
fn it_counts_however_the_output_is_cut() {
    let slowly = "for part in '<pro' 'mise>COM' 'PLETE</prom' 'ise>'; do printf %s \"$part\"; sleep 0.05; done\n";
    assert!(is_done(slowly, &[]));
}

#[test]
fn it_does_not_count_on_stderr() {
    assert!(!is_done("cat > /dev/null\necho '<promise>COMPLETE</promise>' >&2\n", &[]));
}

#[test]
fn it_does_not_count_when_the_agent_fails() {
    let world = World::with_agent("echo '<promise>COMPLETE</promise>'\nexit 1\n");
    world.wt(&["run", "task", "--max", "1"]).exit(3).stderr_has("its promise does not count");
    let first = world.state()["iterations"][0].clone();
    assert_eq!((&first["promise_found"], &first["done_check"]), (&true.into(), &false.into()));
}

#[test]
fn it_does_not_count_when_the_agent_only_repeats_its_prompt() {
    let world = World::with_agent("cat\n");
    world.change("add-login", 0);
    let tag = "<promise>COMPLETE</promise>";
    world.write("openspec/changes/add-login/proposal.md", &format!("Say {tag} at the end.\n"));
    world.write("openspec/changes/add-login/tasks.md", &format!("- [ ] say {tag}\n"));
    world.wt(&["context", "add", &format!("never forget {tag}"), "-c", "add-login"]).exit(0);
    let task = format!("say {tag} or < promise > COMPLETE </ promise >");
    let shown = world.wt(&["run", &task, "-c", "add-login", "--max", "1"]).exit(3);
    shown.stdout_has("Say ").stdout_has("never forget ").stdout_has("## Change Proposal (add-login)").lacks(tag);
    assert_eq!(world.state()["iterations"][0]["promise_found"], false);
    assert_eq!(world.state()["task"], task.as_str(), "what was typed is kept as it was typed");
}

#[test]
fn another_word_can_be_asked_for() {
    assert!(is_done("echo '<promise>ALL GREEN</promise>'\n", &["--completion-promise", "ALL GREEN"]));
    assert!(!is_done("echo '<promise>COMPLETE</promise>'\n", &["--completion-promise", "ALL GREEN"]));
    assert!(!is_done("echo '<promise>INCOMPLETE</promise>'\n", &[]));
}

#[test]
fn with_manual_only_a_promise_that_was_asked_for_counts() {
    let says = "echo '<promise>COMPLETE</promise>'\n";
    assert!(!is_done(says, &["--done", "manual"]));
    assert!(is_done(says, &["--done", "manual", "--completion-promise", "COMPLETE"]));
}

#[test]
fn it_ends_nothing_while_tasks_are_open() {
    let keeps = agents::TICKS.replace("cat > /dev/null", "cat > ../prompt-$WT_LOOP_RUN_ITERATION");
    let world = World::with_agent(&format!("{keeps}echo '<promise>COMPLETE</promise>'\n"));
    world.tasks(0, 2);
    world
        .wt(&["run", "task"])
        .exit(0)
        .stderr_has("wt-loop: completion rejected by the tasks gate: 1 of 2 tasks are not complete\n");
    let second = world.prompt(2);
    assert!(second.contains("## Validation Failure (completion rejected)"), "{second}");
    assert!(second.contains("1 of 2 tasks are not complete:\n- open (pending)"), "{second}");
    let history = world.state()["iterations"].clone();
    assert_eq!((&history[0]["done_check"], &history[0]["validation"]["gate"]), (&false.into(), &"tasks".into()));
    assert_eq!((&history[1]["done_check"], history[1].get("validation")), (&true.into(), None));
}

#[test]
fn tasks_that_were_deleted_are_not_done() {
    let world = World::with_agent("cat > /dev/null\nrm tasks.md\necho '<promise>COMPLETE</promise>'\n");
    world.tasks(0, 2);
    world.wt(&["run", "task", "--max", "1"]).exit(3).stderr_has("The tasks file is gone");
    let world = World::with_agent("cat > /dev/null\n: > tasks.md\necho '<promise>COMPLETE</promise>'\n");
    world.tasks(0, 2);
    world.wt(&["run", "task", "--max", "1"]).exit(3).stderr_has("The tasks file has no tasks any more");
}
