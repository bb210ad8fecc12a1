//! The completion promise: how an agent says that it is done.
//!
//! An agent promises completion by saying `<promise>TOKEN</promise>`. Two things are done with that tag, and both
//! are pure:
//!
//! [`Scanner`] finds it in a stream of bytes. It has found the promise if, and only if, somewhere in everything it was
//! fed stand, one right after the other: `<promise>`, any ASCII white space, the token, any ASCII white space,
//! `</promise>`. The tag and the token are case sensitive. It does not matter how the stream is cut into reads, what
//! bytes are in it (it need not be UTF-8), or what comes before: a stray `<promise>` hides nothing. Once found it
//! stays found. Memory is bounded by the length of the token, never by the length of the stream; text in which no tag
//! has begun is skipped at the speed of `memchr`.
//!
//! [`defuse`] breaks the tag in text that goes into a prompt, so that an agent which echoes its prompt promises
//! nothing. `<promise>` becomes `<promise tag>` and `</promise>` becomes `</promise tag>`: plain ASCII that a person
//! and a model still read as what it was, and that no scanner, whatever its token, takes for a promise.
//!
//! Whether a promise *counts* (who said it, in what kind of iteration, whether the gates agree) is not decided here.

use std::borrow::Cow;

use memchr::memchr;

pub(crate) const OPEN: &str = "<promise>";
pub(crate) const CLOSE: &str = "</promise>";

/// What [`defuse`] puts after the tag's name. No part of a tag can be made of it, so breaking one makes no other.
pub(crate) const BREAK: &str = " tag";

/// What an agent has to say: a token between the two tags.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Promise {
    token: String,
}

impl Promise {
    /// The promise of `token`, without the ASCII white space around it.
    ///
    /// An empty token is promised by an empty tag; whether to allow one is for the caller to say.
    pub fn new(token: &str) -> Self {
        Self { token: token.trim_ascii().to_owned() }
    }

    /// The token, trimmed.
    pub fn token(&self) -> &str {
        &self.token
    }
}

/// Looks for one [`Promise`] in a stream of bytes.
///
/// Every `<` may be the beginning of the promise, also one inside an attempt that has already begun (the token may
/// contain `<promise>` itself), so all attempts are followed side by side. An attempt is a position: how many bytes of
/// `literal` it has matched. No two attempts share one, as each position can be reached in only one way: at a gap,
/// white space stays and a byte of the literal, which is never white space there, arrives. So there are never more
/// attempts than positions, and that is the bound on memory.
#[derive(Debug, Clone)]
pub struct Scanner {
    /// `<promise>TOKEN</promise>`, without white space around the token.
    literal: Vec<u8>,
    /// The positions before and after the token, where white space may stand.
    gaps: [usize; 2],
    attempts: Vec<usize>,
    found: bool,
}

impl Scanner {
    /// A scanner that has read nothing.
    pub fn new(promise: &Promise) -> Self {
        let token = promise.token();
        Self {
            literal: [OPEN, token, CLOSE].concat().into_bytes(),
            gaps: [OPEN.len(), OPEN.len() + token.len()],
            attempts: Vec::new(),
            found: false,
        }
    }

    /// Reads on.
    pub fn feed(&mut self, mut bytes: &[u8]) {
        while !self.found {
            if self.attempts.is_empty() {
                let Some(start) = memchr(b'<', bytes) else {
                    return;
                };
                bytes = &bytes[start..];
            }
            let Some((&byte, rest)) = bytes.split_first() else {
                return;
            };
            self.step(byte);
            bytes = rest;
        }
    }

    /// Whether the promise was in anything read so far.
    pub fn found(&self) -> bool {
        self.found
    }

    fn step(&mut self, byte: u8) {
        let Self { literal, gaps, attempts, found } = self;
        attempts.retain_mut(|at| {
            if literal[*at] == byte {
                *at += 1;
                *found |= *at == literal.len();
                return *at < literal.len();
            }
            byte.is_ascii_whitespace() && gaps.contains(at)
        });
        if byte == literal[0] {
            attempts.push(1);
        }
    }
}

/// `text` with every promise tag broken, for a prompt whose echo must promise nothing.
///
/// Broken are opening and closing tags, in any case and with white space inside the angle brackets: only the exact tag
/// would be a promise, but a model that quotes a loose one may well tidy it up. Everything else stays as it is, and
/// text without a tag is not copied. Two texts that are joined after they were defused need at least a line end in
/// between, so that no tag is put together from their ends.
pub fn defuse(text: &str) -> Cow<'_, str> {
    let mut broken = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(skip) = memchr(b'<', &text.as_bytes()[at..]) {
        at += skip + 1;
        if let Some(name_end) = tag_name_end(&text[at..]) {
            broken.push_str(&text[copied..at + name_end]);
            broken.push_str(BREAK);
            copied = at + name_end;
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    broken.push_str(&text[copied..]);
    Cow::Owned(broken)
}

/// If `text`, which follows a `<`, goes on as a promise tag: where the tag's name ends.
fn tag_name_end(text: &str) -> Option<usize> {
    const NAME: &[u8] = b"promise";
    let rest = text.as_bytes().trim_ascii_start();
    let rest = rest.strip_prefix(b"/").unwrap_or(rest).trim_ascii_start();
    let (name, rest) = rest.split_at_checked(NAME.len())?;
    let is_tag = name.eq_ignore_ascii_case(NAME) && rest.trim_ascii_start().starts_with(b">");
    is_tag.then(|| text.len() - rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzzing::{self, scan};
    use proptest::prelude::*;

    #[test]
    fn finds_what_is_promised_and_nothing_else() {
        let table = [
            ("COMPLETE", "<promise>COMPLETE</promise>", true),
            ("COMPLETE", "done.\n<promise>\r\n\t COMPLETE \n</promise>.", true),
            ("  COMPLETE\n", "<promise>COMPLETE</promise>", true),
            ("COMPLETE", "", false),
            ("COMPLETE", "COMPLETE", false),
            ("COMPLETE", "<promise>COMPLETE", false),
            ("COMPLETE", "<promise>COMPLETE</promise", false),
            ("COMPLETE", "<promise>COMPLETED</promise>", false),
            ("COMPLETE", "<promise>complete</promise>", false),
            ("COMPLETE", "<Promise>COMPLETE</Promise>", false),
            ("COMPLETE", "<promise>COMP LETE</promise>", false),
            ("COMPLETE", "< promise>COMPLETE</promise>", false),
            ("COMPLETE", "<promise>COMPLETE<promise>", false),
            ("COMPLETE", "<promise>\u{a0}COMPLETE</promise>", false),
            ("ALL DONE", "<promise>ALL DONE</promise>", true),
            ("ALL DONE", "<promise>ALL  DONE</promise>", false),
            ("fertig ✓", "<promise>fertig ✓</promise>", true),
            ("", "<promise> \n </promise>", true),
            ("", "<promise>x</promise>", false),
        ];
        for (token, text, expected) in table {
            assert_eq!(scan(token, [text.as_bytes()]), expected, "{token:?} in {text:?}");
        }
    }

    #[test]
    fn a_stray_tag_does_not_hide_a_real_one() {
        for stray in ["<promise>", "<promise> ", "<promise>COMP", "<promise>COMPLETE ", "<<", "<promise>COMPLETE</"] {
            let text = format!("{stray}<promise>COMPLETE</promise>");
            assert!(scan("COMPLETE", [text.as_bytes()]), "{text:?}");
        }
    }

    #[test]
    fn a_token_made_of_tags_is_a_token() {
        for token in ["<promise>", "</promise>", "<", "<promise><promise>x", "a</promise>b"] {
            let text = format!("<promise><promise>{token}</promise>");
            assert!(scan(token, [text.as_bytes()]), "{text:?}");
        }
    }

    #[test]
    fn found_stays_found() {
        let reads: [&[u8]; 3] = [b"<promise>OK</prom", b"ise>", b"<promise>NOT</promise>"];
        assert!(scan("OK", reads));
    }

    #[test]
    fn bytes_that_are_not_text_are_just_bytes() {
        let reads: [&[u8]; 3] = [b"\xff<\xfe\0<promise>", b"OK", b"</promise>\xff"];
        assert!(scan("OK", reads));
    }

    #[test]
    fn attempts_never_outnumber_positions() {
        let promise = Promise::new("<<<<<<<<");
        let mut scanner = Scanner::new(&promise);
        for _ in 0..1000 {
            scanner.feed(b"<promise>  <<<<<<<<<promise>");
            assert!(scanner.attempts.len() < scanner.literal.len());
        }
    }

    #[test]
    fn defuse_breaks_tags_and_leaves_the_rest() {
        let table = [
            ("say <promise>OK</promise>!", "say <promise tag>OK</promise tag>!"),
            ("<PROMISE>", "<PROMISE tag>"),
            ("< promise\n>< / Promise >", "< promise tag\n>< / Promise tag >"),
            ("<promise<promise>>", "<promise<promise tag>>"),
            ("é<promise>é", "é<promise tag>é"),
            ("<promise", "<promise"),
            ("Promise<void>, <promises>, <promise tag>", "Promise<void>, <promises>, <promise tag>"),
        ];
        for (text, expected) in table {
            assert_eq!(defuse(text), expected);
            assert_eq!(defuse(expected), expected, "defusing twice is defusing once");
        }
    }

    #[test]
    fn text_without_a_tag_is_not_copied() {
        assert!(matches!(defuse("a < b, <i>no</i> promise"), Cow::Borrowed(_)));
    }

    fn token() -> impl Strategy<Value = String> {
        prop_oneof![
            Just("OK".to_owned()),
            Just(String::new()),
            prop::collection::vec(
                prop::sample::select(vec!["O", "K", "OK", " ", "<", ">", "<promise>", "</promise>", "é"]),
                0..5
            )
            .prop_map(|parts| parts.concat()),
        ]
    }

    /// A token and a text in which near misses of its promise are likely.
    fn token_and_text() -> impl Strategy<Value = (String, String)> {
        token().prop_flat_map(|token| {
            let mut parts: Vec<String> = [
                OPEN,
                CLOSE,
                OPEN,
                CLOSE,
                "<",
                ">",
                "/",
                "<prom",
                "ise>",
                "</",
                "promise",
                "<PROMISE>",
                "< promise >",
                " ",
                "\n",
                "\t\r\n",
                "\u{b}",
                "O",
                "K",
                "OK",
                "x",
                "é",
                "\u{a0}",
            ]
            .map(str::to_owned)
            .to_vec();
            parts.extend([token.clone(), token.clone(), format!("{OPEN}{token}"), format!("{token} {CLOSE}")]);
            let text = prop::collection::vec(prop::sample::select(parts), 0..16).prop_map(|parts| parts.concat());
            (Just(token), text)
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

        #[test]
        fn scanner_is_the_definition_and_nothing_defused_is_a_promise(
            (token, text) in token_and_text(),
            before in ".{0,40}",
            cuts in prop::collection::vec(any::<usize>(), 0..6),
        ) {
            fuzzing::promise(&token, text.as_bytes(), &cuts);
            fuzzing::promise(&token, (before + &text).as_bytes(), &cuts);
        }

        #[test]
        fn scanner_takes_any_bytes(text in prop::collection::vec(any::<u8>(), 0..200), token in ".{0,8}") {
            fuzzing::promise(&token, &text, &[7, 14]);
        }
    }
}
