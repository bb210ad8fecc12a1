//! Aligned tables that fit the width of the terminal.
//!
//! Columns stand two spaces apart and are as wide as their widest cell, measured as a terminal shows it (CJK and emoji
//! take two places). No line has blanks at its end, each ends with `\n`. A table whose columns all have empty headings
//! has no line of headings.
//!
//! Where the table is wider than it may be, the widest of the columns that may be cut ([`Shrink::Cut`]) gives way
//! first, until they are all alike; a cell that does not fit ends with `…`. Columns that may not be cut never are: if
//! they alone are too wide, so is the table, for half an id is worth less than a wrapped line. A column that would be cut and
//! can say it shorter ([`Cell::or`]) does that before.
//!
//! What a cell or a heading says comes from names and files: it goes through [`plain`], so that no control character
//! reaches the terminal. Styles are written only when asked for, around the text and never around the blanks.

use std::borrow::Cow;
use std::fmt::Write;

use anstyle::Style;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::filter::plain;

/// What stands between two columns.
const GAP: usize = 2;

const HEADING: Style = Style::new().bold();

/// At which side of its column a text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// Whether a column gives way in a narrow terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shrink {
    /// It is always shown whole.
    Never,
    /// Its cells may be cut, down to the `…` alone.
    Cut,
}

/// Whether styles are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// For a terminal.
    Always,
    /// For a file, a pipe, or someone who does not want them.
    Never,
}

/// A column: its heading, and how its cells are set.
#[derive(Clone, Debug)]
pub struct Column {
    heading: Cell,
    align: Align,
    shrink: Shrink,
}

impl Column {
    /// A column under `heading`.
    pub fn new(heading: &str, align: Align, shrink: Shrink) -> Self {
        Self { heading: Cell::styled(heading, HEADING), align, shrink }
    }
}

/// The text of one place in a table, and its style.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    text: String,
    short: Option<String>,
    style: Style,
}

impl Cell {
    /// A text without a style.
    pub fn new(text: &str) -> Self {
        Self::styled(text, Style::new())
    }

    /// A text with a style, which is written only with [`Colour::Always`].
    pub fn styled(text: &str, style: Style) -> Self {
        let mut text = plain(text);
        text.truncate(text.trim_end().len());
        Self { text, short: None, style }
    }

    /// The same, with a shorter text for a table that would be too wide.
    #[must_use]
    pub fn or(self, short: &str) -> Self {
        Self { short: Some(plain(short)), ..self }
    }

    fn width(&self) -> usize {
        self.text.width()
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::new(&text)
    }
}

/// Rows of cells under headings.
#[derive(Clone, Debug)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table without rows.
    pub fn new(columns: impl Into<Vec<Column>>) -> Self {
        Self { columns: columns.into(), rows: Vec::new() }
    }

    /// Adds a row. Cells that are missing at its end are empty; those beyond the last column are not shown.
    pub fn row(&mut self, cells: impl Into<Vec<Cell>>) -> &mut Self {
        self.rows.push(cells.into());
        self
    }

    /// The table as text, no wider than `width` where its columns allow it; `None` is no limit.
    pub fn render(&self, width: Option<usize>, colour: Colour) -> String {
        let (whole, given) = (self.widths(None), self.widths(width));
        let is_cut = |at: usize| given.get(at) < whole.get(at);
        let mut shorter = self.clone();
        for (at, cell) in shorter.rows.iter_mut().flat_map(|row| row.iter_mut().enumerate()) {
            if let Some(short) = cell.short.take().filter(|_| is_cut(at)) {
                cell.text = short;
            }
        }
        shorter.set(width, colour)
    }

    fn set(&self, width: Option<usize>, colour: Colour) -> String {
        let widths = self.widths(width);
        let mut out = String::new();
        if self.columns.iter().any(|column| !column.heading.text.is_empty()) {
            self.line(self.columns.iter().map(|column| &column.heading), &widths, colour, &mut out);
        }
        for row in &self.rows {
            self.line(row, &widths, colour, &mut out);
        }
        out
    }

    fn widths(&self, limit: Option<usize>) -> Vec<usize> {
        let mut widths: Vec<usize> = self.columns.iter().map(|column| column.heading.width()).collect();
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = cell.width().max(*width);
            }
        }
        if let Some(limit) = limit {
            self.shrink(&mut widths, limit);
        }
        widths
    }

    /// Shares what the other columns leave among those that may be cut: the narrow ones get what they need, the rest
    /// is divided evenly.
    fn shrink(&self, widths: &mut [usize], limit: usize) {
        let is_cut = |&at: &usize| self.columns[at].shrink == Shrink::Cut;
        let (mut cut, whole): (Vec<usize>, Vec<usize>) = (0..widths.len()).partition(is_cut);
        let taken = whole.iter().map(|&at| widths[at]).sum::<usize>() + GAP * widths.len().saturating_sub(1);
        let mut room = limit.saturating_sub(taken);
        cut.sort_by_key(|&at| widths[at]);
        for (done, &at) in cut.iter().enumerate() {
            let share = room / (cut.len() - done);
            // One place is left for the `…`.
            widths[at] = widths[at].min(share.max(1));
            room = room.saturating_sub(widths[at]);
        }
    }

    fn line<'a>(&self, cells: impl IntoIterator<Item = &'a Cell>, widths: &[usize], colour: Colour, out: &mut String) {
        // Blanks wait until there is something to put behind them: so a line never ends with any.
        let mut blanks = 0;
        for ((cell, column), &width) in cells.into_iter().zip(&self.columns).zip(widths) {
            let text = cut(&cell.text, width);
            let pad = width.saturating_sub(text.width());
            let (before, after) = match column.align {
                Align::Left => (0, pad),
                Align::Right => (pad, 0),
            };
            blanks += before;
            if !text.is_empty() {
                push_blanks(blanks, out);
                push_styled(&text, cell.style, colour, out);
                blanks = 0;
            }
            blanks += after + GAP;
        }
        out.push('\n');
    }
}

fn push_blanks(count: usize, out: &mut String) {
    out.extend(std::iter::repeat_n(' ', count));
}

fn push_styled(text: &str, style: Style, colour: Colour, out: &mut String) {
    match colour {
        Colour::Never => out.push_str(text),
        // Writing to a string does not fail.
        Colour::Always => _ = write!(out, "{style}{text}{style:#}"),
    }
}

/// `text` in at most `width` places, with `…` at the end where something is missing.
pub fn cut(text: &str, width: usize) -> Cow<'_, str> {
    if text.width() <= width {
        return Cow::Borrowed(text);
    }
    let Some(room) = width.checked_sub(1) else {
        return Cow::Borrowed("");
    };
    let mut head = text[..prefix_length(text, room)].to_owned();
    // Some sequences (a heart and its emoji selector) are wider than their characters one by one.
    while head.width() > room {
        head.pop();
    }
    head.push('…');
    Cow::Owned(head)
}

/// How many bytes of `text` fit into `room`, by the widths of single characters.
fn prefix_length(text: &str, room: usize) -> usize {
    let mut used = 0;
    let over = text.char_indices().find(|(_, c)| {
        used += c.width().unwrap_or(0);
        used > room
    });
    over.map_or(text.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use anstyle::AnsiColor;
    use proptest::prelude::*;

    fn loops() -> Table {
        let mut table = Table::new([
            Column::new("WORKTREE", Align::Left, Shrink::Cut),
            Column::new("STATUS", Align::Left, Shrink::Never),
            Column::new("N", Align::Right, Shrink::Never),
            Column::new("TASK", Align::Left, Shrink::Cut),
        ]);
        table.row(["feature-login".into(), "running".into(), "3".into(), "make the login work everywhere".into()]);
        table.row(["日本語".into(), Cell::styled("done", AnsiColor::Green.on_default()), "10".into()]);
        table
    }

    #[test]
    fn columns_are_aligned_and_lines_end_without_blanks() {
        let expected = "\
WORKTREE       STATUS    N  TASK
feature-login  running   3  make the login work everywhere
日本語         done     10
";
        assert_eq!(loops().render(None, Colour::Never), expected);
        assert_eq!(loops().render(Some(58), Colour::Never), expected);
    }

    #[test]
    fn a_column_says_it_shorter_before_it_is_cut() {
        let mut table = Table::new([
            Column::new("STARTED", Align::Left, Shrink::Cut),
            Column::new("TASK", Align::Left, Shrink::Cut),
        ]);
        table.row([
            Cell::new("2026-11-16 03:04:05 (5m ago)").or("5m ago"),
            Cell::new("make the login work everywhere, for everybody"),
        ]);
        let rows =
            |width| table.render(Some(width), Colour::Never).lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(rows(80), ["2026-11-16 03:04:05 (5m ago)  make the login work everywhere, for everybody"]);
        assert_eq!(
            rows(60),
            ["2026-11-16 03:04:05 (5m ago)  make the login work everywher…"],
            "there is room for all of it"
        );
        assert_eq!(rows(50), ["5m ago   make the login work everywhere, for ever…"]);
        assert_eq!(rows(12), ["5m a…  make…"]);
    }

    #[test]
    fn the_widest_column_gives_way_first() {
        let table = [
            (
                45,
                "\
WORKTREE       STATUS    N  TASK
feature-login  running   3  make the login w…
日本語         done     10
",
            ),
            (
                30,
                "\
WORKTR…  STATUS    N  TASK
featur…  running   3  make th…
日本語   done     10
",
            ),
        ];
        for (width, expected) in table {
            assert_eq!(loops().render(Some(width), Colour::Never), expected, "{width}");
        }
    }

    #[test]
    fn columns_that_may_not_be_cut_are_whole_in_any_width() {
        let expected = "\
…  STATUS    N  …
…  running   3  …
…  done     10
";
        assert_eq!(loops().render(Some(1), Colour::Never), expected);
    }

    #[test]
    fn styles_are_around_the_text_only() {
        let mut table =
            Table::new([Column::new("A", Align::Right, Shrink::Never), Column::new("", Align::Left, Shrink::Never)]);
        table.row([Cell::styled("10", AnsiColor::Red.on_default()), "x".into()]);
        let expected = " \x1b[1mA\x1b[0m\n\x1b[31m10\x1b[0m  x\n";
        assert_eq!(table.render(None, Colour::Always), expected);
        assert_eq!(table.render(None, Colour::Never), " A\n10  x\n");
    }

    #[test]
    fn without_headings_there_is_no_line_of_them() {
        let mut table =
            Table::new([Column::new("", Align::Left, Shrink::Never), Column::new("", Align::Left, Shrink::Cut)]);
        table.row(["status".into(), "running".into()]).row(["max".into(), "∞".into()]);
        assert_eq!(table.render(None, Colour::Never), "status  running\nmax     ∞\n");
        assert_eq!(Table::new([]).render(Some(80), Colour::Never), "");
    }

    #[test]
    fn control_characters_never_reach_the_terminal() {
        let mut table = Table::new([Column::new("A\x1b[2J", Align::Left, Shrink::Cut)]);
        table.row(["a\nb\x1b]0;evil\x07\u{202e}c \n".into()]);
        assert_eq!(table.render(None, Colour::Never), "A\na bc\n");
    }

    #[test]
    fn texts_are_cut_to_places_not_characters() {
        let table = [
            ("abc", 3, "abc"),
            ("abcd", 3, "ab…"),
            ("abcd", 1, "…"),
            ("abcd", 0, ""),
            ("日本語", 5, "日本…"),
            ("日本語", 4, "日…"),
            ("❤\u{fe0f}❤\u{fe0f}❤\u{fe0f}", 4, "❤\u{fe0f}❤…"),
        ];
        for (text, width, expected) in table {
            assert_eq!(cut(text, width), expected, "{text} in {width}");
        }
    }

    proptest! {
        #[test]
        fn a_table_of_columns_that_may_be_cut_fits(cells in prop::collection::vec(any::<String>(), 1..5), width in 13usize..60) {
            let columns: Vec<Column> = cells.iter().map(|_| Column::new("H", Align::Left, Shrink::Cut)).collect();
            let mut table = Table::new(columns);
            table.row(cells.iter().map(|cell| Cell::new(cell)).collect::<Vec<_>>());
            for line in table.render(Some(width), Colour::Never).lines() {
                prop_assert!(line.width() <= width, "{line:?}");
                prop_assert_eq!(line.trim_end(), line);
            }
        }
    }
}
