//! Every command as the contract says it, one module per command, and beside them the options of a loop, the promise and
//! the names by which the program can be called.

mod context;
mod demo;
mod doctor;
mod dry_run;
mod history;
mod list;
mod monitor;
mod names;
mod options;
mod promise;
mod resume;
mod run;
mod start;
mod status;
mod stop;
