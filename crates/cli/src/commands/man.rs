//! `mario man [DIR]`.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use clap_mangen::Man;
use mario_simulator::write_atomically;

use crate::{Console, Failure, Outcome};

/// Arguments of `mario man`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  mario man | man -l -\n  mario man ./man1")]
pub struct Arguments {
    /// Write a page for every command into this directory, which is created if needed
    #[arg(value_name = "DIR")]
    pub directory: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<Outcome, Failure> {
    let pages = pages();
    match &arguments.directory {
        None => console.write_data(|stdout| stdout.write_all(&pages[0].text))?,
        Some(directory) => write_pages(&pages, directory, console)?,
    }
    Ok(Outcome::Done)
}

struct Page {
    file_name: String,
    text: Vec<u8>,
}

/// The page of mario itself, then one for each command and subcommand.
fn pages() -> Vec<Page> {
    crate::every_command().into_iter().map(page).collect()
}

fn page(command: clap::Command) -> Page {
    let man = Man::new(command);
    let mut text = Vec::new();
    man.render(&mut text).expect("writing into memory does not fail");
    Page { file_name: man.get_filename(), text }
}

fn write_pages(pages: &[Page], directory: &Path, console: &Console) -> Result<(), Failure> {
    create_directory(directory)
        .map_err(|error| Failure::file(format!("cannot make directory `{}`", directory.display()), &error))?;
    for page in pages {
        let path = directory.join(&page.file_name);
        write_atomically(&path, |file| file.write_all(&page.text))
            .map_err(|error| Failure::file(format!("cannot write `{}`", path.display()), &error))?;
        console.detail(format_args!("wrote {}", path.display()));
    }
    console.inform(format_args!("wrote {} pages into {}", pages.len(), directory.display()));
    Ok(())
}

fn create_directory(directory: &Path) -> io::Result<()> {
    if directory.as_os_str().is_empty() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the name is empty"));
    }
    fs::create_dir_all(directory)
}
