//! Changes of policy during a run, and comparison of the simulated past with a recorded one.

use std::io::BufReader;

use mario_audit::{Options, audit};
use mario_domain::Time;
use mario_scenario::{Document, NoFiles, RecordedPast, Scenario, policy_names};
use mario_simulator::{Detail, PastError, RunOptions, Simulation, TraceRecorder, compare_with_trace, verify};

use crate::random_worlds::world;

const MOMENT: f64 = 3_050.0;

/// A short run of the paper's world with these keys, with one policy until `MOMENT` and perhaps another one from then
/// on.
fn paper(keys: &[&str], seed: u64, policy: &str, from_then_on: Option<&str>) -> Scenario {
    let mut document = Document::preset("paper").expect("a preset");
    let keys: Vec<String> =
        ["duration=6000", "topology.size=4"].iter().chain(keys).map(|key| (*key).to_owned()).collect();
    document.set(&keys);
    document.set_seed(seed);
    document.set_policy(policy);
    if let Some(policy) = from_then_on {
        document.set(&[format!("start.time={MOMENT}")]);
        document.set_policy(policy);
    }
    document.resolve(&mut NoFiles).expect("a scenario").scenario
}

fn trace(scenario: &Scenario, detail: Detail) -> Vec<u8> {
    let mut recorder = TraceRecorder::new(Vec::new(), scenario, detail);
    let statistics = Simulation::new(scenario, RunOptions::default()).expect("it can be run").run(&mut recorder);
    recorder.traffic(statistics.hops);
    recorder.finish(scenario.end()).expect("memory takes everything")
}

/// The records before `MOMENT`, and the others. The header is omitted.
fn parts(trace: &[u8]) -> (Vec<&str>, Vec<&str>) {
    let text = std::str::from_utf8(trace).expect("text");
    let time =
        |line: &&str| line.split(',').nth(1).expect("a time").trim_end_matches(']').parse::<f64>().expect("a number");
    text.lines().skip(1).partition(|line| time(line) < MOMENT)
}

fn is_clean(trace: &[u8]) {
    let report = audit(BufReader::new(trace), Options::default(), &mut |_| {}).expect("a trace");
    assert!(report.findings.is_empty(), "{:#?}", report.findings);
}

/// Simulated messages, and rates.
const FIDELITIES: [&[&str]; 2] = [&[], &["network.fidelity=flow"]];

#[test]
fn an_update_to_the_same_policy_writes_the_same_bytes() {
    for (number, policy) in policy_names().enumerate() {
        for keys in FIDELITIES {
            let seed = 1 + number as u64;
            let recorded = paper(keys, seed, policy, None);
            let replayed = paper(keys, seed, policy, Some(policy));
            assert!(replayed.past.is_some() && replayed.updates.is_empty(), "{policy}");
            for detail in [Detail::Full, Detail::Operations, Detail::Summary] {
                assert!(trace(&recorded, detail) == trace(&replayed, detail), "{policy} {keys:?} {detail:?}");
            }
        }
    }
}

#[test]
fn an_update_changes_nothing_before_it_and_is_audited_after_it() {
    let policies: Vec<&str> = policy_names().collect();
    let mut differing = 0;
    for (number, policy) in policies.iter().enumerate() {
        let other = policies[(number + 1) % policies.len()];
        for keys in FIDELITIES {
            let recorded = trace(&paper(keys, 7, policy, None), Detail::Full);
            let replayed = trace(&paper(keys, 7, policy, Some(other)), Detail::Full);
            is_clean(&replayed);
            let ((before, after), (same, future)) = (parts(&recorded), parts(&replayed));
            assert_eq!(before, same, "{policy}, then {other}");
            assert!(future[0].starts_with("[\"update\",3050,0,"), "{}", future[0]);
            differing += usize::from(after != future[6..]);
        }
    }
    assert!(differing > policies.len(), "policies differ: {differing}");
}

#[test]
fn an_update_clears_the_memory_of_agents() {
    let looks_back = "popularity-with-cool-down";
    for policy in ["workload-and-latency-aware-with-memory", "sustained-demand", looks_back] {
        for other in ["workload-and-latency-aware-with-memory", "sustained-demand", looks_back, "workload-aware"] {
            for seed in 1..4 {
                is_clean(&trace(&paper(&["workload.period=10"], seed, policy, Some(other)), Detail::Full));
            }
        }
    }
}

#[test]
fn the_simulated_past_equals_the_recorded_one() {
    for seed in 0..40 {
        let scenario = world(seed);
        let recorded = trace(&scenario, Detail::Full);
        let moment = Time::ZERO + scenario.duration * 0.6;
        let past = compare_with_trace(&scenario, moment, Detail::Full, recorded.as_slice()).expect("the same");
        let operations = trace(&scenario, Detail::Operations);
        let again = compare_with_trace(&scenario, moment, Detail::Operations, operations.as_slice()).expect("the same");
        assert_eq!(past, again, "the checksum does not depend on what was kept");
        let continued = Scenario { past: Some(past.clone()), ..scenario.clone() };
        verify(&continued).expect("the same");
        assert!(trace(&continued, Detail::Full) == recorded, "world {seed}");
        let other = RecordedPast { checksum: past.checksum.map(|checksum| checksum ^ 1), ..past };
        let error = verify(&Scenario { past: Some(other), ..scenario }).expect_err("another past");
        assert!(matches!(error, PastError::Changed { .. }), "{error}");
    }
}

#[test]
fn a_different_past_is_reported_with_its_line() {
    let scenario = paper(&[], 1, "latency-aware", None);
    let text = String::from_utf8(trace(&scenario, Detail::Full)).expect("text");
    let mut lines: Vec<&str> = text.lines().collect();
    let held = |lines: &[&str]| {
        let text = lines.join("\n") + "\n";
        compare_with_trace(&scenario, Time::at(MOMENT), Detail::Full, text.as_bytes())
            .expect_err("another past")
            .to_string()
    };
    let moved = lines[20].replacen(",1", ",2", 1);
    assert_ne!(moved, lines[20]);
    let original = std::mem::replace(&mut lines[20], &moved);
    assert!(held(&lines).starts_with("line 21 of the trace is "), "{}", held(&lines));
    lines[20] = original;
    let left_out = lines.remove(30);
    assert!(held(&lines).contains(&left_out[..20.min(left_out.len())]), "{}", held(&lines));
    lines.insert(30, left_out);
    assert!(held(&lines[..40]).contains("nothing"), "{}", held(&lines[..40]));
    let header = lines[0].replacen("\"seed\":1", "\"seed\":2", 1);
    lines[0] = &header;
    assert!(held(&lines).starts_with("line 1 of the trace"), "{}", held(&lines));
}

/// The auditor detects updates that are missing, at another time, to another policy, or in a format without updates.
#[test]
fn lies_about_updates_are_detected() {
    let text = trace(&paper(&[], 7, "workload-aware", Some("latency-aware")), Detail::Full);
    is_clean(&text);
    let lines: Vec<String> = String::from_utf8(text).expect("text").lines().map(str::to_owned).collect();
    let updates: Vec<usize> = (0..lines.len()).filter(|place| lines[*place].starts_with("[\"update\",")).collect();
    assert_eq!(updates.len(), 6, "one for each application");
    let finds = |name: &str, lie: &dyn Fn(&mut Vec<String>)| {
        let mut lies = lines.clone();
        lie(&mut lies);
        assert_ne!(lies, lines, "{name} changes something");
        let text = lies.join("\n") + "\n";
        let report = audit(BufReader::new(text.as_bytes()), Options::default(), &mut |_| {});
        // An index out of range makes the trace unreadable.
        assert!(report.map_or(true, |report| !report.findings.is_empty()), "{name} is believed");
    };
    finds("no update at all", &|lies| lies.retain(|line| !line.starts_with("[\"update\",")));
    finds("updates at the very end", &|lies| {
        let (updates, rest): (Vec<String>, Vec<String>) =
            lies.drain(..).partition(|line| line.starts_with("[\"update\","));
        *lies = rest;
        let end = lies.len() - 1;
        let last = lies[end - 1].split(',').nth(1).expect("a time").trim_end_matches(']').to_owned();
        let late = updates.iter().map(|line| line.replacen("3050", &last, 1)).collect::<Vec<_>>();
        lies.splice(end..end, late);
    });
    finds("an update to the policy before", &|lies| {
        for place in &updates {
            lies[*place] = lies[*place].rsplit_once(',').expect("a policy").0.to_owned() + ",0]";
        }
    });
    finds("an update to a policy that is not there", &|lies| {
        lies[updates[0]] = lies[updates[0]].rsplit_once(',').expect("a policy").0.to_owned() + ",99]";
    });
    finds("an update back in time", &|lies| lies[updates[0]] = lies[updates[0]].replacen("3050", "100", 1));
    finds("an update in a format that has none", &|lies| {
        lies[0] = lies[0].replacen("{\"mario_trace\":3,", "{\"mario_trace\":2,", 1);
    });
}
