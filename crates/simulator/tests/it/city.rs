//! The preset `city`: its movements are generated on the fly, its runs are reproducible, and its traces are valid.

use mario_audit::{Options, audit};
use mario_scenario::{Document, NoFiles, Resolved, Scenario};
use mario_simulator::{Detail, RunOptions, RunStatistics, Simulation, TraceRecorder};

fn city(overrides: &[&str]) -> Resolved {
    let mut document = Document::preset("city").expect("a preset");
    document.set(&overrides.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
    document.resolve(&mut NoFiles).unwrap_or_else(|error| panic!("{error:?}"))
}

fn traced(scenario: &Scenario, threads: usize) -> (Vec<u8>, RunStatistics) {
    let mut trace = TraceRecorder::new(Vec::new(), scenario, Detail::Full);
    let options = RunOptions { threads, ..RunOptions::default() };
    let statistics = Simulation::new(scenario, options).expect("it can be run").run(&mut trace);
    (trace.finish(scenario.end()).expect("memory"), statistics)
}

/// The same scenario, with the movements of every step listed.
fn listed(scenario: &Scenario) -> Scenario {
    let mut eager = scenario.clone();
    let attachments = &scenario.attachments;
    let mut now = vec![None; attachments.users.len()];
    let (mut due, mut generated) = (attachments.first_due(), Vec::new());
    for step in 0..attachments.step_count() as u32 {
        // Makes every user due, so that none is skipped in this step.
        due.fill(0);
        let changes = attachments.changes(step, &mut due, |user| now[user.position()], &mut generated).to_vec();
        changes.iter().for_each(|(user, access_point)| now[user.position()] = *access_point);
        eager.attachments.steps.push(changes);
    }
    eager.attachments.commuters = None;
    eager
}

#[test]
fn listed_and_generated_movements_give_the_same_run_on_any_number_of_threads() {
    let scenario = city(&["mobility.users=2000", "topology.size=32", "duration=11000"]).scenario;
    assert!(scenario.attachments.steps.is_empty(), "nothing is listed");
    let (lazy, statistics) = traced(&scenario, 1);
    assert!(statistics.due > 10_000, "{statistics:?}");
    let (eager, _) = traced(&listed(&scenario), 1);
    assert!(lazy == eager, "the traces differ");
    let (threaded, statistics) = traced(&scenario, 3);
    assert!(statistics.parallel > 0, "threads took part");
    assert!(lazy == threaded, "the traces differ");
}

#[test]
fn the_auditor_finds_nothing_in_either_fidelity() {
    for fidelity in ["network.fidelity=flow", "network.fidelity=messages"] {
        let scenario = city(&["mobility.users=150", "duration=14000", "topology.size=8", fidelity]).scenario;
        let (trace, statistics) = traced(&scenario, 1);
        assert!(statistics.emitted > 40_000, "{statistics:?}");
        let report = audit(trace.as_slice(), Options::default(), &mut |_| {}).expect("a trace");
        assert!(report.findings.is_empty(), "{fidelity}: {:?}", report.findings);
    }
}
