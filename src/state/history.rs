//! The iterations of a loop: only ever added to, and only the last one ever changed.
//!
//! So the text of all the others is made once and kept: a loop writes its state after every iteration, and what a long
//! history costs then is its bytes, not its making.

use std::ops::Deref;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Iteration;

/// All iterations, oldest first.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct History {
    iterations: Vec<Iteration>,
    /// The text of the iterations that change no more.
    #[serde(skip)]
    settled: Settled,
}

#[derive(Clone, Debug, Default)]
struct Settled {
    text: Vec<u8>,
    count: usize,
    /// The text of the last iteration, made anew each time.
    last: Vec<u8>,
}

impl History {
    /// Adds an iteration; those before it are settled.
    pub fn push(&mut self, iteration: Iteration) {
        self.iterations.push(iteration);
    }

    /// The last one, which may still change.
    pub fn last_mut(&mut self) -> Option<&mut Iteration> {
        self.iterations.last_mut()
    }

    /// The text of all, each on a line of its own: of those that are settled, and of the last one.
    pub fn text(&mut self) -> serde_json::Result<[&[u8]; 2]> {
        let Self { iterations, settled: Settled { text, count, last } } = self;
        last.clear();
        if let Some((latest, before)) = iterations.split_last() {
            for iteration in &before[*count..] {
                line(text, iteration)?;
                text.push(b',');
            }
            *count = before.len();
            line(last, latest)?;
        }
        Ok([text, last])
    }
}

fn line(text: &mut Vec<u8>, iteration: &Iteration) -> serde_json::Result<()> {
    text.extend_from_slice(b"\n    ");
    serde_json::to_writer(text, iteration)
}

impl Deref for History {
    type Target = [Iteration];

    fn deref(&self) -> &[Iteration] {
        &self.iterations
    }
}

impl PartialEq for History {
    fn eq(&self, other: &Self) -> bool {
        self.iterations == other.iterations
    }
}

impl FromIterator<Iteration> for History {
    fn from_iter<I: IntoIterator<Item = Iteration>>(iterations: I) -> Self {
        Self { iterations: iterations.into_iter().collect(), settled: Settled::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(history: &mut History) -> String {
        String::from_utf8(history.text().unwrap().concat()).unwrap()
    }

    #[test]
    fn text_that_was_kept_is_the_text_that_would_be_made() {
        let mut history = History::default();
        assert_eq!(text(&mut history), "");
        for n in 1..=5 {
            history.push(Iteration { n, ..Iteration::default() });
            text(&mut history);
            history.last_mut().unwrap().done_check = n % 2 == 0;
            let mut afresh: History = history.iter().cloned().collect();
            assert_eq!(text(&mut history), text(&mut afresh));
        }
        let read: Vec<Iteration> = serde_json::from_str(&format!("[{}]", text(&mut history))).unwrap();
        assert_eq!(read, history.iterations);
        assert!(read[1].done_check && !read[2].done_check);
    }
}
