//! The program mdBook, which turns the sources into pages.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::BookError;

/// The version that the book is built with.
pub const VERSION: &str = "0.5.4";

/// An installed mdBook.
#[derive(Clone, Debug)]
pub struct MdBook {
    program: PathBuf,
}

impl MdBook {
    /// Finds mdBook in the right [`VERSION`], on the search path or else in `tools`; `None` if it is in neither.
    pub fn find(tools: &Path) -> Option<Self> {
        let programs = [PathBuf::from("mdbook"), installed(tools)];
        programs.into_iter().find(|program| has_version(program)).map(|program| Self { program })
    }

    /// Installs mdBook in `tools` with cargo, which uses the network and takes about a minute.
    pub fn install(root: &Path, tools: &Path) -> Result<Self, BookError> {
        let version = format!("={VERSION}");
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo
            .args(["install", "mdbook", "--version", &version, "--locked"])
            // Watching and serving are not needed. An optimised build would take longer to compile than it saves.
            .args(["--no-default-features", "--features", "search", "--debug"])
            .env("CARGO_PROFILE_DEV_DEBUG", "0")
            .arg("--root")
            .arg(tools)
            .arg("--target-dir")
            .arg(tools.join("build"))
            // Uses the toolchain that the repository pins.
            .current_dir(root);
        let hint = format!("hint: an mdBook {VERSION} on the path will do, however it came there");
        run(cargo, "cargo install mdbook").map_err(|error| error.with_hint(&hint))?;
        Ok(Self { program: installed(tools) })
    }

    /// Builds the book whose `book.toml` is in `directory`, and returns the directory of its pages. A warning of mdBook
    /// is an error.
    pub fn build(&self, directory: &Path) -> Result<PathBuf, BookError> {
        let mut command = Command::new(&self.program);
        command.arg("build").arg(directory);
        let said = run(command, "mdbook build")?;
        if said.contains(" WARN ") || said.contains("ERROR") {
            return Err(BookError::Failed("mdbook build".to_owned(), said));
        }
        Ok(directory.join("html"))
    }
}

fn installed(tools: &Path) -> PathBuf {
    tools.join("bin").join(format!("mdbook{}", std::env::consts::EXE_SUFFIX))
}

fn has_version(program: &Path) -> bool {
    let output = Command::new(program).arg("--version").output();
    output.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).trim() == format!("mdbook v{VERSION}"))
}

/// Runs a program, and returns its standard error. An unsuccessful exit code is an error.
fn run(mut command: Command, name: &str) -> Result<String, BookError> {
    let output = command.output().map_err(|error| BookError::Start(name.to_owned(), error))?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(said) } else { Err(BookError::Failed(name.to_owned(), said)) }
}
