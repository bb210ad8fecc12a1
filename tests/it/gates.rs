//! "Done" is proven: what the gates promise beside the scenarios of document 002.

mod commands;
mod goalposts;
mod interrupted;
mod sources;
mod tasks;
mod told;
mod verdict;

/// A loop on nothing but a prompt, with more words.
fn ralph<'a>(words: &[&'a str]) -> Vec<&'a str> {
    [&["ralph", "--no-change", "work"], words].concat()
}
