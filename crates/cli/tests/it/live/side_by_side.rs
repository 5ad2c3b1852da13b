//! The same scenario simulated and live: once agents are quiescent, the placement is the same, and the agents' facts
//! are nearly the same.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::directory;
use crate::{mario, stderr};

/// A cloud and four access points in a star, with users who do not move. `near` must be close to its users; `busy` has
/// more users at one access point than one instance can handle.
const SCENARIO: &str = r#"
preset = "paper"
name = "side-by-side"
duration = 6000
reset = ["application"]

[topology]
size = 2
hardware = ["unbounded", 3]

[mobility]
kind = "static"
users = 6

[[application]]
id = "near"
hardware = 1
max_rate = 40
max_latency = 1

[[application]]
id = "busy"
hardware = 1
max_rate = 8
max_latency = 50
"#;

const USERS: [(&str, &str); 6] = [
    ("near", "n1lt0ln0"),
    ("near", "n1lt0ln0"),
    ("near", "n1lt0ln1"),
    ("busy", "n1lt1ln0"),
    ("busy", "n1lt1ln0"),
    ("busy", "n1lt1ln1"),
];

/// The final state of a trace: the number of instances by node and application, and the client requests that their
/// agents observed last, by neighbour: the sum of the rates, and the latency of the last fact.
#[derive(Default)]
struct Ending {
    placement: BTreeMap<(String, String), usize>,
    requests: BTreeMap<(String, String), BTreeMap<String, (f64, f64)>>,
}

impl Ending {
    fn of(run: &Path) -> Ending {
        let text = fs::read_to_string(run.join("trace.jsonl")).expect("a trace");
        let mut lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        let header = lines.next().expect("a header");
        let name = |list: &str, place: &Value| {
            let place = place.as_u64().unwrap_or_else(|| panic!("{place} is not a place of {list}")) as usize;
            header[list][place]["id"].as_str().expect("an id").to_owned()
        };
        // For each instance: its node, its application, and the requests that its agent observed last.
        let mut instances: BTreeMap<String, (Value, Value, Value)> = BTreeMap::new();
        for line in lines {
            match line[0].as_str() {
                Some("deployed") => {
                    let placed = (line[4].clone(), line[3].clone(), Value::Null);
                    instances.insert(line[2].to_string(), placed);
                }
                Some("evaluation") => {
                    let known = instances.get_mut(&line[2].to_string()).expect("it is there");
                    if line[5] != "same" {
                        known.2 = line[5].clone();
                    }
                }
                Some("cycle") => {
                    for outcome in line[2].as_array().expect("outcomes") {
                        accept(&mut instances, outcome);
                    }
                }
                _ => {}
            }
        }
        let mut ending = Ending::default();
        for (node, application, requests) in instances.into_values() {
            let at = (name("nodes", &node), name("applications", &application));
            *ending.placement.entry(at.clone()).or_default() += 1;
            for fact in requests.as_array().into_iter().flatten() {
                let neighbour = if fact[0].is_u64() { name("nodes", &fact[0]) } else { "self".to_owned() };
                let seen = ending.requests.entry(at.clone()).or_default().entry(neighbour).or_default();
                *seen = (seen.0 + fact[1].as_f64().expect("a rate"), fact[2].as_f64().expect("a latency"));
            }
        }
        ending
    }
}

fn accept(instances: &mut BTreeMap<String, (Value, Value, Value)>, outcome: &Value) {
    // An undeploy has no target before its verdict.
    let verdict = if outcome[1] == "undeploy" { &outcome[2] } else { &outcome[3] };
    if *verdict != "accepted" {
        return;
    }
    let instance = outcome[0].to_string();
    match outcome[1].as_str() {
        Some("deploy") => {
            instances.insert(outcome[4].to_string(), (outcome[2].clone(), outcome[5].clone(), Value::Null));
        }
        Some("replicate") => {
            let (own, application, _) = instances[&instance].clone();
            let node = if outcome[2].is_u64() { outcome[2].clone() } else { own };
            instances.insert(outcome[4].to_string(), (node, application, Value::Null));
        }
        Some("migrate") => instances.get_mut(&instance).expect("it is there").0 = outcome[2].clone(),
        Some("undeploy") => {
            instances.remove(&instance);
        }
        _ => {}
    }
}

#[test]
fn the_same_scenario_ends_in_the_same_placement_simulated_and_live() {
    let out = directory("side-by-side");
    fs::create_dir_all(&out).expect("made");
    let mut text = SCENARIO.to_owned();
    for (place, (application, node)) in USERS.iter().enumerate() {
        text += &format!("[[user]]\nid = {}\napplication = \"{application}\"\nnode = \"{node}\"\n", place + 1);
    }
    let scenario = out.join("small.toml");
    fs::write(&scenario, text).expect("written");
    let run = |arguments: &[&str], run: &str| {
        let output = mario().args(arguments).arg("--out").arg(out.join(run)).output().expect("it runs");
        assert!(output.status.success(), "{}", stderr(&output));
        Ending::of(&out.join(run))
    };
    let path = scenario.display().to_string();
    let policy = ["--policy", "workload-and-latency-aware"];
    let simulated = run(&[&["run", &path], &policy[..]].concat(), "simulated");
    let live = run(&[&["live", "--scenario", &path, "--for", "20s"], &policy[..]].concat(), "live");
    assert_eq!(live.placement, simulated.placement);
    assert!(simulated.placement.values().sum::<usize>() >= 4, "{:?}", simulated.placement);
    assert_eq!(live.requests.keys().collect::<Vec<_>>(), simulated.requests.keys().collect::<Vec<_>>());
    for (at, expected) in &simulated.requests {
        let seen = &live.requests[at];
        assert_eq!(seen.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>(), "{at:?}");
        for (neighbour, (rate, latency)) in expected {
            let (live_rate, live_latency) = seen[neighbour];
            // The windows of the two runs start at different times, so their last rates may differ slightly.
            assert!((live_rate - rate).abs() <= 2.0, "{at:?} {neighbour}: {live_rate} live, {rate} simulated");
            // Live latencies are rounded to one millisecond; the rest is overhead of the machine.
            assert!(
                (live_latency - latency).abs() <= 2.0,
                "{at:?} {neighbour}: {live_latency} live, {latency} simulated"
            );
        }
    }
    println!("{:?}\n{:?}\n{:?}", simulated.placement, simulated.requests, live.requests);
    fs::remove_dir_all(out).expect("it was there");
}
