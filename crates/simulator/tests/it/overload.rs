//! Traffic as rates under overload: no server serves more than its capacity, and what waits at the end is counted.

use mario_scenario::{Document, NoFiles, Scenario};
use mario_simulator::{Detail, GroupFigures, RunOptions, Simulation, Tally, TraceRecorder};

use crate::world;

/// Requests sent, served and lost in a run, and the figures of all applications.
struct Totals {
    emitted: u64,
    served: u64,
    lost: u64,
    all: GroupFigures,
}

fn scenario(fidelity: &str, policy: &str, settings: &[&str]) -> Scenario {
    let mut document = Document::preset("paper").expect("a preset");
    let mut overrides: Vec<String> = settings.iter().map(|setting| (*setting).to_owned()).collect();
    overrides.extend(["duration=20000".to_owned(), format!("network.fidelity={fidelity}")]);
    document.set(&overrides);
    document.set_policy(policy);
    document.resolve(&mut NoFiles).unwrap_or_else(|error| panic!("{:#?}", error.mistakes)).scenario
}

fn totals(fidelity: &str, policy: &str, settings: &[&str]) -> Totals {
    let scenario = scenario(fidelity, policy, settings);
    let mut recorders = (Tally::new(&scenario), TraceRecorder::new(Vec::new(), &scenario, Detail::Full));
    let mut simulation = Simulation::new(&scenario, RunOptions::default()).expect("it can be run");
    let statistics = simulation.run(&mut recorders);
    let (tally, trace) = recorders;
    let report = world::audited(&trace.finish(scenario.end()).expect("memory"));
    assert!(report.is_clean(), "{fidelity}, {policy}, {settings:?}: {report}");
    let figures = tally.figures();
    let all = figures.groups[0].clone();
    Totals { emitted: statistics.emitted, served: figures.served, lost: figures.lost, all }
}

/// Links without queues.
const WIDE: [&str; 2] = ["network.bandwidth=1e9", "network.occupancy=transmission"];

#[test]
fn an_overloaded_instance_serves_no_more_than_its_capacity() {
    // Six instances in the cloud, each of which serves a request in 10 ms: 2,000 in 20 s. The users move all the time.
    const CAPACITY: u64 = 6 * 2_000;
    let settings = [WIDE[0], WIDE[1], "network.service_time=10"];
    for workload in ["workload.kind=periodic", "workload.kind=poisson"] {
        let settings: Vec<&str> = settings.into_iter().chain([workload]).collect();
        let messages = totals("messages", "never-move", &settings);
        let rates = totals("flow", "never-move", &settings);
        assert!(messages.emitted > CAPACITY * 3 / 2, "{}", messages.emitted);
        assert!(rates.served <= CAPACITY, "{workload}: {} of {CAPACITY}", rates.served);
        let error = rates.served.abs_diff(messages.served);
        assert!(error * 50 <= messages.served, "{workload}: {} and {}", rates.served, messages.served);
        let waiting = |totals: &Totals| totals.emitted - totals.served - totals.lost;
        assert!(waiting(&rates).abs_diff(waiting(&messages)) * 20 <= waiting(&messages), "{workload}");
        let [one, other] = [&rates, &messages].map(|totals| totals.all.response.expect("served"));
        assert!((one - other).abs() < 0.1 * other, "{workload}: mean response {one} and {other}");
    }
}

#[test]
fn an_overloaded_link_carries_no_more_than_its_capacity() {
    // A link to the cloud carries a request in 3 ms. Four of them lead to it.
    let settings = ["workload.period=4", "network.occupancy=latency", "network.service_time=0"];
    let messages = totals("messages", "never-move", &settings);
    let rates = totals("flow", "never-move", &settings);
    assert!(messages.served < messages.emitted * 9 / 10, "{} of {}", messages.served, messages.emitted);
    assert!(rates.served < rates.emitted * 19 / 20, "{} of {}", rates.served, rates.emitted);
    assert!(rates.served <= 4 * 20_000 / 3, "{}", rates.served);
}

#[test]
fn requests_that_wait_move_with_their_instance_and_are_lost_with_it() {
    // Instances are overloaded in the cloud. Agents migrate, replicate and undeploy them.
    let settings = ["network.service_time=6", WIDE[0], WIDE[1]];
    for policy in ["workload-aware", "workload-and-latency-aware"] {
        let [rates, messages] = ["flow", "messages"].map(|fidelity| totals(fidelity, policy, &settings));
        assert_eq!(rates.emitted.abs_diff(messages.emitted) * 1_000 / messages.emitted, 0, "{policy}");
        assert!(rates.emitted >= rates.served + rates.lost, "{policy}");
        let error = rates.served.abs_diff(messages.served);
        assert!(error * 10 <= messages.served, "{policy}: {} and {}", rates.served, messages.served);
    }
}

#[test]
fn calls_that_wait_are_not_served() {
    let mut document = Document::preset("shop").expect("a preset");
    let overrides = ["duration=10000", "network.service_time=10", "network.fidelity=flow", "workload.period=10"];
    document.set(&overrides.map(str::to_owned));
    document.set_policy("never-move");
    let scenario = document.resolve(&mut NoFiles).expect("a scenario").scenario;
    let mut recorders = (Tally::new(&scenario), TraceRecorder::new(Vec::new(), &scenario, Detail::Full));
    let statistics = Simulation::new(&scenario, RunOptions::default()).expect("it can be run").run(&mut recorders);
    let (tally, trace) = recorders;
    let report = world::audited(&trace.finish(scenario.end()).expect("memory"));
    assert!(report.is_clean(), "{report}");
    let capacity: f64 = scenario.applications.iter().map(|plan| 10_000.0 / plan.service_time.units()).sum();
    let figures = tally.figures();
    assert!((figures.served as f64) <= capacity, "{} of {capacity}", figures.served);
    assert!(statistics.emitted > figures.served + figures.lost, "some wait");
}
