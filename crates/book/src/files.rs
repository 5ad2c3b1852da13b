//! Lists, reads and writes files. Listed paths are written as in links: relative to a directory, with `/` as separator.

use std::fs;
use std::path::Path;

use crate::BookError;

/// The names of directories that are skipped at any depth. Directories with the tag that cargo puts into build output
/// are skipped, too.
const FOREIGN_DIRECTORIES: [&str; 2] = [".git", "node_modules"];
const BUILD_OUTPUT_TAG: &str = "CACHEDIR.TAG";

/// The paths of all files below `directory` whose names end in `ending`, sorted. [`FOREIGN_DIRECTORIES`] and build
/// output below it are skipped.
pub(crate) fn below(directory: &Path, ending: &str) -> Result<Vec<String>, BookError> {
    let mut paths = Vec::new();
    collect(directory, "", ending, &mut paths)?;
    paths.sort();
    Ok(paths)
}

fn collect(directory: &Path, prefix: &str, ending: &str, paths: &mut Vec<String>) -> Result<(), BookError> {
    for entry in fs::read_dir(directory).map_err(BookError::file(directory))? {
        let entry = entry.map_err(BookError::file(directory))?;
        let kind = entry.file_type().map_err(BookError::file(directory))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if kind.is_dir() {
            let is_foreign = FOREIGN_DIRECTORIES.contains(&name.as_str());
            if !is_foreign && !entry.path().join(BUILD_OUTPUT_TAG).exists() {
                collect(&entry.path(), &format!("{prefix}{name}/"), ending, paths)?;
            }
        } else if name.ends_with(ending) {
            paths.push(format!("{prefix}{name}"));
        }
    }
    Ok(())
}

/// Resolves `link`, as written in the page `from`, to a path that is relative to the same root as `from`. Returns
/// `None` if the link leads out of that root.
pub(crate) fn resolve(from: &str, link: &str) -> Option<String> {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in link.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Reads a text file.
pub(crate) fn read(path: &Path) -> Result<String, BookError> {
    fs::read_to_string(path).map_err(BookError::file(path))
}

/// Writes a file, and creates the directories above it.
pub(crate) fn write(path: &Path, content: &[u8]) -> Result<(), BookError> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory).map_err(BookError::file(directory))?;
    }
    fs::write(path, content).map_err(BookError::file(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_relative_to_the_directory_of_their_page() {
        for (from, link, to) in [
            ("docs/runs.md", "trace.md", Some("docs/trace.md")),
            ("docs/book/gallery.md", "../runs.md", Some("docs/runs.md")),
            ("docs/book/gallery.md", "../../README.md", Some("README.md")),
            ("README.md", "./policies/", Some("policies")),
            ("README.md", "../elsewhere.md", None),
        ] {
            assert_eq!(resolve(from, link).as_deref(), to, "{link}");
        }
    }
}
