//! Traces and pages for the tests.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process;

use mario_experiments::runs;
use mario_report::{Report, Run, Scale};
use mario_scenario::{Document, NoFiles, Scenario};
use mario_simulator::{Detail, Recorder, Regret, RunOptions, Served, Simulation, TraceRecorder};
use serde_json::Value;

/// The trace of a run of the scenario `paper` with a policy and further settings.
pub(crate) fn paper_trace(policy: &str, settings: &[&str]) -> String {
    traced("paper", policy, settings, false)
}

/// The trace of a short run of the scenario `shop`, whose applications call each other.
pub(crate) fn shop_trace() -> String {
    traced("shop", "workload-and-latency-aware", &["duration=6000"], false)
}

/// The trace of a short run of the scenario `paper` that records regret.
pub(crate) fn paper_trace_with_regret(policy: &str) -> String {
    traced("paper", policy, &["duration=6000"], true)
}

/// Measurements of five worlds of increasing size.
pub(crate) fn scale() -> Scale {
    let point = |nodes: u64| {
        format!(
            r#"{{"nodes":{nodes},"users":{0},"agents":{0},"cycles":10,"asked":{1},"evaluated":{0},"cpu_ns_per_agent_cycle":900.5,"peak_bytes":{1}000,"wall_s":0.5}}"#,
            nodes * 3,
            nodes * 30
        )
    };
    let points: Vec<String> = [85, 341, 1365, 5461, 21845].map(point).to_vec();
    Scale::read("measured", &format!("[{}]", points.join(","))).expect("measurements")
}

/// The scenario `paper` with a policy.
pub(crate) fn paper_scenario(policy: &str) -> Scenario {
    let mut document = Document::preset("paper").expect("it ships");
    document.set_policy(policy);
    runs::resolve(&document, 1, &mut NoFiles).expect("a scenario").scenario
}

/// The response times of the applications of a kind, in the order in which requests were answered.
pub(crate) fn response_times(scenario: &Scenario, kind: &str) -> Vec<f64> {
    struct Times<'a>(&'a Scenario, &'a str, Vec<f64>);

    impl Recorder for Times<'_> {
        fn served(&mut self, served: &Served) {
            if self.0.applications[served.application.position()].kind == self.1 {
                self.2.push((served.ended - served.emitted).units());
            }
        }
    }

    let mut times = Times(scenario, kind, Vec::new());
    Simulation::new(scenario, RunOptions::default()).expect("it can be run").run(&mut times);
    times.2
}

fn traced(scenario: &str, policy: &str, settings: &[&str], with_regret: bool) -> String {
    let mut document = Document::preset(scenario).expect("it ships");
    document.set_policy(policy);
    if !settings.is_empty() {
        document.set(&settings.iter().map(|setting| (*setting).to_owned()).collect::<Vec<String>>());
    }
    let resolved = runs::resolve(&document, 1, &mut NoFiles).expect("a scenario");
    let scenario = &resolved.scenario;
    let mut simulation = Simulation::new(scenario, RunOptions::default()).expect("it can be run");
    let regret = with_regret.then(|| Regret::new(scenario));
    let mut recorders = (regret, TraceRecorder::new(Vec::new(), scenario, Detail::Full));
    simulation.run(&mut recorders);
    let trace = recorders.1.finish(scenario.end()).expect("writing to memory does not fail");
    String::from_utf8(trace).expect("a trace is text")
}

/// A report of traces.
pub(crate) fn report(traces: &[&str]) -> Report {
    let runs = traces.iter().map(|trace| Run::read(trace.as_bytes()).expect("a trace"));
    Report { title: "test".to_owned(), runs: runs.collect(), ..Report::default() }
}

/// The page of a report in a temporary file, which is removed on drop.
pub(crate) struct PageFile(PathBuf);

impl PageFile {
    pub(crate) fn new(name: &str, report: &Report) -> PageFile {
        let path = env::temp_dir().join(format!("mario-report-{}-{name}.html", process::id()));
        fs::write(&path, report.html()).expect("there is room");
        PageFile(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for PageFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// The records of a trace, parsed without the code under test.
pub(crate) fn records(trace: &str) -> Vec<Value> {
    trace.lines().skip(1).map(|line| serde_json::from_str(line).expect("a line is JSON")).collect()
}

/// The header of a trace, parsed without the code under test.
pub(crate) fn header(trace: &str) -> Value {
    serde_json::from_str(trace.lines().next().expect("a header")).expect("it is JSON")
}

/// The records of one kind.
pub(crate) fn of_kind<'a>(records: &'a [Value], kind: &str) -> Vec<&'a Value> {
    records.iter().filter(|record| record[0] == kind).collect()
}
