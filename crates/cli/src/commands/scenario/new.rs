//! `mario scenario new`.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use mario_frontend::Diagnostic;
use mario_scenario::starting_text;
use mario_simulator::write_atomically;

use crate::{Console, Failure, Outcome};

/// Arguments of `mario scenario new`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  mario scenario new scenario.toml
  mario scenario new > scenario.toml")]
pub struct Arguments {
    /// The file to write; by default, standard output
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Overwrite the file if it exists
    #[arg(long, requires = "file")]
    pub force: bool,
}

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<Outcome, Failure> {
    let text = starting_text().as_bytes();
    let Some(path) = &arguments.file else {
        console.write_data(|stdout| stdout.write_all(text))?;
        return Ok(Outcome::Done);
    };
    create(path, text, arguments.force).map_err(|error| {
        let title = format!("cannot write `{}`", path.display());
        if error.kind() == io::ErrorKind::AlreadyExists {
            let diagnostic = Diagnostic::error(title).caused_by(&error);
            return Failure::input(diagnostic.hint("`--force` overwrites it"));
        }
        Failure::file(title, &error)
    })?;
    console.inform(format_args!("wrote {}; `mario scenario check` and `mario run` take it", path.display()));
    Ok(Outcome::Done)
}

fn create(path: &Path, text: &[u8], force: bool) -> io::Result<()> {
    // `create_new` never replaces an existing file, not even one that another process creates concurrently.
    let new = if force { None } else { Some(File::create_new(path)?) };
    let written = write_atomically(path, |file| file.write_all(text));
    if new.is_some() && written.is_err() {
        let _ = fs::remove_file(path);
    }
    written
}
