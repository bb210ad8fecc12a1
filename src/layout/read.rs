//! Reads a file of the worktree for a prompt.

use std::path::Path;

use super::open::open_inside;
use super::read_error::ReadError;
use crate::files;

/// How much of a file [`read_inside`] gives at most.
pub const READ_LIMIT: usize = 1024 * 1024;

/// The text of a file of the worktree, for a prompt: `None` where it is missing, cut at [`READ_LIMIT`] with a note.
///
/// Bytes that are not UTF-8 become replacement characters. What decides something, as a list of tasks does, must not
/// be judged by a text that may be cut: use [`open_inside`].
pub fn read_inside(root: &Path, path: &Path) -> Result<Option<String>, ReadError> {
    let Some(file) = open_inside(root, path)? else {
        return Ok(None);
    };
    // One byte more than we give, to know whether there is more.
    let bytes = files::up_to(file, READ_LIMIT as u64 + 1).map_err(|source| ReadError::unreadable(path, source))?;
    Ok(Some(bounded(&bytes, READ_LIMIT)))
}

fn bounded(bytes: &[u8], limit: usize) -> String {
    if bytes.len() <= limit {
        return String::from_utf8_lossy(bytes).into_owned();
    }
    let is_inside_character = |at: usize| bytes[at] & 0b1100_0000 == 0b1000_0000;
    let cut = (limit.saturating_sub(3)..=limit).rev().find(|&at| !is_inside_character(at)).unwrap_or(limit);
    let head = String::from_utf8_lossy(&bytes[..cut]);
    format!("{head}\n\n[cut here: the file is longer than {limit} bytes]\n")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::testing::tree;
    use super::*;

    #[test]
    fn a_long_file_is_cut_at_a_character_with_a_note() {
        let note = "\n\n[cut here: the file is longer than 4 bytes]\n";
        assert_eq!(bounded(b"abcd", 4), "abcd");
        assert_eq!(bounded(b"abcde", 4), format!("abcd{note}"));
        assert_eq!(bounded("abcé".as_bytes(), 4), format!("abc{note}"));
        assert_eq!(bounded("a🦀".as_bytes(), 4), format!("a{note}"));
        assert_eq!(bounded(b"\x80\x80\x80\x80\x80", 4), format!("����{note}"));

        let root = tree(&[]);
        fs::write(root.path().join("long"), "x".repeat(READ_LIMIT + 1)).unwrap();
        let text = read_inside(root.path(), Path::new("long")).unwrap().unwrap();
        assert!(text.ends_with("x\n\n[cut here: the file is longer than 1048576 bytes]\n"));
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced() {
        let root = tree(&[]);
        fs::write(root.path().join("latin"), b"caf\xe9").unwrap();
        assert_eq!(read_inside(root.path(), Path::new("latin")).unwrap().unwrap(), "caf\u{fffd}");
    }
}
