//! Text that may not be UTF-8, carried through code that works on text, and given back byte for byte.
//!
//! A byte that is no part of a character becomes one of 256 private characters at the very end of Unicode, and becomes that
//! byte again on its way out.

/// The private character that stands for byte 0.
const FIRST: u32 = 0x0010_FF00;

/// What each of them begins with in UTF-8, and hardly any other character.
const FIRST_BYTE: u8 = 0xf4;

/// Bytes as text.
pub fn from_bytes(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().filter_map(|&byte| char::from_u32(FIRST + u32::from(byte))));
    }
    text
}

/// That text as the bytes it was.
pub fn to_bytes(text: &str) -> Vec<u8> {
    if memchr::memchr(FIRST_BYTE, text.as_bytes()).is_none() {
        return text.as_bytes().to_vec();
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut buffer = [0; 4];
    for c in text.chars() {
        match byte_of(c) {
            Some(byte) => bytes.push(byte),
            None => bytes.extend_from_slice(c.encode_utf8(&mut buffer).as_bytes()),
        }
    }
    bytes
}

/// That text for showing: what is no character is a question mark in a box.
pub fn for_showing(text: &str) -> String {
    text.chars().map(|c| if byte_of(c).is_some() { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// Only bytes that cannot stand alone in UTF-8 are ever carried this way.
fn byte_of(c: char) -> Option<u8> {
    let byte = u8::try_from(u32::from(c).checked_sub(FIRST)?).ok()?;
    (byte >= 0x80).then_some(byte)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_no_character_can_be_shown() {
        assert_eq!(for_showing(&from_bytes(b"caf\xe9 \xc3\xa9")), "caf\u{fffd} é");
    }

    proptest! {
        #[test]
        fn any_bytes_come_back_as_they_were(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            prop_assume!(!String::from_utf8_lossy(&bytes).chars().any(|c| byte_of(c).is_some()));
            prop_assert_eq!(to_bytes(&from_bytes(&bytes)), bytes);
        }
    }
}
