//! The rules, applied to the workspace that this test is part of.

use std::env;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use mario_tidy::advisories::{self, age};
use mario_tidy::{Finding, Workspace, check, duplicates, length, licences, packages, words};

/// Packages that `cargo metadata` may list in several versions. The reasons:
///
/// `num-bigint` and `syn`: `cargo metadata` also lists an optional certificate parser of rcgen and its dependencies,
/// which no enabled feature links, as `cargo tree` shows. `windows-sys`: on Windows, ring needs an older version than
/// all other packages.
const ACCEPTED_DUPLICATES: [&str; 3] = ["num-bigint", "syn", "windows-sys"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[track_caller]
fn expect_none(findings: &[Finding]) {
    let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
    assert!(lines.is_empty(), "\n\n{}\n", lines.join("\n"));
}

#[test]
fn is_what_its_documents_say() {
    let mut workspace = Workspace::read(&root()).expect("this is a workspace");
    if env::var_os("MARIO_TIDY").is_some_and(|value| value == "update") {
        length::update(&workspace).expect("the list can be written");
        words::update(&workspace).expect("the list can be written");
        workspace = Workspace::read(&root()).expect("this is a workspace");
    }
    expect_none(&check(&workspace));
    warn_of_an_old_look_up(&workspace);
}

fn warn_of_an_old_look_up(workspace: &Workspace) {
    let database = advisories::database(workspace).expect("the rule on advisories could read it");
    if let Some(warning) = age::warning(&database, age::Day::of(SystemTime::now())) {
        // Not `eprintln!`, whose output is hidden when a test passes.
        writeln!(io::stderr(), "{warning}").expect("standard error can be written");
    }
}

#[test]
fn links_only_accepted_licences() {
    let packages = packages(&root()).expect("cargo knows the packages");
    expect_none(&licences::check(&packages));
}

#[test]
fn links_no_package_in_two_versions() {
    let packages = packages(&root()).expect("cargo knows the packages");
    expect_none(&duplicates::check(&packages, &ACCEPTED_DUPLICATES));
}
