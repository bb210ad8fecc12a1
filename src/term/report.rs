//! A loop in words and tables: what `status`, `history`, `list` and `monitor` show of it.

use jiff::Timestamp;

use super::filter::plain;
use super::human::{self, Glyphs};
use super::table::{Align, Cell, Column, Shrink, Table};
use super::{BAD, DIM, GOOD, WARN};
use crate::state::{ExitReason, Iteration, State, moment};

/// How wide a bar is.
pub const BAR: usize = 20;

/// `3/10`, or `3/∞`.
pub fn progress(state: &State) -> String {
    match state.max_iterations {
        0 => format!("{}/∞", state.current_iteration),
        max => format!("{}/{max}", state.current_iteration),
    }
}

/// An absolute time and how long ago that is; the text itself where it is no time.
pub fn time(text: &str, now: Timestamp) -> String {
    moment(text).map_or_else(|| plain(text), |then| format!("{} ({})", human::local(then), human::relative(then, now)))
}

/// The same for a table, which shows how long ago where there is no room for more.
pub fn when(text: &str, now: Timestamp) -> Cell {
    let cell = Cell::from(time(text, now));
    match moment(text) {
        Some(then) => cell.or(&human::relative(then, now)),
        None => cell,
    }
}

/// `2/5 ████░░░░░`.
pub fn bar(done: u64, total: u64, glyphs: Glyphs) -> String {
    format!("{done}/{total}  {}", human::bar(done, total, BAR, glyphs))
}

/// The table of iterations.
pub fn iterations(shown: &[Iteration], now: Timestamp) -> Table {
    let mut table = Table::new([
        Column::new("#", Align::Right, Shrink::Never),
        Column::new("STARTED", Align::Left, Shrink::Cut),
        Column::new("TOOK", Align::Right, Shrink::Never),
        Column::new("EXIT", Align::Right, Shrink::Never),
        Column::new("ENDED", Align::Left, Shrink::Never),
        Column::new("COMPLETION", Align::Left, Shrink::Cut),
        Column::new("COMMITS", Align::Right, Shrink::Never),
        Column::new("FILES", Align::Right, Shrink::Never),
        Column::new("TOKENS", Align::Right, Shrink::Never),
    ]);
    for iteration in shown {
        table.row([
            Cell::from(iteration.n.to_string()),
            when(&iteration.started, now),
            Cell::from(iteration.duration().map(human::duration).unwrap_or_default()),
            Cell::from(iteration.exit_code.map_or_else(|| "-".to_owned(), |code| code.to_string())),
            how(iteration),
            completion(iteration),
            Cell::from(iteration.commits.len().to_string()),
            Cell::from(iteration.files_changed.to_string()),
            Cell::from(human::count(iteration.tokens_used)),
        ]);
    }
    table
}

fn how(iteration: &Iteration) -> Cell {
    match iteration.exit_reason {
        None => Cell::from("-"),
        Some(reason @ ExitReason::Completed) => Cell::styled(reason.word(), GOOD),
        Some(reason @ ExitReason::Interrupted) => Cell::styled(reason.word(), WARN),
        Some(reason) => Cell::styled(reason.word(), BAD),
    }
}

fn completion(iteration: &Iteration) -> Cell {
    match (&iteration.validation, iteration.done_check, iteration.promise_found) {
        (_, true, _) => Cell::styled("accepted", GOOD),
        (Some(rejection), false, _) => Cell::styled(&format!("rejected: {}", rejection.gate), WARN),
        (None, false, true) => Cell::styled("promised", DIM),
        (None, false, false) => Cell::styled("-", DIM),
    }
}
