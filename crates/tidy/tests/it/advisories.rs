//! Tests of the rule on advisories, with lock files and databases that break it or comply with it.

use crate::fixture::Fixture;

const DATABASE: &str = "crates/tidy/data/advisories.toml";

#[test]
fn finds_a_locked_version_before_the_patched_one() {
    let findings = Fixture::clean("vulnerable").replacing("Cargo.lock", "1.4.2", "1.4.1").findings();
    assert_eq!(
        findings,
        ["outside 1.4.1: has a vulnerability (RUSTSEC-2020-0001 of 2020-02-29, \
          https://rustsec.org/advisories/RUSTSEC-2020-0001.html); `cargo update -p outside@1.4.1` to a version >=1.4.2"]
    );
}

#[test]
fn finds_an_unsound_version_between_the_patched_ranges() {
    let findings = Fixture::clean("unsound")
        .replacing(DATABASE, "\"vulnerability\"", "\"unsound\"")
        .replacing(DATABASE, ">= 1.4.2", ">= 1.3.9, < 1.4.0\", \">= 1.5.0")
        .findings();
    assert_eq!(
        findings,
        ["outside 1.4.2: is unsound (RUSTSEC-2020-0001 of 2020-02-29, \
          https://rustsec.org/advisories/RUSTSEC-2020-0001.html); \
          `cargo update -p outside@1.4.2` to a version >=1.3.9, <1.4.0 or >=1.5.0"]
    );
}

#[test]
fn allows_an_unaffected_version() {
    let findings = Fixture::clean("unaffected")
        .replacing(DATABASE, "patched = [\">= 1.4.2\"]", "patched = [\">= 2.0.0\"]\nunaffected = [\"< 1.5.0\"]")
        .findings();
    assert_eq!(findings, [""; 0]);
}

#[test]
fn allows_what_was_withdrawn_and_what_is_a_notice() {
    let affected = || Fixture::clean("withdrawn").replacing(DATABASE, "[\">= 1.4.2\"]", "[]");
    assert_eq!(affected().findings().len(), 1);
    let withdrawn = affected().replacing(DATABASE, "patched", "withdrawn = 2020-03-01\npatched");
    assert_eq!(withdrawn.findings(), [""; 0]);
    let notice = affected().replacing(DATABASE, "\"vulnerability\"", "\"notice\"");
    assert_eq!(notice.findings(), [""; 0]);
}

/// A workspace with an unmaintained package.
fn unmaintained(name: &str) -> Fixture {
    Fixture::clean(name).replacing(DATABASE, "\"vulnerability\"", "\"unmaintained\"").replacing(
        DATABASE,
        "[\">= 1.4.2\"]",
        "[]",
    )
}

fn accepting(fixture: Fixture, reason: &str) -> Fixture {
    let entry = format!("[[accepted]]\nid = \"RUSTSEC-2020-0001\"\nreason = \"{reason}\"\n\n[[advisory]]");
    fixture.replacing(DATABASE, "[[advisory]]", &entry)
}

const IS_UNMAINTAINED: &str = "outside 1.4.2: is unmaintained (RUSTSEC-2020-0001 of 2020-02-29, \
    https://rustsec.org/advisories/RUSTSEC-2020-0001.html); no version is patched: replace the package, \
    or accept it with a reason in crates/tidy/data/advisories.toml";

#[test]
fn finds_an_unmaintained_package_unless_accepted_with_a_reason() {
    assert_eq!(unmaintained("unmaintained").findings(), [IS_UNMAINTAINED]);
    assert_eq!(accepting(unmaintained("accepted"), "it is complete").findings(), [""; 0]);
    assert_eq!(
        accepting(unmaintained("accepted-without-reason"), " ").findings(),
        [IS_UNMAINTAINED, "crates/tidy/data/advisories.toml: RUSTSEC-2020-0001 is accepted without a reason: give one"]
    );
}

#[test]
fn finds_an_accepted_advisory_that_does_not_apply() {
    let findings = accepting(Fixture::clean("accepted-for-nothing"), "it is complete").findings();
    assert_eq!(
        findings,
        [
            "crates/tidy/data/advisories.toml: RUSTSEC-2020-0001 is accepted, but no locked package is unmaintained by it: \
          remove the entry"
        ]
    );
}

#[test]
fn accepts_no_vulnerability() {
    let vulnerable = Fixture::clean("accepted-vulnerability").replacing("Cargo.lock", "1.4.2", "1.4.1");
    let findings = accepting(vulnerable, "nobody will notice").findings();
    assert_eq!(findings.len(), 2, "{findings:?}");
    assert!(findings[0].starts_with("outside 1.4.1: has a vulnerability"), "{findings:?}");
    assert!(findings[1].ends_with("remove the entry"), "{findings:?}");
}

#[test]
fn finds_a_locked_package_that_was_not_looked_up() {
    let findings = Fixture::clean("not-looked-up")
        .replacing("Cargo.lock", "[[package]]\nname = \"the-core\"", "[[package]]\nname = \"other\"\nsource = \"git\"")
        .findings();
    assert_eq!(
        findings,
        [
            "other 0.0.0: was not looked up for advisories: read https://rustsec.org/packages/other.html, which is missing \
          when there is none, and add `other` and its advisories to crates/tidy/data/advisories.toml"
        ]
    );
}

#[test]
fn finds_an_advisory_about_a_package_that_was_not_looked_up() {
    let findings = Fixture::clean("unlisted-package")
        .replacing(DATABASE, "package = \"outside\"", "package = \"other\"")
        .findings();
    assert_eq!(
        findings,
        [
            "crates/tidy/data/advisories.toml: RUSTSEC-2020-0001 is about `other`, which is not in `packages`: add it there"
        ]
    );
}

#[test]
fn reports_files_that_cannot_be_parsed() {
    for (path, from, to, expected) in [
        (DATABASE, "kind = \"vulnerability\"", "kind = \"bad\"", "crates/tidy/data/advisories.toml:9: unknown variant"),
        (DATABASE, "patched", "fixed", "crates/tidy/data/advisories.toml:10: unknown field `fixed`"),
        (DATABASE, ">= 1.4.2", ">= one", "crates/tidy/data/advisories.toml:10: unexpected character"),
        (DATABASE, "2020-02-29", "2021-02-29", "crates/tidy/data/advisories.toml:8: "),
        ("Cargo.lock", "\"1.4.2\"", "\"one\"", "Cargo.lock:5: unexpected character"),
    ] {
        let findings = Fixture::clean("unreadable").replacing(path, from, to).findings();
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert!(findings[0].starts_with(expected), "{findings:?}");
    }
}

#[test]
fn finds_a_missing_lock_file_or_database() {
    for path in ["Cargo.lock", DATABASE] {
        let findings = Fixture::clean("missing").without(path).findings();
        let expected = format!("{path}: is missing, so the locked packages cannot be checked for advisories");
        assert_eq!(findings, [expected]);
    }
}
