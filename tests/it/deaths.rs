//! Every death of an agent, a guard or a loop, with real signals and real processes: each test looks at `/proc` and finds
//! that nothing is left.

mod kills;
mod leftovers;
mod streams;
mod unkillable;
