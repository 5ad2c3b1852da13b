//! Tests that the errors of small books and sites are found.

use std::fs;
use std::path::Path;

use mario_book::links;

use crate::fixture::Fixture;

#[test]
fn a_correct_book_has_no_findings_and_every_linked_file() {
    let fixture = Fixture::right("right");
    assert_eq!(fixture.broken_links(), Vec::<String>::new());
    let (sources, findings) = fixture.assembled();
    assert_eq!(findings, Vec::<String>::new());
    for path in ["README.md", "docs/start.md", "docs/pictures/a.svg", "policies/calm.pl", "reference/commands.md"] {
        assert!(sources.join(path).is_file(), "{path}");
    }
    let read = |path: &str| fs::read_to_string(sources.join(path)).expect("just written");
    assert!(read("policies/index.html").contains("<a href=\"calm.pl\">"));
    let summary = read("SUMMARY.md");
    assert!(summary.contains("[Start](docs/start.md)") && summary.contains("[`mario run`](reference/mario-run.md)"));
    let policies = read("reference/policies.md");
    let (agents, managers) = policies.split_once("## Policies of node managers").expect("both");
    assert!(agents.contains("### calm") && managers.contains("### open"), "{policies}");
}

#[test]
fn a_broken_link_is_found_with_its_line() {
    let fixture = Fixture::right("path").with("docs/start.md", "# Start\n\n[gone](gone.md) and ![gone](gone.svg)\n");
    let findings = fixture.broken_links();
    assert_eq!(
        findings[0],
        "README.md:3: `docs/start.md#how-to-begin` leads to a heading that `docs/start.md` does not have; it has: start"
    );
    assert_eq!(findings[1], "docs/start.md:3: `gone.md` leads to `docs/gone.md`, which is not there: mend the path");
    assert_eq!(findings[2], "docs/start.md:3: `gone.svg` leads to `docs/gone.svg`, which is not there: mend the path");
    assert_eq!(findings.len(), 3);
}

#[test]
fn a_link_out_of_the_repository_is_found() {
    let fixture = Fixture::right("outside").with("docs/more.md", "[out](../../../elsewhere.md)\n");
    let findings = fixture.broken_links();
    assert!(
        findings[0].starts_with("docs/more.md:1: `../../../elsewhere.md` leads out of the repository"),
        "{findings:?}"
    );
}

#[test]
fn a_missing_page_named_by_a_program_is_found_unless_it_is_a_test() {
    let code =
        "//! See docs/start.md.\n\nconst HINT: &str = \"docs/gone.md says more\";\n\n#[cfg(test)]\n// docs/never.md\n";
    let fixture = Fixture::right("code").with("src/lib.rs", code).with("tests/it.rs", "// docs/never.md\n");
    assert_eq!(fixture.broken_names(), ["src/lib.rs:3: names `docs/gone.md`, which is not there: mend the path"]);
}

#[test]
fn a_page_missing_from_the_summary_is_found() {
    let fixture = Fixture::right("forgotten").with("docs/more.md", "# More\n");
    let (_, findings) = fixture.assembled();
    assert_eq!(findings, ["docs/more.md: is not a chapter of the book: name it in docs/book/SUMMARY.md"]);
}

#[test]
fn a_summary_without_a_place_for_the_reference_is_found() {
    let fixture = Fixture::right("reference")
        .with("docs/book/SUMMARY.md", "# Summary\n\n[Small](../../README.md)\n\n- [Start](../start.md)\n");
    let (_, findings) = fixture.assembled();
    assert!(findings[0].starts_with("docs/book/SUMMARY.md: does not say where the reference is"), "{findings:?}");
}

#[test]
fn a_missing_chapter_is_an_error_that_names_it() {
    let fixture = Fixture::right("missing").without("docs/start.md");
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("books/missing");
    let error = mario_book::assembly::assemble(&root, &root.join("target")).expect_err("a chapter is missing");
    assert!(error.to_string().contains("docs/start.md"), "{error}");
    assert!(fixture.broken_links()[0].starts_with("README.md:3: "));
}

#[test]
fn broken_links_of_a_site_are_found_by_page() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("books/site");
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(directory.join("more")).expect("the test's own directory");
    let write = |path: &str, text: &str| fs::write(directory.join(path), text).expect("the test's own directory");
    write(
        "a.html",
        "<h1 id=top></h1><a href='#top'></a><a href='more/b.html#gone'></a><img src=gone.svg><a href='more/'></a>",
    );
    write(
        "more/b.html",
        "<a href='../a.html?x=1#top'></a><a href='../../out.html'></a><a href='https://example.org/'></a>",
    );
    let followed = links::of_site(&directory).expect("it can be read");
    let findings: Vec<String> = followed.findings.iter().map(ToString::to_string).collect();
    assert_eq!(followed.links, 6, "links to other sites are not followed");
    assert_eq!(findings.len(), 4, "{findings:?}");
    assert!(findings[0].starts_with("a.html: `more/b.html#gone` leads to a heading that `more/b.html` does not have"));
    assert!(findings[1].starts_with("a.html: `gone.svg` leads to `gone.svg`, which is not there"));
    assert!(findings[2].starts_with("a.html: `more/` leads to `more/index.html`, which is not there"));
    assert!(findings[3].starts_with("more/b.html: `../../out.html` leads out of the book"));
}
