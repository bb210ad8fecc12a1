//! How many files an iteration changed: committed and uncommitted, new and untracked, without what was dirty before and without our
//! own files.

use crate::support::World;

/// What each iteration does in turn, and how many files that is.
const TABLE: [(&str, u64); 16] = [
    ("true", 0),
    ("echo 1 > committed; echo 2 > too; git add committed too; git commit -qm two", 2),
    ("echo more >> README", 1),
    ("true", 0),
    ("echo still more >> README", 1),
    ("mkdir new; echo 1 > new/one; echo 2 > new/two", 2),
    ("git add new README; git commit -qm earlier-work", 3),
    ("echo 3 > committed; git commit -qam once; echo 4 > committed", 1),
    ("git checkout -q committed", 1),
    ("rm too", 1),
    ("git commit -qam removed", 1),
    ("git mv committed renamed; git commit -qm renamed", 2),
    ("echo x > .claude/ralph-notes; echo x > .claude/loop-state.json.mine", 0),
    ("echo x > .claude/settings.json", 1),
    ("echo ' a name' > ' a name'; echo ü > ü", 2),
    ("git commit -q --allow-empty -m nothing", 0),
];

#[test]
fn each_iteration_counts_what_it_changed_itself() {
    let world = World::new();
    let cases: Vec<String> = (1..).zip(TABLE).map(|(n, (does, _))| format!("{n}) {does} ;;\n")).collect();
    world.scribe("claude", &format!("case $call in\n{}esac\n", cases.concat()));
    world.write("dirty-before", "by the user\n");
    let max = TABLE.len().to_string();
    world.wt(&["ralph", "go", "--no-change", "--max", &max]).exit(3);
    let state = world.state();
    let iterations = state["iterations"].as_array().unwrap();
    let found: Vec<(&str, u64)> = TABLE
        .iter()
        .zip(iterations)
        .map(|((does, _), iteration)| (*does, iteration["files_changed"].as_u64().unwrap()))
        .collect();
    assert_eq!(found, TABLE);
}

#[test]
fn a_change_of_what_was_dirty_before_counts() {
    let world = World::with_agent("cat > /dev/null\necho agent >> dirty-before\n");
    world.write("dirty-before", "by the user\n");
    world.wt(&["ralph", "go", "--no-change", "--max", "1"]).exit(3);
    assert_eq!(world.state()["iterations"][0]["files_changed"], 1);
}

#[test]
fn commits_and_files_count_from_the_first_commit_on() {
    let world = World::with_agent("cat > /dev/null\necho 1 > one\ngit add one\ngit commit -qm one\n");
    let fresh = world.base().join("fresh");
    world.git(&world.base(), &["init", "-q", "fresh"]);
    world.wt_in(&fresh, &["ralph", "go", "--no-change", "--max", "1"]).exit(3);
    let text = std::fs::read_to_string(fresh.join(".claude/loop-state.json")).unwrap();
    let state: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(state["iterations"][0]["files_changed"], 1);
    assert_eq!(state["iterations"][0]["commits"].as_array().unwrap().len(), 1);
}
