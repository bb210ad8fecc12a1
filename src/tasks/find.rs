//! Finds the tasks of a text line by line: what its headings, status lines and boxes are to each other.

use super::checkbox::{Checkbox, status_line};
use super::edit::{Edit, tick_mark, tick_word};
use super::heading::Heading;
use super::id::split_id;
use super::markdown::{Line, VisibleLines, list_item};
use super::task::{Task, TaskStatus};

/// A task and what ticking it would change, in the order of the text.
pub struct Found {
    pub task: Task,
    pub tick: Vec<Edit>,
}

/// The tasks of `text`, in its order.
pub fn find(text: &str) -> Vec<Found> {
    let mut finder = Finder { found: Vec::new(), section: Section::Plain };
    for line in VisibleLines::new(text) {
        finder.read(&line);
    }
    finder.found
}

struct Finder {
    found: Vec<Found>,
    section: Section,
}

/// What the last heading means for the checkboxes below it.
enum Section {
    /// Each is a task.
    Plain,
    /// Each is a task, unless a status line comes: it then takes the place of those found since `first`.
    TaskHeading { id: Option<String>, name: String, first: usize },
    /// None is a task: the status line has spoken.
    Governed,
}

impl Finder {
    fn read(&mut self, line: &Line<'_>) {
        if let Some(heading) = Heading::parse(&line.text) {
            self.section = self.section_under(&heading);
        } else if let Some(status_box) = status_line(&line.text) {
            self.read_status(line, &status_box);
        } else if !matches!(self.section, Section::Governed) {
            self.found.extend(plain_task(line));
        }
    }

    fn section_under(&self, heading: &Heading<'_>) -> Section {
        match heading.task() {
            Some((id, name)) => {
                Section::TaskHeading { id: id.map(str::to_owned), name: one_line(name), first: self.found.len() }
            }
            None => Section::Plain,
        }
    }

    fn read_status(&mut self, line: &Line<'_>, status_box: &Checkbox<'_>) {
        let Section::TaskHeading { id, name, first } = &mut self.section else {
            return;
        };
        let task = Task {
            id: id.take(),
            name: std::mem::take(name),
            status: status_box.status().unwrap_or(TaskStatus::Pending),
            line: line.number,
        };
        self.found.truncate(*first);
        self.found.push(Found { task, tick: vec![tick_mark(line, status_box), tick_word(line, status_box)] });
        self.section = Section::Governed;
    }
}

fn plain_task(line: &Line<'_>) -> Option<Found> {
    let checkbox = Checkbox::parse(list_item(&line.text)?)?;
    let status = checkbox.status()?;
    let said = checkbox.after.trim();
    let (id, name) = split_id(said).map_or((None, said), |(id, name)| (Some(id.to_owned()), name));
    Some(Found {
        task: Task { id, name: one_line(name), status, line: line.number },
        tick: vec![tick_mark(line, &checkbox)],
    })
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
