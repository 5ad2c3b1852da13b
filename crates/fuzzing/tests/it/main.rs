//! Tests that no target fails on mutations of its seeds, and that libFuzzer has a program for each target.
//!
//! `MARIO_FUZZ_FACTOR=100 cargo test -p mario-fuzzing` runs a hundred times as many inputs.

#![allow(clippy::disallowed_methods, reason = "tests read files and wait for processes")]

use std::fs;
use std::path::{Path, PathBuf};

use mario_fuzzing::{Outcome, TARGETS, campaign, target};

macro_rules! bounded {
    ($($name:ident),* $(,)?) => {
        $(#[test]
        fn $name() {
            run(stringify!($name));
        })*

        #[test]
        fn every_target_has_a_test() {
            let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
            assert_eq!([$(stringify!($name)),*], names.as_slice());
        }
    };
}

bounded!(
    reader,
    machine,
    program,
    knowledge_base,
    scenario,
    attachments,
    graph,
    tracks,
    trace,
    trace_part,
    checkpoint,
    wire,
    node_config,
    certificate,
    application,
    application_file,
    ingress,
    operators,
);

fn run(name: &str) {
    let target = target(name).expect("a target");
    let seeds = (target.seeds)();
    let valid = seeds.iter().filter(|seed| (target.run)(seed) == Outcome::Accepted).count();
    assert!(valid * 2 >= seeds.len(), "{valid} of {} seeds of `{name}` are accepted", seeds.len());
    let factor = std::env::var("MARIO_FUZZ_FACTOR").ok().and_then(|factor| factor.parse().ok()).unwrap_or(1);
    let tally = campaign(target, 0..target.inputs * factor);
    println!("{name}: {tally:?}");
    // If all inputs are accepted or all are rejected, the mutations test little.
    assert!(tally.accepted > 0 && tally.rejected > 0, "{name}: {tally:?}");
}

#[test]
fn an_input_is_determined_by_its_number() {
    for target in &TARGETS {
        for number in [0, 7] {
            assert_eq!(mario_fuzzing::input(target, number), mario_fuzzing::input(target, number), "{}", target.name);
        }
    }
}

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

#[test]
fn libfuzzer_has_a_program_for_every_target_and_no_other() {
    let manifest = fs::read_to_string(fuzz().join("Cargo.toml")).expect("a manifest");
    let table = fs::read_to_string(fuzz().join("README.md")).expect("a page");
    for target in &TARGETS {
        let name = target.name;
        let path = format!("fuzz_targets/{name}.rs");
        let text = fs::read_to_string(fuzz().join(&path)).unwrap_or_else(|error| panic!("fuzz/{path}: {error}"));
        assert!(text.contains(&format!("target(\"{name}\")")), "fuzz/{path} runs another target");
        assert!(manifest.contains(&format!("path = \"{path}\"")), "fuzz/Cargo.toml has no [[bin]] for `{name}`");
        assert!(table.contains(&format!("| `{name}` |")), "the table of fuzz/README.md has no row for `{name}`");
    }
    let programs = fs::read_dir(fuzz().join("fuzz_targets")).expect("a folder").count();
    assert_eq!(programs, TARGETS.len());
}
