//! Reads a template and makes a prompt of it.

use std::borrow::Cow;

use super::error::TemplateError;
use super::facts::PromptFacts;
use super::section::{Paragraph, Part, Section};
use super::slot::Slot;
use crate::promise::defuse;

/// A prompt with names in the place of values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    sections: Vec<Section>,
}

impl Template {
    /// The template that comes with wt-loop.
    pub fn builtin() -> Self {
        match Self::parse(include_str!("prompt.md")) {
            Ok(template) => template,
            Err(error) => unreachable!("prompt.md is part of the program, and a test parses it: {error}"),
        }
    }

    /// Reads a template.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        let mut sections = vec![Section::default()];
        let mut paragraph = Paragraph::default();
        for (line, text) in (1..).zip(text.lines()).skip(opening_comment(text)) {
            let parts = parse_line(line, text)?;
            if is_section_heading(text) {
                add(&mut sections, &mut paragraph);
                sections.push(Section { heading: Some(Paragraph { lines: vec![parts] }), body: Vec::new() });
            } else if text.trim().is_empty() {
                add(&mut sections, &mut paragraph);
            } else {
                paragraph.lines.push(parts);
            }
        }
        add(&mut sections, &mut paragraph);
        Self { sections }.with_task()
    }

    /// The prompt of one iteration.
    pub fn render(&self, facts: &PromptFacts<'_>) -> String {
        let sections: Vec<_> = self.sections.iter().filter_map(|section| section.render(facts)).collect();
        let text = sections.join("\n\n") + "\n";
        match defuse(&text) {
            Cow::Owned(defused) => defused,
            Cow::Borrowed(_) => text,
        }
    }

    fn with_task(self) -> Result<Self, TemplateError> {
        let has_task = self.sections.iter().flat_map(|section| &section.body).any(|body| body.names(Slot::Task));
        if has_task { Ok(self) } else { Err(TemplateError::NoTask) }
    }
}

fn add(sections: &mut [Section], paragraph: &mut Paragraph) {
    let paragraph = std::mem::take(paragraph);
    if let Some(section) = sections.last_mut().filter(|_| !paragraph.lines.is_empty()) {
        section.body.push(paragraph);
    }
}

/// How many lines the comment at the top takes; one that never ends is none.
fn opening_comment(text: &str) -> usize {
    if !text.starts_with("<!--") {
        return 0;
    }
    text.lines().position(|line| line.contains("-->")).map_or(0, |last| last + 1)
}

/// Whether a section begins here.
pub fn is_section_heading(line: &str) -> bool {
    line.starts_with("# ") || line.starts_with("## ")
}

fn parse_line(line: usize, text: &str) -> Result<Vec<Part>, TemplateError> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, behind) = after.split_once("}}").ok_or(TemplateError::Unclosed { line })?;
        let name = name.trim();
        let slot = Slot::named(name).ok_or_else(|| TemplateError::Unknown { line, name: name.to_owned() })?;
        parts.extend([Part::Text(before.to_owned()), Part::Slot(slot)]);
        rest = behind;
    }
    parts.push(Part::Text(rest.to_owned()));
    parts.retain(|part| *part != Part::Text(String::new()));
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::{facts, rendered};
    use super::*;

    #[test]
    fn a_paragraph_goes_with_its_value_and_a_section_with_its_content() {
        let table = [
            ("{{task}}\n\n{{context}}", "Make it fast.\n"),
            ("{{ task }} Now.", "Make it fast. Now.\n"),
            ("# All\n{{task}}\n{{context}}\n\nend", "# All\n\nend\n"),
            ("# All\n\n{{task}}\n\n{{context}}\n\nend", "# All\n\nMake it fast.\n\nend\n"),
            ("## C\n\nwhy:\n\n{{context}}\n\n## T\n{{task}}", "## T\n\nMake it fast.\n"),
            ("## C ({{change_id}})\n\ntext\n\n## T\n{{task}}", "## T\n\nMake it fast.\n"),
            ("## C\n\nof {{change_id}}\n\n## T\n{{task}}", "## T\n\nMake it fast.\n"),
            ("# Title\n## T\n{{task}}\n\n\n\n### Sub\nx\r\n", "# Title\n\n## T\n\nMake it fast.\n\n### Sub\nx\n"),
            ("<!-- {{nothing}}\n## x\n--> y\n{{task}}", "Make it fast.\n"),
        ];
        for (template, expected) in table {
            assert_eq!(rendered(template, &facts()), expected, "{template}");
        }
    }

    #[test]
    fn a_wrong_template_is_an_error_that_says_where() {
        let known = "iteration, worktree, change_id, proposal, module_id, module, task_status, task, context, \
                     validation_failure, last_failure, previous, tasks_file, promise, first_claim, until";
        let table = [
            ("<!--\n-->\n{{task}}\n{{taks}}", format!("line 4: no placeholder called 'taks'; known: {known}")),
            ("{{task}} {{}}", format!("line 1: no placeholder called ''; known: {known}")),
            ("{{task}}\n{{task\n}}", "line 2: '{{' without '}}' behind it".to_owned()),
            ("# Work", "{{task}} is missing: the agent would never see what it is asked to do".to_owned()),
            ("", "{{task}} is missing: the agent would never see what it is asked to do".to_owned()),
        ];
        for (template, message) in table {
            assert_eq!(Template::parse(template).unwrap_err().to_string(), message, "{template}");
        }
    }

    #[test]
    fn inserted_text_is_never_read_as_a_template() {
        let facts = PromptFacts { task: "{{context}} {{nothing}} {{", context: Some("secret"), ..facts() };
        assert_eq!(rendered("{{task}}", &facts), "{{context}} {{nothing}} {{\n");
    }

    #[test]
    fn a_name_is_one_line() {
        let facts = PromptFacts { worktree: "a\n## Task\u{1b}", ..facts() };
        assert_eq!(rendered("in {{worktree}}: {{task}}", &facts), "in a ## Task : Make it fast.\n");
    }

    proptest! {
        #[test]
        fn any_text_is_a_template_or_an_error(text in "([{}#\\n ]|task|<!--|-->|\\PC){0,16}") {
            let _ = Template::parse(&text).map(|template| template.render(&facts()));
        }
    }
}
