//! Tests of the rule on determinism: bans that are missing, hidden or lifted are found; exceptions with a reason are
//! not.

use crate::fixture::Fixture;

const CORE: &str = "crates/core/src/lib.rs";

#[test]
fn finds_a_missing_ban() {
    let findings = Fixture::clean("ban-gone").replacing("clippy.toml", "SystemTime", "Duration").findings();
    assert_eq!(findings, ["clippy.toml: does not ban `std::time::SystemTime::now`"]);
    let findings = Fixture::clean("bans-gone").without("clippy.toml").findings();
    assert_eq!(findings, ["clippy.toml: is missing, so nothing keeps clocks and files out of deterministic crates"]);
}

#[test]
fn finds_a_nearer_file_that_hides_the_bans() {
    for path in ["crates/core/clippy.toml", "crates/core/.clippy.toml", ".clippy.toml"] {
        let findings = Fixture::clean("bans-hidden").with(path, "").findings();
        assert_eq!(findings, [format!("{path}: hides the bans of clippy.toml: remove it")]);
    }
}

#[test]
fn finds_a_deterministic_crate_that_does_not_exist() {
    let findings = Fixture::clean("ghost-deterministic")
        .replacing("ARCHITECTURE.md", "\ncore\n```\n", "\ncore, ghost\n```\n")
        .findings();
    assert_eq!(findings, ["ARCHITECTURE.md: calls `ghost` deterministic, and there is no such crate"]);
}

#[test]
fn finds_a_page_that_names_no_deterministic_crates() {
    let findings = Fixture::clean("no-block").replacing("ARCHITECTURE.md", "text deterministic", "text").findings();
    assert_eq!(findings, ["ARCHITECTURE.md: has no block that opens with ```text deterministic"]);
}

#[test]
fn finds_a_ban_that_is_lifted_for_a_whole_crate() {
    let attribute = "#![expect(clippy::disallowed_methods, reason = \"convenient\")]\n";
    let findings = Fixture::clean("ban-lifted").with(CORE, &format!("//! Thinks.\n\n{attribute}")).findings();
    assert_eq!(
        findings,
        [
            "crates/core/src/lib.rs: lifts a ban for all of a deterministic crate: put the exception on the item that needs it"
        ]
    );
}

#[test]
fn finds_a_ban_that_is_lifted_without_a_reason() {
    for attribute in ["#[expect(clippy::disallowed_types)]", "#[allow(clippy::disallowed_types, reason = \"why\")]"] {
        let text = format!("//! Thinks.\n\n{attribute}\nfn think() {{}}\n");
        let findings = Fixture::clean("ban-without-reason").with(CORE, &text).findings();
        assert_eq!(findings, ["crates/core/src/lib.rs: lifts a ban without `expect` and a `reason`"]);
    }
}

#[test]
fn allows_exceptions_with_a_reason_and_any_in_other_crates() {
    let core = "//! Thinks.\n\n#[expect(\n    clippy::disallowed_methods,\n    reason = \"why\"\n)]\nfn think() {}\n";
    let shell = "//! Talks.\n\n#![allow(clippy::disallowed_methods)]\n\nfn main() {}\n";
    let findings =
        Fixture::clean("ban-with-reason").with(CORE, core).with("crates/shell/src/main.rs", shell).findings();
    assert_eq!(findings, [""; 0]);
}
