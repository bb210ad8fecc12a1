//! The words of the manual that the clap tree does not know: what each command does at length, examples, files, variables.

/// Two columns: a term and what it means.
pub type Entries = &'static [(&'static str, &'static str)];

/// What a page says beyond its options.
pub struct Text {
    /// The page's name, as `wt-loop man` takes it.
    pub name: &'static str,
    /// What the command does, a paragraph each.
    pub description: &'static [&'static str],
    /// Commands to type, each with what it does.
    pub examples: Entries,
    /// Which exit codes it can have.
    pub exits: Exits,
}

/// Which exit codes a command can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exits {
    /// Those of a loop, all of them.
    Loop,
    /// Done, error, wrong usage.
    Command,
}

/// Every page, in the order of the clap tree.
pub const PAGES: [Text; 16] = [
    Text {
        name: "wt-loop",
        description: &[
            "An agent is given a task and run again and again, each time with a fresh prompt, until the tasks of a tasks.md are \
             all ticked or the agent has promised that it is done; or until a limit is reached, nothing moves any more, or \
             somebody stops it. One loop runs in one git worktree; many worktrees can have one each.",
            "An agent and everything that it starts is one tree of processes that the loop owns. At the end of every iteration, \
             at every end of the loop, and when the loop itself is killed, nothing of that tree is left running.",
            "Every command works on the loop of the worktree it is given in. Most take the name of a change or of another \
             worktree instead.",
        ],
        examples: &[
            ("wt-loop demo", "see a whole loop in half a minute, at no cost"),
            ("wt-loop start \"Fix the login\" --max 10", "start a loop in a terminal of its own"),
            ("wt-loop monitor", "watch it"),
            ("wt-loop list", "see all loops of all projects"),
        ],
        exits: Exits::Loop,
    },
    Text {
        name: "start",
        description: &[
            "Prepares a loop in this worktree, or in the one that CHANGE names, and runs it in a place of its own: a window of the \
             tmux it is given in, else of the desktop's terminal, else a detached tmux session, else the background. It returns \
             when the loop has reported in, ten seconds at most, and says how to watch it. The agent runs with the environment \
             of this shell. wt-loop-launchers(1) tells of every place.",
            "With one word, it is the task; with two, the first is a change of this worktree, or another worktree of the repository \
             by its directory's name or its branch. A loop with a change is told the change's proposal and goes by its tasks.",
            "A worktree has one loop at a time: while one runs, another start fails and says who was first.",
            "When the loop ends and nobody asked it to (done, stuck, stalled, or stopped by an error), the desktop of this shell shows \
             a notification, and the terminal of the loop rings its bell and is sent one of its own (OSC 9 and OSC 777), which \
             arrives over ssh too. Where there is no desktop (DBUS_SESSION_BUS_ADDRESS leads to it), or one that does not \
             answer within a second, nothing is said about it. After Ctrl-C or wt-loop stop nobody is told. --no-notify keeps all of it quiet.",
        ],
        examples: &[
            ("wt-loop start \"Fix the login\" --max 10", "at most ten iterations, done when tasks.md is"),
            ("wt-loop start \"Fix the login\" --launcher kitty --fullscreen", "in a kitty that fills the screen"),
            ("wt-loop start feat-x \"Fix the login\"", "in the worktree feat-x, or on the change of that id"),
            ("wt-loop start --prompt-file plan.md --launcher background", "the task from a file, no terminal"),
            ("wt-loop start \"Try it\" --harness rehearsal", "with the built-in agent, at no cost"),
        ],
        exits: Exits::Command,
    },
    Text {
        name: "run",
        description: &[
            "With a task, prepares a loop in this worktree and runs it in this terminal. Without one, takes up the loop that \
             wt-loop start has prepared: that is what its terminal runs.",
            "The agent's words go to standard output as they come, the loop's own to standard error, everything to the log. Ctrl-C \
             ends the agent with everything it has started, records the iteration, and ends the loop; a second Ctrl-C does \
             not wait. Ctrl-Z stops the agent and its clocks; fg goes on. The terminal's title tells the iteration; the \
             title that it had is back afterwards, and while the loop is stopped by Ctrl-Z.",
        ],
        examples: &[
            ("wt-loop run \"Fix the login\" --max 3", "three iterations in this terminal"),
            ("wt-loop run \"Fix the login\" --dry-run", "the prompt and the command line, without running them"),
            ("wt-loop run \"Fix the login\" && git push", "push only what is done"),
        ],
        exits: Exits::Loop,
    },
    Text {
        name: "stop",
        description: &[
            "The agent and everything that it has started get SIGTERM, and SIGKILL after five seconds; the iteration is recorded as \
             interrupted, and the loop ends as stopped, with exit code 5. The command returns when the loop is gone. Of a loop \
             that is over already it says so, changes nothing, and that is no error.",
        ],
        examples: &[
            ("wt-loop stop", "end the loop of this worktree"),
            ("wt-loop stop feat-x", "end the loop of another worktree"),
            ("wt-loop stop --all", "end every loop"),
        ],
        exits: Exits::Command,
    },
    Text {
        name: "status",
        description: &[
            "Shows the status, the iterations and tasks against their totals, times, tokens, what the agent's processes use, and the \
             last iterations. The status is one word: starting, running, done, stuck (a limit was reached), stalled (no \
             progress) or stopped. Of a loop that was killed it is stopped, with the reason crashed.",
            "Where no loop has run the exit code is 1. Reading changes nothing.",
        ],
        examples: &[
            ("wt-loop status", "the loop of this worktree"),
            ("wt-loop status --json | jq -r .status", "one word for a script"),
            ("wt-loop status --schema", "the JSON Schema of the state file"),
        ],
        exits: Exits::Command,
    },
    Text {
        name: "history",
        description: &[
            "Shows each iteration: when it began, how long it took, how the agent ended, whether a completion was claimed and \
                        accepted, and what it brought: commits, changed files, tokens.",
        ],
        examples: &[
            ("wt-loop history --limit 5", "the last five iterations"),
            ("wt-loop history --json | jq '[.[].commits[]]'", "every commit of the loop"),
        ],
        exits: Exits::Command,
    },
    Text {
        name: "monitor",
        description: &[
            "Prints the end of the log and what is added to it, as tail -F does, with a status line below it on a terminal. It ends \
             when the loop ends, with the loop's own exit code. Ctrl-C ends the watching, not the loop. Of a loop in tmux or screen it \
             says first how to attach to it.",
        ],
        examples: &[
            ("wt-loop monitor", "follow the log until the loop ends"),
            ("wt-loop monitor --json | jq -r 'select(.event == \"end\").status'", "wait for the end in a script"),
        ],
        exits: Exits::Loop,
    },
    Text {
        name: "list",
        description: &[
            "Lists the loops that run, of all projects of this user, from wherever it is given: project, worktree, \
                        change, status, iteration.",
        ],
        examples: &[
            ("wt-loop list", "the loops that run"),
            ("wt-loop list --all --json", "all that are known, for programs"),
        ],
        exits: Exits::Command,
    },
    Text {
        name: "resume",
        description: &[
            "Goes on in this terminal after the last recorded iteration of a loop that was stopped, got stuck, stalled or was killed: \
             same task, same options, same log and history; the numbers go on, the counts of failures and of iterations \
             without progress begin anew. An option that is given now wins over the recorded one.",
            "A loop that is done has nothing to go on with; one that has reached its maximum needs a higher --max.",
        ],
        examples: &[
            ("wt-loop resume", "go on where the loop was stopped or killed"),
            ("wt-loop resume --max 20", "go on after the maximum was reached"),
        ],
        exits: Exits::Loop,
    },
    Text {
        name: "ralph",
        description: &[
            "The loop as ito and spool know it: in the foreground, on a change, on every change of a module, or on a prompt alone, \
             until the agent has promised that it is done and every gate agrees. It needs to know what to work on: on a \
             terminal it asks, elsewhere --change, --module or --no-change must be given.",
            "Called as ralph the program is this command. Called as ito or spool it knows this command only, looks for changes in \
             .ito or .spool, and its default agent is opencode.",
        ],
        examples: &[
            (
                "wt-loop ralph \"Add the endpoint\" --change 002-01_add-endpoint",
                "work on a change until its promise is proven",
            ),
            ("wt-loop ralph --change 002-01 --max 20", "the change alone, by a prefix of its id"),
            ("wt-loop ralph --module 002 --no-interactive", "every change of a module, one after the other"),
            ("wt-loop ralph --status --change 002-01", "what was done on a change so far"),
            ("wt-loop ralph --add-context \"Mind the tests\" --change 002-01", "told to the next iteration"),
        ],
        exits: Exits::Loop,
    },
    Text {
        name: "context",
        description: &[
            "The context is text that every iteration is told beside its task. It is read anew for each, so that a word to a \
             running loop reaches its next iteration. A change has a context of its own; without --change it is that of \
             the loop that runs here.",
        ],
        examples: &[
            ("wt-loop context add \"Use the new API\"", "the next iteration reads it"),
            ("wt-loop context show", "what iterations are told"),
            ("wt-loop context clear", "forget it"),
        ],
        exits: Exits::Command,
    },
    Text {
        name: "validate",
        description: &[
            "Asks the gates in their order, as a loop does when a completion is claimed: the tasks, the project's own validation \
             commands, then those given by --validation-command. The first that fails ends it, with what it said and exit \
             code 1.",
            "The project's commands are those of the first of these that names any: ito.json, .ito/config.json, .wt-loop.toml \
             (validation = [\"make test\"]), AGENTS.md, CLAUDE.md. Each runs by sh at the root of the worktree, supervised as an \
             agent is; over its time the whole tree is ended, and it has failed.",
        ],
        examples: &[
            ("wt-loop validate --list", "what a claim of completion would have to pass"),
            ("wt-loop validate && wt-loop start \"the next task\"", "see it pass before a night's run"),
            (
                "wt-loop validate --change 002-01 --validation-command 'make lint'",
                "for a change, with one command more",
            ),
        ],
        exits: Exits::Command,
    },
    Text {
        name: "doctor",
        description: &[
            "Looks at git, the agents and their versions, the launchers, the settings, permissions and free space, and what dead loops \
             have left behind. Each problem comes with the command that mends it. The exit code is 1 where a loop could not \
             run.",
        ],
        examples: &[
            ("wt-loop doctor", "what is there and what is missing"),
            ("wt-loop doctor --json | jq '.[] | select(.health == \"bad\")'", "what keeps a loop from running"),
        ],
        exits: Exits::Command,
    },
    Text {
        name: "demo",
        description: &[
            "Makes a scratch repository with a worktree and a tasks.md of five tasks, and runs a real loop there with the built-in \
             rehearsal agent, which ticks one task per iteration and commits. It needs git and nothing else, costs nothing \
             and touches nothing outside its folder, which stays for a look around.",
        ],
        examples: &[
            ("wt-loop demo", "in a new folder below the temporary one"),
            ("wt-loop demo --dir ~/wt-loop-demo", "in a folder of your choice"),
        ],
        exits: Exits::Loop,
    },
    Text {
        name: "completions",
        description: &[
            "Prints a script for the shell. It asks wt-loop itself, so that options, agents, launchers, the worktrees of the \
                        repository at hand and its changes are completed, and a later version needs no new script.",
        ],
        examples: &[
            ("wt-loop completions bash > ~/.local/share/bash-completion/completions/wt-loop", "for bash"),
            (
                "wt-loop completions zsh > ~/.local/share/zsh/site-functions/_wt-loop",
                "for zsh, where that folder is in fpath",
            ),
            ("wt-loop completions fish > ~/.config/fish/completions/wt-loop.fish", "for fish"),
        ],
        exits: Exits::Command,
    },
    Text {
        name: "man",
        description: &["Prints the source of a manual page, for man or for a file in a man1 folder."],
        examples: &[
            ("wt-loop man start | man -l -", "read the page of start"),
            ("wt-loop man --list", "the names of all pages"),
        ],
        exits: Exits::Command,
    },
];

/// Where things are.
pub const FILES: Entries = &[
    (".claude/loop-state.json", "the state of the worktree's loop; its format is printed by wt-loop status --schema"),
    (".claude/ralph-loop.log", "all output of all iterations; the logs of three earlier loops are kept as .1 to .3"),
    (".claude/ralph-terminal.pid", "the pid of the loop process, as long as it runs"),
    (".claude/ralph-context.md", "the context of a loop without a change"),
    (
        ".ito/.state/ralph/, .spool/.state/ralph/, .claude/ralph/",
        "context and history of each change, of ito, spool and openspec",
    ),
    (".wt-loop.toml", "settings of the repository: numbers, thresholds, times, criterion, promise, model, validation"),
    (
        "$XDG_CONFIG_HOME/wt-loop/config.toml",
        "settings of the user: any option of a loop, agents and terminals of one's own, and prompt_template",
    ),
    ("$XDG_STATE_HOME/wt-loop/", "the user's own records of loops"),
    (
        "tasks.md",
        "the tasks of a loop without a change: at the root of the worktree, or in one of the two levels of folders below it",
    ),
];

/// What the program itself reads, beside the variables of its options.
pub const READ: Entries = &[
    ("NO_COLOR, CLICOLOR_FORCE", "turn colour off, and on where there is no terminal"),
    ("TERMINAL, DISPLAY, WAYLAND_DISPLAY, TMUX, SSH_CONNECTION", "by which start picks a launcher"),
    ("XDG_CONFIG_HOME", "where the user's settings are; ~/.config where it is not set"),
    ("XDG_STATE_HOME", "where the user's records are; ~/.local/state where it is not set"),
];

/// What the agent finds in its environment.
pub const SET_FOR_THE_AGENT: Entries = &[
    ("WT_LOOP_RUN", "1 inside a loop"),
    ("WT_LOOP_RUN_ITERATION", "the number of the iteration"),
    ("WT_LOOP_RUN_MAX", "the maximum, 0 where there is none"),
    ("WT_LOOP_RUN_STATE", "the path of the state file"),
    ("WT_LOOP_RUN_CHANGE", "the change worked on, empty where there is none"),
];
