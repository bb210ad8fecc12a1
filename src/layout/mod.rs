//! Where a repository keeps its proposals, modules, tasks, loop state and context.
//!
//! A layout is data: one entry of [`LAYOUTS`] says which directory marks it and where its things lie. The first
//! entry whose marker is a directory is the layout of a worktree; without one it is [`PLAIN`], which has no changes.
//!
//! | layout | changes | modules | state and context of a change |
//! |---|---|---|---|
//! | `ito` | `.ito/changes/<id>/` | `.ito/modules/<id>_<name>/` | `.ito/.state/ralph/<id>/` |
//! | `spool` | `.spool/changes/<id>/` | `.spool/modules/<id>_<name>/` | `.spool/.state/ralph/<id>/` |
//! | `openspec` | `openspec/changes/<id>/` | none | `.claude/ralph/<id>/` |
//! | `plain` | none | none | none; a loop without a change has [`LOOSE_CONTEXT`], in every layout |
//!
//! **Names.** A typed name is only ever compared with the names that are there, and a name that could leave its
//! folder, hide in it, pass for an option or upset a terminal is refused on both sides. So a resolved path is always
//! a direct child of its folder. A name that is a symlink is not a change.
//!
//! **Reading.** [`open_inside`] walks from the root one component at a time and follows no symlink, so that nothing
//! outside the worktree gets into a prompt, not even if a directory is swapped for a link while we look. A marker that
//! is a symlink is still detected: the refusal that then names it helps more than a silent "no changes here".
//!
//! **Finding `tasks.md`.** [`find_tasks`] answers as `find ROOT -maxdepth 3 -name tasks.md` would, but asks each
//! directory for that one name instead of listing it; only the two upper levels are listed at all, and the second
//! only as far as the first hit.
//!
//! Nothing here writes.

mod change;
mod find;
mod names;
mod open;
mod read;
mod read_error;
pub(crate) mod resolve;
mod resolve_error;
mod table;
#[cfg(test)]
mod testing;

pub use change::{Change, Module, module_of};
pub use find::{find_tasks, has_linked_tasks};
pub use open::{behind_links, open_inside};
pub use read::{READ_LIMIT, read_inside};
pub use read_error::ReadError;
pub use resolve::Kind;
pub use resolve_error::ResolveError;
pub use table::{LAYOUTS, LOOSE_CONTEXT, Layout, PLAIN};
