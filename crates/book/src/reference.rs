//! The pages that are generated from the code and from the policies that ship, so that they are always up to date.

mod commands;
mod policies;
mod prose;

use std::path::Path;

use mario_cli::Exit;

use crate::BookError;

/// A generated page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeneratedPage {
    /// Its title in the summary.
    pub title: String,
    /// Its nesting depth in the summary.
    pub depth: usize,
    /// Its path in the sources of the book.
    pub path: String,
    /// Its content.
    pub text: String,
}

impl GeneratedPage {
    /// Creates a page.
    pub fn new(title: impl Into<String>, depth: usize, path: impl Into<String>, text: String) -> Self {
        Self { title: title.into(), depth, path: path.into(), text }
    }

    /// Its line in the summary.
    pub fn entry(&self) -> String {
        format!("{}- [{}]({})", "  ".repeat(self.depth), self.title, self.path)
    }
}

/// All generated pages, in the order of the summary.
pub fn pages(root: &Path) -> Result<Vec<GeneratedPage>, BookError> {
    let mut pages = commands::pages();
    pages.push(exit_codes());
    pages.push(policies::page(root)?);
    Ok(pages)
}

fn exit_codes() -> GeneratedPage {
    let rows: Vec<String> = Exit::ALL.iter().map(|exit| format!("| {} | {} |", exit.code(), exit.meaning())).collect();
    let text = format!(
        "# Exit codes\n\nEvery command of mario ends with one of these.\n\n| code | meaning |\n|---|---|\n{}\n\n\
         `mario prolog` ends with the code that the program gives to `halt/1`, if it does.\n",
        rows.join("\n")
    );
    GeneratedPage::new("Exit codes", 0, "reference/exit-codes.md", text)
}
