//! What a person sees, in a real terminal.

use std::fs;

use crate::support::{Terminal, World, agents, wait_until};

/// The columns that a line takes in a terminal.
fn width(line: &str) -> usize {
    unicode_width::UnicodeWidthStr::width(line)
}

fn lines(screen: &str) -> Vec<&str> {
    screen.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect()
}

#[test]
fn run_shows_a_live_line_under_the_stream_and_leaves_a_clean_screen() {
    let world = World::with_agent(
        "cat > /dev/null\necho first words\necho last words\nuntil [ -e \"$TMPDIR/go\" ]; do sleep 0.02; done\n",
    );
    let terminal = Terminal::open(&world, 100, 30);
    terminal.type_wt("run x --max 4 --stall-threshold 1");
    let is_live = |line: &str| line.starts_with("▶ 1/4 · ") && line.ends_with("s · last words");
    let live = |screen: &str| lines(screen).last().copied().filter(|line| is_live(line)).map(str::to_owned);
    let first = terminal.wait_for("a live line at the bottom", |screen| live(screen).is_some());
    let above = lines(&first);
    assert_eq!(above[above.len() - 3..above.len() - 1], ["first words", "last words"], "{first}");
    let later = |screen: &str| live(screen).is_some_and(|line| Some(line) != live(&first));
    let second = terminal.wait_for("time that goes by", later);
    assert_eq!(lines(&second).iter().filter(|line| line.starts_with("▶ 1/4")).count(), 1, "{second}");

    fs::write(world.base().join("tmp/go"), "").unwrap();
    assert_eq!(terminal.wait_for_exit(), 4);
    let screen = terminal.screen();
    assert!(!lines(&screen).iter().any(|line| is_live(line)), "nothing of the live line is left: {screen}");
    assert!(screen.contains("■ iteration 1/4 completed in ") && screen.contains("✘ stalled: "), "{screen}");
    assert_eq!(terminal.fact("#{cursor_flag}#{alternate_on}"), "10", "a visible cursor, the usual screen");
}

#[test]
fn a_long_last_line_does_not_wrap_the_live_line() {
    let long = "0123456789".repeat(30);
    let world =
        World::with_agent(&format!("cat > /dev/null\necho {long}\nuntil [ -e \"$TMPDIR/go\" ]; do sleep 0.02; done\n"));
    let terminal = Terminal::open(&world, 60, 30);
    terminal.type_wt("run x --max 1");
    let is_live = |line: &&str| line.starts_with("▶ 1/1 · ") && line.ends_with('…');
    let live = |screen: &str| lines(screen).last().copied().filter(is_live).map(str::to_owned);
    let first = terminal.wait_for("a live line that is cut", |screen| live(screen).is_some());
    terminal.wait_for("a later one", |screen| live(screen).is_some_and(|line| Some(line) != live(&first)));
    let starts = lines(&terminal.screen()).iter().filter(|line| line.starts_with("▶ 1/1")).count();
    assert_eq!(starts, 1, "{}", terminal.screen());
    fs::write(world.base().join("tmp/go"), "").unwrap();
    assert_eq!(terminal.wait_for_exit(), 3);
}

/// Everything that a terminal would do more with than show it.
const MISCHIEF: &str = r#"cat > /dev/null
printf '\033]52;c;cHduZWQ=\007\033]0;stolen title\007\033]2;stolen title\033\\'
printf '\033[?1049h\033[2J\033[H\033[10Aup\033[3;3Hmoved\033[?25l\033[5m'
printf '\033P$q"p\033\\\033_apc\033\\\033^pm\033\\\033[6n\033[c\033]8;;http://evil\033\\link\033]8;;\033\\\n'
printf 'over\rwritten\b\b\n\033c\033(0qqq\033(B\016\017\n'
printf '\033[31mred\033[0m \033[1;38;5;208morange\033[m \033[48;2;1;2;3mtrue\033[0m\n'
echo shown
"#;

#[test]
fn of_an_agents_output_a_terminal_gets_text_and_colours() {
    let world = World::with_agent(MISCHIEF);
    let terminal = Terminal::open(&world, 100, 30);
    let titles = terminal.fact("#{pane_title}");
    terminal.type_line("echo before");
    terminal.type_wt("run x --max 1");
    assert_eq!(terminal.wait_for_exit(), 3);
    let screen = terminal.screen();
    assert!(screen.contains("\nbefore\n") && screen.contains("\nshown\n"), "nothing cleared or moved: {screen}");
    for text in ["up", "moved", "link", "red orange true"] {
        assert!(screen.contains(text), "the text {text:?} is shown: {screen}");
    }
    for secret in ["cHduZWQ", "stolen", "apc", "evil"] {
        assert!(!screen.contains(secret), "{secret:?} is no text: {screen}");
    }
    let coloured = terminal.coloured();
    for colour in ["\x1b[31mred", "\x1b[38;5;208morange", "\x1b[48;2;1;2;3mtrue"] {
        assert!(coloured.contains(colour), "{colour:?}: {coloured:?}");
    }
    assert!(!coloured.contains("evil"), "{coloured:?}");
    let facts = terminal.fact("#{alternate_on}#{cursor_flag}#{pane_title}");
    assert_eq!(facts, format!("01{titles}"), "the user's own, not the agent's");
    assert!(world.log().contains("\x1b]0;stolen title\x07"), "the log keeps every byte");
    // An answer that the terminal had been asked for would now stand at the prompt.
    terminal.type_line("echo clean");
    terminal.wait_for("a prompt that nobody typed at", |screen| screen.contains("$ echo clean\nclean\n"));
}

#[test]
fn tables_fit_a_narrow_terminal() {
    let world = World::with_agent(agents::COMMITS);
    let task = "a task that is rather long, as tasks of people who have much to say tend to be, ☃ and all";
    world.wt(&["run", task, "--max", "3"]).exit(3);
    let terminal = Terminal::open(&world, 60, 50);
    for (args, expected) in [("status", "iteration"), ("history", "COMMITS"), ("list --all", "STATUS")] {
        terminal.clear();
        terminal.type_wt(args);
        assert_eq!(terminal.wait_for_exit(), 0);
        // What the terminal had to wrap stands here in one line.
        let joined = terminal.joined();
        assert!(joined.contains(expected), "{joined}");
        let too_wide = |line: &&str| width(line) > 60 && !line.contains("; echo exit=");
        assert_eq!(joined.lines().find(too_wide), None, "{args}: {joined}");
    }
}

#[test]
fn a_table_says_how_long_ago_before_it_cuts_a_time() {
    let world = World::with_agent(agents::COMMITS);
    world.wt(&["run", "a task", "--max", "1"]).exit(3);
    let terminal = Terminal::open(&world, 79, 30);
    terminal.clear();
    terminal.type_wt("history");
    assert_eq!(terminal.wait_for_exit(), 0);
    let screen = terminal.screen();
    let row = screen.lines().find(|line| line.starts_with("1  ")).unwrap_or_else(|| panic!("{screen}"));
    let ago = |row: &str| row.starts_with("1  just now ") || row.contains("s ago ") || row.contains("m ago ");
    assert!(ago(row) && !row.contains("20"), "{screen}");
}

#[test]
fn colour_is_for_terminals_unless_somebody_says_otherwise() {
    let world = World::with_agent(agents::IDLE);
    world.wt(&["run", "x", "--max", "1"]).exit(3).lacks("\x1b");
    for args in [&["status"][..], &["history"], &["list", "--all"]] {
        world.wt(args).exit(0).lacks("\x1b");
        world.wt_env(&[("CLICOLOR_FORCE", "1")], args).exit(0).stdout_has("\x1b[");
    }
    world.wt_env(&[("CLICOLOR_FORCE", "1")], &["status", "--json"]).exit(0).lacks("\x1b");

    let terminal = Terminal::open(&world, 100, 40);
    for (variables, coloured) in [("", true), ("NO_COLOR=1", false), ("NO_COLOR=1 CLICOLOR_FORCE=1", false)] {
        terminal.clear();
        terminal.type_line(&format!("{variables} {} status; echo exit=$?", world.program().display()));
        assert_eq!(terminal.wait_for_exit(), 0);
        assert_eq!(terminal.coloured().contains("\x1b["), coloured, "{variables}: {:?}", terminal.coloured());
    }
}

#[test]
fn monitor_has_a_status_line_at_the_bottom_and_ends_with_the_loop() {
    let world = World::with_agent(
        "cat > /dev/null\necho here\nuntil [ -e \"$TMPDIR/go\" ]; do sleep 0.02; done\necho \"$TMPDIR\"\necho there\n",
    );
    world.wt(&["start", "x", "--launcher", "background", "--max", "1"]).exit(0);
    let terminal = Terminal::open(&world, 100, 30);
    terminal.type_wt("monitor");
    let bottom = |screen: &str| lines(screen).last().is_some_and(|line| line.starts_with("▶ feat-x running 1/1"));
    terminal.wait_for("a status line", |screen| bottom(screen) && screen.contains("\nhere\n"));
    fs::write(world.base().join("tmp/go"), "").unwrap();
    assert_eq!(terminal.wait_for_exit(), 3);
    let screen = terminal.screen();
    assert!(screen.contains("\nthere\n") && screen.contains("the loop in feat-x is over (stuck: "), "{screen}");
    assert!(!screen.contains("▶ feat-x"), "{screen}");
    assert_ne!(terminal.fact("#{pane_title}"), "Ralph: feat-x [stuck]", "the title is the loop's, not the watcher's");
}

#[test]
fn ctrl_c_leaves_monitor_and_not_the_loop() {
    let world = World::with_agent(agents::SLEEPS);
    world.wt(&["start", "x", "--launcher", "background"]).exit(0);
    let terminal = Terminal::open(&world, 100, 30);
    terminal.type_wt("monitor");
    terminal.wait_for("a status line", |screen| screen.contains("▶ feat-x running 1/10"));
    terminal.press("C-c");
    assert_eq!(terminal.wait_for_exit(), 130);
    assert_eq!(world.wt(&["status", "--json"]).exit(0).json()["status"], "running");
    world.wt(&["stop"]).exit(0);
}

#[test]
fn titles_tell_the_iteration() {
    let world = World::with_agent("until [ -e \"$TMPDIR/go-$WT_LOOP_RUN_ITERATION\" ]; do sleep 0.02; done\n");
    let terminal = Terminal::open(&world, 100, 30);
    terminal.type_wt("run x --max 2 --stall-threshold 0");
    let titled = |title: &str| wait_until(title, || terminal.fact("#{pane_title}") == title);
    titled("Ralph: feat-x [1/2]");
    fs::write(world.base().join("tmp/go-1"), "").unwrap();
    titled("Ralph: feat-x [2/2]");
    fs::write(world.base().join("tmp/go-2"), "").unwrap();
    assert_eq!(terminal.wait_for_exit(), 3);
}

#[test]
fn a_closed_window_ends_its_loop() {
    let world = World::with_agent("trap 'echo tidied; exit 0' TERM\necho ready\nwhile :; do sleep 0.05; done\n");
    let terminal = Terminal::open(&world, 100, 30);
    terminal.type_line(&format!("exec {} run x", world.program().display()));
    world.wait_for_log("ready");
    terminal.close();
    world.wait_until_nothing_is_left();
    let state = world.state();
    assert_eq!((state["status"].as_str(), state["exit_code"].as_i64()), (Some("stopped"), Some(130)));
    assert_eq!(state["iterations"][0]["exit_reason"], "interrupted");
    assert!(world.log().contains("tidied"));
}
