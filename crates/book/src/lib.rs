//! Builds the book of mario: assembles its sources, runs mdBook, and checks the links of the result.
//!
//! Start at [`build`]. The sources are copies of the pages that `docs/book/SUMMARY.md` names and of the files that they
//! link to, and a [`mod@reference`] that is generated from the code. The copies keep their paths, so the links of a
//! page are the same in the repository and in the book.
//!
//! | module | what it does |
//! |---|---|
//! | [`mod@reference`] | the generated pages |
//! | [`assembly`] | assembles the sources |
//! | [`tool`] | finds or installs mdBook, and runs it |
//! | [`markdown`], [`html`] | read links and link targets |
//! | [`links`] | checks the links of Markdown and of the built HTML, and the pages that source files mention |
//!
//! mdBook is run as a separate program. Linking it would more than double the build time of this workspace, and its
//! licence requires more than a notice.
//!
//! **Invariant:** writes nothing outside the two given directories, except that cargo fills its caches when it installs
//! mdBook.
//!
//! **Invariant:** does not use the network to check links. Links to other sites are not checked.
//!
//! This crate is internal to mario: its interface changes without notice.

#![allow(clippy::disallowed_methods, reason = "a shell: files, clocks and the environment are its work")]

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

/// The page that lists the content of the book in order.
pub const SUMMARY: &str = "docs/book/SUMMARY.md";

/// A built book.
#[derive(Clone, Debug)]
pub struct Book {
    /// The directory with its pages.
    pub pages: PathBuf,
    /// All problems, such as broken links. They do not stop the build.
    pub findings: Vec<Finding>,
    /// How many links of the built pages were checked.
    pub links: usize,
}

/// Builds the book of the repository `root` in `directory`, with mdBook from the search path or from `tools`. If
/// neither has the right version, mdBook is installed in `tools`.
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
