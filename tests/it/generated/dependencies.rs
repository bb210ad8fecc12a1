//! What may come in with a dependency, held to the lists of `deny.toml` without cargo-deny, which not every machine has.

use std::process::Command;

use serde_json::Value;

use super::{project, read};

/// Whether a licence expression (`(MIT OR Apache-2.0) AND Unicode-3.0`) is met by these licences.
fn is_met(expression: &str, allowed: &[String]) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let (met, rest) = any_of(&words, allowed);
    assert!(rest.is_empty(), "{expression} is no licence expression");
    met
}

fn any_of<'a, 'b>(words: &'b [&'a str], allowed: &[String]) -> (bool, &'b [&'a str]) {
    let (mut met, mut rest) = all_of(words, allowed);
    while let ["OR", more @ ..] = rest {
        let (other, after) = all_of(more, allowed);
        (met, rest) = (met || other, after);
    }
    (met, rest)
}

fn all_of<'a, 'b>(words: &'b [&'a str], allowed: &[String]) -> (bool, &'b [&'a str]) {
    let (mut met, mut rest) = one(words, allowed);
    while let ["AND", more @ ..] = rest {
        let (other, after) = one(more, allowed);
        (met, rest) = (met && other, after);
    }
    (met, rest)
}

fn one<'a, 'b>(words: &'b [&'a str], allowed: &[String]) -> (bool, &'b [&'a str]) {
    match words {
        ["(", inner @ ..] => match any_of(inner, allowed) {
            (met, [")", rest @ ..]) => (met, rest),
            _ => panic!("a parenthesis is open in {words:?}"),
        },
        [name, "WITH", exception, rest @ ..] => (allowed.contains(&format!("{name} WITH {exception}")), rest),
        [name, rest @ ..] => (allowed.iter().any(|has| has == name), rest),
        [] => panic!("a licence is missing"),
    }
}

#[test]
fn a_licence_expression_is_read_as_it_is_meant() {
    let allowed = ["MIT", "Unicode-3.0"].map(str::to_owned);
    for (expression, met) in [
        ("MIT", true),
        ("GPL-3.0-only", false),
        ("MIT/Apache-2.0", true),
        ("(MIT OR Apache-2.0) AND Unicode-3.0", true),
        ("MIT AND GPL-3.0-only", false),
        ("GPL-3.0-only OR MIT AND Unicode-3.0", true),
        ("Apache-2.0 WITH LLVM-exception OR Apache-2.0", false),
    ] {
        assert_eq!(is_met(expression, &allowed), met, "{expression}");
    }
}

/// What cargo knows of every crate that is built here, without asking anybody else.
fn packages() -> Vec<Value> {
    let cargo = |args: &[&str]| {
        let said = Command::new(env!("CARGO")).args(args).current_dir(project()).output().unwrap();
        assert!(said.status.success(), "cargo {args:?}: {}", String::from_utf8_lossy(&said.stderr));
        String::from_utf8(said.stdout).unwrap()
    };
    let version = cargo(&["-vV"]);
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let told = cargo(&["metadata", "--locked", "--offline", "--format-version", "1", "--filter-platform", host]);
    let told: Value = serde_json::from_str(&told).unwrap();
    let built: Vec<&Value> = told["resolve"]["nodes"].as_array().unwrap().iter().map(|node| &node["id"]).collect();
    let all = told["packages"].as_array().unwrap();
    all.iter().filter(|package| built.contains(&&package["id"])).cloned().collect()
}

#[test]
fn every_dependency_has_a_licence_that_is_allowed_and_comes_from_where_cargo_looks_by_itself() {
    let rules: toml::Table = read("deny.toml").parse().unwrap();
    let allowed: Vec<String> = rules["licenses"]["allow"].clone().try_into().unwrap();
    let packages = packages();
    assert!(packages.len() > 50, "{}", packages.len());
    for package in &packages {
        let name = package["name"].as_str().unwrap();
        let licence = package["license"].as_str().unwrap_or_else(|| panic!("{name} names no licence"));
        assert!(is_met(licence, &allowed), "{name}: {licence} is not among {allowed:?} of deny.toml");
    }
    // The lock file has the crates of other systems as well.
    let lock: toml::Table = read("Cargo.lock").parse().unwrap();
    let sources: Vec<&str> =
        lock["package"].as_array().unwrap().iter().filter_map(|one| one.get("source")?.as_str()).collect();
    let first = sources.first().unwrap();
    assert!(first.starts_with("registry+") && sources.iter().all(|source| source == first), "{sources:?}");
}
