//! Makes the book of mario: puts its sources together, has mdBook build them, and follows every link of the result.
//!
//! Start at [`build`]. The sources are a copy of a part of the repository, with all files at the paths that they have there:
//! the pages that `docs/book/SUMMARY.md` names, what these pages link to, and a [`mod@reference`] that is generated from the
//! code. So a page has the same links in the book as in the repository, and nothing is told twice.
//!
//! | module | what it does |
//! |---|---|
//! | [`mod@reference`] | the pages that are generated |
//! | [`assembly`] | puts the sources together |
//! | [`tool`] | finds or installs mdBook, and runs it |
//! | [`markdown`], [`html`] | read links and the places that links can lead to |
//! | [`links`] | follows the links of the repository's Markdown and programs, and of the HTML that was built |
//!
//! mdBook is run as a program and not linked: it would more than double what everybody builds for this workspace, under a
//! licence that asks for more than a notice.
//!
//! **Invariant:** writes nothing outside the directory that it is given, and that of the tool.
//! **Invariant:** asks no network for a link. Links to other sites are left to their readers.

pub mod assembly;
pub mod html;
pub mod links;
pub mod markdown;
pub mod reference;
pub mod tool;

mod error;
mod files;
mod finding;

use std::path::{Path, PathBuf};

pub use error::BookError;
pub use finding::Finding;

/// The page that says what is in the book, in which order.
pub const SUMMARY: &str = "docs/book/SUMMARY.md";

/// A book that was built.
#[derive(Clone, Debug)]
pub struct Book {
    /// The directory with its pages.
    pub pages: PathBuf,
    /// Everything that is wrong with it.
    pub findings: Vec<Finding>,
    /// How many links were followed.
    pub links: usize,
}

/// Builds the book of the repository `root` in `directory`, with the mdBook that is in `tools` or will be.
pub fn build(root: &Path, directory: &Path, tools: &Path) -> Result<Book, BookError> {
    let mut findings = links::of_repository(root)?;
    findings.extend(links::of_code(root)?);
    findings.extend(assembly::assemble(root, directory)?);
    let tool = tool::MdBook::find(tools).map_or_else(|| tool::MdBook::install(root, tools), Ok)?;
    let pages = tool.build(directory)?;
    let followed = links::of_site(&pages)?;
    findings.extend(followed.findings);
    Ok(Book { pages, findings, links: followed.links })
}
