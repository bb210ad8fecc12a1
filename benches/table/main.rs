//! What wt-loop costs, against what the same work costs without it: the table that `scripts/bench` prints.
//!
//! Every ratio is of two medians, measured turn by turn in one run on one machine.

#![expect(clippy::expect_used, reason = "a measurement that cannot be made is no measurement")]
#![expect(clippy::cast_precision_loss, reason = "nobody reads the sixteenth digit")]

mod clock;
mod lab;
mod memory;
mod output;
mod prompts;
mod rivals;
mod turns;

use std::process::ExitCode;

use lab::Lab;

/// One line of the table.
pub struct Row {
    /// What is measured.
    what: String,
    /// What it is measured against.
    against: String,
    /// What came out.
    measured: String,
    /// What it must reach, and whether it does.
    bar: Option<(String, bool)>,
}

impl Row {
    /// A ratio of two times that must not be above `bar`.
    fn ratio(what: &str, against: &str, ours: f64, theirs: f64, bar: f64) -> Self {
        let ratio = ours / theirs;
        Self {
            what: what.into(),
            against: against.into(),
            measured: format!("{ratio:.2} times ({} : {})", clock::show(ours), clock::show(theirs)),
            bar: Some((format!("at most {bar} times"), ratio <= bar)),
        }
    }

    /// A ratio that is the same for every program, to see the others by.
    fn floor(what: &str, against: &str, ours: f64, theirs: f64) -> Self {
        Self { bar: None, ..Self::ratio(what, against, ours, theirs, 0.0) }
    }

    /// Something that is what it is, and must hold.
    fn fact(what: &str, measured: String, bar: &str, holds: bool) -> Self {
        Self { what: what.into(), against: "–".into(), measured, bar: Some((bar.into(), holds)) }
    }

    fn print(&self) {
        let (bar, holds) = match &self.bar {
            Some((bar, true)) => (bar.as_str(), "yes"),
            Some((bar, false)) => (bar.as_str(), "**no**"),
            None => ("–", "–"),
        };
        println!("| {} | {} | {} | {bar} | {holds} |", self.what, self.against, self.measured);
    }
}

fn main() -> ExitCode {
    let lab = Lab::new();
    println!("| what | against | measured | bar | reached |\n|---|---|---|---|---|");
    let measures: [fn(&Lab) -> Vec<Row>; 6] =
        [prompts::rows, turns::rows, output::rows, memory::rows, prompts::rows_of_many, rivals::rows];
    let rows: Vec<Row> = measures.iter().flat_map(|measure| measure(&lab)).inspect(Row::print).collect();
    let bars: Vec<bool> = rows.iter().filter_map(|row| row.bar.as_ref().map(|(_, reached)| *reached)).collect();
    eprintln!("{} of {} bars reached", bars.iter().filter(|reached| **reached).count(), bars.len());
    ExitCode::SUCCESS
}
