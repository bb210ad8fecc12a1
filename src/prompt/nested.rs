//! Makes a text fit to stand in the middle of a prompt.

use std::borrow::Cow;

use super::fence::{Fence, unindented};

/// `text` as the body of a section: its headings below ours, its code fences closed.
pub fn nested(text: &str) -> String {
    let mut open: Option<Fence<'_>> = None;
    let mut lines: Vec<Cow<'_, str>> = Vec::new();
    for line in text.trim_end().lines().skip_while(|line| line.trim().is_empty()) {
        let fence = Fence::of(line);
        let is_outside = open.is_none();
        open = match open {
            None => fence.filter(Fence::can_open),
            Some(opened) => Some(opened).filter(|opened| !fence.is_some_and(|fence| fence.closes(opened))),
        };
        lines.push(if is_outside { deeper(line) } else { line.into() });
    }
    lines.extend(open.map(|fence| fence.marks.into()));
    lines.join("\n")
}

fn deeper(line: &str) -> Cow<'_, str> {
    const DEEPEST: usize = 6;
    let text = unindented(line);
    let level = text.len() - text.trim_start_matches('#').len();
    let is_heading = (1..=DEEPEST).contains(&level) && !text[level..].starts_with(|c: char| !c.is_whitespace());
    if is_heading { format!("{}{text}", &"##"[..2.min(DEEPEST - level)]).into() } else { line.into() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::fenced;
    use super::super::template::is_section_heading;
    use super::*;

    #[test]
    fn headings_of_inserted_text_stand_below_ours() {
        let table = [
            ("# a", "### a"),
            ("   ## a", "#### a"),
            ("##### a", "###### a"),
            ("###### a", "###### a"),
            ("#", "###"),
            ("#a\n####### a\n    # a\na # b", "#a\n####### a\n    # a\na # b"),
            ("\n \n  a\n\n", "  a"),
            ("```sh\n# a\n~~~\n``` x\n```\n# b", "```sh\n# a\n~~~\n``` x\n```\n### b"),
            ("~~~~\n~~~\n# a\n~~~~~\n# b", "~~~~\n~~~\n# a\n~~~~~\n### b"),
            ("```code``` here\n# a", "```code``` here\n### a"),
            ("````\nleft open", "````\nleft open\n````"),
        ];
        for (text, expected) in table {
            assert_eq!(nested(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn inserted_text_has_no_heading_of_our_level(text in "([# \\n]|## Task|\\PC){0,24}") {
            prop_assume!(!text.contains(['`', '~']));
            for line in nested(&text).lines() {
                prop_assert!(!is_section_heading(unindented(line)), "{}", line);
            }
        }

        #[test]
        fn what_follows_inserted_text_is_outside_its_fences(text in "([#`~ \\n]|```|~~~~|\\PC){0,24}") {
            let followed = format!("{}\n# x", nested(&text));
            prop_assert!(nested(&followed).ends_with("### x"), "{}", followed);
        }

        #[test]
        fn fenced_output_passes_unchanged(output in "([#`~ \\n]|\\PC){0,24}") {
            let block = fenced(&output);
            prop_assert_eq!(nested(&block), block.lines().collect::<Vec<_>>().join("\n"));
        }
    }
}
