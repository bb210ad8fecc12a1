//! The only place that spawns, signals and waits.
//!
//! An agent and everything it starts is one tree that the loop owns:
//!
//! ```text
//! loop            subreaper; owns deadlines, signals and output      supervisor.rs, signals.rs, guards.rs
//! └─ guard        session leader, subreaper; takes the tree down     guard.rs, sweep.rs
//!    └─ shim      asks to die with the guard, resets what is         shim.rs
//!       └ agent   inherited, becomes the agent; a process group
//! ```
//!
//! - Loop and guard talk over one socket pair ([`wire`]). When the loop dies, by whatever death, the socket ends and
//!   the guard sweeps. When the guard dies, what it owned falls to the loop, which sweeps in its stead. When both die at
//!   once, the kernel kills the agent.
//! - A sweep is TERM, a grace, KILL, until no descendant lives, daemons that called `setsid` included; what cannot be
//!   killed ends it after a bound and is named.
//! - Guard and shim may be started before there is anything to run: they wait for it, and the next agent does not.
//! - Nothing here waits for a pipe to end: a grandchild may hold it for ever.
//! - The program that is started again is `/proc/self/exe`, so that an upgrade overnight breaks no loop.
//!
//! On systems without a subreaper the same facade does what process groups and the parent's ids can do.

mod command;
mod guard;
mod guards;
mod identity;
mod shim;
mod signals;
mod supervisor;
mod sweep;
mod tree;
mod wire;

pub use command::{Answer, Question, answer, answer_within, ask, end_detached, own_program, run_own, spawn_detached};
pub use guard::main as guard_main;
pub use guards::Guards;
pub use identity::Identity;
pub use shim::{detach_main, main as shim_main};
pub use signals::{Interrupt, Signals, see_children_end};
use supervisor::keep_orphans;
pub use supervisor::{Deadlines, Ended, Errand, Report, Stream, Timeout, Watcher, supervise};
pub use sweep::Survivor;
use sweep::sweep_now;
pub use tree::{Usage, usage};
pub use wire::{Program, receive, send};

/// How long a tree of processes may take to end after TERM.
const GRACE: std::time::Duration = std::time::Duration::from_secs(5);

/// How the binary is called again for work of its own; none of these is for a person.
pub mod entry {
    /// The guard of one agent.
    pub const GUARD: &str = "__guard";
    /// What becomes the agent.
    pub const SHIM: &str = "__become";
    /// What leaves the terminal and becomes a background loop.
    pub const DETACH: &str = "__detach";
    /// What tells the desktop that a loop is over.
    pub const NOTIFY: &str = "__notify";
    /// The built-in agent.
    pub const REHEARSAL: &str = "__rehearsal";
}
