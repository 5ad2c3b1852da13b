//! Anchors: instances that operators deployed, which do not undeploy themselves.

use mario_scenario::{ApplicationIndex, Arbitration, Fidelity, NodeIndex, Scenario};
use mario_simulator::population::AgentIndex;
use mario_simulator::{NullRecorder, RunOptions, Simulation};

use crate::world::{ScenarioExt, scenario, topology};

/// Undeploys as soon as it can.
const LEAVES: &str = "operation(undeploy, I, self) :- serviceInstance(I, _, _).";

/// On the first node, which has room for two instances, an agent does this; on the second, it undeploys.
fn at_first(operation: &str) -> String {
    format!("operation({operation}, I, M) :- serviceInstance(I, _, _), node(_, F, [M|_]), F > 0.\n{LEAVES}")
}

fn world(policy: &str, is_anchor: bool) -> Scenario {
    let mut world = scenario(topology(&[2, 1], &[(0, 1, 1.0)])).with_application(1, 0, policy);
    world.applications[0].is_anchor = is_anchor;
    world
}

/// Runs a world to its end, and passes the simulation to `check`.
fn run(world: &Scenario, check: impl FnOnce(&Simulation<'_>)) {
    let mut simulation = Simulation::new(world, RunOptions::default()).expect("it can be run");
    simulation.run(&mut NullRecorder);
    check(&simulation);
}

#[test]
fn an_anchor_stays_at_both_fidelities_and_arbitrations_and_another_instance_goes() {
    for fidelity in [Fidelity::Messages, Fidelity::Flow] {
        for arbitration in [Arbitration::Managers, Arbitration::Sequential] {
            for is_anchor in [true, false] {
                let mut world = world(LEAVES, is_anchor);
                world.network.fidelity = fidelity;
                world.arbitration = arbitration;
                run(&world, |simulation| {
                    let left = simulation.instance_count(ApplicationIndex(0));
                    assert_eq!(left, usize::from(is_anchor), "{fidelity:?} {arbitration:?} {is_anchor}");
                });
            }
        }
    }
}

#[test]
fn an_anchor_migrates_as_an_anchor() {
    run(&world(&at_first("migrate"), true), |simulation| {
        let agent = simulation.population().agent(AgentIndex::at(0));
        assert!(agent.is_alive() && agent.is_anchor() && agent.node() == NodeIndex(1));
    });
}

#[test]
fn a_replica_of_an_anchor_is_none() {
    run(&world(&at_first("replicate"), true), |simulation| {
        let population = simulation.population();
        let count = population.agent_count();
        assert!(count > 2, "replicas undeploy themselves, and make room for others: {count}");
        assert!(population.agent(AgentIndex::at(0)).is_alive());
        for replica in (1..count).map(AgentIndex::at) {
            assert!(!population.agent(replica).is_anchor());
        }
    });
}
