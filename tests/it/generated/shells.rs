//! The completions in real shells: sourced from the committed files, asked as a person who presses TAB asks.

use std::collections::BTreeSet;
use std::fs;

use super::{program, project, run_with};
use crate::support::World;

/// A world whose worktree has a change.
fn world() -> World {
    let world = World::new();
    world.write(".ito/changes/001-01_x/proposal.md", "# Why\n");
    world.write(".ito/modules/001_y/module.md", "# Why\n");
    world
}

/// The words typed so far, and what must be among the answers.
fn cases() -> Vec<(Vec<&'static str>, Vec<&'static str>)> {
    let agents = wt_loop::agent::ALL.iter().map(|agent| agent.name).collect();
    let terminals = wt_loop::launch::terminals::TERMINALS.iter().map(|terminal| terminal.name);
    let launchers = terminals.chain(["auto", "terminal", "tmux", "screen", "systemd", "background"]).collect();
    vec![
        (vec!["wt-loop", "st"], vec!["start", "stop", "status"]),
        (vec!["wt-loop", "start", "--ma"], vec!["--max", "--max-time"]),
        (vec!["wt-loop", "start", "--harness", ""], agents),
        (vec!["wt-loop", "start", "--launcher", ""], launchers),
        (vec!["wt-loop", "status", ""], vec!["shop", "feat-x", "001-01_x"]),
        (vec!["wt-loop", "stop", "fea"], vec!["feat-x"]),
        (vec!["wt-loop", "start", "--change", ""], vec!["001-01_x"]),
        (vec!["wt-loop", "completions", ""], vec!["bash", "zsh", "fish", "elvish", "powershell"]),
        (vec!["wt-loop", "man", "res"], vec!["resume"]),
    ]
}

fn check(shell: &str, answer: impl Fn(&[&str]) -> String) {
    for (words, expected) in cases() {
        let said = answer(&words);
        let offered: BTreeSet<&str> = said.lines().collect();
        let missing: Vec<_> = expected.iter().filter(|word| !offered.contains(*word)).collect();
        assert!(missing.is_empty(), "{shell}: {words:?} lacks {missing:?}, offers {offered:?}");
        // What is half typed keeps everything else away.
        let typed = words.last().unwrap();
        assert!(offered.iter().all(|word| word.starts_with(typed)), "{shell}: {words:?} offers {offered:?}");
    }
}

#[test]
fn bash_completes() {
    let Some(bash) = program("bash") else { return };
    let world = world();
    let file = project().join("completions/wt-loop.bash");
    let script = r#"
        source "$1"
        shift
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_TYPE=9
        COMP_POINT=${#COMP_LINE}
        of=$(complete -p wt-loop)
        of=${of##*-F } of=${of%% *}
        "$of" wt-loop "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
        printf '%s\n' "${COMPREPLY[@]}"
    "#;
    check("bash", |words| {
        let args = ["--norc", "-c", script, "bash", file.to_str().unwrap()];
        run_with(&world, &[], &bash, &[&args[..], words].concat()).exit(0).stderr("").stdout
    });
}

#[test]
fn fish_completes() {
    let Some(fish) = program("fish") else { return };
    let world = world();
    let file = project().join("completions/wt-loop.fish");
    check("fish", |words| {
        let script = format!("source {}; complete -C '{}'", file.display(), words.join(" "));
        let said = run_with(&world, &[], &fish, &["--no-config", "-c", &script]).exit(0).stdout;
        said.lines().map(|line| line.split('\t').next().unwrap_or_default().to_owned() + "\n").collect()
    });
}

/// zsh completes only on a terminal, so it gets one of its own; what it would add to the line is printed instead. The file is
/// loaded from fpath, as after an installation.
#[test]
fn zsh_completes() {
    let Some(zsh) = program("zsh") else { return };
    let world = world();
    let (driver, setup) = (world.base().join("driver.zsh"), world.base().join("setup.zsh"));
    fs::write(&driver, ZSH_DRIVER).unwrap();
    fs::write(&setup, ZSH_SETUP).unwrap();
    let completions = project().join("completions");
    check("zsh", |words| {
        let line = words.join(" ");
        let args = ["-f", driver.to_str().unwrap(), setup.to_str().unwrap(), completions.to_str().unwrap(), &line];
        let said = run_with(&world, &["zsh", "expr"], &zsh, &args).exit(0).stdout;
        let matches = said.lines().filter_map(|line| line.trim_end().split_once("MATCH:"));
        matches.map(|(_, word)| word).collect::<Vec<_>>().join("\n")
    });
}

const ZSH_DRIVER: &str = r#"
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "source $1 $2"
zpty -r -m shell out '*READY*'
zpty -n -w shell "$3"$'\t'
zpty -r -m shell out '*FINISHED*'
print -r -- "$out"
"#;

const ZSH_SETUP: &str = r#"
PROMPT=
fpath=($1 $fpath)
autoload -Uz compinit
compinit -u -D
compadd() {
    local -a found
    builtin compadd -O found "$@" 2>/dev/null
    [[ -n $found ]] && printf 'MATCH:%s\n' $found
    builtin compadd "$@"
}
finish() { _main_complete; print FINI"SHED" }
zle -C finish complete-word finish
bindkey '^I' finish
print REA"DY"
"#;
