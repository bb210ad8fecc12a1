//! What bad input gets: one line that names the thing, a hint that can be typed, the exit code of the contract, no panic, and
//! nothing that was recorded is lost.

mod disks;
mod files;
mod places;
mod words;
