//! Places that this machine may not have, each played by a script that does what the real program does with its arguments.

use std::fs;

use super::ODD;
use crate::support::{HOLDS, World, wait_until};

/// Notes its arguments, a line each, and does with the command what the manager of a user does: runs it in the directory
/// that was given, with another environment and without a terminal.
const SYSTEMD_RUN: &str = r#"printf '%s\n' "$@" > ../systemd-run.args
while [ "$1" != -- ]; do
    case $1 in --working-directory=*) dir=${1#*=} ;; esac
    shift
done
shift
cd "$dir" && exec env -i PATH="$PATH" setsid -f "$@" < /dev/null > /dev/null 2>&1
"#;

#[test]
fn systemd_runs_the_loop_as_a_unit_of_the_user() {
    let mut world = World::with_agent(HOLDS);
    world.move_to(ODD);
    world.agent("systemd-run", SYSTEMD_RUN);
    let answer = world.wt_env(&[("API_KEY", "secret")], &["start", "task", "--launcher", "systemd"]).exit(0);
    let args = fs::read_to_string(world.beside("systemd-run.args")).unwrap();
    let unit = args.lines().find_map(|line| line.strip_prefix("--unit=")).unwrap();
    assert!(unit.starts_with("wt-loop-it_s_a______HOME_dir-"), "{unit}");
    let root = world.root.to_str().unwrap();
    let program = world.program();
    let expected = format!(
        "--user\n--quiet\n--collect\n--unit={unit}\n--property=KillMode=mixed\n--working-directory={root}\n--\n{}\nrun\n",
        program.display()
    );
    assert_eq!(args, expected);
    answer
        .stdout_has(&format!("runs in the systemd unit {unit} (pid "))
        .stdout_has(&format!("systemctl --user status {unit}\n"));
    world.wait_until_held(1);
    let agent = &world.processes_like("claude")[0];
    let environment = fs::read(format!("/proc/{}/environ", agent.pid)).unwrap();
    assert!(environment.split(|byte| *byte == 0).any(|pair| pair == b"API_KEY=secret"), "the shell's own environment");
    world.wt(&["stop"]).exit(0);
    world.wait_until_nothing_is_left();
}

#[test]
fn what_systemd_says_is_told() {
    let world = World::with_agent(HOLDS);
    world.agent("systemd-run", "echo 'Failed to connect to bus: No medium found' >&2\nexit 1\n");
    world
        .wt(&["start", "task", "--launcher", "systemd"])
        .exit(1)
        .stderr_has("wt-loop: systemd ended before the loop could report in (exit status: 1)\n")
        .stderr_has("hint: it printed: Failed to connect to bus: No medium found\n");
}

#[test]
fn doctor_offers_systemd_where_a_manager_of_the_user_runs() {
    let world = World::with_agent(HOLDS);
    world.agent("systemd-run", SYSTEMD_RUN);
    world.wt(&["doctor"]).lacks("launcher systemd");
    fs::create_dir_all(world.beside("run/systemd/private")).unwrap();
    world.wt(&["doctor"]).stdout_has("launcher systemd").stdout_has("loginctl enable-linger");
}

/// Reads the script as osascript does, and runs the line that is meant for a shell.
const OSASCRIPT: &str = r#"printf '%s\n' "$@" > ../osascript.args
exec python3 -c '
import json, re, subprocess, sys
script = "\n".join(sys.argv[2::2])
line = json.loads(re.search(r"(?:do script|write text) (\".*\")$", script, re.M).group(1))
subprocess.Popen(["sh", "-c", line], cwd="/", stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                 stderr=subprocess.DEVNULL, start_new_session=True)
' "$@"
"#;

#[test]
fn terminal_and_iterm_run_the_loop_through_osascript() {
    let mut world = World::with_agent(HOLDS);
    world.move_to("it's a \\ \"ü\" $(touch owned) `touch owned` dir");
    world.agent("osascript", OSASCRIPT);
    for (launcher, application) in [("terminal-app", "Terminal"), ("iterm", "iTerm")] {
        let _ = fs::remove_file(world.beside("prompt-1"));
        let answer = world.wt(&["start", "task", "--launcher", launcher]).exit(0);
        answer.stdout_has(&format!("runs in a window of {application} (pid "));
        let script = fs::read_to_string(world.beside("osascript.args")).unwrap();
        assert!(script.starts_with(&format!("-e\ntell application \"{application}\"\n-e\nactivate\n")), "{script}");
        world.wait_until_held(1);
        world.wt(&["stop"]).exit(0);
        wait_until("the end of the loop", || world.processes_like("wt-loop run").is_empty());
    }
    let left = crate::support::snapshot(&world.base());
    assert!(!left.keys().any(|path| path.ends_with("owned")), "a path was run");
}
