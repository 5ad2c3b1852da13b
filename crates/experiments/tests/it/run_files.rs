//! The files of a run are checked against its trace: correct files have no findings, and changed numbers and rows are
//! found.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mario_audit::FindingKind;
use mario_experiments::run_files::{RunFiles, RunFilesCheck};
use mario_scenario::{Document, Resolved};
use mario_simulator::{Detail, IfExists, OutputOptions, RunDirectory, RunOptions, Simulation};
use mario_trace::reader::TraceReader;
use serde_json::Value;

use crate::Disk;

fn scenario() -> Resolved {
    let mut document = Document::preset("paper").expect("a preset");
    let overrides = [
        "duration=6000",
        "topology.size=4",
        "mobility.users=9",
        "mobility.first_users=8",
        "failures=[{mean_time_between=2000, mean_repair=1500}]",
        "redeploy.delay=300",
    ];
    document.set(&overrides.map(str::to_owned));
    document.resolve(&mut Disk).expect("a scenario")
}

/// The directory of a correct run.
fn kept(name: &str, detail: Detail, has_regret: bool) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("kept").join(name);
    let resolved = scenario();
    let keep = OutputOptions { detail, messages: true };
    let mut directory = RunDirectory::create(&path, &resolved, keep, IfExists::Replace).expect("a directory");
    if has_regret {
        directory = directory.with_regret(&resolved.scenario);
    }
    let mut simulation = Simulation::new(&resolved.scenario, RunOptions::default()).expect("it can be run");
    let statistics = simulation.run(directory.recorder());
    directory.complete(&resolved.scenario, statistics).expect("it is kept");
    path
}

fn check(directory: &Path) -> RunFilesCheck {
    let trace = fs::read(directory.join("trace.jsonl")).expect("a trace");
    let mut reader = TraceReader::new(trace.as_slice()).expect("a header");
    let mut kept = RunFiles::open(directory, &Arc::clone(reader.header())).expect("files");
    while let Some(record) = reader.next_record().expect("a record") {
        kept.read(&record).expect("files");
    }
    kept.finish().expect("files")
}

#[test]
fn the_files_of_a_run_agree_with_its_trace_at_every_detail() {
    for (name, detail) in
        [("true-full", Detail::Full), ("true-operations", Detail::Operations), ("true-summary", Detail::Summary)]
    {
        let checked = check(&kept(name, detail, true));
        assert!(checked.findings.is_empty(), "{name}: {:#?}", checked.findings);
        let all = ["operations.csv", "moves.csv", "handovers.csv", "messages.csv", "run.json", "summary.json"];
        let expected: &[&str] = if detail == Detail::Summary { &[all[0], all[4], all[5]] } else { &all };
        assert_eq!(checked.checked, expected);
        assert!(checked.unchecked.iter().any(|words| words.starts_with("`hops` in summary.json")), "{checked:?}");
    }
}

/// The JSON pointers of all numbers in a value.
fn numbers(value: &Value, pointer: &str, found: &mut Vec<String>) {
    match value {
        Value::Number(_) => found.push(pointer.to_owned()),
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(place, value)| numbers(value, &format!("{pointer}/{place}"), found));
        }
        Value::Object(object) => {
            object.iter().for_each(|(key, value)| numbers(value, &format!("{pointer}/{key}"), found));
        }
        _ => {}
    }
}

#[test]
fn every_wrong_number_in_a_summary_is_found() {
    let directory = kept("lies-summary", Detail::Full, true);
    let path = directory.join("summary.json");
    let truth: Value = serde_json::from_slice(&fs::read(&path).expect("a summary")).expect("JSON");
    let mut places = Vec::new();
    numbers(&truth, "", &mut places);
    assert!(places.len() > 300, "{}", places.len());
    // All steps and cycles have the same keys, so a sample of their numbers is enough.
    let chosen: Vec<&String> =
        places.iter().enumerate().filter(|(place, _)| *place < 60 || place % 41 == 0).map(|(_, path)| path).collect();
    for place in chosen {
        let mut lie = truth.clone();
        let number = lie.pointer_mut(place).expect("a number");
        *number = match number.as_u64() {
            Some(whole) => (whole + 1).into(),
            None => (number.as_f64().expect("a number") + 0.001).into(),
        };
        fs::write(&path, lie.to_string()).expect("writable");
        let found = check(&directory).findings;
        let is_untold = place == "/hops" || place == "/emitted";
        assert_eq!(found.is_empty(), is_untold, "{place}: {found:?}");
        assert!(found.iter().all(|finding| finding.kind == FindingKind::Summary), "{found:?}");
    }
    let mut lie = truth.clone();
    lie["emitted"] = 1.into();
    fs::write(&path, lie.to_string()).expect("writable");
    assert!(!check(&directory).findings.is_empty(), "fewer were sent than served");
}

#[test]
fn every_wrong_row_of_a_table_is_found() {
    let directory = kept("lies-tables", Detail::Operations, false);
    for name in ["operations.csv", "moves.csv", "handovers.csv", "messages.csv"] {
        let path = directory.join(name);
        let truth = fs::read_to_string(&path).expect("a table");
        let lines: Vec<&str> = truth.lines().collect();
        assert!(lines.len() > 5, "{name} has {} lines", lines.len());
        let mut lies: Vec<(String, Vec<String>)> = Vec::new();
        for line in [0, 1, lines.len() / 2, lines.len() - 1] {
            let mut told: Vec<String> = lines.iter().map(ToString::to_string).collect();
            // Changes the last cell of a row.
            told[line].push('7');
            lies.push((format!("line {} changed", line + 1), told));
            let mut told: Vec<String> = lines.iter().map(ToString::to_string).collect();
            told.remove(line);
            lies.push((format!("line {} omitted", line + 1), told));
        }
        let mut told: Vec<String> = lines.iter().map(ToString::to_string).collect();
        told.push(lines[1].to_owned());
        lies.push(("a row added".to_owned(), told));
        for (what, told) in lies {
            fs::write(&path, told.join("\n") + "\n").expect("writable");
            let found = check(&directory).findings;
            let is_found =
                found.iter().any(|finding| finding.kind == FindingKind::Table && finding.file.as_deref() == Some(name));
            assert!(is_found, "{name}, {what}: {found:?}");
        }
        fs::write(&path, truth).expect("writable");
        assert!(check(&directory).findings.is_empty(), "{name} is true again");
    }
}

#[test]
fn a_foreign_run_file_is_found_and_an_interrupted_run_is_checked_up_to_its_end() {
    let directory = kept("partial", Detail::Full, false);
    let trace = fs::read_to_string(directory.join("trace.jsonl")).expect("a trace");
    let half = trace[..trace.len() / 2].rfind('\n').expect("a line") + 1;
    fs::write(directory.join("trace.jsonl"), &trace[..half]).expect("writable");
    let found = check(&directory).findings;
    assert_eq!(found.len(), 1, "a run without the mark has been complete: {found:?}");
    assert!(found[0].to_string().contains("cut off"), "{found:?}");
    fs::write(directory.join("PARTIAL"), "").expect("writable");
    let checked = check(&directory);
    assert!(checked.findings.is_empty(), "{:?}", checked.findings);
    assert!(checked.unchecked.iter().any(|words| words == "summary.json: the trace has no end"), "{checked:?}");
    let run = fs::read_to_string(directory.join("run.json")).expect("a file");
    fs::write(directory.join("run.json"), run.replacen("\"seed\": 1", "\"seed\": 2", 1)).expect("writable");
    let found = check(&directory).findings;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].to_string(), "run.json, line 1, seed: summary: expected 1; found 2");
}
