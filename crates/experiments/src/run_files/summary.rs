//! Checks `summary.json` and `measures.json` against figures recomputed from the trace, and `run.json` against the
//! header of the trace.

use std::io::{self, BufRead};
use std::path::Path;
use std::sync::Arc;

use mario_audit::FindingKind;
use mario_domain::Concerned;
use mario_trace::reader::{Detail, Header, TraceRecord};
use mario_trace::{Change, Origin, State};
use serde_json::{Value, json};

use super::{FINDINGS_MAX, RunFilesCheck, opened};
use crate::figures::regret::RegretSums;
use crate::figures::{GroupFigures, Groups, OperationCounts, Reading, StepFigures, TraceFigures};

/// The file that marks an incomplete run.
const PARTIAL: &str = "PARTIAL";

/// The relative tolerance between expected and found numbers.
const TOLERANCE: f64 = 1e-9;

/// The keys of a summary that traces do not record, with the reason.
const UNRECORDED: [(&str, &str); 3] = [
    ("management", "the trace records what was done, but not by which strategy"),
    ("emitted", "the trace records requests served and lost, but not those in transit"),
    ("hops", "the trace does not record the paths of client requests"),
];

/// Computes the expected content of `summary.json` and `measures.json`, record by record.
pub(super) struct Summed {
    header: Arc<Header>,
    groups: Groups,
    reading: Reading,
    /// For each cycle and group, the number of accepted deploys.
    deploys: Vec<Vec<u64>>,
    /// Those of the current cycle.
    deploys_now: Vec<u64>,
    regret: RegretSums,
    totals: [u64; 2],
    /// The numbers of accepted operations of agents, for the summary of a live colony.
    accepted: mario_domain::OperationCounts,
    /// The number of inhibited proposals, for the same summary.
    inhibited: u64,
}

impl Summed {
    pub(super) fn new(header: &Arc<Header>) -> Summed {
        let groups = Groups::new(header);
        Summed {
            deploys_now: vec![0; groups.names.len()],
            groups,
            reading: Reading::new(Arc::clone(header)),
            header: Arc::clone(header),
            deploys: Vec::new(),
            regret: RegretSums::default(),
            totals: [0; 2],
            accepted: mario_domain::OperationCounts::default(),
            inhibited: 0,
        }
    }

    /// Processes a change. `state` is the state after it.
    pub(super) fn apply(&mut self, state: &State, time: f64, change: Change<'_>) {
        self.reading.apply(state, time, change);
        match change {
            Change::Accepted { proposal, .. } => self.accepted[proposal.operation] += 1,
            Change::Inhibited { .. } => self.inhibited += 1,
            Change::Appeared { instance, origin: Origin::Deployed } => {
                self.deployed(state.instance(instance).application, 1);
            }
            Change::Appeared { origin: Origin::Initial | Origin::Replicated(_), .. }
            | Change::Moved { .. }
            | Change::Left { .. }
            | Change::Adapted { .. }
            | Change::Slept { .. }
            | Change::Woke { .. }
            | Change::Anchored { .. }
            | Change::EvictionAnnounced { .. }
            | Change::Updated { .. }
            | Change::PolicyChanged { .. }
            | Change::Nop { .. }
            | Change::DeployInhibited { .. }
            | Change::WakeInhibited { .. }
            | Change::NodeDown { .. }
            | Change::NodeUp { .. }
            | Change::NodeLeaving { .. }
            | Change::Draining { .. }
            | Change::LinkDown { .. }
            | Change::LinkUp { .. } => {}
        }
    }

    /// Processes the next record, after its changes.
    pub(super) fn read(&mut self, record: &TraceRecord) {
        self.reading.read(record);
        match record {
            TraceRecord::Cycle(_) => self.end_cycle(),
            TraceRecord::Counts(counted) => {
                counted.outcomes.iter().for_each(|outcome| self.deployed(outcome.application, outcome.deployed));
                self.end_cycle();
            }
            TraceRecord::Regret(regret) => self.regret.add(regret),
            TraceRecord::End(end) => self.totals = [end.totals.served, end.totals.lost],
            TraceRecord::Deployed(_)
            | TraceRecord::Handover(_)
            | TraceRecord::Evaluation(_)
            | TraceRecord::NodeDown(_)
            | TraceRecord::NodeLeaving(_)
            | TraceRecord::NodeUp(_)
            | TraceRecord::LinkDown(_)
            | TraceRecord::LinkUp(_)
            | TraceRecord::Update(_)
            | TraceRecord::Responses(_)
            | TraceRecord::Usage(_)
            | TraceRecord::Client(_)
            | TraceRecord::Clients(_)
            | TraceRecord::Handovers(_)
            | TraceRecord::Gone(_)
            | TraceRecord::Owner(_)
            | TraceRecord::Owners(_)
            | TraceRecord::Woken(_)
            | TraceRecord::Wakings(_)
            | TraceRecord::Latency(_)
            | TraceRecord::Traffic(_)
            | TraceRecord::Calls(_)
            | TraceRecord::Live(_) => {}
        }
    }

    fn deployed(&mut self, application: u32, count: u64) {
        self.groups.of(application).for_each(|group| self.deploys_now[group] += count);
    }

    fn end_cycle(&mut self) {
        let none = vec![0; self.deploys_now.len()];
        self.deploys.push(std::mem::replace(&mut self.deploys_now, none));
    }

    pub(super) fn finish(self, directory: &Path, is_complete: bool, checked: &mut RunFilesCheck) -> io::Result<()> {
        let Some(file) = opened(directory, "summary.json")? else { return self.check_run(directory, checked) };
        if self.header.live.is_some() {
            self.check_live(file, checked);
            return Ok(());
        }
        self.check_run(directory, checked)?;
        if !is_complete {
            // An incomplete run has the file `PARTIAL`, so a summary without it promises a complete trace.
            if !directory.join(PARTIAL).exists() {
                let expected = format!("a trace with its end, since there are a summary and no `{PARTIAL}`");
                let who = "the run".to_owned();
                let found = "a trace that was cut off".to_owned();
                checked.find(FindingKind::Summary, "summary.json", 1, who, expected, found);
            }
            checked.unchecked.push("summary.json: the trace has no end".to_owned());
            return Ok(());
        }
        let Ok(found) = serde_json::from_reader::<_, Value>(file) else {
            let expected = "a summary in JSON".to_owned();
            let who = "the file".to_owned();
            checked.find(FindingKind::Summary, "summary.json", 1, who, expected, "something else".to_owned());
            return Ok(());
        };
        let sent = self.totals[0].saturating_add(self.totals[1]);
        if found["emitted"].as_u64().is_some_and(|emitted| emitted < sent) {
            let expected = format!("at least {sent}, as many as were served or lost");
            let who = "emitted".to_owned();
            checked.find(FindingKind::Summary, "summary.json", 1, who, expected, found["emitted"].to_string());
        }
        let (expected, measured) = self.expected();
        let mut wrong = Vec::new();
        compare("", &expected, &found, &mut wrong);
        for (who, expected, found) in wrong.into_iter().take(FINDINGS_MAX) {
            checked.find(FindingKind::Summary, "summary.json", 1, who, expected, found);
        }
        checked.checked.push("summary.json".to_owned());
        check_measures(directory, &measured, checked)?;
        let unrecorded = UNRECORDED.iter().map(|(key, why)| format!("`{key}` in summary.json: {why}"));
        checked.unchecked.extend(unrecorded);
        let keys = found.as_object().into_iter().flatten().map(|(key, _)| key);
        let unknown =
            keys.filter(|key| expected.get(*key).is_none() && !UNRECORDED.iter().any(|(known, _)| known == key));
        checked.unchecked.extend(unknown.map(|key| format!("`{key}` in summary.json: not a key of this version")));
        Ok(())
    }

    /// Checks the summary of a live colony against the operations in the trace. Measurements of its clients are not in
    /// the trace, so they are not checked.
    fn check_live(&self, file: Box<dyn BufRead>, checked: &mut RunFilesCheck) {
        let found: Value = serde_json::from_reader(file).unwrap_or_default();
        let mut expected = json!({ "inhibited": self.inhibited });
        // The summary of a live colony has no counts of other operations.
        for (operation, count) in self.accepted.of(Concerned::Every) {
            expected[operation.as_str()] = json!(count);
        }
        let mut wrong = Vec::new();
        compare("", &expected, &found, &mut wrong);
        for (who, expected, found) in wrong {
            checked.find(FindingKind::Summary, "summary.json", 1, who, expected, found);
        }
        checked.checked.push("operations in summary.json".to_owned());
        let others = "all but the operations in summary.json: nodes do not know what clients saw";
        checked.unchecked.push(others.to_owned());
    }

    /// Checks `run.json` against the header of the trace and the existence of `messages.csv`. The scenario is not
    /// checked.
    fn check_run(&self, directory: &Path, checked: &mut RunFilesCheck) -> io::Result<()> {
        let Some(file) = opened(directory, "run.json")? else { return Ok(()) };
        let found: Value = serde_json::from_reader(file).unwrap_or_default();
        let detail = match self.header.detail {
            Detail::Full => "full",
            Detail::Operations => "operations",
            Detail::Summary => "summary",
        };
        let has_messages = directory.join("messages.csv").exists();
        let expected = json!({
            "program": self.header.program, "seed": self.header.seed, "trace": detail, "messages": has_messages,
        });
        let mut wrong = Vec::new();
        compare("", &expected, &found, &mut wrong);
        for (who, expected, found) in wrong {
            checked.find(FindingKind::Summary, "run.json", 1, who, expected, found);
        }
        checked.checked.push("run.json".to_owned());
        checked.unchecked.push("`scenario` in run.json: the trace records only part of the scenario".to_owned());
        Ok(())
    }

    /// Returns the expected content of `summary.json` and of `measures.json`.
    fn expected(self) -> (Value, Value) {
        let Summed { header, reading, deploys, regret, .. } = self;
        let TraceFigures { figures, cycles, measured, .. } = reading.figures();
        let groups = figures.groups.iter().enumerate().map(|(place, group)| {
            let deploys: Vec<u64> = deploys.iter().map(|cycle| cycle[place]).collect();
            let times: Vec<f64> = cycles[place].iter().map(|cycle| cycle.time).collect();
            let mut value = group_value(group, &header, &times, &deploys);
            let counts = cycles[place].iter().zip(&deploys);
            value["cycles"] = counts
                .map(|(cycle, deploy)| {
                    let mut value = operations(&cycle.operations, *deploy);
                    value["time"] = json!(cycle.time);
                    value
                })
                .collect();
            value
        });
        let mut value = json!({
            "scenario": header.scenario, "seed": header.seed, "duration": header.duration,
            "policies": header.policies.iter().map(|policy| &policy.name).collect::<Vec<_>>(),
            "nodes": header.nodes.len(), "users": header.users.len(),
            "groups": groups.collect::<Vec<_>>(),
            "evaluations": figures.evaluations, "served": figures.served, "lost": figures.lost,
        });
        if let Some(regret) = regret.finish() {
            let versus = |[actual, best]: [f64; 2], sign: f64| json!({"actual": actual, "best": best, "regret": sign * (actual - best)});
            value["regret"] = json!({
                "against": regret.against, "activations": regret.activations, "optimal": regret.optimal,
                "users": regret.users, "satisfied": versus(regret.satisfied, -1.0),
                "satisfied_regret_max": regret.satisfied_regret_max,
                "latency": versus(regret.latency.map(|latency| latency.unwrap_or(0.0)), 1.0),
                "instances": versus(regret.instances, 1.0),
            });
        }
        (value, json!(measured))
    }
}

/// Checks `measures.json`, if it exists, against the measures computed from the trace.
fn check_measures(directory: &Path, expected: &Value, checked: &mut RunFilesCheck) -> io::Result<()> {
    const MEASURES: &str = "measures.json";
    let Some(file) = opened(directory, MEASURES)? else { return Ok(()) };
    let found: Value = serde_json::from_reader(file).unwrap_or_default();
    let mut wrong = Vec::new();
    compare("", expected, &found, &mut wrong);
    for (who, expected, found) in wrong.into_iter().take(FINDINGS_MAX) {
        checked.find(FindingKind::Summary, MEASURES, 1, who, expected, found);
    }
    checked.checked.push(MEASURES.to_owned());
    Ok(())
}

fn operations(counts: &OperationCounts, deploy: u64) -> Value {
    let OperationCounts { undeploy, nop, migrate, replicate, inhibited } = *counts;
    json!({
        "undeploy": undeploy, "nop": nop, "migrate": migrate, "replicate": replicate, "inhibited": inhibited,
        "deploy": deploy,
    })
}

/// The expected figures of a group, except those per cycle.
fn group_value(group: &GroupFigures, header: &Header, times: &[f64], deploys: &[u64]) -> Value {
    let mut value = serde_json::to_value(group).unwrap_or_default();
    value["operations"] = operations(&group.operations, deploys.iter().sum());
    let mut of_step = vec![0_u64; group.steps.len()];
    for (time, deploys) in times.iter().zip(deploys) {
        let last = of_step.len().saturating_sub(1);
        of_step[((time / header.step) as usize).min(last)] += deploys;
    }
    let step = |(step, deploys): (&StepFigures, &u64)| {
        let mut value = operations(&step.operations, *deploys);
        value["movements"] = json!(step.movements);
        value["active_cycles"] = json!(step.active_cycles);
        value
    };
    value["steps"] = group.steps.iter().zip(&of_step).map(step).collect();
    value
}

/// Adds each path whose value in `expected` is missing or different in `found` to `wrong`, with both values as text.
/// Other keys of `found` are ignored.
fn compare(path: &str, expected: &Value, found: &Value, wrong: &mut Vec<(String, String, String)>) {
    let inside = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    let is_same = match (expected, found) {
        (Value::Object(expected), Value::Object(_)) => {
            for (key, value) in expected {
                compare(&inside(key), value, &found[key], wrong);
            }
            true
        }
        (Value::Array(expected), Value::Array(found)) if expected.len() == found.len() => {
            for (place, (expected, found)) in expected.iter().zip(found).enumerate() {
                compare(&format!("{path}[{place}]"), expected, found, wrong);
            }
            true
        }
        (Value::Number(expected), Value::Number(found)) => {
            let (expected, found) = (expected.as_f64().unwrap_or(0.0), found.as_f64().unwrap_or(0.0));
            (expected - found).abs() <= TOLERANCE * expected.abs().max(found.abs())
        }
        (expected, found) => expected == found,
    };
    if !is_same {
        let text = |value: &Value| match (value.as_array(), value.is_null()) {
            (Some(list), _) => format!("a list of {}", list.len()),
            (None, true) => "nothing".to_owned(),
            (None, false) => value.to_string().chars().take(200).collect(),
        };
        wrong.push((path.to_owned(), text(expected), text(found)));
    }
}
