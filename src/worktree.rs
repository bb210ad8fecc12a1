//! What git knows: where the worktree is, where its head is, which commits and files an iteration brought.
//!
//! git is asked as rarely as can be: once for root, git directory and head together, once per iteration for head and changes
//! together, and once more only where the head has moved. Nothing here ever writes to the repository, but for the
//! lines in `info/exclude` that keep our own files out of everybody's sight.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::error::{Doing, Error, Result};
use crate::files;
use crate::process::{Answer, Question, ask};

/// The directory of our files in a worktree.
pub const CLAUDE: &str = ".claude";

/// What git must not see of a loop: patterns for `info/exclude`.
const OURS: [&str; 5] = [
    "/.claude/loop-state.json*",
    "/.claude/ralph-*",
    "/.claude/ralph/",
    "/.ito/.state/ralph/",
    "/.spool/.state/ralph/",
];

/// What git writes with one call. A longer answer comes in pieces, and one that ends in the middle of a path with a line end in it would
/// look whole.
const AT_ONCE: usize = 1024;

/// One worktree of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worktree {
    /// Its top directory.
    pub root: PathBuf,
    /// Its own git directory.
    pub git_dir: PathBuf,
    /// The git directory that all worktrees of the repository share.
    pub common_dir: PathBuf,
}

/// Another worktree of the same repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sibling {
    /// Its top directory.
    pub root: PathBuf,
    /// Its branch, without `refs/heads/`; `None` where the head is detached.
    pub branch: Option<String>,
}

/// Head and work tree at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// The commit; `None` before the first one.
    pub head: Option<String>,
    /// Every changed or untracked path, with what tells one content from the next.
    dirty: BTreeMap<Vec<u8>, Option<Stamp>>,
}

type Stamp = (i64, i64, u64);

/// What happened between two snapshots.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Full hashes, oldest first.
    pub commits: Vec<String>,
    /// How many files differ, committed or not.
    pub files: u64,
}

impl Worktree {
    /// The worktree that `cwd` is in.
    pub fn find(cwd: &Path) -> Result<Self> {
        Self::find_meanwhile(cwd, || ())
    }

    /// The same, and something else is done while git looks.
    pub fn find_meanwhile(cwd: &Path, meanwhile: impl FnOnce()) -> Result<Self> {
        const ASKED: [&str; 7] = [
            "rev-parse",
            "--path-format=absolute",
            "--show-toplevel",
            "--is-inside-work-tree",
            "--git-dir",
            "--is-inside-work-tree",
            "--git-common-dir",
        ];
        let whole = |said: &[u8]| said.len() < AT_ONCE && places(said).is_some();
        let question = ask_git(cwd, &ASKED, &ENGLISH)?;
        meanwhile();
        let said = question.answer_once(whole).map_err(|error| no_answer(cwd, &error))?;
        let said = match said {
            Ok(said) => said,
            Err(answer) if answer.ok() => answer.stdout,
            Err(answer) => return Err(not_inside(&answer)),
        };
        let [root, git_dir, common_dir] = places(&said).ok_or_else(|| {
            Error::new("git does not say where this worktree is").hint("git rev-parse --show-toplevel")
        })?;
        Ok(Self { root, git_dir, common_dir })
    }

    /// The base name of its directory.
    pub fn name(&self) -> String {
        self.root.file_name().unwrap_or(OsStr::new("/")).to_string_lossy().into_owned()
    }

    /// The name of the repository that it belongs to: the directory of the main worktree.
    pub fn project(&self) -> String {
        let home = match self.common_dir.file_name() {
            Some(name) if name == ".git" => self.common_dir.parent(),
            _ => Some(self.common_dir.as_path()),
        };
        let name = home.and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned();
        name.strip_suffix(".git").map(str::to_owned).unwrap_or(name)
    }

    /// `.claude/loop-state.json`.
    pub fn state(&self) -> PathBuf {
        self.root.join(CLAUDE).join("loop-state.json")
    }

    /// `.claude/ralph-loop.log`.
    pub fn log(&self) -> PathBuf {
        self.root.join(CLAUDE).join("ralph-loop.log")
    }

    /// `.claude/ralph-terminal.pid`.
    pub fn pid_file(&self) -> PathBuf {
        self.root.join(CLAUDE).join("ralph-terminal.pid")
    }

    /// The lock of the loop that runs here.
    pub fn loop_lock(&self) -> PathBuf {
        self.private("loop.lock")
    }

    /// The lock of the guard whose agent may still live.
    pub fn guard_lock(&self) -> PathBuf {
        self.private("guard.lock")
    }

    /// The lock of the guard of a command that `validate` runs.
    pub fn validate_lock(&self) -> PathBuf {
        self.private("validate.lock")
    }

    /// The lock of a `start` that is under way.
    pub fn start_lock(&self) -> PathBuf {
        self.private("start.lock")
    }

    /// The prompt, for an agent that reads it from a file.
    pub fn prompt_file(&self) -> PathBuf {
        self.private("prompt.md")
    }

    /// What the agent used, for one that tells it in a file.
    pub fn usage_file(&self) -> PathBuf {
        self.private("usage.json")
    }

    /// `.claude/ralph-raw.jsonl`: the agent's JSON as it came.
    pub fn raw(&self) -> PathBuf {
        self.root.join(CLAUDE).join("ralph-raw.jsonl")
    }

    /// The request that `stop` leaves for the loop.
    pub fn stop_request(&self) -> PathBuf {
        self.private("stop")
    }

    /// Where the loop that `start` prepares finds the socket to report in.
    pub fn meeting(&self) -> PathBuf {
        self.private("meeting")
    }

    fn private(&self, name: &str) -> PathBuf {
        self.git_dir.join("wt-loop").join(name)
    }

    /// Head and work tree as they are now: one call, and something else is done while git looks.
    pub fn snapshot(&self, meanwhile: impl FnOnce()) -> Result<Snapshot> {
        let asked = [
            "--no-optional-locks",
            "status",
            "--porcelain=v2",
            "--branch",
            "-z",
            "--untracked-files=all",
            "--no-renames",
        ];
        let ask = || ask_git(&self.root, &asked, &[]);
        let answer = |question: Question| question.answer().map_err(|error| no_answer(&self.root, &error));
        let question = ask()?;
        meanwhile();
        let mut said = answer(question)?;
        if said.code.is_none() {
            // A terminal that is closed may take git along, and leave the loop the time to write down how it ended.
            said = answer(ask()?)?;
        }
        if said.ok() { Ok(Snapshot::parse(&said.stdout, &self.root)) } else { Err(refused("status", &said)) }
    }

    /// What happened from `before` to `after`: one call where the head moved, none otherwise.
    pub fn changes(&self, before: &Snapshot, after: &Snapshot) -> Result<Changes> {
        let mut commits = Vec::new();
        let mut files: BTreeSet<Vec<u8>> = BTreeSet::new();
        if let Some(head) = after.head.as_ref().filter(|_| before.head != after.head) {
            let range = before.head.as_ref().map_or_else(|| head.clone(), |from| format!("{from}..{head}"));
            let asked = [
                "log",
                "--reverse",
                "--no-renames",
                "--name-only",
                "--format=format:%x01%H",
                "-z",
                "--end-of-options",
                &range,
            ];
            let said = git(&self.root, &asked)?;
            if !said.ok() {
                return Err(refused("log", &said));
            }
            (commits, files) = parse_log(&said.stdout);
        }
        let paths = before.dirty.keys().chain(after.dirty.keys());
        files.extend(paths.filter(|path| before.dirty.get(*path) != after.dirty.get(*path)).cloned());
        let files = files.iter().filter(|path| !is_ours(path)).count();
        Ok(Changes { commits, files: files as u64 })
    }

    /// Every worktree of the repository, this one too.
    pub fn siblings(&self) -> Result<Vec<Sibling>> {
        let said = git(&self.root, &["worktree", "list", "--porcelain", "-z"])?;
        if said.ok() { Ok(parse_siblings(&said.stdout)) } else { Err(refused("worktree list", &said)) }
    }

    /// Whether git tracks the file at `path`.
    pub fn tracks(&self, path: &Path) -> Result<bool> {
        let asked = [OsStr::new("ls-files"), OsStr::new("--error-unmatch"), OsStr::new("--"), path.as_os_str()];
        Ok(git(&self.root, &asked)?.ok())
    }

    /// Lists our files in the repository's `info/exclude`, where they are not yet.
    pub fn exclude_ours(&self) -> Result<()> {
        let path = self.common_dir.join("info/exclude");
        let known = files::read(&path).doing("read", &path)?.unwrap_or_default();
        let known = String::from_utf8_lossy(&known);
        let missing: Vec<&str> = OURS.into_iter().filter(|&line| !known.lines().any(|has| has == line)).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let gap = if known.is_empty() || known.ends_with('\n') { "" } else { "\n" };
        let text = format!("{gap}# wt-loop: files of running loops\n{}\n", missing.join("\n"));
        files::append(&path).and_then(|mut file| file.write_all(text.as_bytes())).doing("write", &path)
    }
}

impl Snapshot {
    fn parse(porcelain: &[u8], root: &Path) -> Self {
        let mut snapshot = Self::default();
        for entry in porcelain.split(|&byte| byte == 0) {
            if let Some(oid) = entry.strip_prefix(b"# branch.oid ") {
                snapshot.head = (oid != b"(initial)").then(|| String::from_utf8_lossy(oid).into_owned());
            } else if let Some(path) = changed_path(entry).filter(|path| !is_ours(path)) {
                let stamp = stamp(&root.join(OsStr::from_bytes(path)));
                snapshot.dirty.insert(path.to_vec(), stamp);
            }
        }
        snapshot
    }
}

/// The path of a line of `status --porcelain=v2`.
fn changed_path(entry: &[u8]) -> Option<&[u8]> {
    let fields_before_path = match entry.first()? {
        b'1' => 8,
        b'u' => 10,
        b'?' => 1,
        _ => return None,
    };
    entry.splitn(fields_before_path + 1, |&byte| byte == b' ').nth(fields_before_path)
}

fn stamp(path: &Path) -> Option<Stamp> {
    fs::symlink_metadata(path).ok().map(|found| (found.mtime(), found.mtime_nsec(), found.size()))
}

fn is_ours(path: &[u8]) -> bool {
    let path = [b"/", path].concat();
    OURS.iter().any(|pattern| path.starts_with(pattern.trim_end_matches('*').as_bytes()))
}

/// Commits and their files from `log --name-only -z`: a mark and a hash, a line end, paths.
fn parse_log(out: &[u8]) -> (Vec<String>, BTreeSet<Vec<u8>>) {
    let (mut commits, mut files) = (Vec::new(), BTreeSet::new());
    for piece in out.split(|&byte| byte == 0).filter(|piece| !piece.is_empty()) {
        let Some(marked) = piece.strip_prefix(b"\x01") else {
            files.insert(piece.to_vec());
            continue;
        };
        let mut lines = marked.splitn(2, |&byte| byte == b'\n');
        commits.extend(lines.next().map(|hash| String::from_utf8_lossy(hash).into_owned()));
        files.extend(lines.next().filter(|path| !path.is_empty()).map(<[u8]>::to_vec));
    }
    (commits, files)
}

fn parse_siblings(out: &[u8]) -> Vec<Sibling> {
    let mut siblings: Vec<Sibling> = Vec::new();
    for field in out.split(|&byte| byte == 0) {
        if let Some(root) = field.strip_prefix(b"worktree ") {
            let root = PathBuf::from(OsString::from_vec(root.to_vec()));
            siblings.push(Sibling { root, branch: None });
        } else if let (Some(branch), Some(last)) = (field.strip_prefix(b"branch refs/heads/"), siblings.last_mut()) {
            last.branch = Some(String::from_utf8_lossy(branch).into_owned());
        }
    }
    siblings
}

fn split<'a>(text: &'a [u8], by: &[u8]) -> Vec<&'a [u8]> {
    let (mut parts, mut rest) = (Vec::new(), text);
    while let Some(at) = rest.windows(by.len()).position(|window| window == by) {
        parts.push(&rest[..at]);
        rest = &rest[at + by.len()..];
    }
    parts.push(rest);
    parts
}

/// Root, git directory and common directory. A path may contain line ends; the word between two of them will hardly.
fn places(said: &[u8]) -> Option<[PathBuf; 3]> {
    let parts: [&[u8]; 3] = split(said.strip_suffix(b"\n")?, b"\ntrue\n").try_into().ok()?;
    Some(parts.map(|bytes| PathBuf::from(OsString::from_vec(bytes.to_vec()))))
}

/// Git speaks plain English to us, whatever the user speaks: its words are looked at here, and to load a language takes it a fifth of
/// its time. Not where it may start filters of the user's, which inherit it.
const ENGLISH: [(&str, &str); 1] = [("LC_ALL", "C")];

fn git<A: AsRef<OsStr>>(cwd: &Path, args: &[A]) -> Result<Answer> {
    ask_git(cwd, args, &ENGLISH)?.answer().map_err(|error| no_answer(cwd, &error))
}

fn ask_git<A: AsRef<OsStr>>(cwd: &Path, args: &[A], env: &[(&str, &str)]) -> Result<Question> {
    ask("git", args, cwd, env).map_err(|error| no_answer(cwd, &error))
}

fn no_answer(cwd: &Path, error: &std::io::Error) -> Error {
    match error.kind() {
        std::io::ErrorKind::NotFound if cwd.is_dir() => {
            Error::new("git is not on PATH").hint("install git, then: wt-loop doctor")
        }
        std::io::ErrorKind::NotFound => gone(cwd),
        _ => Error::new(format!("cannot run git in {}: {}", cwd.display(), crate::error::reason(error))),
    }
}

/// That somebody has removed a worktree.
pub fn gone(root: &Path) -> Error {
    Error::new(format!("the worktree {} is gone", root.display())).hint("git worktree list shows those that are left")
}

fn refused(what: &str, said: &Answer) -> Error {
    let first = said.stderr.lines().next().unwrap_or("no reason given").to_owned();
    Error::new(format!("git {what} failed: {first}"))
}

/// Outside a repository the message is the one of the specification; a repository that git distrusts is another matter.
fn not_inside(said: &Answer) -> Error {
    match said.stderr.lines().find(|line| line.contains("dubious ownership")) {
        Some(line) => {
            Error::new(line.trim_start_matches("fatal: ")).hint("git config --global --add safe.directory \"$PWD\"")
        }
        None => Error::specified("Not inside a git worktree. Run from within a worktree directory."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_with_blanks_are_read_from_every_kind_of_line() {
        let hash = "0".repeat(40);
        let lines: [(String, &[u8]); 3] = [
            (format!("1 .M N... 100644 100644 100644 {hash} {hash} a b"), b"a b"),
            (format!("u UU N... 100644 100644 100644 100644 {hash} {hash} {hash} c d"), b"c d"),
            ("? new file".into(), b"new file"),
        ];
        for (line, path) in lines {
            assert_eq!(changed_path(line.as_bytes()), Some(path));
        }
        assert_eq!(changed_path(b"# branch.head main"), None);
    }

    #[test]
    fn a_log_gives_commits_in_order_and_each_file_once() {
        let (commits, files) = parse_log(b"\x01aaa\0\x01bbb\na b\0d/e\0\0\x01ccc\na b\0");
        assert_eq!(commits, ["aaa", "bbb", "ccc"]);
        assert_eq!(files.into_iter().collect::<Vec<_>>(), [b"a b".to_vec(), b"d/e".to_vec()]);
    }

    #[test]
    fn our_own_files_are_nobodys_change() {
        assert!(is_ours(b".claude/loop-state.json") && is_ours(b".claude/ralph-loop.log.1"));
        assert!(!is_ours(b".claude/settings.json") && !is_ours(b"x/.claude/ralph-loop.log"));
    }

    #[test]
    fn siblings_have_a_root_and_perhaps_a_branch() {
        let out = b"worktree /a\0HEAD x\0branch refs/heads/main\0\0worktree /b c\0HEAD y\0detached\0\0";
        let found = parse_siblings(out);
        assert_eq!(found[0], Sibling { root: "/a".into(), branch: Some("main".into()) });
        assert_eq!(found[1], Sibling { root: "/b c".into(), branch: None });
    }
}
