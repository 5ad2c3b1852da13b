//! Tests that each rule reports a workspace that breaks it. The fixtures are a clean workspace with small changes.

use mario_tidy::{Package, duplicates, length, licences};

use crate::fixture::Fixture;

#[test]
fn finds_nothing_in_a_clean_workspace() {
    assert_eq!(Fixture::clean("clean").findings(), [""; 0]);
}

#[test]
fn finds_a_forbidden_dependency() {
    let findings = Fixture::clean("forbidden-dependency")
        .replacing(
            "crates/tidy/Cargo.toml",
            "[lints]",
            "[dependencies]\nthe-shell = { path = \"../shell\" }\n\n[lints]",
        )
        .findings();
    assert_eq!(findings, ["crates/tidy/Cargo.toml: ARCHITECTURE.md does not allow `tidy -> shell`"]);
}

#[test]
fn finds_a_dependency_that_only_tests_may_have() {
    let findings = Fixture::clean("test-dependency")
        .replacing("crates/core/Cargo.toml", "dev-dependencies", "dependencies")
        .findings();
    assert_eq!(findings, ["crates/core/Cargo.toml: ARCHITECTURE.md does not allow `core -> tidy`"]);
}

#[test]
fn finds_a_forbidden_dependency_of_tests() {
    let findings = Fixture::clean("forbidden-test-dependency")
        .replacing(
            "crates/tidy/Cargo.toml",
            "[lints]",
            "[dev-dependencies]\nthe-core = { path = \"../core\" }\n\n[lints]",
        )
        .findings();
    assert_eq!(findings, ["crates/tidy/Cargo.toml: ARCHITECTURE.md does not allow `tidy (tests) -> core`"]);
}

#[test]
fn allows_a_dependency_of_tests_that_has_its_line() {
    let findings = Fixture::clean("allowed-test-dependency")
        .replacing(
            "crates/tidy/Cargo.toml",
            "[lints]",
            "[dev-dependencies]\nthe-core = { path = \"../core\" }\n\n[lints]",
        )
        .replacing("ARCHITECTURE.md", "* (tests)", "tidy (tests) -> core\n* (tests)")
        .findings();
    assert_eq!(findings, [""; 0]);
}

#[test]
fn finds_a_missing_crate_in_the_description() {
    let findings = Fixture::clean("ghost-in-prose")
        .replacing("ARCHITECTURE.md", "All crates", "- `crates/ghost`: gone.\n\nAll crates")
        .findings();
    assert_eq!(findings, ["ARCHITECTURE.md: names `ghost`, and there is no such crate"]);
}

#[test]
fn finds_a_missing_crate_in_the_block_of_dependencies() {
    for (name, line) in [("ghost-from", "ghost"), ("ghost-to", "tidy -> ghost")] {
        let findings =
            Fixture::clean(name).replacing("ARCHITECTURE.md", "* (tests)", &format!("{line}\n* (tests)")).findings();
        assert_eq!(findings, ["ARCHITECTURE.md: names `ghost`, and there is no such crate"]);
    }
}

#[test]
fn finds_a_crate_that_is_not_described() {
    let findings = Fixture::clean("undescribed")
        .replacing(
            "ARCHITECTURE.md",
            "- [`crates/tidy`](crates/tidy/src/lib.rs): checks.\n",
            "- `crates/tidy`: checks.\n",
        )
        .findings();
    assert_eq!(findings, ["ARCHITECTURE.md: has no line with a link to the `lib.rs` of `crates/tidy`"]);
}

#[test]
fn finds_a_crate_without_a_line_of_dependencies() {
    let findings = Fixture::clean("no-line").replacing("ARCHITECTURE.md", "core\ntidy\n", "core\n").findings();
    assert_eq!(findings, ["ARCHITECTURE.md: the block of dependencies has no line for `tidy`"]);
}

#[test]
fn finds_a_missing_block_of_dependencies() {
    let findings =
        Fixture::clean("no-block").replacing("ARCHITECTURE.md", "```text dependencies", "```text").findings();
    assert_eq!(findings, ["ARCHITECTURE.md: has no block that opens with ```text dependencies"]);
}

#[test]
fn finds_a_crate_without_the_workspace_lints() {
    let findings =
        Fixture::clean("no-lints").replacing("crates/tidy/Cargo.toml", "[lints]\nworkspace = true\n", "").findings();
    assert_eq!(findings, ["crates/tidy/Cargo.toml: does not say `[lints]` `workspace = true`"]);
}

#[test]
fn finds_a_crate_without_documentation() {
    for (name, path) in [("no-words-lib", "crates/core/src/lib.rs"), ("no-words-main", "crates/shell/src/main.rs")] {
        let findings = Fixture::clean(name).with(path, "// Quiet.\n").findings();
        assert_eq!(findings, [format!("{path}: does not open with documentation (`//! `)")]);
    }
}

fn function(lines: usize) -> String {
    format!("fn long() {{\n{}}}\n", "    work();\n".repeat(lines - 2))
}

#[test]
fn finds_a_long_file() {
    let path = "crates/core/src/long.rs";
    let at_limit = "// A line.\n".repeat(length::FILE_LINES_MAX);
    assert_eq!(Fixture::clean("file-at-limit").with(path, &at_limit).findings(), [""; 0]);
    let findings = Fixture::clean("long-file").with(path, &(at_limit + "// One more.\n")).findings();
    assert_eq!(findings, [format!("{path}: has 501 lines, more than 500: divide it")]);
}

#[test]
fn finds_a_long_function() {
    let path = "crates/core/src/long.rs";
    let at_limit = function(length::FUNCTION_LINES_MAX);
    assert_eq!(Fixture::clean("function-at-limit").with(path, &at_limit).findings(), [""; 0]);
    let findings = Fixture::clean("long-function").with(path, &function(81)).findings();
    assert_eq!(findings, [format!("{path} long: has 81 lines, more than 80: divide it")]);
}

#[test]
fn listed_lengths_may_stay_but_not_grow() {
    let path = "crates/core/src/long.rs";
    let with = |name: &str, lines: usize| {
        Fixture::clean(name)
            .with(path, &function(lines))
            .with(length::LIST, &format!("# Long.\n150 {path} long\n"))
            .findings()
    };
    assert_eq!(with("listed", 150), [""; 0]);
    assert_eq!(with("shrunk-a-little", 110), [""; 0]);
    assert_eq!(with("grown", 151), [format!("{path} long: has grown from 150 to 151 lines: divide it")]);
    let lower = format!("{}: `{path} long` has shrunk from 150 lines: lower or remove its entry", length::LIST);
    assert_eq!(with("shrunk", 109), [lower.as_str()]);
    assert_eq!(with("short-again", 20), [lower]);
}

#[test]
fn accepts_the_list_that_update_writes() {
    let fixture = Fixture::clean("update").with("crates/core/src/long.rs", &function(600)).with(length::LIST, "");
    assert_eq!(fixture.findings().len(), 2);
    length::update(&fixture.workspace()).expect("the fixture is writable");
    assert_eq!(fixture.findings(), [""; 0]);
}

#[test]
fn finds_a_meaningless_module_name() {
    for (name, path) in [
        ("file", "crates/core/src/utils.rs"),
        ("directory", "crates/core/src/helpers/text.rs"),
        ("mod-rs", "crates/core/src/text/mod.rs"),
    ] {
        let findings = Fixture::clean(&format!("name-{name}")).with(path, "//! Things.\n").findings();
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert!(findings[0].starts_with(path), "{findings:?}");
        assert!(findings[0].ends_with("does not say what is in it"), "{findings:?}");
    }
    let findings =
        Fixture::clean("name-inline").with("crates/core/src/text.rs", "pub(crate) mod common {\n}\n").findings();
    assert_eq!(findings, ["crates/core/src/text.rs:1: `mod common` does not say what is in it"]);
}

#[test]
fn finds_a_retired_name_of_a_type() {
    for line in ["pub(crate) struct Wish<'a> {", "enum Wish {", "    pub type Wish = u32;"] {
        let findings = Fixture::clean("retired-name").with("crates/core/src/text.rs", line).findings();
        assert_eq!(
            findings,
            ["crates/core/src/text.rs:1: `Wish` is a retired name of a type: write `Proposal`"],
            "{line}"
        );
    }
    let findings = Fixture::clean("other-name").with("crates/core/src/text.rs", "struct WishList;\n").findings();
    assert_eq!(findings, [""; 0]);
}

#[test]
fn finds_rows_of_the_map_that_name_missing_files_and_identifiers() {
    let rows = "\
| concept | where |
|---|---|
| thinking, by `nobody` | `Mind::think` in `crates/core/src/lib.rs`, or `ponder` beside it in `crates/core` |
| talking | `main` in `crates/shell/src/main.rs` |
| `think` twice | `think` in `crates/core/src/lib.rs` and `crates/core/src/gone.rs` |
| a longer name is another name | `mai`, `main` in `crates/shell/src` |
| no path, so nothing to check | `anything` |
";
    let findings = Fixture::clean("map")
        .replacing("ARCHITECTURE.md", "```text dependencies", &format!("{rows}\n```text dependencies"))
        .replacing("crates/core/src/lib.rs", "//! Thinks.\n", "//! Thinks.\n\nfn think() {}\n")
        .findings();
    assert_eq!(
        findings,
        [
            "ARCHITECTURE.md:11: names `ponder`, which is in none of the row's files: correct the row",
            "ARCHITECTURE.md:13: names `crates/core/src/gone.rs`, and there is no such file: correct the row",
            "ARCHITECTURE.md:14: names `mai`, which is in none of the row's files: correct the row",
        ]
    );
}

#[test]
fn finds_a_second_palette_for_dark() {
    // The text is split in two, because the rule applies to this file, too.
    let media = concat!("@media (prefers-", "color-scheme: dark)");
    let cases = [
        ("second-palette", format!("{media} {{ a {{ color: #ddd; }} }}"), 1),
        ("no-colours", format!("{media} {{ a {{ color: var(--ink); }} }} /* see #12 and #added */"), 0),
    ];
    for (name, style, count) in cases {
        let findings = Fixture::clean(name).with("crates/shell/page.css", &style).findings();
        assert_eq!(findings.len(), count, "{findings:?}");
        assert!(findings.iter().all(|finding| finding.starts_with("crates/shell/page.css: has a palette")));
    }
}

#[test]
fn finds_an_absolute_path_of_a_machine() {
    // Each path is split in two, because the rule applies to this file, too.
    let paths = [
        concat!("/ho", "me/"),
        concat!("/ro", "ot/"),
        concat!("/tm", "p/"),
        concat!("/Use", "rs/"),
        concat!("C:\\Use", "rs\\"),
    ];
    for (index, path) in paths.into_iter().enumerate() {
        let findings = Fixture::clean(&format!("machine-path-{index}"))
            .with("docs/start.md", &format!("Start\n\nopen {path}me/mario\n"))
            .findings();
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert!(findings[0].starts_with("docs/start.md:3: "), "{findings:?}");
        assert!(findings[0].ends_with("is a path of one machine"), "{findings:?}");
    }
    let findings = Fixture::clean("web-address")
        .with("docs/start.md", "https://example.org/home/ and target/tmp/ are none\n")
        .findings();
    assert_eq!(findings, [""; 0]);
}

#[test]
fn finds_a_retired_phrase_in_comments_and_pages() {
    // The word is split in two, because the rule applies to this file, too.
    let fixture = Fixture::clean("words").with("docs/start.md", "Start\n\nWhoever reads this\n").with(
        "crates/core/src/text.rs",
        concat!("//! For who", "ever asks.\n\nconst WHO: &str = \"who", "ever\"; // A name.\n"),
    );
    let findings = fixture.findings();
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert!(findings[0].contains("`whoever` occurs 2 times in comments and pages, more than 0"), "{findings:?}");
    assert!(findings[0].ends_with("in crates/core/src/text.rs (1), docs/start.md (1)"), "{findings:?}");
    let fixture = fixture.with("crates/tidy/retired.txt", "# Phrases\n2 whoever\n");
    assert_eq!(fixture.findings(), [""; 0]);
    let findings = fixture.with("crates/tidy/retired.txt", "3 whoever\n").findings();
    assert_eq!(findings, ["crates/tidy/retired.txt: `whoever` occurs 2 times, not 3: lower its entry"]);
}

#[test]
fn finds_a_retired_phrase_in_messages() {
    let text = concat!(
        "//! Text.\n\nconst A: &str = \"time 5 is n",
        "o moment\";\nconst B: &str = \"there is no file\";\nconst C: &str = \"the run was broken \\\n    o",
        "ff\";\nconst NAME: &str = \"nobod",
        "y\";\n"
    );
    let findings = Fixture::clean("messages").with("crates/core/src/text.rs", text).findings();
    assert_eq!(
        findings,
        [
            concat!(
                "crates/core/src/text.rs:3: `is n",
                "o` is retired in messages: write `is not a`, `unknown`, or what was expected"
            ),
            concat!("crates/core/src/text.rs:5: `broken o", "ff` is retired in messages: write `interrupted`"),
        ]
    );
    let quoted = Fixture::clean("quoted").with("crates/core/tests/it/text.rs", text).findings();
    assert_eq!(quoted, [""; 0], "tests may quote messages");
}

#[test]
fn finds_a_mark_of_unfinished_work() {
    let findings =
        Fixture::clean("unfinished").with("crates/core/src/text.rs", concat!("// TO", "DO: all of it\n")).findings();
    assert_eq!(findings, [concat!("crates/core/src/text.rs:1: `TO", "DO` marks unfinished work: finish it")]);
}

fn package(name: &str, version: &str, licence: Option<&str>) -> Package {
    Package { name: name.to_owned(), version: version.to_owned(), licence: licence.map(str::to_owned) }
}

fn lines(findings: &[mario_tidy::Finding]) -> Vec<String> {
    findings.iter().map(ToString::to_string).collect()
}

#[test]
fn finds_a_licence_that_is_not_accepted() {
    let packages = [
        package("good", "1.0.0", Some("MIT OR GPL-3.0")),
        package("strict", "2.0.0", Some("GPL-3.0")),
        package("silent", "3.0.0", None),
    ];
    assert_eq!(
        lines(&licences::check(&packages)),
        ["strict 2.0.0: is under `GPL-3.0`, which is not accepted here", "silent 3.0.0: declares no licence"]
    );
}

#[test]
fn finds_a_package_in_two_versions_unless_accepted() {
    let packages = [package("twice", "1.0.0", None), package("once", "1.0.0", None), package("twice", "2.0.0", None)];
    assert_eq!(
        lines(&duplicates::check(&packages, &[])),
        ["twice: is linked in versions 1.0.0, 2.0.0; `cargo tree -d` shows by whom"]
    );
    assert_eq!(lines(&duplicates::check(&packages, &["twice"])), [""; 0]);
    assert_eq!(
        lines(&duplicates::check(&packages, &["twice", "once"])),
        ["once: is accepted in several versions and comes in one: take it off the list"]
    );
}
