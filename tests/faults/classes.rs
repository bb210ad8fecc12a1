//! What is done to the program on purpose, how often at least, and what holds each time: for the tests here, which do it, and for
//! the README, which tells of it.

/// One way to break it.
pub struct Class {
    /// The name in the summary.
    pub name: &'static str,
    /// What is done.
    pub done: &'static str,
    /// How many points are tried in every run, at least; how many more depends on the machine's calls and clocks.
    pub at_least: usize,
    /// What holds at every one of them.
    pub holds: &'static str,
}

/// `kill -9` of the loop.
pub const CRASH: Class = Class {
    name: "crash",
    done: "SIGKILL for the loop at every system call of a run: iterations, a claim and its gates",
    at_least: 700,
    holds: "the state file parses, no recorded iteration is missing or changed, nothing of the agent lives on, `status` tells \
            the truth, `resume` goes on with the next number and ends well",
};

/// Errors of the system.
pub const ERRORS: Class = Class {
    name: "errors",
    done: "an error instead of each of these calls: disk full, I/O error, no permission, too many open files, interrupted call",
    at_least: 1500,
    holds: "a message, an exit status of the table above, no panic, no torn file, nothing left running; an interrupted call is \
            made again as if nothing had been",
};

/// `kill -9` of the guard.
pub const GUARD: Class = Class {
    name: "guard",
    done: "SIGKILL for the guard at every system call from when it waits for its agent to the end",
    at_least: 60,
    holds: "the loop takes the agent's tree down in its stead, and goes on",
};

/// Errors that the guard meets.
pub const GUARD_ERRORS: Class = Class {
    name: "guard, errors",
    done: "an error instead of each of these calls of the guard",
    at_least: 200,
    holds: "nothing of the agent lives on, and the loop goes on",
};

/// Agents without measure.
pub const RESOURCES: Class = Class {
    name: "resources",
    done: "1 GiB of output, a line of 256 MiB, bytes that are no text, NULs, terminal escapes, 10,000 orphans, a fork bomb of 2,000, \
           300 open files",
    at_least: 9,
    holds: "loop and guard stay under 12 MiB together (an agent's event of up to 8 MiB is held beside that), and the loop goes on",
};

/// A wall clock that jumps.
pub const TIME: Class = Class {
    name: "time",
    done: "the wall clock jumps by days, forward and backward, before each kind of deadline",
    at_least: 12,
    holds: "no deadline fires early or late; a usage limit ends by the wall clock and is not stretched by it, and times in files are its own",
};

/// Many loops.
pub const MANY: Class = Class {
    name: "loops at once",
    done: "100 loops at once in 100 worktrees of one repository, while 8 processes ask `list` and `status` without a pause",
    at_least: 100,
    holds: "no torn answer, no lost entry, no lock left",
};

/// Two starts.
pub const STARTS: Class = Class {
    name: "two starts",
    done: "two `start` at the same instant in one worktree",
    at_least: 1000,
    holds: "exactly one wins, and the other says why it did not",
};

/// Pids of somebody else.
pub const PIDS: Class = Class {
    name: "pids",
    done: "state, pid file and locks name a living process of the same pid and another start time or boot, before every command",
    at_least: 21,
    holds: "it is never signalled",
};

/// Input that was made to do harm. The points of this class and of those below are the tests of a module of `tests/it` with its
/// name, counted by `scripts/test`.
pub const HOSTILE: Class = Class {
    name: "hostile",
    done: "names, texts, states and output with terminal escapes, links out of the worktree, pipes and devices in place of files, \
           JSON and lines without measure",
    at_least: 23,
    holds: "a terminal gets text and colours, nothing outside is read or written, nothing is waited for, and a refusal is one line",
};

/// The agent against its own loop.
pub const AGAINST_THE_LOOP: Class = Class {
    name: "against the loop",
    done: "an agent edits, removes and replaces the files of its loop, kills and stops its processes, and claims to be done",
    at_least: 9,
    holds: "the loop is never `done` by it, the outcome is told, and a loop without its worktree or lock can still be stopped",
};

/// Least privilege.
pub const PRIVILEGE: Class = Class {
    name: "privilege",
    done: "runs under several umasks, an agent that looks at what it inherits, a secret in the environment",
    at_least: 5,
    holds: "what is made is the user's alone, an agent inherits three descriptors, and the secret is in no file and on no command line",
};

/// Trust in a repository.
pub const TRUST: Class = Class {
    name: "trust",
    done: "a repository that ships settings, states and commands",
    at_least: 6,
    holds: "it chooses no agent, no approval and no end, and its commands are shown before they first run",
};

/// Every way, in the order of the README.
#[allow(dead_code, reason = "for the README; the tests here know each by its name")]
pub const CLASSES: [&Class; 13] = [
    &CRASH,
    &ERRORS,
    &GUARD,
    &GUARD_ERRORS,
    &RESOURCES,
    &TIME,
    &MANY,
    &STARTS,
    &PIDS,
    &HOSTILE,
    &AGAINST_THE_LOOP,
    &PRIVILEGE,
    &TRUST,
];
