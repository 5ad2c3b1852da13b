//! The public interfaces of library crates match the committed lists.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use mario_tidy::public_api::{Baseline, CRATES, listing};
use semver::Version;

const ADVICE: &str =
    "run `UPDATE_API=1 cargo test -p mario-tidy public_api`, and review the difference; CONTRIBUTING.md says more";

fn manifest() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The interface of a crate, from the rustdoc of the pinned toolchain. The JSON output of rustdoc is unstable, so a
/// script enables unstable features for rustdoc alone. Enabling them for cargo would rebuild everything.
fn interface(name: &str) -> BTreeSet<String> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let package = format!("mario-{name}");
    let output = Command::new(cargo)
        .args(["rustdoc", "--locked", "--lib", "-p", &package, "--", "-Zunstable-options", "--output-format=json"])
        .current_dir(manifest().join("../.."))
        .env("RUSTDOC", manifest().join("rustdoc-unstable"))
        .env_remove("RUSTDOCFLAGS")
        .output()
        .expect("cargo can be run");
    assert!(output.status.success(), "{package}: {}", String::from_utf8_lossy(&output.stderr));
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("the target directory");
    let path = target.join("doc").join(format!("mario_{name}.json"));
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    listing(&serde_json::from_str(&text).expect("JSON")).unwrap_or_else(|error| panic!("{package}: {error}"))
}

fn path(name: &str) -> PathBuf {
    manifest().join("data/public-api").join(format!("{name}.txt"))
}

#[test]
fn public_interfaces_are_those_of_their_lists() {
    let version: Version = env!("CARGO_PKG_VERSION").parse().expect("a version");
    let mut failures = Vec::new();
    for name in CRATES {
        let lines = interface(name);
        let package = format!("mario-{name}");
        let empty = format!("# {package} {version}, unreleased\n");
        let kept = fs::read_to_string(path(name)).unwrap_or(empty);
        let baseline = Baseline::read(&kept).unwrap_or_else(|error| panic!("{}: {error}", path(name).display()));
        let changes = baseline.changes(&lines);
        let listed = |title: &str, lines: &[String]| match lines {
            [] => String::new(),
            lines => format!("{} {title} in {package}:\n{}\n", lines.len(), lines.join("\n")),
        };
        let difference = listed("breaking changes", &changes.breaking) + &listed("additions", &changes.additions);
        if !changes.breaking.is_empty() && !baseline.may_break_in(&version) {
            failures.push(format!(
                "{difference}{package} {} is released, so the version in Cargo.toml must rise: before 1.0 the minor version",
                baseline.version
            ));
        } else if env::var_os("UPDATE_API").is_some() {
            let is_released = baseline.is_released && baseline.version == version;
            fs::write(path(name), Baseline::text(&package, &version, is_released, &lines)).expect("writable");
        } else if !difference.is_empty() {
            failures.push(format!("{difference}{ADVICE}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}
