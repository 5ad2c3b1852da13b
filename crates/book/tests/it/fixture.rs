//! A small repository with a correct book. Each test breaks one thing in it.

use std::fs;
use std::path::{Path, PathBuf};

use mario_book::{Finding, assembly, links};

const RIGHT: [(&str, &str); 8] = [
    ("README.md", "# Small\n\n[The start](docs/start.md#how-to-begin) and [policies](policies).\n"),
    (
        "docs/start.md",
        "# Start\n\n![A picture](pictures/a.svg)\n\n## How to begin\n\n[Back](../README.md), [here](#start).\n",
    ),
    ("docs/pictures/a.svg", "<svg xmlns=\"http://www.w3.org/2000/svg\"/>\n"),
    ("docs/book/SUMMARY.md", "# Summary\n\n[Small](../../README.md)\n\n- [Start](../start.md)\n<!-- reference -->\n"),
    ("docs/book/book.toml", "[book]\ntitle = \"Small\"\n"),
    ("docs/book/book.css", ""),
    ("policies/calm.pl", "% Calm: does nothing.\n\noperation(undeploy, _, self) :- fail.\n"),
    ("policies/open.pl", "% Open: accepts.\n\naccept(_).\n"),
];

/// A repository on disk, correct until a test changes it.
pub struct Fixture {
    root: PathBuf,
}

impl Fixture {
    /// Creates the repository in a directory of this name.
    pub fn right(name: &str) -> Self {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("books").join(name);
        let _ = fs::remove_dir_all(&root);
        RIGHT.iter().fold(Self { root }, |fixture, (path, text)| fixture.with(path, text))
    }

    /// Adds or replaces this file.
    pub fn with(self, path: &str, text: &str) -> Self {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().expect("a file is in a directory")).expect("the test's own directory");
        fs::write(&path, text).expect("the test's own directory");
        self
    }

    /// Removes this file.
    pub fn without(self, path: &str) -> Self {
        fs::remove_file(self.root.join(path)).expect("it is there");
        self
    }

    /// The broken links of its Markdown.
    pub fn broken_links(&self) -> Vec<String> {
        lines(&links::of_repository(&self.root).expect("it can be read"))
    }

    /// The missing pages that its source files mention.
    pub fn broken_names(&self) -> Vec<String> {
        lines(&links::of_code(&self.root).expect("it can be read"))
    }

    /// Assembles its book. Returns the directory of the sources, and the findings.
    pub fn assembled(&self) -> (PathBuf, Vec<String>) {
        let directory = self.root.join("target");
        let findings = assembly::assemble(&self.root, &directory).expect("it can be read");
        (directory.join("src"), lines(&findings))
    }
}

fn lines(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(ToString::to_string).collect()
}
