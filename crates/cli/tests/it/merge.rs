//! `mario merge`: parts of a sweep or a comparison, and directories that are not parts.

use std::fs;
use std::path::{Path, PathBuf};

use mario_testing::empty_directory;

use crate::{run, stderr};

/// Makes the two parts of a sweep. Returns the directory of the test, and those of the parts in it.
fn two_parts(name: &str) -> [PathBuf; 3] {
    let place = empty_directory(env!("CARGO_TARGET_TMPDIR"), &format!("merge/{name}"));
    let parts = [1, 2].map(|part| {
        let directory = place.join(format!("part-{part}"));
        let shard = format!("{part}/2");
        let sweep = ["sweep", "paper", "--key", "workload.period=20,40", "--policy", "latency-aware", "--seeds", "2"];
        let output = run(sweep
            .iter()
            .map(AsRef::as_ref)
            .chain(["--set", "duration=600", "--shard", &shard, "--out"].map(AsRef::as_ref))
            .chain([directory.as_os_str()]));
        assert!(output.status.success(), "{}", stderr(&output));
        assert!(stderr(&output).contains("2 runs belong to the other parts"), "{}", stderr(&output));
        directory
    });
    let [first, second] = parts;
    [place, first, second]
}

#[test]
fn a_sweep_of_other_keys_is_rejected_as_a_part() {
    let [place, first, second] = two_parts("keys");
    let other = place.join("other");
    let arguments = ["sweep", "paper", "--key", "agents.period=100,200", "--policy", "latency-aware", "--seeds", "1"];
    let made = run(arguments
        .iter()
        .map(AsRef::as_ref)
        .chain(["--set", "duration=600", "--out"].map(AsRef::as_ref))
        .chain([other.as_os_str()]));
    assert!(made.status.success(), "{}", stderr(&made));
    let before = runs(&first);
    let (code, said) = merge(&[&second, &other, Path::new("--out"), &first]);
    assert_eq!(code, Some(2));
    assert!(said.contains("some runs differ in workload.period, others in agents.period"), "{said}");
    assert_eq!(runs(&first), before);
}

#[test]
fn a_directory_in_use_is_locked_against_other_processes() {
    let [_, first, second] = two_parts("busy");
    let used = fs::File::open(&first).expect("a directory");
    used.lock().expect("nobody else has it");
    let (code, said) = merge(&[&second, Path::new("--out"), &first]);
    assert_eq!(code, Some(2));
    assert!(said.contains("another process keeps runs in"), "{said}");
    drop(used);
    assert_eq!(merge(&[&second, Path::new("--out"), &first]).0, Some(0));
}

fn merge(arguments: &[&Path]) -> (Option<i32>, String) {
    let output = run([Path::new("merge")].iter().chain(arguments));
    (output.status.code(), stderr(&output))
}

fn runs(directory: &Path) -> String {
    fs::read_to_string(directory.join("runs.jsonl")).expect("a study")
}

#[test]
fn a_missing_part_is_reported() {
    let [_, first, second] = two_parts("missing");
    let (code, said) = merge(&[&first]);
    assert_eq!(code, Some(1));
    assert!(said.contains("2 of the requested runs are missing, the first of them `latency-aware with "), "{said}");
    assert_eq!(merge(&[&first, &second]).0, Some(0));
}

#[test]
fn runs_already_in_the_directory_are_merged_too() {
    let [place, first, second] = two_parts("kept");
    let all = place.join("all");
    let out = Path::new("--out");
    assert_eq!(merge(&[&first, &second, out, &all]).0, Some(0));
    let joined = runs(&all);
    assert_eq!(joined.lines().count(), 4);
    assert_eq!(merge(&[&first, out, &all]).0, Some(0));
    assert_eq!(runs(&all), joined, "the runs of the other part are still there");
    assert_eq!(merge(&[&second, out, &first]).0, Some(0));
    assert_eq!(runs(&first), joined, "a part may take the others in");
}

#[test]
fn an_unrelated_directory_is_left_unchanged() {
    let [place, first, second] = two_parts("refused");
    let other = place.join("other");
    fs::create_dir(&other).expect("writable");
    fs::write(other.join("thesis.txt"), "precious").expect("writable");
    for arguments in [&[&first, &second, Path::new("--out"), &*other][..], &[&first, &*other]] {
        let (code, said) = merge(arguments);
        assert_eq!(code, Some(2));
        assert!(said.contains("other` holds no runs that could be joined"), "{said}");
        assert!(said.contains("mario sweep --out"), "{said}");
    }
    assert_eq!(fs::read_dir(&other).expect("a directory").count(), 1, "nothing was added");
}

#[test]
fn parts_of_a_comparison_are_joined_to_the_whole() {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("merge").join("comparison");
    let _ = fs::remove_dir_all(&place);
    let compare = |shard: Option<&str>, directory: &Path| {
        let policies = ["compare", "paper", "--policy", "latency-aware", "--policy", "cells", "--seeds", "3"];
        let shard = shard.map_or_else(Vec::new, |shard| vec!["--shard", shard]);
        let words = policies.into_iter().chain(["--set", "duration=600"]).chain(shard).chain(["--out"]);
        let output = run(words.map(AsRef::as_ref).chain([directory.as_os_str()]));
        assert!(output.status.success(), "{}", stderr(&output));
    };
    let [whole, first, second, all] = ["whole", "part-1", "part-2", "all"].map(|name| place.join(name));
    compare(None, &whole);
    compare(Some("1/2"), &first);
    compare(Some("2/2"), &second);
    assert_eq!(merge(&[&first, &second, Path::new("--out"), &all]).0, Some(0));
    for name in ["comparison.json", "comparison.csv", "runs.csv"] {
        let read = |directory: &Path| fs::read_to_string(directory.join(name)).expect("it is kept");
        assert_eq!(read(&all), read(&whole), "{name}");
    }
}
