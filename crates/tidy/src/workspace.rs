//! The crates and the text files of a workspace, read once for all rules.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::metadata::{self, array, text};

/// Directories to skip. Build output is skipped, too; it is recognised by the tag that cargo puts into it.
const FOREIGN_DIRECTORIES: [&str; 2] = [".git", "node_modules"];
const BUILD_OUTPUT_TAG: &str = "CACHEDIR.TAG";

/// The maximum size of a text file, in bytes. Larger files are treated as data and skipped.
const TEXT_SIZE_BYTES_MAX: u64 = 1 << 20;

/// A workspace.
#[derive(Clone, Debug)]
pub struct Workspace {
    /// Its directory.
    pub root: PathBuf,
    /// Its crates, sorted by name.
    pub members: Vec<Member>,
    /// Its text files, sorted by path.
    pub files: Vec<SourceFile>,
}

/// A crate of the workspace.
#[derive(Clone, Debug)]
pub struct Member {
    /// The name of its directory, which may differ from the name of the package.
    pub name: String,
    /// Its manifest, relative to the root.
    pub manifest: String,
    /// The names of the crates of the workspace that it links.
    pub dependencies: Vec<String>,
    /// The names of the crates of the workspace that its tests or its build script link.
    pub test_dependencies: Vec<String>,
    /// The root source files of its libraries and binaries, relative to the root of the workspace.
    pub openings: Vec<String>,
}

/// A text file of the workspace.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// The path relative to the root, with `/` as the separator.
    pub path: String,
    /// The whole text.
    pub text: String,
}

impl SourceFile {
    /// Whether the file is Rust.
    pub fn is_rust(&self) -> bool {
        Path::new(&self.path).extension().is_some_and(|extension| extension == "rs")
    }
}

impl Workspace {
    /// Reads the workspace in this directory.
    pub fn read(root: &Path) -> io::Result<Self> {
        let root = root.canonicalize()?;
        let metadata = metadata::read(&root, &["--no-deps", "--offline"])?;
        let mut members: Vec<Member> =
            array(&metadata["packages"]).iter().map(|package| member(&root, package)).collect();
        members.sort_by(|one, other| one.name.cmp(&other.name));
        let mut files = Vec::new();
        collect_files(&root, &root, &mut files)?;
        files.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(Self { root, members, files })
    }

    /// The text of the file at this path; `None` if there is no such text file.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.files.iter().find(|file| file.path == path).map(|file| file.text.as_str())
    }

    /// The Rust files.
    pub fn rust_files(&self) -> impl Iterator<Item = &SourceFile> {
        self.files.iter().filter(|file| file.is_rust())
    }
}

fn member(root: &Path, package: &Value) -> Member {
    let manifest = PathBuf::from(text(&package["manifest_path"]));
    let mut dependencies = Vec::new();
    let mut test_dependencies = Vec::new();
    for dependency in array(&package["dependencies"]) {
        // A dependency without a path is external; `licences` and `duplicates` check those.
        let Some(directory) = dependency["path"].as_str() else {
            continue;
        };
        let name = directory_name(Path::new(directory));
        if dependency["kind"].is_null() {
            dependencies.push(name);
        } else {
            test_dependencies.push(name);
        }
    }
    let openings = array(&package["targets"])
        .iter()
        .filter(|target| {
            let kinds = array(&target["kind"]);
            kinds.iter().any(|kind| matches!(kind.as_str(), Some("lib" | "bin" | "proc-macro")))
        })
        .map(|target| relative(root, Path::new(&text(&target["src_path"]))))
        .collect();
    Member {
        name: manifest.parent().map(directory_name).unwrap_or_default(),
        manifest: relative(root, &manifest),
        dependencies,
        test_dependencies,
        openings,
    }
}

fn directory_name(directory: &Path) -> String {
    let name = directory.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

fn relative(root: &Path, path: &Path) -> String {
    let parts: Vec<_> = path.strip_prefix(root).unwrap_or(path).iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}

fn collect_files(root: &Path, directory: &Path, files: &mut Vec<SourceFile>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let path = entry.path();
        if kind.is_dir() {
            let name = entry.file_name();
            let is_foreign = FOREIGN_DIRECTORIES.iter().any(|foreign| name == *foreign);
            if !is_foreign && !path.join(BUILD_OUTPUT_TAG).exists() {
                collect_files(root, &path, files)?;
            }
        } else if kind.is_file() && entry.metadata()?.len() <= TEXT_SIZE_BYTES_MAX {
            // A file that is not UTF-8 is not text.
            if let Ok(text) = String::from_utf8(fs::read(&path)?) {
                files.push(SourceFile { path: relative(root, &path), text });
            }
        }
    }
    Ok(())
}
