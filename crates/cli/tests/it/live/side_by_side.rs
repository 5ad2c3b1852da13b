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
///
/// While a new copy starts, its users are still served by the old one, whose agent would replicate again if it were
/// overloaded by that. The rates are such that this takes a start of 0.4 evaluation periods, which are 2 s long here.
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
users = 8

[[application]]
id = "near"
hardware = 1
max_rate = 40
max_latency = 1

[[application]]
id = "busy"
hardware = 1
max_rate = 14
max_latency = 50
"#;

const USERS: [(&str, &str); 8] = [
    ("near", "n1lt0ln0"),
    ("near", "n1lt0ln0"),
    ("near", "n1lt0ln1"),
    ("busy", "n1lt1ln0"),
    ("busy", "n1lt1ln0"),
    ("busy", "n1lt1ln0"),
    ("busy", "n1lt1ln0"),
    ("busy", "n1lt1ln1"),
];

/// The final state of a trace: the number of instances by node and application, and the client requests that their
/// agents observed since the last operation, by neighbour. Of several evaluations, it has the mean of their rates and the
/// shortest latency: a busy machine delays requests, and makes none faster.
#[derive(Default)]
struct Ending {
    placement: BTreeMap<(String, String), usize>,
    requests: BTreeMap<(String, String), BTreeMap<String, (f64, f64)>>,
}

/// An instance while a trace is read.
struct Instance {
    node: Value,
    application: Value,
    /// The requests that its agent observed last.
    latest: Value,
    /// Those of each evaluation since the last operation of any agent.
    observed: Vec<Value>,
}

type Instances = BTreeMap<String, Instance>;

impl Instance {
    fn new(node: &Value, application: &Value) -> Instance {
        let (node, application) = (node.clone(), application.clone());
        Instance { node, application, latest: Value::Null, observed: Vec::new() }
    }
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
        let mut instances = Instances::new();
        for line in lines {
            match line[0].as_str() {
                Some("deployed") => {
                    instances.insert(line[2].to_string(), Instance::new(&line[4], &line[3]));
                }
                Some("evaluation") => {
                    let known = instances.get_mut(&line[2].to_string()).expect("it is there");
                    if line[5] != "same" {
                        known.latest = line[5].clone();
                    }
                    known.observed.push(known.latest.clone());
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
        for Instance { node, application, observed, .. } in instances.into_values() {
            let at = (name("nodes", &node), name("applications", &application));
            *ending.placement.entry(at.clone()).or_default() += 1;
            let mut sums: BTreeMap<String, (f64, f64)> = BTreeMap::new();
            for fact in observed.iter().flat_map(|facts| facts.as_array().into_iter().flatten()) {
                let neighbour = if fact[0].is_u64() { name("nodes", &fact[0]) } else { "self".to_owned() };
                let (rate, latency) = sums.entry(neighbour).or_insert((0.0, f64::INFINITY));
                *rate += fact[1].as_f64().expect("a rate");
                *latency = latency.min(fact[2].as_f64().expect("a latency"));
            }
            for (neighbour, (rate, latency)) in sums {
                let seen = ending.requests.entry(at.clone()).or_default().entry(neighbour).or_insert((0.0, latency));
                *seen = (seen.0 + rate / observed.len() as f64, seen.1.min(latency));
            }
        }
        ending
    }
}

fn accept(instances: &mut Instances, outcome: &Value) {
    // An undeploy has no target before its verdict.
    let verdict = if outcome[1] == "undeploy" { &outcome[2] } else { &outcome[3] };
    if *verdict != "accepted" {
        return;
    }
    let instance = outcome[0].to_string();
    match outcome[1].as_str() {
        Some("deploy") => {
            instances.insert(outcome[4].to_string(), Instance::new(&outcome[2], &outcome[5]));
        }
        Some("replicate") => {
            let parent = &instances[&instance];
            let node = if outcome[2].is_u64() { &outcome[2] } else { &parent.node };
            let replica = Instance::new(node, &parent.application);
            instances.insert(outcome[4].to_string(), replica);
        }
        Some("migrate") => instances.get_mut(&instance).expect("it is there").node = outcome[2].clone(),
        Some("undeploy") => {
            instances.remove(&instance);
        }
        _ => {}
    }
    instances.values_mut().for_each(|instance| instance.observed.clear());
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
    let live = run(&[&["live", "--scenario", &path, "--for", "30s", "--speed", "100"], &policy[..]].concat(), "live");
    assert_eq!(live.placement, simulated.placement);
    assert!(simulated.placement.values().sum::<usize>() >= 4, "{:?}", simulated.placement);
    assert_eq!(live.requests.keys().collect::<Vec<_>>(), simulated.requests.keys().collect::<Vec<_>>());
    for (at, expected) in &simulated.requests {
        let seen = &live.requests[at];
        assert_eq!(seen.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>(), "{at:?}");
        for (neighbour, (rate, latency)) in expected {
            let (live_rate, live_latency) = seen[neighbour];
            assert!((live_rate - rate).abs() <= 0.1 * rate, "{at:?} {neighbour}: {live_rate} live, {rate} simulated");
            // Live latencies are rounded to one millisecond. The machine adds to them, but less than would be seen if a
            // link were counted twice.
            assert!(
                (latency - 1.0..2.0 * latency + 1.0).contains(&live_latency),
                "{at:?} {neighbour}: {live_latency} live, {latency} simulated"
            );
        }
    }
    println!("{:?}\n{:?}\n{:?}", simulated.placement, simulated.requests, live.requests);
    fs::remove_dir_all(out).expect("it was there");
}
