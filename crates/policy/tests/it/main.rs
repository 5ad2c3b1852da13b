//! Tests of the public interface, and of the policies of the paper against recorded decisions and SWI-Prolog.

#![allow(clippy::disallowed_methods, reason = "tests read files and wait for processes")]

mod acceptance;
mod against_swipl;
mod allocations;
mod decisions;
mod documents;
mod explained;
mod facts;
mod functions;
mod generated;
mod initiative;
mod invariance;
mod recorded;
mod tables;

use std::fs;
use std::path::{Path, PathBuf};

use mario_policy::{KnowledgeBase, Policy, PolicyError, PolicySettings};
use mario_prolog::{Directories, Engine};

/// The four policies of the paper, by number.
const PAPER: [&str; 4] =
    ["workload-aware", "latency-aware", "workload-and-latency-aware", "workload-and-latency-aware-with-memory"];

fn policies() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../policies")
}

fn shipped(engine: &Engine, name: &str) -> Policy {
    let path = policies().join(format!("{name}.pl"));
    let text = fs::read_to_string(&path).expect("it is shipped");
    let resolver = Box::new(Directories::new([policies()]));
    let path = path.to_str().expect("a path of the workspace");
    Policy::load(engine, path, &text, Some(resolver), PolicySettings::default()).expect("it is a policy")
}

fn load(engine: &Engine, text: &str) -> Result<Policy, PolicyError> {
    Policy::load(engine, "policy.pl", text, None, PolicySettings::default())
}

fn facts(engine: &Engine, text: &str) -> KnowledgeBase {
    let mut facts = KnowledgeBase::new(engine.symbols());
    facts.read(engine, "facts.pl", text).expect("these are facts");
    facts
}
