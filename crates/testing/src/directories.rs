//! Directories that tests write to.

use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A new directory in the system's directory for temporary files. It is removed when the value is dropped.
#[derive(Debug)]
pub struct Scratch(PathBuf);

impl Scratch {
    /// Creates a directory. `name` is part of its path, so that a leftover can be recognised.
    pub fn new(name: &str) -> Scratch {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("mario-{name}-{}-{number}", std::process::id()));
        // An earlier process with the same id may have been killed before it removed its directory.
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a temporary directory can be made");
        Scratch(path)
    }

    /// The path of the directory.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Deref for Scratch {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl AsRef<Path> for Scratch {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Creates or empties the directory `name` below `base` and returns its path. In an integration test, `base` is
/// `env!("CARGO_TARGET_TMPDIR")`. The directory remains after the test, until the same test runs again.
pub fn empty_directory(base: &str, name: &str) -> PathBuf {
    let path = Path::new(base).join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("the tests' own directory is writable");
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scratch_directory_is_unique_and_removed_on_drop() {
        let [one, other] = ["same", "same"].map(Scratch::new);
        assert_ne!(one.path(), other.path());
        fs::write(one.path().join("file"), "text").expect("it is writable");
        let path = one.path().to_owned();
        drop(one);
        assert!(!path.exists() && other.path().exists());
    }

    #[test]
    fn a_directory_is_emptied() {
        let base = Scratch::new("emptied");
        let base = base.path().to_str().expect("a name");
        let first = empty_directory(base, "part/test");
        fs::write(first.join("file"), "text").expect("it is writable");
        let second = empty_directory(base, "part/test");
        assert_eq!(first, second);
        assert_eq!(fs::read_dir(second).expect("it is there").count(), 0);
    }
}
