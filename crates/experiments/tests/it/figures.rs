use mario_experiments::figures::{RunFigures, from_trace};
use mario_scenario::{Document, Scenario};
use mario_simulator::{Detail, RunOptions, Simulation, Tally, TraceRecorder};

use crate::Disk;

/// Runs a scenario. Returns the figures counted by the simulator, and those computed from the trace of the same run.
fn both(scenario: &Scenario, detail: Detail) -> (RunFigures, RunFigures) {
    let mut simulation = Simulation::new(scenario, RunOptions::default()).expect("a scenario that can be run");
    let mut recorders = (Tally::new(scenario), TraceRecorder::new(Vec::new(), scenario, detail));
    simulation.run(&mut recorders);
    let (tally, trace) = recorders;
    let trace = trace.finish(scenario.end()).expect("memory");
    let from_trace = from_trace(trace.as_slice()).expect("a trace");
    assert!(from_trace.is_complete);
    (tally.figures().into(), from_trace.figures)
}

pub(crate) fn scenario(preset: &str, overrides: &[&str]) -> Scenario {
    let mut document = Document::preset(preset).expect("a preset");
    document.set(&overrides.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
    document.resolve(&mut Disk).expect("a scenario").scenario
}

#[test]
fn figures_from_a_trace_equal_the_simulators_counts() {
    for preset in ["paper", "prototype"] {
        for policy in ["workload-aware", "latency-aware", "workload-and-latency-aware"] {
            for seed in 1..=3_u64 {
                let mut document = Document::preset(preset).expect("a preset");
                document.set_policy(policy);
                document.set_seed(seed);
                let scenario = document.resolve(&mut Disk).expect("a scenario").scenario;
                for detail in [Detail::Full, Detail::Operations, Detail::Summary] {
                    let (counted, read) = both(&scenario, detail);
                    assert_eq!(counted, read, "{preset} with {policy} and seed {seed}");
                }
            }
        }
    }
}

#[test]
fn figures_from_a_trace_equal_the_simulators_counts_when_users_leave_and_nodes_fail() {
    let worlds: [&[&str]; 4] = [
        &["mobility.mean_stay=4"],
        &["mobility.kind=static", "mobility.users=9"],
        &["failures=[{mean_time_between=2000, mean_repair=3000}]", "redeploy.delay=500"],
        &["duration=1500"],
    ];
    for overrides in worlds {
        for detail in [Detail::Operations, Detail::Summary] {
            let (counted, read) = both(&scenario("paper", overrides), detail);
            assert_eq!(counted, read, "{overrides:?}");
        }
    }
}

#[test]
fn applications_without_a_kind_are_only_in_the_group_of_all() {
    let mut scenario = scenario("paper", &["duration=9000"]);
    for (kinds, expected) in [(["all", "LS"], &["all", "LS"][..]), (["all", "all"], &["all"])] {
        scenario
            .applications
            .iter_mut()
            .zip(kinds.into_iter().cycle())
            .for_each(|(plan, kind)| plan.kind = kind.to_owned());
        for detail in [Detail::Full, Detail::Summary] {
            let (counted, read) = both(&scenario, detail);
            assert_eq!(counted, read, "{kinds:?}");
            let groups: Vec<&str> = read.groups.iter().map(|group| group.group.as_str()).collect();
            assert_eq!(groups, expected);
            let values = mario_experiments::measures::values(&read);
            assert_eq!(values["all.response"], read.groups[0].response);
        }
    }
}
