//! Traces of counts: they agree with full traces, are smaller, and can be audited.

use mario_audit::{FindingKind, Options, audit};
use mario_scenario::Scenario;
use mario_simulator::{Detail, Regret, RunOptions, Simulation, TraceRecorder};
use serde_json::Value;

use crate::figures::scenario;

const FAILING: [&str; 3] =
    ["failures=[{mean_time_between=2000, mean_repair=3000}]", "redeploy.delay=500", "mobility.mean_stay=9"];

fn trace(scenario: &Scenario, detail: Detail) -> String {
    let mut trace = TraceRecorder::new(Vec::new(), scenario, detail);
    Simulation::new(scenario, RunOptions::default()).expect("a scenario that can be run").run(&mut trace);
    String::from_utf8(trace.finish(scenario.end()).expect("memory")).expect("text")
}

fn kinds(trace: &str) -> Vec<String> {
    let kind = |line: &str| serde_json::from_str::<Vec<Value>>(line).expect("a record")[0].as_str().map(str::to_owned);
    let mut kinds: Vec<String> = trace.lines().skip(1).map(|line| kind(line).expect("a kind")).collect();
    kinds.sort();
    kinds.dedup();
    kinds
}

#[test]
fn the_auditor_finds_nothing_and_lists_what_was_not_checked() {
    let worlds: [(&str, &[&str]); 4] =
        [("paper", &[]), ("paper", &FAILING), ("prototype", &[]), ("city", &["mobility.users=200", "duration=26000"])];
    for (preset, overrides) in worlds {
        let scenario = scenario(preset, overrides);
        let trace = trace(&scenario, Detail::Summary);
        let report = audit(trace.as_bytes(), Options::default(), &mut |_| {}).expect("a trace");
        assert!(report.is_clean(), "{preset} {overrides:?}:\n{report}");
        assert!(
            report.counts.cycles > 50 && report.counts.handovers > 50 && report.counts.instances_max > 6,
            "{report}"
        );
        let words = report.to_string();
        assert!(words.contains("not checked: the hardware of single nodes"), "{words}");
    }
}

#[test]
fn counts_equal_those_of_a_full_trace() {
    for overrides in [&[][..], &FAILING] {
        let scenario = scenario("paper", overrides);
        let [full, summary] = [Detail::Full, Detail::Summary].map(|detail| trace(&scenario, detail));
        let [of_full, of_summary] = [&full, &summary]
            .map(|trace| audit(trace.as_bytes(), Options::default(), &mut |_| {}).expect("a trace").counts);
        assert_eq!(of_full.operations, of_summary.operations);
        assert_eq!(of_full.inhibited, of_summary.inhibited);
        assert_eq!((of_full.nops, of_full.cycles), (of_summary.nops, of_summary.cycles));
        assert_eq!((of_full.handovers, of_full.instances), (of_summary.handovers, of_summary.instances));
        assert_eq!((of_full.served, of_full.lost), (of_summary.served, of_summary.lost));
        let ends: Vec<&str> = [&full, &summary].map(|trace| trace.lines().last().expect("an end")).to_vec();
        assert_eq!(ends[0], ends[1]);
        // When nodes fail and users leave, there are fewer agents. Then the full trace is smaller, too, and the ratio
        // is lower.
        let times = if overrides.is_empty() { 5 } else { 2 };
        assert!(summary.len() * times < full.len(), "{} {}", summary.len(), full.len());
        let mut expected = vec!["clients", "counts", "deployed", "end"];
        expected.extend(if overrides.is_empty() { vec![] } else { vec!["gone"] });
        expected.extend(["handovers", "responses", "usage"]);
        assert_eq!(kinds(&summary), expected);
    }
}

#[test]
fn a_trace_of_counts_can_record_regret() {
    for overrides in [&["duration=4000"][..], &["duration=4000", FAILING[0], FAILING[1]]] {
        let scenario = scenario("paper", overrides);
        let told = |detail: Detail| {
            let mut recorders = (Some(Regret::new(&scenario)), TraceRecorder::new(Vec::new(), &scenario, detail));
            Simulation::new(&scenario, RunOptions::default()).expect("it can be run").run(&mut recorders);
            let trace = recorders.1.finish(scenario.end()).expect("memory");
            let report = audit(trace.as_slice(), Options::default(), &mut |_| {}).expect("a trace");
            assert!(report.is_clean(), "{overrides:?}:\n{report}");
            let text = String::from_utf8(trace).expect("text");
            text.lines().filter(|line| line.starts_with("[\"regret\"")).map(str::to_owned).collect::<Vec<String>>()
        };
        let of_summary = told(Detail::Summary);
        assert_eq!(of_summary.len(), 39, "one for each activation of the managers");
        assert_eq!(of_summary, told(Detail::Full));
    }
}

#[test]
fn the_auditor_finds_impossible_counts() {
    let scenario = scenario("paper", &["duration=3000"]);
    let trace = trace(&scenario, Detail::Summary);
    let found = |change: &dyn Fn(&mut Vec<Value>) -> bool| {
        let mut is_changed = false;
        let lines = trace.lines().map(|line| match serde_json::from_str::<Vec<Value>>(line) {
            Ok(mut record) if !is_changed => {
                is_changed = change(&mut record);
                serde_json::to_string(&record).expect("JSON")
            }
            _ => line.to_owned(),
        });
        let text: Vec<String> = lines.collect();
        assert!(is_changed);
        audit((text.join("\n") + "\n").as_bytes(), Options::default(), &mut |_| {}).expect("a trace")
    };
    let is = |record: &[Value], kind: &str| record[0] == kind;
    let more_instances = found(&|record| {
        let is_it = is(record, "counts");
        if is_it {
            record[4][0][2] = 1_000.into();
        }
        is_it
    });
    assert!(more_instances.count(FindingKind::Instance) > 0, "{more_instances}");
    let crowded = found(&|record| {
        let is_it = is(record, "counts");
        if is_it {
            record[4].as_array_mut().expect("a list").push(Value::from(vec![0, 3, 1_000]));
        }
        is_it
    });
    assert!(crowded.count(FindingKind::Capacity) > 0, "{crowded}");
    let no_reason = found(&|record| {
        let is_it = is(record, "counts") && !record[3].as_array().expect("a list").is_empty();
        if is_it {
            record[3] = Value::Array(Vec::new());
        }
        is_it
    });
    assert!(no_reason.count(FindingKind::Totals) > 0, "{no_reason}");
    let one_more_move = found(&|record| {
        let is_it = is(record, "handovers");
        if is_it {
            record[2][0][1] = 999.into();
        }
        is_it
    });
    assert_eq!(one_more_move.count(FindingKind::Totals), 1, "{one_more_move}");
}
