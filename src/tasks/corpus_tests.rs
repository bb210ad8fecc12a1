//! Files as they are found in the wild, put together from blocks whose tasks are known.

use proptest::prelude::*;

use super::TaskStatus::{self, Complete, InProgress, Pending, Shelved};
use super::Tasks;

/// Id (or nothing), name, status.
type Known = (&'static str, &'static str, TaskStatus);

/// A piece of a file, from its heading on, and the tasks in it.
type Block = (&'static str, &'static [Known]);

const BLOCKS: [Block; 17] = [
    ("", &[]),
    (
        "## 1. OpenSpec\n\n- [x] 1.1 Create `src/main.rs`\n- [ ] 1.2 Wire it up\n",
        &[("1.1", "Create `src/main.rs`", Complete), ("1.2", "Wire it up", Pending)],
    ),
    (
        "## Nested\n\n- [ ] parent\n  - [x] child\n    1. [~] grandchild\n\t- [-] by a tab\n- - [X] twice\n",
        &[
            ("", "parent", Pending),
            ("", "child", Complete),
            ("", "grandchild", InProgress),
            ("", "by a tab", Shelved),
            ("", "twice", Complete),
        ],
    ),
    (
        "## Markers\n1. [ ] one\n2) [x] two\n* [X] three\n+ [>] four\n-\t[ ]\tfive\n",
        &[
            ("", "one", Pending),
            ("", "two", Complete),
            ("", "three", Complete),
            ("", "four", InProgress),
            ("", "five", Pending),
        ],
    ),
    (
        "### Task 1.2: Ito's own\n- **Files**: `a.rs`\n- [ ] a step\n- **Status**: [>] in-progress\n- [x] a step\n",
        &[("1.2", "Ito's own", InProgress)],
    ),
    ("### Task 3: Shelved\n\n- **Status**: [-] shelved\n", &[("3", "Shelved", Shelved)]),
    (
        "## Fences\n\n```md\n- [ ] no\n~~~\n- [ ] no\n```\n\n~~~~ text\n~~~\n```\n- [ ] no\n~~~~~\n\n- [ ] yes\n",
        &[("", "yes", Pending)],
    ),
    ("## Longer fences\n`````\n```\n- [ ] no\n````\n- [ ] no\n``````\n- [x] yes\n", &[("", "yes", Complete)]),
    (
        "## A fence in a list\n\n- text\n\n      ```sh\n      - [ ] no\n      ```\n- ~~~\n  - [ ] no\n  ~~~\n- [x] yes\n",
        &[("", "yes", Complete)],
    ),
    (
        "## Comments\n\n<!-- later:\n- [ ] no\n\n```\n- [ ] no -->\n- [ ] yes <!-- a note\nthat goes on --> \n",
        &[("", "yes", Pending)],
    ),
    ("## Table\n\n| done | what |\n|:---:|---|\n| [ ] | open |\n| - [ ] | open |\n| [x] | closed |\n", &[]),
    (
        "## Links\n\n- [x](https://example.org)\n- [ ](empty)\n- [ ]: url\n- [RFC 2119] must\n- [1] Smith\n- see [ ] there\n\
         - [ ] see [x](url) and [ ]\n",
        &[("", "see [x](url) and [ ]", Pending)],
    ),
    ("## Prose\n\nTick `- [ ] x` when it is done. [ ] alone is nothing.\n\n> - [ ] quoted\n", &[]),
    (
        "## Inline code\n\n- [ ] escape `<!--` in templates\n- [x] and `-->` too\n",
        &[("", "escape `<!--` in templates", Pending), ("", "and `-->` too", Complete)],
    ),
    (
        "## Grüße\n\n- [✔] fertig\n- [x] größer – 日本語\n",
        &[("", "fertig", Pending), ("", "größer – 日本語", Complete)],
    ),
    (
        "## Kiro\n- [ ] 1. Set up\n  - [x] 1.1 Parse\n    - _Requirements: 1.2_\n  - [ ]* 1.2 Optional\n",
        &[("1", "Set up", Pending), ("1.1", "Parse", Complete)],
    ),
    ("## A rule\n\n---\n\n- [ ] below it\n\n---\n", &[("", "below it", Pending)]),
];

const BEGINNINGS: [&str; 4] =
    ["", "\u{feff}", "---\ntitle: \"Tasks\"\nnext: |\n  - [ ] no\n---\n", "\u{feff}---\n- [ ] no\n...\n"];

fn blocks() -> impl Strategy<Value = Vec<Block>> {
    prop::collection::vec(prop::sample::select(BLOCKS.to_vec()), 0..8)
}

fn text(blocks: &[Block]) -> String {
    blocks.iter().flat_map(|(text, _)| [*text, "\n"]).collect()
}

fn known(blocks: &[Block]) -> Vec<Known> {
    blocks.iter().flat_map(|(_, tasks)| tasks.iter().copied()).collect()
}

fn assert_known(text: &str, expected: &[Known]) -> Result<(), TestCaseError> {
    let tasks = Tasks::parse(text);
    let found: Vec<_> =
        tasks.iter().map(|task| (task.id.as_deref().unwrap_or(""), task.name.as_str(), task.status)).collect();
    prop_assert_eq!(found, expected, "in {:?}", text);
    Ok(())
}

#[test]
fn every_block_has_its_tasks() {
    for (text, tasks) in BLOCKS {
        assert_known(text, tasks).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

    #[test]
    fn a_file_has_the_tasks_of_its_blocks(
        beginning in prop::sample::select(BEGINNINGS.to_vec()),
        blocks in blocks(),
        end in prop::sample::select(vec!["\n", "\r\n", "\r"]),
    ) {
        let text = format!("{beginning}{}", text(&blocks));
        let expected = known(&blocks);
        assert_known(&text.replace('\n', end), &expected)?;
        assert_known(text.trim_end_matches('\n'), &expected)?;
    }

    #[test]
    fn a_longer_fence_hides_whatever_is_in_it(
        hidden in blocks(),
        after in blocks(),
        mark in prop::sample::select(vec!["`", "~"]),
        length in 7_usize..12,
        indentation in prop::sample::select(vec!["", "  ", "\t"]),
    ) {
        let fence = format!("{indentation}{}", mark.repeat(length));
        let shown = text(&after);
        assert_known(&format!("# A\n{fence}\n{}{fence}\n{shown}", text(&hidden)), &known(&after))?;
        assert_known(&format!("# A\n{shown}{fence}\n{}", text(&hidden)), &known(&after))?;
    }

    #[test]
    fn a_comment_hides_whatever_is_in_it(hidden in blocks(), after in blocks()) {
        let hidden = text(&hidden).replace("-->", "");
        assert_known(&format!("# A\n<!--\n{hidden}-->\n{}", text(&after)), &known(&after))?;
        assert_known(&format!("# A\ntext <!-- {hidden} --> text\n{}", text(&after)), &known(&after))?;
    }

    #[test]
    fn indentation_does_not_matter_to_boxes(
        lines in prop::collection::vec(("[ \t]{0,12}", prop::sample::select(vec!["-", "*", "+", "1.", "23)"])), 0..12),
    ) {
        let text: String = lines.iter().flat_map(|(space, marker)| [space, *marker, " [ ] a\n"]).collect();
        assert_known(&text, &vec![("", "a", Pending); lines.len()])?;
    }
}
