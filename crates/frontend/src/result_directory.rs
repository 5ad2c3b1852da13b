//! Directories for results: the one that the user named, or else the first unused one below `runs`.

use std::fs;
use std::io;
use std::ops::Deref;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// The default parent directory of results.
const RUNS: &str = "runs";

/// A directory for results. If it was created here and is still empty when this value is dropped, it is removed, and so
/// is its parent under the same conditions.
pub struct ResultDirectory {
    path: PathBuf,
    /// The directories that were created here, innermost first: this one, and its parent if that did not exist. Empty
    /// if the user named the directory.
    made: Vec<PathBuf>,
}

impl ResultDirectory {
    /// Returns the directory that the user named, without creating it, or else creates the first unused one of
    /// `runs/NAME-1`, `runs/NAME-2` and so on.
    pub fn named_or_free(named: Option<&Path>, name: &str) -> Result<ResultDirectory, Failure> {
        match named {
            Some(path) => Ok(ResultDirectory { path: path.to_owned(), made: Vec::new() }),
            None => ResultDirectory::free(Path::new(RUNS), name)
                .map_err(|(path, error)| Failure::file(format!("cannot make `{}`", path.display()), &error)),
        }
    }

    /// Creates the first unused directory of `NAME-1`, `NAME-2` and so on in `within`, which is created if it is
    /// missing. In `NAME`, characters other than letters, digits, `-` and `_` become `-`. Concurrent processes create
    /// different directories.
    fn free(within: &Path, name: &str) -> Result<ResultDirectory, (PathBuf, io::Error)> {
        let plain: String = name
            .chars()
            .map(|letter| if letter.is_alphanumeric() || "-_".contains(letter) { letter } else { '-' })
            .collect();
        let mut made = Vec::new();
        match fs::create_dir(within) {
            Ok(()) => made.push(within.to_owned()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && within.is_dir() => {}
            Err(error) => return Err((within.to_owned(), error)),
        }
        let mut number = 1_u64;
        loop {
            let path = within.join(format!("{plain}-{number}"));
            match fs::create_dir(&path) {
                Ok(()) => {
                    made.insert(0, path.clone());
                    return Ok(ResultDirectory { path, made });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err((path, error)),
            }
        }
    }
}

impl Deref for ResultDirectory {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.path
    }
}

impl Drop for ResultDirectory {
    fn drop(&mut self) {
        for path in &self.made {
            // `remove_dir` removes only empty directories.
            let _ = fs::remove_dir(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::thread;

    use mario_testing::Scratch;

    use super::*;

    #[test]
    fn concurrently_made_directories_differ_and_are_removed_if_empty() {
        const COUNT: usize = 16;
        let scratch = Scratch::new("free");
        let within = scratch.join("results");
        let made: Vec<ResultDirectory> = thread::scope(|scope| {
            let threads: Vec<_> = (0..COUNT).map(|_| scope.spawn(|| ResultDirectory::free(&within, "a b"))).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic").expect("writable")).collect()
        });
        let paths: BTreeSet<PathBuf> = made.iter().map(|one| one.to_path_buf()).collect();
        let expected: BTreeSet<PathBuf> = (1..=COUNT).map(|number| within.join(format!("a-b-{number}"))).collect();
        assert_eq!(paths, expected);
        fs::write(within.join("a-b-7/trace.jsonl"), "").expect("writable");
        drop(made);
        let left: Vec<PathBuf> =
            fs::read_dir(&within).expect("there").map(|entry| entry.expect("one").path()).collect();
        assert_eq!(left, [within.join("a-b-7")]);
    }
}
