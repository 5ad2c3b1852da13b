//! The book of this repository.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use mario_book::reference;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace is there")
}

#[test]
fn builds_with_mdbook_and_has_no_broken_links() {
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("this-book");
    let book = mario_book::build(&root(), &directory, &target.join("mdbook")).unwrap_or_else(|error| panic!("{error}"));
    let lines: Vec<String> = book.findings.iter().map(ToString::to_string).collect();
    assert!(lines.is_empty(), "\n\n{}\n", lines.join("\n"));
    assert!(book.links > 1000, "only {} links were found", book.links);
    let page = |path: &str| fs::read_to_string(book.pages.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    assert!(page("index.html").contains("reproduce"), "the first page is the README");
    assert!(page("docs/scenarios.html").contains("south_west"), "the keys of scenarios");
    assert!(page("reference/policies.html").contains("all_come_through"), "the words of the library");
    assert!(page("reference/mario-sweep.html").contains("--shard"), "the options of a command");
    assert!(page("docs/book/gallery.html").contains(".svg"), "the pictures");
    assert!(book.pages.join("policies/workload-aware.pl").is_file(), "what pages link to");
}

#[test]
fn its_reference_has_every_policy_that_ships_and_every_exit_code() {
    let pages = reference::pages(&root()).unwrap_or_else(|error| panic!("{error}"));
    let page = |title: &str| pages.iter().find(|page| page.title == title).unwrap_or_else(|| panic!("no {title}"));
    let policies = &page("Policies that ship").text;
    for entry in fs::read_dir(root().join("policies")).expect("they are there") {
        let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
        let is_shown = policies.contains(&format!("](../policies/{name})"));
        assert_eq!(is_shown, !name.ends_with(".test.pl"), "{name}");
    }
    for exit in mario_cli::Exit::ALL {
        let row = format!("| {} | {} |", exit.code(), exit.meaning());
        assert!(page("Exit codes").text.contains(&row), "{row}");
    }
}
