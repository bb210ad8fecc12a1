//! What can be typed, and what it finds.

use proptest::prelude::*;

use super::super::PLAIN;
use super::super::testing::{ito, tree};
use super::*;

#[test]
fn a_change_is_found_by_id_or_unique_prefix() {
    let root = tree(&[".ito/changes/001-01_add/", ".ito/changes/001-01_add-more/", ".ito/changes/002-01_ralph/"]);
    let table = [
        ("001-01_add", Ok("001-01_add")),
        ("001-01_add-", Ok("001-01_add-more")),
        ("002", Ok("002-01_ralph")),
        ("001", Err("more than one change begins with '001': 001-01_add, 001-01_add-more")),
        ("ralph", Err("no change called 'ralph'; found: 001-01_add, 001-01_add-more, 002-01_ralph")),
        ("002-01_raplh", Err("no change called '002-01_raplh'; found: 001-01_add, 001-01_add-more, 002-01_ralph")),
        ("zzz", Err("no change called 'zzz'; found: 001-01_add, 001-01_add-more, 002-01_ralph")),
        ("archive", Err("no change called 'archive'; found: 001-01_add, 001-01_add-more, 002-01_ralph")),
    ];
    for (typed, expected) in table {
        let found = ito().resolve(root.path(), typed).map(|change| change.id).map_err(|error| error.to_string());
        assert_eq!(found.as_deref().map_err(String::as_str), expected, "{typed}");
    }
}

#[test]
fn a_repository_without_changes_says_so() {
    let root = tree(&[]);
    for layout in [ito(), &PLAIN] {
        let error = layout.resolve(root.path(), "x").unwrap_err();
        assert_eq!(error.to_string(), "no change called 'x'; there are none here");
    }
}

#[test]
fn a_folder_of_changes_that_cannot_be_listed_is_an_error() {
    let root = tree(&[".ito/changes"]);
    let error = ito().resolve(root.path(), "x").unwrap_err();
    assert!(matches!(error, ResolveError::Unreadable { .. }), "{error}");
}

#[test]
fn an_id_cannot_be_a_path_an_option_or_hidden() {
    let root = tree(&[".ito/changes/a/"]);
    for typed in ["", "..", ".", "../a", "a/..", "/a", "a\\b", "a\0", "a\n", "\u{1b}[2J", "\u{9b}", ".a", "-a"] {
        let error = ito().resolve(root.path(), typed).unwrap_err();
        assert!(matches!(error, ResolveError::Invalid { .. }), "{typed:?}");
        assert!(!error.to_string().contains(char::is_control), "{typed:?}");
    }
}

#[test]
fn a_module_is_found_by_number_by_name_or_unique_prefix() {
    let root =
        tree(&[".ito/modules/002_loops/", ".ito/modules/0021_more/", ".ito/modules/003_a/", ".ito/modules/003_b/"]);
    for typed in ["002", "002_loops", "002_"] {
        let module = ito().resolve_module(root.path(), typed).unwrap();
        assert_eq!(module.id, "002", "{typed}");
        assert_eq!(module.file(), root.path().join(".ito/modules/002_loops/module.md"));
    }
    let error = ito().resolve_module(root.path(), "003").unwrap_err();
    assert_eq!(error.to_string(), "more than one module begins with '003': 003_a, 003_b");
    let openspec = Layout::named("openspec").unwrap();
    let error = openspec.resolve_module(root.path(), "002").unwrap_err();
    assert_eq!(error.to_string(), "no module called '002'; there are none here");
}

#[test]
fn a_likely_name_is_offered_and_an_unlikely_one_is_not() {
    let names = ["001-01_add", "002-01_ralph"].map(str::to_owned);
    for (typed, expected) in [("ralph", Some("002-01_ralph")), ("001-01_dad", Some("001-01_add")), ("zzz", None)] {
        assert_eq!(nearest(typed, &names), expected, "{typed}");
    }
}

#[test]
fn a_resolved_path_never_leaves_its_folder() {
    let root = tree(&[".ito/changes/a/", ".ito/changes/a0/", ".ito/changes/0-/", ".ito/changes/archive/x/", "a/"]);
    let changes = root.path().join(".ito/changes");
    let active = ito().changes(root.path()).unwrap();
    proptest!(|(typed in "(\\.\\./|[./\\\\a0-]|\\PC|\\pC){0,6}")| {
        if let Ok(change) = ito().resolve(root.path(), &typed) {
            prop_assert_eq!(change.proposal(), changes.join(&change.id).join("proposal.md"));
            prop_assert!(active.contains(&change.id));
        }
        crate::fuzzing::change(&typed, &active);
    });
}
