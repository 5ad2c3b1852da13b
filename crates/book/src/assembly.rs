//! Assembles the sources of the book in the layout that mdBook reads.
//!
//! Sources keep their paths in the repository, so that links between them stay valid. Only the summary is moved to the
//! top, where mdBook expects it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::reference::{self, GeneratedPage};
use crate::{BookError, Finding, SUMMARY, files, markdown};

/// The settings of mdBook, and the style sheet that they name.
const SETTINGS: [&str; 2] = ["book.toml", "book.css"];

/// Marks where the generated pages are inserted in the summary.
const MARK: &str = "<!-- reference -->";

/// Writes the settings and the sources (`src`) into `directory`, after deleting `src` and `html` of an earlier build.
/// Reports the pages of `docs` that the summary does not name, and a missing mark for the reference.
pub fn assemble(root: &Path, directory: &Path) -> Result<Vec<Finding>, BookError> {
    for former in ["src", "html"].map(|name| directory.join(name)) {
        if former.exists() {
            fs::remove_dir_all(&former).map_err(BookError::file(&former))?;
        }
    }
    for name in SETTINGS {
        copy(root, &format!("docs/book/{name}"), &directory.join(name))?;
    }
    let sources = directory.join("src");
    let generated = reference::pages(root)?;
    for page in &generated {
        files::write(&sources.join(&page.path), page.text.as_bytes())?;
    }
    let summary = files::read(&root.join(SUMMARY))?;
    files::write(&sources.join("SUMMARY.md"), moved_to_the_top(&summary, &generated).as_bytes())?;
    let chapters = chapters(&summary);
    for chapter in &chapters {
        copy(root, chapter, &sources.join(chapter))?;
    }
    let linked = chapters.iter().map(|chapter| Ok((chapter.clone(), files::read(&root.join(chapter))?)));
    let mut pages: Vec<(String, String)> = linked.collect::<Result<_, BookError>>()?;
    pages.extend(generated.into_iter().map(|page| (page.path, page.text)));
    for (path, text) in &pages {
        copy_what_is_linked(root, &sources, path, text)?;
    }
    missing_chapters(root, &summary, &chapters)
}

/// Returns the pages that the summary links to. A title that only groups other pages has an empty target, and is
/// skipped.
fn chapters(summary: &str) -> BTreeSet<String> {
    let links = markdown::links(summary).into_iter().filter(|link| !link.target.is_empty());
    links.filter_map(|link| files::resolve(SUMMARY, &link.target)).collect()
}

/// Returns the summary with its links rewritten for the top of the sources, and with the entries of the generated
/// pages.
fn moved_to_the_top(summary: &str, generated: &[GeneratedPage]) -> String {
    let mut moved = summary.to_owned();
    for link in markdown::links(summary).into_iter().filter(|link| !link.target.is_empty()) {
        if let Some(path) = files::resolve(SUMMARY, &link.target) {
            moved = moved.replace(&format!("]({})", link.target), &format!("]({path})"));
        }
    }
    let entries: Vec<String> = generated.iter().map(GeneratedPage::entry).collect();
    moved.replace(MARK, &entries.join("\n"))
}

/// Reports the documentation pages that are missing from the summary, and a summary without the mark.
fn missing_chapters(root: &Path, summary: &str, chapters: &BTreeSet<String>) -> Result<Vec<Finding>, BookError> {
    let mut findings = Vec::new();
    for path in files::below(&root.join("docs"), ".md")?.into_iter().map(|path| format!("docs/{path}")) {
        if path != SUMMARY && !chapters.contains(&path) {
            findings.push(Finding::new(path, format!("is not a chapter of the book: name it in {SUMMARY}")));
        }
    }
    if !summary.contains(MARK) {
        findings.push(Finding::new(SUMMARY, format!("does not say where the reference is: add a line {MARK}")));
    }
    Ok(findings)
}

/// Copies the files that a page links to, including its pictures. A linked directory is copied with its subdirectories,
/// and gets an index page. Markdown pages are not copied, also from directories, because only those in the summary
/// belong to the book; nor are missing files, which the check of links reports.
fn copy_what_is_linked(root: &Path, sources: &Path, path: &str, text: &str) -> Result<(), BookError> {
    for link in markdown::links(text).iter().filter(|link| !link.is_outside()) {
        let file = link.target.split('#').next().unwrap_or_default();
        if file.is_empty() {
            // A link within the same page.
            continue;
        }
        let Some(file) = files::resolve(path, file).filter(|file| !markdown::is_page(file)) else { continue };
        let from = root.join(&file);
        if from.is_dir() {
            let listed = files::below(&from, "")?;
            for name in listed.iter().filter(|name| !markdown::is_page(name)) {
                copy(root, &format!("{file}/{name}"), &sources.join(&file).join(name))?;
            }
            files::write(&sources.join(&file).join("index.html"), listing(&file, &listed).as_bytes())?;
        } else if from.is_file() {
            copy(root, &file, &sources.join(&file))?;
        }
    }
    Ok(())
}

/// Returns an HTML page that lists the files of a directory, for links to the directory.
fn listing(directory: &str, names: &[String]) -> String {
    let row = |name: &String| {
        let page = name.strip_suffix(".md").map_or_else(|| name.clone(), |page| format!("{page}.html"));
        format!("<li><a href=\"{page}\">{name}</a></li>")
    };
    let rows: Vec<String> = names.iter().map(row).collect();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>{directory}</title>\n<h1>{directory}</h1>\n<ul>\n{}\n\
         </ul>\n</html>\n",
        rows.join("\n")
    )
}

fn copy(root: &Path, path: &str, to: &Path) -> Result<(), BookError> {
    let from = root.join(path);
    let content = fs::read(&from).map_err(BookError::file(&from))?;
    files::write(to, &content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_moves_with_its_links_and_gets_the_generated_pages() {
        let summary = "# Summary\n\n[mario](../../README.md)\n\n- [Start](tutorial/start.md)\n<!-- reference -->\n";
        let generated = [
            GeneratedPage::new("Commands", 0, "reference/commands.md", String::new()),
            GeneratedPage::new("`mario run`", 1, "reference/mario-run.md", String::new()),
        ];
        let moved = moved_to_the_top(summary, &generated);
        let expected = "# Summary\n\n[mario](README.md)\n\n- [Start](docs/book/tutorial/start.md)\n\
                        - [Commands](reference/commands.md)\n  - [`mario run`](reference/mario-run.md)\n";
        assert_eq!(moved, expected);
        let pages: Vec<String> = chapters(summary).into_iter().collect();
        assert_eq!(pages, ["README.md", "docs/book/tutorial/start.md"]);
    }
}
