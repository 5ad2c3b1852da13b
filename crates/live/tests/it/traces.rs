//! The parts of a trace that daemons write, joined and audited.

use std::fs;

use serde_json::Value;

use crate::colony::Colony;
use crate::daemons::{MOVES, STAYS};

/// A policy that migrates from `a` to `b`, and replicates from there to `c` until that is inhibited.
const TRAVELS: &str = "
operation(migrate, I, b) :- serviceInstance(I, _, a).
operation(replicate, I, c) :- serviceInstance(I, _, b), \\+ inhibited(replicate, I, c).
";

/// Runs a colony in which an instance migrates and replicates. Returns the trace and the auditor's report.
fn travelled() -> (String, mario_audit::AuditReport) {
    let mut colony = Colony::new("travels", &["a", "b", "c"], 1);
    for index in 0..3 {
        colony.start(index, None);
    }
    let document = colony.signed_with(TRAVELS, "hardware = 1\nmemory = 1000\nreplications_max = 1\n", "", "");
    colony.deploy(0, "1", &document).expect("an answer").json().expect("accepted");
    colony.wait("it has moved and replicated", |colony| {
        colony.healthy(0).is_empty() && colony.healthy(1).len() == 1 && colony.healthy(2).len() == 1
    });
    colony.wait("something was inhibited", |colony| {
        let answer = colony.get(1, "/v1/instances");
        answer["instances"][0]["decisions"].to_string().contains("budget")
    });
    colony.wait("all is quiet", |colony| (0..3).all(|index| colony.get(index, "/v1/status")["is_quiet"] == true));
    colony.audited()
}

#[test]
fn the_trace_of_a_colony_of_daemons_passes_the_audit() {
    let (trace, report) = travelled();
    assert!(report.is_clean(), "{report}\n{trace}");
    let operations = &report.counts.operations;
    assert_eq!(
        (operations.get("deploy"), operations.get("migrate"), operations.get("replicate")),
        (Some(&1), Some(&1), Some(&1))
    );
    assert_eq!(operations.get("undeploy"), Some(&2), "{report}");
    assert!(report.counts.inhibited.contains_key("budget"), "{report}");
    assert!(report.counts.decisions >= 3, "{report}");
    assert_eq!(report.unchecked, Vec::<String>::new(), "{report}");
    // Anchors are of version 8 of the trace format, which `mario report` reads.
    assert!(trace.starts_with("{\"mario_trace\":8,"), "{trace}");
    if let Ok(path) = std::env::var("MARIO_KEEP_TRACE") {
        fs::write(path, &trace).expect("written");
    }
}

#[test]
fn the_same_parts_make_the_same_trace_in_any_order() {
    let mut colony = Colony::new("order", &["a", "b"], 2);
    for index in 0..2 {
        colony.start(index, None);
    }
    let document = colony.signed(MOVES);
    let reply = colony.deploy(0, "1", &document).expect("an answer").json().expect("accepted");
    let instance = reply["instance"].as_str().expect("an id").to_owned();
    colony.wait("it has moved", |colony| colony.healthy(1) == [instance.clone()]);
    colony.audited();
    let trace = colony.joined();
    colony.daemons.reverse();
    assert_eq!(trace, colony.joined());
}

#[test]
fn a_trace_continues_after_kill_9_and_stays_bounded() {
    let mut colony = Colony::new("bounded", &["a"], 2);
    colony.configure(0, "[trace]\nbytes_max = 65536\n");
    let config = fs::read_to_string(&colony.daemons[0].config).expect("a configuration");
    fs::write(&colony.daemons[0].config, config.replace("evaluation_ms = 400", "evaluation_ms = 50")).expect("written");
    colony.start(0, None);
    let document = colony.signed(STAYS);
    colony.deploy(0, "1", &document).expect("an answer").json().expect("accepted");
    colony.wait("parts were rotated", |colony| {
        colony.parts("a").first().is_some_and(|part| !part.ends_with("00000001.jsonl"))
    });
    colony.kill(0);
    colony.start(0, None);
    let parts = colony.parts("a");
    let bytes: u64 = parts.iter().map(|part| fs::metadata(part).map_or(0, |metadata| metadata.len())).sum();
    assert!(bytes <= 65_536 + 16_384, "{bytes} bytes in {parts:?}");
    colony.wait("it evaluates again", |colony| {
        colony.get(0, "/v1/instances")["instances"][0]["decisions"].as_array().is_some_and(|all| !all.is_empty())
    });
    let (trace, report) = colony.audited();
    assert!(report.is_clean(), "{report}\n{trace}");
    assert_eq!(report.unchecked.len(), 1, "the beginning is gone, and that is said: {report}");
}

#[test]
fn a_trace_that_cannot_be_written_is_reported_and_stops_nothing() {
    let mut colony = Colony::new("untraced", &["a"], 2);
    // A file is in the way of the trace's directory.
    fs::create_dir_all(colony.directory.join("a/data")).expect("made");
    fs::write(colony.directory.join("a/data/trace"), "in the way").expect("written");
    colony.start(0, None);
    let document = colony.signed(STAYS);
    let reply = colony.deploy(0, "1", &document).expect("an answer").json().expect("accepted");
    let instance = reply["instance"].as_str().expect("an id").to_owned();
    colony.wait("it is healthy", |colony| colony.healthy(0) == [instance.clone()]);
    colony.wait("the fault is told", |colony| colony.get(0, "/v1/status")["trace_fault"] != Value::Null);
    assert_eq!(colony.client(0, "/").expect("an answer").0, 200);
    let log = fs::read_to_string(colony.directory.join("a.log")).expect("a log");
    assert_eq!(log.matches("trace-fails").count(), 1, "it is told once");
    // Once it can be written, nothing is missing: the lines were buffered.
    fs::remove_file(colony.directory.join("a/data/trace")).expect("removed");
    colony.wait("it is written", |colony| colony.get(0, "/v1/status")["trace_fault"] == Value::Null);
    let (trace, report) = colony.audited();
    assert!(report.is_clean(), "{report}\n{trace}");
    assert_eq!(report.unchecked, Vec::<String>::new());
}
