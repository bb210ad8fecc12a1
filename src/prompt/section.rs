//! What a template is made of, and what of it is left out of a prompt.

use std::borrow::Cow;

use super::facts::PromptFacts;
use super::slot::Slot;

/// A heading and what stands under it; before the first heading, without one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Section {
    pub heading: Option<Paragraph>,
    pub body: Vec<Paragraph>,
}

impl Section {
    /// `None` where it is left out.
    pub fn render(&self, facts: &PromptFacts<'_>) -> Option<String> {
        let heading = self.heading.as_ref().map(|heading| heading.render(facts));
        if heading == Some(None) || self.is_without_its_content(facts) {
            return None;
        }
        let body: Vec<_> = self.body.iter().filter_map(|paragraph| paragraph.render(facts)).collect();
        if body.is_empty() && !self.body.is_empty() {
            return None;
        }
        let paragraphs: Vec<_> = heading.flatten().into_iter().chain(body).collect();
        (!paragraphs.is_empty()).then(|| paragraphs.join("\n\n"))
    }

    fn is_without_its_content(&self, facts: &PromptFacts<'_>) -> bool {
        let mut contents = self.body.iter().filter_map(Paragraph::lone_slot).peekable();
        contents.peek().is_some() && !contents.any(|slot| slot.raw(facts).is_some())
    }
}

/// Lines between blank lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Paragraph {
    pub lines: Vec<Vec<Part>>,
}

impl Paragraph {
    fn render(&self, facts: &PromptFacts<'_>) -> Option<String> {
        let line = |parts: &Vec<Part>| parts.iter().map(|part| part.render(facts)).collect::<Option<String>>();
        self.lines.iter().map(line).collect::<Option<Vec<_>>>().map(|lines| lines.join("\n"))
    }

    fn lone_slot(&self) -> Option<Slot> {
        match self.lines.as_slice() {
            [line] => match line.as_slice() {
                [Part::Slot(slot)] => Some(*slot),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether `slot` is in it.
    pub fn names(&self, slot: Slot) -> bool {
        self.lines.iter().flatten().any(|part| *part == Part::Slot(slot))
    }
}

/// What a line is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    Text(String),
    Slot(Slot),
}

impl Part {
    fn render<'a>(&'a self, facts: &PromptFacts<'a>) -> Option<Cow<'a, str>> {
        match self {
            Self::Text(text) => Some(Cow::Borrowed(text)),
            Self::Slot(slot) => slot.value(facts).map(Cow::Owned),
        }
    }
}
