//! Refuses to replace files that are not of the kind that a command writes.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use mario_frontend::Diagnostic;

use crate::Failure;

/// How many bytes of a file are read to recognise it.
const OPENING_BYTES: u64 = 1024;

/// Returns an error if the file exists, is not empty, and `is_ours` does not recognise its first bytes. A file that
/// cannot be read passes; writing it may then fail. In the error message, `kind` is the expected kind of file, with its
/// article, and `option` is the option that names the output.
pub(crate) fn refuse_to_replace(
    path: &Path,
    is_ours: impl Fn(&[u8]) -> bool,
    kind: &str,
    option: &str,
) -> Result<(), Failure> {
    let mut opening = Vec::new();
    let read = File::open(path).and_then(|file| file.take(OPENING_BYTES).read_to_end(&mut opening));
    if read.is_err() || opening.is_empty() || is_ours(&opening) {
        return Ok(());
    }
    let diagnostic = Diagnostic::error(format!("`{}` is there already and is not {kind}", path.display()));
    Err(Failure::input(diagnostic.hint(format!("remove it, or name another file with {option}"))))
}

/// Whether `part` occurs in `bytes`.
pub(crate) fn contains(bytes: &[u8], part: &str) -> bool {
    bytes.windows(part.len()).any(|window| window == part.as_bytes())
}
