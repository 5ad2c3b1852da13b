//! Runs baselines as a user does: each keeps the rules, each is reproducible, and none is better than the optimum.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::{run, stderr, stdout};

/// Options that shorten a run of the paper's scenario, but not so much that no user moves.
const SHORT: [&str; 2] = ["--set", "duration=6500"];

/// Options that reduce the paper's scenario to a cloud, four access points and seven users, so that all placements can
/// be searched.
const SMALL: [&str; 12] = [
    "--set",
    "topology.size=2",
    "--set",
    "mobility.users=7",
    "--set",
    "mobility.first_users=6",
    "--set",
    "workload.assignment=round-robin",
    "--set",
    "mobility.steps=4",
    "--set",
    "duration=8000",
];

fn fresh(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("baselines").join(name);
    if directory.exists() {
        fs::remove_dir_all(&directory).expect("the test's own directory is writable");
    }
    directory
}

/// Runs the paper's scenario with a choice of policy. Returns the run's directory and its summary.
fn run_paper(name: &str, choice: &str, options: &[&str]) -> (PathBuf, Value) {
    let directory = fresh(name);
    let out = directory.to_str().expect("a path in UTF-8");
    let fixed = ["run", "paper", "--policy", choice, "--out", out, "--format", "json"];
    let output = run(fixed.iter().chain(options));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let summary = serde_json::from_str(&stdout(&output)).expect("the summary is JSON");
    (directory, summary)
}

fn require_clean(directory: &Path, choice: &str) {
    let output = run(["audit".as_ref(), directory.as_os_str()]);
    assert_eq!(output.status.code(), Some(0), "{choice}: {}", stdout(&output));
}

fn satisfied(summary: &Value, which: &str) -> f64 {
    summary["regret"]["satisfied"][which].as_f64().expect("regret was asked for")
}

#[test]
fn every_baseline_keeps_the_rules_and_is_reproducible() {
    let baselines = ["never-move", "popularity", "cells", "edge-first-fit", "central-greedy"];
    for name in baselines {
        let choice = format!("baseline:{name}");
        let (first, summary) = run_paper(&format!("{name}-1"), &choice, &SHORT);
        require_clean(&first, name);
        assert!(summary["regret"].is_null(), "nobody asked");
        let (second, _) =
            run_paper(&format!("{name}-2"), &choice, &[&SHORT[..], &["--threads", "2", "--no-reuse"]].concat());
        let trace = |directory: &Path| fs::read(directory.join("trace.jsonl")).expect("the run has a trace");
        assert!(trace(&first) == trace(&second), "{name}");
    }
}

#[test]
fn the_central_placement_is_the_best_known_at_every_activation() {
    let (directory, summary) = run_paper("central", "baseline:central-greedy", &[&SHORT[..], &["--regret"]].concat());
    require_clean(&directory, "central-greedy");
    let regret = &summary["regret"];
    assert_eq!(regret["against"], "greedy");
    assert_eq!(regret["optimal"], regret["activations"]);
    assert!(satisfied(&summary, "regret").abs() < 1e-9);
    for policy in ["never-move", "workload-and-latency-aware", "baseline:edge-first-fit"] {
        let (_, other) = run_paper("other", policy, &[&SHORT[..], &["--regret"]].concat());
        assert!(satisfied(&other, "regret") > 0.0, "{policy}");
        assert!(satisfied(&other, "actual") < satisfied(&summary, "actual"), "{policy}");
    }
}

#[test]
fn in_a_small_world_nothing_is_better_than_the_exact_placement() {
    let options = [&SMALL[..], &["--regret"]].concat();
    let (directory, exact) = run_paper("exact", "baseline:central-exact", &options);
    require_clean(&directory, "central-exact");
    assert_eq!(exact["regret"]["against"], "exact");
    assert_eq!(exact["regret"]["optimal"], exact["regret"]["activations"]);
    let policies =
        ["baseline:central-greedy", "baseline:edge-first-fit", "never-move", "latency-aware", "cells", "popularity"];
    for policy in policies {
        let (directory, other) = run_paper("small", policy, &options);
        require_clean(&directory, policy);
        assert!(satisfied(&other, "regret") >= 0.0, "{policy}");
        // The users are the same, so the optimum does not depend on the policy.
        assert!((satisfied(&other, "best") - satisfied(&exact, "actual")).abs() < 1e-9, "{policy}");
    }
}

#[test]
fn an_exact_placement_of_a_large_world_is_refused_with_a_remedy() {
    let output = run(["run", "paper", "--policy", "baseline:central-exact", "--out", "never-made"]);
    assert_eq!(output.status.code(), Some(2));
    let message = stderr(&output);
    assert!(message.contains("the world is too large for `central-exact`"), "{message}");
    assert!(message.contains("ways to allocate application `app1`"), "{message}");
    assert!(message.contains("hint: choose `central-greedy`"), "{message}");
    assert!(!Path::new("never-made").exists());
}

#[test]
fn an_unknown_baseline_is_rejected_with_a_list_of_known_ones() {
    let output = run(["scenario", "show", "paper", "--policy", "baseline:central-gredy"]);
    assert_eq!(output.status.code(), Some(2));
    let message = stderr(&output);
    assert!(message.contains("there is no baseline `central-gredy`"), "{message}");
    assert!(message.contains("central-greedy"), "{message}");
}

#[test]
fn a_policy_for_all_applications_overrides_a_baseline() {
    let directory = fresh("again");
    fs::create_dir_all(&directory).expect("the test's own directory is writable");
    let path = directory.join("central.toml");
    fs::write(&path, "preset = \"paper\"\n[management]\nstrategy = \"central-greedy\"\n").expect("writable");
    let shown = |options: &[&str]| {
        let fixed = ["scenario", "show", path.to_str().expect("a path in UTF-8")];
        stdout(&run(fixed.iter().chain(options)))
    };
    assert!(shown(&[]).contains("[management]\nstrategy = \"central-greedy\"\n"), "{}", shown(&[]));
    assert!(shown(&["--policy", "latency-aware"]).contains("[management]\nstrategy = \"agents\"\n"));
    assert!(shown(&["--policy", "baseline:cells"]).contains("[management]\nstrategy = \"agents\"\n"));
    assert!(shown(&["--policy", "app1=latency-aware"]).contains("[management]\nstrategy = \"central-greedy\"\n"));
}

/// A scenario in which nodes crash, leave and join, and a link fails.
const CHURN: &str = r#"
preset = "paper"
duration = 6500

[[churn]]
kind = "crash"
node = "n2lt1ln1"
time = 1_150
repair = 2_000

[[churn]]
kind = "leave"
node = "n1lt0ln0"
notice = 700
time = 2_500

[[churn]]
kind = "join"
node = "n3lt0ln0"
time = 3_000

[[churn]]
kind = "link-down"
link = ["n2lt0ln0", "n1lt0ln0"]
time = 1_900
repair = 400

[redeploy]
delay = 100
"#;

#[test]
fn baselines_keep_the_rules_under_churn() {
    let directory = fresh("churn");
    fs::create_dir_all(&directory).expect("the test's own directory is writable");
    let path = directory.join("churn.toml");
    fs::write(&path, CHURN).expect("the test's own directory is writable");
    for name in ["never-move", "popularity", "cells", "edge-first-fit", "central-greedy"] {
        let out = directory.join(name);
        let choice = format!("baseline:{name}");
        let options = ["--policy", &choice, "--regret", "--format", "json", "--out"];
        let output = run(["run".as_ref(), path.as_os_str()]
            .into_iter()
            .chain(options.map(AsRef::as_ref))
            .chain([out.as_os_str()]));
        assert_eq!(output.status.code(), Some(0), "{name}: {}", stderr(&output));
        require_clean(&out, name);
        let summary: Value = serde_json::from_str(&stdout(&output)).expect("the summary is JSON");
        assert!(satisfied(&summary, "regret") >= 0.0, "{name}");
    }
}
