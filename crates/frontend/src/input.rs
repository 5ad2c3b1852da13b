//! Reads the text files that a user names.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use mario_diagnostics::Source;
use mario_settings::did_you_mean;

use crate::failure::Failure;
use crate::hints::Diagnostic;

/// The maximum size of a text, in bytes, so that a device or a disk image named by mistake does not fill the memory.
pub const TEXT_SIZE_BYTES_MAX: usize = 64 << 20;

/// Reads a whole text file. Fails if it is not UTF-8, or larger than [`TEXT_SIZE_BYTES_MAX`].
pub fn read_text(path: &Path) -> Result<Source, Failure> {
    let bytes = read_bytes(path).map_err(|error| unreadable(path, &error))?;
    if bytes.len() > TEXT_SIZE_BYTES_MAX {
        let mebibytes = TEXT_SIZE_BYTES_MAX >> 20;
        return Err(Failure::input(Diagnostic::error(format!("`{}` is larger than {mebibytes} MiB", path.display()))));
    }
    let name = path.display().to_string();
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Source::new(name, text)),
        Err(error) => Err(not_text(&name, &error)),
    }
}

/// The failure for a file that cannot be read. If it does not exist, the hint names a file with a similar name.
fn unreadable(path: &Path, error: &io::Error) -> Failure {
    let title = format!("cannot read `{}`", path.display());
    match similar_file(path) {
        Some(similar) if error.kind() == io::ErrorKind::NotFound => {
            let diagnostic = Diagnostic::error(title).caused_by(error);
            Failure::input(diagnostic.hint(format!("did you mean `{}`?", similar.display())))
        }
        _ => Failure::file(title, error),
    }
}

/// The path of a file in the same directory with a similar name, for a path that does not exist; `None` if there is
/// none.
pub fn similar_file(path: &Path) -> Option<PathBuf> {
    // More files are not looked at: a hint is not worth the time.
    const FILES_MAX: usize = 10_000;
    if path.exists() {
        return None;
    }
    let wanted = path.file_name()?.to_str()?;
    let files = directory(path).read_dir().ok()?.take(FILES_MAX).flatten();
    let mut names: Vec<String> = files.filter_map(|file| file.file_name().into_string().ok()).collect();
    // The order of a directory is not defined; the nearest of equally near names is the first.
    names.sort();
    let similar = did_you_mean(wanted, names.iter().map(String::as_str))?;
    Some(path.with_file_name(similar))
}

/// The directory of a file; `.` for a file name without a directory.
pub fn directory(file: &Path) -> PathBuf {
    match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
        _ => PathBuf::from("."),
    }
}

/// Reads a file, but at most one byte more than [`TEXT_SIZE_BYTES_MAX`], by which callers detect a file that is too
/// large.
pub fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    // Opening a directory succeeds on Unix; checking its type yields a clearer error than the failure of the first
    // read.
    if file.metadata()?.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let mut bytes = Vec::new();
    file.take(TEXT_SIZE_BYTES_MAX as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn not_text(name: &str, error: &std::string::FromUtf8Error) -> Failure {
    let start = error.utf8_error().valid_up_to();
    let byte = error.as_bytes()[start];
    // The text before the first bad byte is unchanged, so its offset is valid in the lossy version too.
    let readable = String::from_utf8_lossy(error.as_bytes()).into_owned();
    let end = start + char::REPLACEMENT_CHARACTER.len_utf8();
    Failure::input(
        Diagnostic::error(format!("cannot read `{name}` as text"))
            .at(&Source::new(name, readable), start..end, format!("byte {byte:#04x} is not valid UTF-8"))
            .hint("save the file as UTF-8"),
    )
}
