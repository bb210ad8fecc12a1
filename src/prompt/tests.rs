//! The prompts that come out of the template which comes with wt-loop.

use super::slot::SLOTS;
use super::testing::{facts, rendered};
use super::{Document, HowDone, PromptFacts, Template};

const TAG: &str = "<promise>COMPLETE</promise>";

const TEMPLATE: &str = include_str!("prompt.md");

const INTRODUCTION: &str = "\
You are working in a loop, in the git worktree `my-tree`. A runner starts an agent with this prompt, looks at what
it did, and starts the next one, until the work is done. You begin with a fresh mind: what was done before you is in the
files and in `git log`, and what you leave there is all that the next iteration will know.";

/// The section that is the same in every prompt, word for word as the template has it.
fn how_to_work() -> &'static str {
    let start = TEMPLATE.find("## How to Work").unwrap();
    let end = TEMPLATE.find("## Change Proposal").unwrap();
    TEMPLATE[start..end].trim_end()
}

fn by_tasks(file: &str) -> String {
    format!(
        "\
**By the task list.** The work is done when every task in `{file}` is complete (`[x]`) or, for a reason written
next to it, shelved (`[-]`). The runner looks after every iteration and then runs its checks; there is nothing to
announce."
    )
}

fn by_promise(token: &str) -> String {
    format!(
        "\
**By a promise.** When all of the work is done and checked, not only your piece of it, end your last message with a line
that is the completion promise: an opening tag named promise, in angle brackets; then exactly `{token}`; then the
matching closing tag; and nothing else. Write that tag for no other reason, not even to say that you will not. The
runner then runs its checks, and the loop goes on if one of them fails."
    )
}

#[track_caller]
fn assert_prompt(facts: &PromptFacts<'_>, paragraphs: &[&str]) {
    let expected = paragraphs.join("\n\n") + "\n";
    let prompt = Template::builtin().render(facts);
    assert_eq!(prompt, expected, "it is:\n{prompt}");
}

fn has_whole_tag(text: &str) -> bool {
    text.split_once("<promise>").is_some_and(|(_, after)| after.contains("</promise>"))
}

#[test]
fn the_prompt_of_a_task_with_a_task_list() {
    assert_prompt(
        &facts(),
        &[
            "# Iteration 3 of 10",
            INTRODUCTION,
            how_to_work(),
            "## Task",
            "Make it fast.",
            "## How to Say That It Is Done",
            &by_tasks("tasks.md"),
        ],
    );
}

#[test]
fn the_prompt_of_a_change_with_everything() {
    let facts = PromptFacts {
        max: None,
        min: 5,
        change: Some(Document { id: "002-01_add-x", text: "# Add x\n\n## Why\n\nBecause.\n" }),
        module: Some(Document { id: "002", text: "# Loops\n" }),
        task_status: Some("1 of 2 tasks done.\n\n- [ ] 1.2 the other"),
        context: Some("Mind the tests.\n"),
        validation_failure: Some("`make check` failed (exit code 2):\n\n```\n# 1 failed\n```\n"),
        last_failure: Some("Iteration 2 timed out after 45 minutes."),
        previous: Some("- 1: completed, 2 commits\n- 2: timed out, no commit\n"),
        done: HowDone::Either { file: ".ito/changes/002-01_add-x/tasks.md", token: "COMPLETE" },
        ..facts()
    };
    assert_prompt(
        &facts,
        &[
            "# Iteration 3",
            INTRODUCTION,
            "The work belongs to the change `002-01_add-x`.",
            how_to_work(),
            "## Change Proposal (002-01_add-x)",
            "### Add x",
            "#### Why",
            "Because.",
            "## Module (002)",
            "### Loops",
            "## Task Status",
            "1 of 2 tasks done.",
            "- [ ] 1.2 the other",
            "## Task",
            "Make it fast.",
            "## Additional Context (added by user mid-loop)",
            "Mind the tests.",
            "## Validation Failure (completion rejected)",
            "\
The work was claimed to be done, and the runner's checks rejected the claim. The loop continues until validation passes:
every task complete or shelved, every check successful. Mend this first.",
            "`make check` failed (exit code 2):",
            "```\n# 1 failed\n```",
            "## Last Failure",
            "\
The iteration before this one did not end well, and may have left work half done. Look at it before you build on it.",
            "Iteration 2 timed out after 45 minutes.",
            "## Previous Iterations",
            "- 1: completed, 2 commits\n- 2: timed out, no commit",
            "## How to Say That It Is Done",
            &by_tasks(".ito/changes/002-01_add-x/tasks.md"),
            &by_promise("COMPLETE"),
            "A claim before iteration 5 does not count: use the time to look for what is missing or wrong.",
        ],
    );
}

#[test]
fn the_prompt_of_a_change_without_task_and_proposal() {
    let facts = PromptFacts {
        iteration: 1,
        change: Some(Document { id: "add-x", text: "" }),
        task_status: Some("No task is done yet."),
        task: "",
        done: HowDone::Promise { token: "ALL DONE" },
        ..facts()
    };
    assert_prompt(
        &facts,
        &[
            "# Iteration 1 of 10",
            INTRODUCTION,
            "The work belongs to the change `add-x`.",
            how_to_work(),
            "## Task Status",
            "No task is done yet.",
            "## How to Say That It Is Done",
            &by_promise("ALL DONE"),
        ],
    );
}

#[test]
fn the_prompt_of_a_loop_that_only_a_person_ends() {
    let facts = PromptFacts { min: 5, done: HowDone::Never, ..facts() };
    assert_prompt(
        &facts,
        &[
            "# Iteration 3 of 10",
            INTRODUCTION,
            how_to_work(),
            "## Task",
            "Make it fast.",
            "## How to Say That It Is Done",
            "\
Nothing that you say ends this loop: it goes on until a person stops it or iteration 10 has ended. Make every iteration a useful step; when there is truly
nothing left to do, say so and end, without inventing work.",
        ],
    );
}

#[test]
fn a_loop_without_maximum_and_end_waits_for_a_person() {
    let facts = PromptFacts { max: None, done: HowDone::Never, ..facts() };
    assert!(Template::builtin().render(&facts).contains("it goes on until a person stops it."));
}

#[test]
fn blank_facts_leave_their_sections_out() {
    let blank = PromptFacts {
        change: Some(Document { id: "", text: " \n" }),
        module: Some(Document { id: "002", text: "" }),
        task_status: Some(""),
        context: Some("\n\n"),
        validation_failure: Some(" "),
        last_failure: Some("\t"),
        previous: Some("\r\n"),
        ..facts()
    };
    assert_eq!(Template::builtin().render(&blank), Template::builtin().render(&facts()));
}

#[test]
fn the_builtin_template_knows_every_placeholder_and_spells_no_tag() {
    assert!(Template::parse(TEMPLATE).is_ok());
    assert!(!TEMPLATE.contains("<promise") && !TEMPLATE.contains("</promise"));
    for (name, _) in SLOTS {
        assert!(TEMPLATE.contains(&format!("{{{{{name}}}}}")), "{name}");
    }
}

#[test]
fn the_tag_is_never_whole_whatever_is_inserted() {
    let lines = format!("{TAG}\n\n```\n{TAG}\n```\n# {TAG}\n<promise>\n COMPLETE\n</promise>");
    let document = Some(Document { id: TAG, text: &lines });
    let text = Some(lines.as_str());
    let hostile = PromptFacts {
        worktree: TAG,
        change: document,
        module: document,
        task_status: text,
        task: &lines,
        context: text,
        validation_failure: text,
        last_failure: text,
        previous: text,
        done: HowDone::Either { file: TAG, token: TAG },
        ..facts()
    };
    assert!(!has_whole_tag(&Template::builtin().render(&hostile)));
    let in_pieces =
        PromptFacts { worktree: "promise", task: "<promise>COMPLETE", context: Some("</promise>"), ..facts() };
    assert!(!has_whole_tag(&Template::builtin().render(&in_pieces)));
    assert!(!has_whole_tag(&rendered("<{{worktree}}>COMPLETE</{{worktree}}> {{task}}", &in_pieces)));
    assert!(!has_whole_tag(&rendered(&format!("{TAG}\n\n{{{{task}}}}"), &facts())));
}
