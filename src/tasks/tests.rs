//! The rules of this module: on one line, on whole files, on any text.

use proptest::prelude::*;

use super::TaskStatus::{Complete, InProgress, Pending, Shelved};
use super::testing::{Row, assert_tasks, markdown};

#[test]
fn what_is_a_task() {
    let table = [
        ("- [ ] a", Some(("", "a", Pending))),
        ("* [ ] a", Some(("", "a", Pending))),
        ("+ [ ] a", Some(("", "a", Pending))),
        ("1. [ ] a", Some(("", "a", Pending))),
        ("12) [x] a", Some(("", "a", Complete))),
        ("- - [ ] a", Some(("", "a", Pending))),
        ("1. - [ ] a", Some(("", "a", Pending))),
        ("\t\t- [ ] a", Some(("", "a", Pending))),
        ("            - [ ] a", Some(("", "a", Pending))),
        ("-\t[ ]\ta", Some(("", "a", Pending))),
        ("-   [ ]   a  b\t c ", Some(("", "a b c", Pending))),
        ("- [x] a", Some(("", "a", Complete))),
        ("- [X] a", Some(("", "a", Complete))),
        ("- [~] a", Some(("", "a", InProgress))),
        ("- [>] a", Some(("", "a", InProgress))),
        ("- [-] a", Some(("", "a", Shelved))),
        ("- [ ]", Some(("", "", Pending))),
        ("- [x] ", Some(("", "", Complete))),
        ("- [] a", Some(("", "a", Pending))),
        ("- [  ] a", Some(("", "a", Pending))),
        ("- [\t] a", Some(("", "a", Pending))),
        ("- [ x ] a", Some(("", "a", Complete))),
        ("- [?] a", Some(("", "a", Pending))),
        ("- [v] a", Some(("", "a", Pending))),
        ("- [✔] a", Some(("", "a", Pending))),
        ("- [✔\u{fe0f}] a", Some(("", "a", Pending))),
        ("- [ ] 1.1 a", Some(("1.1", "a", Pending))),
        ("- [ ] 1.1. a", Some(("1.1", "a", Pending))),
        ("- [ ] 1. a", Some(("1", "a", Pending))),
        ("- [ ] 1) a", Some(("1", "a", Pending))),
        ("- [ ] 1.2.3: a", Some(("1.2.3", "a", Pending))),
        ("- [ ] T1.2: a", Some(("T1.2", "a", Pending))),
        ("- [ ] T001 [P] a", Some(("T001", "[P] a", Pending))),
        ("- [ ] 1.1", Some(("1.1", "", Pending))),
        ("- [ ] 10 tests pass", Some(("", "10 tests pass", Pending))),
        ("- [ ] 2FA", Some(("", "2FA", Pending))),
        ("- [ ] 1.5.0-rc1 is out", Some(("", "1.5.0-rc1 is out", Pending))),
        ("- [ ] 12:30 call", Some(("", "12:30 call", Pending))),
        ("- [ ] ...", Some(("", "...", Pending))),
        ("- [ ] T", Some(("", "T", Pending))),
        ("- [x](link)", None),
        ("- [ ](link)", None),
        ("- [a]: url", None),
        ("- [x]: url", None),
        ("- [1] Smith", None),
        ("- [RFC 2119] must", None),
        ("- [^1] note", None),
        ("- [`] a", None),
        ("- [x", None),
        ("- \\[ ] a", None),
        ("- [ ]a", None),
        ("-[ ] a", None),
        ("[ ] a", None),
        ("a - [ ] b", None),
        (". [ ] a", None),
        ("| [ ] | a |", None),
        ("> - [ ] a", None),
        ("- a [ ] b", None),
        ("1.1 [ ] a", None),
    ];
    for (text, expected) in table {
        let expected: Vec<Row> = expected.map(|(id, name, status)| (id, name, status, 0)).into_iter().collect();
        assert_tasks(text, &expected);
    }
}

#[test]
fn what_is_an_ito_task() {
    let table: [(&str, &[Row]); 19] = [
        ("### Task 1.2: a\n- **Status**: [ ] pending", &[("1.2", "a", Pending, 1)]),
        ("## Task 1: a\n\n* **Status**: [>] in-progress", &[("1", "a", InProgress, 2)]),
        ("###### Task 1.2: a ##\n**Status:** [x] complete", &[("1.2", "a", Complete, 1)]),
        ("### Task 1.2 - a\n- **Status**: [-] shelved", &[("1.2", "a", Shelved, 1)]),
        ("### Task: a b\n- **Status**: [ ]", &[("", "a b", Pending, 1)]),
        // The mark governs, not the word; and whatever is not known is open.
        ("### Task 1: a\n- **Status**: [x] pending", &[("1", "a", Complete, 1)]),
        ("### Task 1: a\n- **Status**: [ ] complete", &[("1", "a", Pending, 1)]),
        ("### Task 1: a\n- **Status**: [done] complete", &[("1", "a", Pending, 1)]),
        ("### Task 1: a\n- **Status**: [1] complete", &[("1", "a", Pending, 1)]),
        // Steps are not tasks, on either side of the status line.
        (
            "### Task 1: a\n- [ ] s\n- **Status**: [x] complete\n- [ ] t\n## Rest\n- [ ] b",
            &[("1", "a", Complete, 2), ("", "b", Pending, 5)],
        ),
        ("### Task 1: a\n- [ ] s\n  - [x] t", &[("", "s", Pending, 1), ("", "t", Complete, 2)]),
        ("### Task 1: a\n- [ ] s\n### Task 2: b\n- **Status**: [x]", &[("", "s", Pending, 1), ("2", "b", Complete, 3)]),
        ("### Task 1: a\n- **Status**: [ ] x\n- **Status**: [x] y", &[("1", "a", Pending, 1)]),
        ("# Task 1: a\n- **Status**: [ ] pending", &[]),
        ("### Task 1: a\n#### Notes\n- **Status**: [ ] pending", &[]),
        ("   ### Task 1: a\n    # code\n- **Status**: [ ] pending", &[("1", "a", Pending, 2)]),
        ("- **Status**: [ ] pending\n- [ ] b", &[("", "b", Pending, 1)]),
        ("### Tasks\n- **Status**: [ ] pending", &[]),
        ("### Task 1: a\n```\n- **Status**: [ ] pending\n```", &[]),
    ];
    for (text, expected) in table {
        assert_tasks(text, expected);
    }
}

#[test]
fn openspec_file() {
    let text = "\
# Tasks

## 1. Setup

- [x] 1.1 Create `src/main.rs`
- [ ] 1.2 Add the table:

| box | meaning |
|-----|---------|
| [ ] | open |

## 2. Tests
- [~] 2.1 Cover [the guide](docs/guide.md)
  - [ ] edge cases
";
    assert_tasks(
        text,
        &[
            ("1.1", "Create `src/main.rs`", Complete, 4),
            ("1.2", "Add the table:", Pending, 5),
            ("2.1", "Cover [the guide](docs/guide.md)", InProgress, 12),
            ("", "edge cases", Pending, 13),
        ],
    );
}

#[test]
fn ito_file() {
    let text = "\
<!-- ITO:START -->
# Tasks for: 002-01_promise

## Execution Notes
- **Status legend**: `[ ] pending` · `[>] in-progress` · `[x] complete` · `[-] shelved`

## Wave 1
- **Depends On**: None

### Task 1.1: Read the <promise>
- **Files**: `src/promise.rs`
- **Action**:
  - [ ] write it
  - [x] think
- **Verify**: `cargo test`
- **Updated At**: 2026-01-31
- **Status**: [x] complete

### Task 1.2: Stream it
- **Dependencies**: Task 1.1
- **Status**: [>] in-progress

<!-- ITO:END -->
";
    assert_tasks(text, &[("1.1", "Read the <promise>", Complete, 16), ("1.2", "Stream it", InProgress, 20)]);
}

#[test]
fn kiro_and_spec_kit_files() {
    // Kiro's `[ ]*` is an optional task: no white space after the box, so it does not hold a loop up.
    assert_tasks(
        "- [ ] 1. Set up\n  - [x] 1.1 Parse\n    - _Requirements: 1.2_\n  - [ ]* 1.2 Optional tests\n",
        &[("1", "Set up", Pending, 0), ("1.1", "Parse", Complete, 1)],
    );
    assert_tasks(
        "## Format: `[ID] [P?] Story`\n- [X] T001 Create it\n- [ ] T002 [P] [US1] Test it\n",
        &[("T001", "Create it", Complete, 1), ("T002", "[P] [US1] Test it", Pending, 2)],
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn any_text_has_its_tasks_and_ticking_one_changes_no_other(text in any::<String>(), markdown in markdown()) {
        crate::fuzzing::tasks(&(text + &markdown));
        crate::fuzzing::tasks(&markdown);
    }
}
