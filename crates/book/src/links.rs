//! Checks the links of all Markdown in the repository, the pages that its source files mention, and the links of the
//! site that mdBook built.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;

use crate::{BookError, Finding, files, html, markdown};

/// The extensions of the files that count as source files.
const CODE: [&str; 7] = ["rs", "pl", "py", "toml", "yaml", "slurm", "js"];

/// The result of checking the links of a site.
#[derive(Clone, Debug, Default)]
pub struct LinkReport {
    /// Broken links.
    pub findings: Vec<Finding>,
    /// How many links were checked.
    pub links: usize,
}

/// Checks the links of all Markdown pages below `root`, except links to other sites.
pub fn of_repository(root: &Path) -> Result<Vec<Finding>, BookError> {
    let mut findings = Vec::new();
    for path in files::below(root, ".md")? {
        let text = files::read(&root.join(&path))?;
        for link in markdown::links(&text).into_iter().filter(|link| !link.is_outside()) {
            if let Some(message) = broken(root, &path, &text, &link.target)? {
                findings.push(Finding::new(format!("{path}:{}", link.line), message));
            }
        }
    }
    Ok(findings)
}

/// Returns what is wrong with a link of a Markdown page, or `None` if it is valid: its target exists in the repository
/// and, if it is a Markdown page, has the anchor.
fn broken(root: &Path, path: &str, text: &str, target: &str) -> Result<Option<String>, BookError> {
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    let leads_to = if file.is_empty() { Some(path.to_owned()) } else { files::resolve(path, file) };
    let Some(leads_to) = leads_to else {
        return Ok(Some(format!("`{target}` leads out of the repository: name a file in it")));
    };
    if !root.join(&leads_to).exists() {
        return Ok(Some(format!("`{target}` leads to `{leads_to}`, which is not there: mend the path")));
    }
    if anchor.is_empty() || !markdown::is_page(&leads_to) {
        return Ok(None);
    }
    let anchors = if leads_to == path {
        markdown::anchors(text)
    } else {
        markdown::anchors(&files::read(&root.join(&leads_to))?)
    };
    Ok(no_such_place(target, &leads_to, anchor, &anchors))
}

/// Reports pages of `docs` that source files mention, e.g. in messages and comments, and that do not exist. Directories
/// `tests` are skipped, and so is the rest of a file from the first line `#[cfg(test)]` on.
pub fn of_code(root: &Path) -> Result<Vec<Finding>, BookError> {
    let mut findings = Vec::new();
    for path in files::below(root, "")? {
        let ending = Path::new(&path).extension().and_then(OsStr::to_str).unwrap_or_default();
        if !CODE.contains(&ending) || path.split('/').any(|part| part == "tests") {
            continue;
        }
        let text = files::read(&root.join(&path))?;
        for (index, line) in text.lines().take_while(|line| line.trim() != "#[cfg(test)]").enumerate() {
            for page in pages_named_in(line).into_iter().filter(|page| !root.join(page).is_file()) {
                let place = format!("{path}:{}", index + 1);
                findings.push(Finding::new(place, format!("names `{page}`, which is not there: mend the path")));
            }
        }
    }
    Ok(findings)
}

fn pages_named_in(line: &str) -> Vec<String> {
    let is_path = |letter: char| letter.is_ascii_alphanumeric() || "/_-.".contains(letter);
    let paths =
        line.split("docs/").skip(1).map(|rest| rest.split(|letter| !is_path(letter)).next().unwrap_or_default());
    paths.filter_map(|path| Some(format!("docs/{}.md", path.split_once(".md")?.0))).collect()
}

/// Checks the links of all HTML pages of a site in a directory, except links to other sites.
pub fn of_site(directory: &Path) -> Result<LinkReport, BookError> {
    let mut pages = BTreeMap::new();
    for path in files::below(directory, ".html")? {
        let page = html::read(&files::read(&directory.join(&path))?);
        pages.insert(path, page);
    }
    let mut followed = LinkReport::default();
    for (path, page) in &pages {
        for target in page.targets.iter().filter(|target| !markdown::is_outside(target)) {
            followed.links += 1;
            if let Some(message) = broken_in_site(directory, &pages, path, target) {
                followed.findings.push(Finding::new(path.as_str(), message));
            }
        }
    }
    Ok(followed)
}

fn broken_in_site(directory: &Path, pages: &BTreeMap<String, html::Page>, path: &str, target: &str) -> Option<String> {
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    let file = file.split_once('?').map_or(file, |(file, _)| file);
    let Some(mut leads_to) = (if file.is_empty() { Some(path.to_owned()) } else { files::resolve(path, file) }) else {
        return Some(format!("`{target}` leads out of the book: link to something in the repository"));
    };
    if directory.join(&leads_to).is_dir() {
        leads_to = format!("{leads_to}/index.html");
    }
    if !directory.join(&leads_to).is_file() {
        let page = leads_to.strip_suffix(".html").unwrap_or(&leads_to);
        return Some(format!(
            "`{target}` leads to `{leads_to}`, which is not there: if it is the page `{page}.md`, name that in {}; else mend \
             the link",
            crate::SUMMARY
        ));
    }
    let ids = pages.get(&leads_to).map(|page| page.ids.as_slice()).filter(|_| !anchor.is_empty())?;
    no_such_place(target, &leads_to, anchor, ids)
}

fn no_such_place(target: &str, leads_to: &str, anchor: &str, places: &[String]) -> Option<String> {
    if places.iter().any(|place| place == anchor) {
        return None;
    }
    let places = if places.is_empty() { "none".to_owned() } else { places.join(", ") };
    Some(format!("`{target}` leads to a heading that `{leads_to}` does not have; it has: {places}"))
}
