//! `examples/figures.py` computes the same figures from a trace as the run itself.

use serde_json::Value;

use super::{place, shell};

/// Asserts that each figure that `figures.py` printed (`mine`) is in the `summary` of the run, with the same value up
/// to rounding. `overloaded` is skipped, because no summary has it.
fn compare(mine: &Value, summary: &Value, name: &str) {
    match (mine, summary) {
        (Value::Object(mine), Value::Object(summary)) => {
            for (key, value) in mine.iter().filter(|(key, _)| *key != "overloaded") {
                compare(value, summary.get(key).unwrap_or(&Value::Null), &format!("{name}.{key}"));
            }
        }
        (Value::Number(mine), Value::Number(summary)) => {
            let (mine, summary) = (mine.as_f64().expect("finite"), summary.as_f64().expect("finite"));
            // Both add the same floating-point numbers, in different orders.
            assert!((mine - summary).abs() <= 1e-9 * summary.abs().max(1.0), "{name}: {mine} and {summary}");
        }
        _ => assert_eq!(mine, summary, "{name}"),
    }
}

#[test]
fn computes_the_figures_of_the_summary_for_every_kind_of_management() {
    let directory = place("figures");
    let churn = "--set redeploy.delay=500 --set 'failures=[{mean_time_between=8000, mean_repair=1000}]'";
    let runs = [
        ("agents", "paper --policy workload-and-latency-aware".to_owned()),
        ("memory", "paper --policy workload-and-latency-aware-with-memory --set memory.cycles=10 --seed 3".to_owned()),
        ("central", "paper --policy baseline:central-greedy --set duration=8000".to_owned()),
        ("edge", "paper --policy baseline:edge-first-fit --set duration=8000".to_owned()),
        ("prototype", "prototype --policy workload-and-latency-aware".to_owned()),
        ("flow", "paper --policy latency-aware --set network.fidelity=flow".to_owned()),
        ("churn", format!("paper --policy workload-aware {churn}")),
    ];
    for (name, arguments) in runs {
        let script = format!("mario -q run {arguments} --out {name} >&2; python3 examples/figures.py {name} --json");
        let output = shell(&script, &directory).output().expect("there is a shell");
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        let mine: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let summary = std::fs::read(directory.join(name).join("summary.json")).expect("the run is complete");
        let summary: Value = serde_json::from_slice(&summary).expect("JSON");
        let (mine, groups) = (mine.as_array().expect("a list"), summary["groups"].as_array().expect("a list"));
        assert_eq!(mine.len(), groups.len(), "{name}");
        for (mine, group) in mine.iter().zip(groups) {
            compare(mine, group, &format!("{name}.{}", group["group"]));
        }
        assert!(mine[0]["overloaded"].as_f64().is_some_and(|share| (0.0..=1.0).contains(&share)), "{name}");
    }
}
