//! Atomic file writes: a file is written under a temporary name and then renamed.

#![expect(clippy::disallowed_methods, reason = "the files of a run are written and read in this directory alone")]

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Writes a file atomically: a reader sees the old content or all of the new one, even if the disk is full or the
/// process is killed. Returns what `content` returns.
///
/// A symbolic link stays a link, and the permissions of an existing file are kept. Not atomic: a device or a pipe is
/// written to directly, and so is an existing file whose directory cannot be written to.
pub fn write_atomically<T>(path: &Path, content: impl FnOnce(&mut File) -> io::Result<T>) -> io::Result<T> {
    /// Distinguishes the temporary files of one process.
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    // Fails for a read-only file, which a rename would replace.
    let former = match OpenOptions::new().write(true).open(&path) {
        Ok(former) => Some(former),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let Some(name) = path.file_name() else { return Err(io::ErrorKind::InvalidInput.into()) };
    let mut unfinished = std::ffi::OsString::from(".");
    unfinished.push(name);
    unfinished.push(format!(".{}-{}.new", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)));
    let unfinished = path.with_file_name(unfinished);
    let Some(mut former) = former else { return write_beside(&path, &unfinished, content) };
    let metadata = former.metadata()?;
    if !metadata.is_file() {
        return content(&mut former);
    }
    match OpenOptions::new().write(true).create_new(true).open(&unfinished) {
        Ok(file) => finish(Unfinished { file, path: unfinished }, &path, |file| {
            file.set_permissions(metadata.permissions())?;
            content(file)
        }),
        Err(error) if matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem) => {
            former.set_len(0)?;
            content(&mut former)
        }
        Err(error) => Err(error),
    }
}

/// Writes a file atomically through the temporary file `unfinished`, which is replaced if it exists, for example the
/// leftover of a killed process. No other process may use the same temporary file.
pub(super) fn write_beside<T>(
    path: &Path,
    unfinished: &Path,
    content: impl FnOnce(&mut File) -> io::Result<T>,
) -> io::Result<T> {
    let file = File::create(unfinished)?;
    finish(Unfinished { file, path: unfinished.to_owned() }, path, content)
}

/// A file that is being written.
struct Unfinished {
    file: File,
    path: PathBuf,
}

fn finish<T>(
    mut unfinished: Unfinished,
    path: &Path,
    content: impl FnOnce(&mut File) -> io::Result<T>,
) -> io::Result<T> {
    let result = content(&mut unfinished.file).and_then(|value| {
        // Some systems report a full disk only here.
        unfinished.file.sync_all()?;
        fs::rename(&unfinished.path, path).map(|()| value)
    });
    if result.is_err() {
        let _ = fs::remove_file(&unfinished.path);
    } else if let Some(directory) = path.parent() {
        // Makes the new name durable, on systems that let a directory be opened.
        let _ = File::open(directory).and_then(|directory| directory.sync_all());
    }
    result
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use mario_testing::Scratch;

    use super::*;

    fn names(place: &Path) -> Vec<String> {
        let entries = fs::read_dir(place).expect("a directory").map(|entry| entry.expect("an entry").file_name());
        let mut names: Vec<String> = entries.map(|name| name.to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_failed_write_leaves_only_the_former_file() {
        let place = Scratch::new("failing");
        let path = place.join("page.html");
        let failing = |file: &mut File| {
            file.write_all(b"the first half")?;
            Err::<(), _>(io::Error::from(io::ErrorKind::StorageFull))
        };
        assert!(write_atomically(&path, failing).is_err());
        assert!(names(&place).is_empty(), "no new file is left in part");
        write_atomically(&path, |file| file.write_all(b"former")).expect("writable");
        let error = write_atomically(&path, failing).expect_err("the disk is full");
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert_eq!(fs::read(&path).expect("it is there"), b"former");
        assert_eq!(names(&place), ["page.html"]);
        write_atomically(&path, |file| file.write_all(b"new")).expect("writable");
        assert_eq!(fs::read(&path).expect("it is there"), b"new");
        assert_eq!(names(&place), ["page.html"]);
    }

    #[test]
    fn a_directory_is_not_replaced_and_a_missing_one_is_reported() {
        let place = Scratch::new("directory");
        let error = write_atomically(&place, |file| file.write_all(b"x")).expect_err("a directory");
        assert_eq!(error.kind(), io::ErrorKind::IsADirectory);
        let error =
            write_atomically(&place.join("missing/page.html"), |file| file.write_all(b"x")).expect_err("no place");
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }

    #[cfg(unix)]
    #[test]
    fn symbolic_links_permissions_and_devices_are_preserved() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let place = Scratch::new("kinds");
        let (path, link) = (place.join("page.html"), place.join("link.html"));
        fs::write(&path, "former").expect("writable");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("ours");
        symlink("page.html", &link).expect("writable");
        write_atomically(&link, |file| file.write_all(b"new")).expect("writable");
        assert!(fs::symlink_metadata(&link).expect("it is there").is_symlink());
        assert_eq!(fs::read(&path).expect("it is there"), b"new");
        assert_eq!(fs::metadata(&path).expect("it is there").permissions().mode() & 0o777, 0o640);
        write_atomically(Path::new("/dev/null"), |file| file.write_all(b"x")).expect("it takes anything");
        if Path::new("/dev/full").exists() {
            let error = write_atomically(Path::new("/dev/full"), |file| file.write_all(b"x")).expect_err("it is full");
            assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        }
    }
}
