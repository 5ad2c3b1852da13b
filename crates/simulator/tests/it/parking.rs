//! Tests that runs with and without parked agents have the same results.

use mario_domain::{Duration, Time};
use mario_scenario::{Arbitration, Document, Fidelity, Memory, NoFiles, Scenario, Workload};
use mario_simulator::{
    Detail, Recorder, RunOptions, RunStatistics, Simulation, TableOutputs, Tables, Tally, TraceRecorder,
};

use crate::random_worlds::calling::calling;
use crate::random_worlds::world;

/// A recorder that wants every evaluation, so that no agent is parked.
struct Curious;

impl Recorder for Curious {}

/// The outputs of a run with a summary trace: trace, operations, figures and statistics.
fn counts(scenario: &Scenario, threads: usize, curious: Option<Curious>) -> (Vec<u8>, Vec<u8>, String, RunStatistics) {
    let tables = TableOutputs { operations: Vec::new(), moves: None, handovers: None, messages: None };
    let written = (TraceRecorder::new(Vec::new(), scenario, Detail::Summary), Tables::new(scenario, tables));
    let mut recorders = (written, (Tally::new(scenario), curious));
    let options = RunOptions { threads, ..RunOptions::default() };
    let statistics = Simulation::new(scenario, options).expect("it can be run").run(&mut recorders);
    let ((trace, tables), (tally, _)) = recorders;
    let trace = trace.finish(scenario.end()).expect("memory takes everything");
    let tables = tables.finish().expect("memory takes everything");
    (trace, tables.operations, format!("{:?}", tally.figures()), statistics)
}

/// Compares a run with parking with a run without. Returns the number of evaluations of parked agents.
fn check(name: &str, scenario: &Scenario) -> u64 {
    let (trace, operations, figures, statistics) = counts(scenario, 1, Some(Curious));
    assert_eq!(statistics.parked, 0, "{name}");
    let mut parked = 0;
    for threads in [1, 2] {
        let found = counts(scenario, threads, None);
        parked = found.3.parked;
        assert!(found.0 == trace, "{name}: another trace");
        assert!(found.1 == operations, "{name}: another table of operations");
        assert_eq!(found.2, figures, "{name}");
        let RunStatistics { due, hops, emitted, .. } = found.3;
        assert_eq!((due, hops, emitted), (statistics.due, statistics.hops, statistics.emitted), "{name}");
    }
    parked
}

#[test]
fn parking_changes_no_count_of_the_papers_experiments_and_saves_most_evaluations() {
    let policies =
        ["workload-aware", "latency-aware", "workload-and-latency-aware", "workload-and-latency-aware-with-memory"];
    for policy in policies {
        for phases in ["workload.phase=simultaneous", "workload.phase=spread"] {
            let mut document = Document::preset("paper").expect("a preset");
            let keys = ["network.fidelity=flow", "mobility.users=243", "mobility.first_users=243", "duration=20000"];
            document.set(&keys.map(str::to_owned));
            document.set(&[phases.to_owned()]);
            document.set_policy(policy);
            let scenario = document.resolve(&mut NoFiles).expect("a scenario").scenario;
            let parked = check(&format!("{policy}, {phases}"), &scenario);
            let asked = counts(&scenario, 1, None).3.due;
            // With the policy that remembers inhibitions, fewer agents can be parked, because inhibitions are new
            // facts.
            let part = if policy.ends_with("memory") { 4 } else { 2 };
            assert!(parked * part > asked, "{policy}, {phases}: {parked} of {asked}");
        }
    }
}

#[test]
fn parking_changes_no_count_of_any_random_world() {
    let mut parked = 0;
    for number in 0..300 {
        let mut scenario = if number % 5 == 2 { calling(number) } else { world(number) };
        scenario.network.fidelity = Fidelity::Flow;
        scenario.disturbances.clear();
        (scenario.arbitration, scenario.memory) = (Arbitration::Managers, Memory::Sliding);
        scenario.management_period = scenario.management_period.min(scenario.agents.period);
        for deploy in &mut scenario.deploys {
            // A scenario with initial instances that do not fit cannot be run.
            deploy.time = deploy.time.max(Time::at(1.0));
        }
        // Limits the duration, because some policies double the number of instances in each period.
        scenario.duration = scenario.duration.min(scenario.agents.period * 12.0);
        for (position, user) in scenario.users.iter_mut().enumerate() {
            // Periodic traffic with a whole number of requests per evaluation period, so that facts recur.
            let parts = [1.0, 2.0, 3.0, 5.0][(position + number as usize) % 4];
            user.workload =
                Workload::Periodic { period: scenario.agents.period / parts, phase: Duration::of(position as f64) };
        }
        parked += u64::from(check(&format!("world {number}"), &scenario) > 0);
    }
    assert!(parked >= 50, "agents rest in {parked} worlds only");
}

#[test]
fn no_agent_is_parked_if_its_facts_could_change_unnoticed() {
    for number in 0..60 {
        let scenario = world(number);
        let may_park = scenario.network.fidelity == Fidelity::Flow
            && scenario.disturbances.is_empty()
            && scenario.arbitration == Arbitration::Managers;
        let parked = check(&format!("world {number}"), &scenario);
        assert!(may_park || parked == 0, "world {number}");
    }
}
