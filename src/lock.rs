//! Locks held by the living.
//!
//! A lock is an open file description lock (OFD) on a file in the worktree's git directory: it goes when its holder dies,
//! by whatever death, `git clean` cannot remove its file, and it can be asked about without being taken, so that
//! `status` never makes a `start` fail. The file says who holds it; only the lock itself says whether anybody does.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

use nix::libc::{O_NOFOLLOW, O_NONBLOCK};
use serde::{Serialize, de::DeserializeOwned};

use crate::files;

/// How often a lock is tried again while it is waited for.
const RETRY: Duration = Duration::from_millis(20);

/// A lock that is held until this value is dropped.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

/// What came of trying to take a lock.
#[derive(Debug)]
pub enum Taken {
    /// It is ours now.
    Ours(Lock),
    /// Somebody else holds it.
    Held,
}

impl Lock {
    /// Takes the lock if nobody holds it, and writes down who we are.
    pub fn take(path: &Path, holder: &impl Serialize) -> io::Result<Taken> {
        if let Some(dir) = path.parent() {
            files::private_dir(dir)?;
        }
        loop {
            let mut file = open(OpenOptions::new().read(true).write(true).create(true).truncate(false), path)?;
            if !imp::try_lock(&file)? {
                return Ok(Taken::Held);
            }
            // Between opening and locking the file may have been removed and made anew by another.
            let opened = file.metadata()?;
            if std::fs::metadata(path).ok().map(|found| found.ino()) != Some(opened.ino()) {
                continue;
            }
            let word = serde_json::to_vec(holder)?;
            file.write_all(&word)?;
            // To cut a file takes the disk longer than to write it: what is left of a longer word goes, and no more.
            if opened.len() > word.len() as u64 {
                file.set_len(word.len() as u64)?;
            }
            return Ok(Taken::Ours(Self { _file: file }));
        }
    }

    /// Whether anybody holds the lock now.
    pub fn is_held(path: &Path) -> io::Result<bool> {
        match open(OpenOptions::new().read(true).write(true), path) {
            Ok(file) => imp::is_locked(&file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Who holds the lock now, as that one wrote it down; `None` where nobody does. For the instant in which it is being taken, it is
    /// nobody or who held it before.
    pub fn holder<T: DeserializeOwned>(path: &Path) -> Option<T> {
        let mut file = open(OpenOptions::new().read(true).write(true), path).ok()?;
        if !imp::is_locked(&file).unwrap_or(false) {
            return None;
        }
        let mut text = Vec::new();
        file.read_to_end(&mut text).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Waits until nobody holds the lock; `false` where that did not happen in time.
    pub fn wait_until_free(path: &Path, at_most: Duration) -> io::Result<bool> {
        let deadline = Instant::now() + at_most;
        while Self::is_held(path)? {
            if Instant::now() >= deadline {
                return Ok(false);
            }
            std::thread::sleep(RETRY);
        }
        Ok(true)
    }
}

fn open(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    options.mode(0o600).custom_flags(O_NOFOLLOW | O_NONBLOCK).open(path)
}

#[cfg(all(target_os = "linux", not(wt_loop_portable)))]
mod imp {
    use nix::errno::Errno;
    use nix::fcntl::{FcntlArg, fcntl};
    use nix::libc;
    use std::fs::File;
    use std::io;

    use crate::files::uninterrupted;

    pub fn try_lock(file: &File) -> io::Result<bool> {
        uninterrupted(|| match fcntl(file, FcntlArg::F_OFD_SETLK(&whole(libc::F_WRLCK))) {
            Ok(_) => Ok(true),
            Err(Errno::EAGAIN | Errno::EACCES) => Ok(false),
            Err(error) => Err(error.into()),
        })
    }

    pub fn is_locked(file: &File) -> io::Result<bool> {
        let mut asked = whole(libc::F_WRLCK);
        uninterrupted(|| Ok(fcntl(file, FcntlArg::F_OFD_GETLK(&mut asked))?))?;
        Ok(i32::from(asked.l_type) != libc::F_UNLCK)
    }

    #[expect(clippy::cast_possible_truncation, reason = "the constants of fcntl are small and fit the struct's fields")]
    fn whole(kind: i32) -> libc::flock {
        libc::flock { l_type: kind as i16, l_whence: libc::SEEK_SET as i16, l_start: 0, l_len: 0, l_pid: 0 }
    }
}

/// Without OFD locks a `flock` of the whole file serves; asking is taking it for an instant.
#[cfg(not(all(target_os = "linux", not(wt_loop_portable))))]
mod imp {
    use std::fs::{File, TryLockError};
    use std::io;

    pub fn try_lock(file: &File) -> io::Result<bool> {
        match file.try_lock() {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    pub fn is_locked(file: &File) -> io::Result<bool> {
        match file.try_lock_shared() {
            Ok(()) => file.unlock().map(|()| false),
            Err(TryLockError::WouldBlock) => Ok(true),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_holds_it_and_asking_does_not_take_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("git/lock");
        assert!(!Lock::is_held(&path).unwrap());
        let Taken::Ours(lock) = Lock::take(&path, &"first").unwrap() else { panic!("nobody holds it") };
        assert!(Lock::is_held(&path).unwrap());
        assert!(matches!(Lock::take(&path, &"second").unwrap(), Taken::Held));
        assert_eq!(Lock::holder::<String>(&path).as_deref(), Some("first"));
        drop(lock);
        assert!(!Lock::is_held(&path).unwrap());
        assert_eq!(Lock::holder::<String>(&path), None, "a dead holder's word does not count");
        assert!(Lock::wait_until_free(&path, Duration::ZERO).unwrap());
    }

    #[test]
    fn asking_while_another_takes_it_never_makes_that_one_fail() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        std::thread::scope(|scope| {
            let asker = scope.spawn(|| (0..2000).for_each(|_| drop(Lock::is_held(&path))));
            while !asker.is_finished() {
                assert!(matches!(Lock::take(&path, &()).unwrap(), Taken::Ours(_)));
            }
        });
    }
}
