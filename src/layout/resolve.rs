//! From what was typed to a change or a module.

use std::fmt;
use std::io;
use std::path::Path;

use super::change::{Change, Module};
use super::names::is_name;
use super::resolve_error::ResolveError;
use super::table::Layout;

impl Layout {
    /// The active change with the id `typed`, or else the only one whose id begins so.
    pub fn resolve(&self, root: &Path, typed: &str) -> Result<Change, ResolveError> {
        let folder = root.join(self.changes.unwrap_or_default());
        let id = pick(Kind::Change, typed, self.changes(root), &folder)?;
        Ok(Change { folder: folder.join(&id), state: root.join(self.states).join(&id), id })
    }

    /// The module with the id or folder name `typed`, or else the only one whose folder name begins so.
    pub fn resolve_module(&self, root: &Path, typed: &str) -> Result<Module, ResolveError> {
        let folder = root.join(self.modules.unwrap_or_default());
        let name = pick(Kind::Module, typed, self.modules(root), &folder)?;
        Ok(Module { id: Kind::Module.id(&name).to_owned(), folder: folder.join(name) })
    }
}

/// What a name was meant to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A change, named by its whole id.
    Change,
    /// A module, named by its number or by number and name.
    Module,
}

impl Kind {
    fn id(self, name: &str) -> &str {
        match self {
            Self::Change => name,
            Self::Module => name.split_once('_').map_or(name, |(number, _)| number),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Change => "change",
            Self::Module => "module",
        })
    }
}

/// The one among `names` that `typed` means.
pub(crate) fn pick(
    kind: Kind,
    typed: &str,
    names: io::Result<Vec<String>>,
    folder: &Path,
) -> Result<String, ResolveError> {
    let typed_name = || typed.to_owned();
    if !is_name(typed) {
        return Err(ResolveError::Invalid { kind, typed: typed_name() });
    }
    let names = names.map_err(|source| ResolveError::Unreadable { path: folder.to_owned(), source })?;
    match fitting(kind, typed, &names).as_slice() {
        [one] => Ok((*one).to_owned()),
        [] => Err(ResolveError::Unknown {
            kind,
            typed: typed_name(),
            nearest: nearest(typed, &names).map(str::to_owned),
            candidates: names,
        }),
        several => Err(ResolveError::Ambiguous {
            kind,
            typed: typed_name(),
            candidates: several.iter().map(|&name| name.to_owned()).collect(),
        }),
    }
}

/// The names that `typed` stands for, by the strictest reading that fits any.
fn fitting<'a>(kind: Kind, typed: &str, names: &'a [String]) -> Vec<&'a str> {
    let those = |fits: &dyn Fn(&str) -> bool| -> Vec<&'a str> {
        names.iter().map(String::as_str).filter(|name| fits(name)).collect()
    };
    [those(&|name| name == typed), those(&|name| kind.id(name) == typed)]
        .into_iter()
        .find(|found| !found.is_empty())
        .unwrap_or_else(|| those(&|name| name.starts_with(typed)))
}

/// Ids share long numbers, so a part that was typed right tells more than a small distance.
fn nearest<'a>(typed: &str, names: &'a [String]) -> Option<&'a str> {
    let names = || names.iter().map(String::as_str);
    names().find(|name| name.contains(typed)).or_else(|| crate::nearest::nearest(typed, names()))
}

#[cfg(test)]
mod tests;
