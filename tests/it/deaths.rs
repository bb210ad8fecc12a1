//! Every death of an agent, a guard or a loop, with real signals and real processes: each test looks at `/proc` and finds
//! that nothing is left.

mod agents;
mod inheritance;
mod keyboard;
mod kills;
mod leftovers;
mod signals;
mod streams;
mod unkillable;
