//! Builds the book: `cargo run -p mario-book`.

#![allow(clippy::disallowed_methods, reason = "a shell: files, clocks and the environment are its work")]

use std::env;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use mario_book::tool::{MdBook, VERSION};
use mario_book::{Book, BookError};

fn main() -> ExitCode {
    match build() {
        Ok(book) if book.findings.is_empty() => {
            println!("{}", book.pages.join("index.html").display());
            eprintln!("{} links lead somewhere", book.links);
            ExitCode::SUCCESS
        }
        Ok(book) => {
            for finding in &book.findings {
                println!("{finding}");
            }
            eprintln!("error: {} places of the book are wrong", book.findings.len());
            ExitCode::from(1)
        }
        Err(error) => {
            eprintln!("error: {error}");
            if let Some(cause) = error.source() {
                eprintln!("cause: {cause}");
            }
            ExitCode::from(3)
        }
    }
}

fn build() -> Result<Book, BookError> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let root = root.canonicalize().map_err(|error| BookError::File(root, error))?;
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let tools = target.join("mdbook");
    if MdBook::find(&tools).is_none() {
        eprintln!("note: mdBook {VERSION} is installed into {}; that takes about a minute, once", tools.display());
    }
    mario_book::build(&root, &target.join("book"), &tools)
}
