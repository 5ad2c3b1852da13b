//! Parked agents: when agents may be parked, what unparks them, and how they are counted.

use mario_domain::AgentOperation;
use mario_scenario::{Arbitration, NodeIndex};
use mario_simulator::population::{AgentIndex, Neighbour, ParkedCounts, RequestFact, Target};

use crate::population::world::{Plan, World};
use crate::world::STILL;

fn to_unpark(world: &mut World) -> Vec<AgentIndex> {
    let mut to_unpark = Vec::new();
    world.population.take_to_unpark(&mut to_unpark);
    to_unpark
}

#[test]
fn an_idle_agent_stays_parked_until_its_node_changes() {
    let mut world = Plan::line(&[9, 9]).build();
    let agent = world.deploy(&[0])[0];
    assert_eq!(world.population.steady_outcome(agent, None), None, "nobody knows yet what it proposes");
    world.evaluate(agent);
    assert_eq!(world.population.steady_outcome(agent, None), Some(ParkedCounts::one(false, 0.0)));
    world.population.park(agent);
    world.cycle(&[]);
    world.deploy(&[1]);
    assert_eq!(to_unpark(&mut world), [], "what happens elsewhere is nothing to it");
    world.deploy(&[0]);
    assert_eq!(to_unpark(&mut world), [agent], "its node has less free hardware");
    world.population.unpark(agent, 3, None);
    assert!(!world.population.is_unchanged(agent));
    assert_eq!(world.population.agent(agent).evaluations(), 4);
    world.deploy(&[0]);
    assert_eq!(to_unpark(&mut world), [], "it rests no more");
}

#[test]
fn an_inhibited_agent_stays_parked_until_there_is_room() {
    let mut world = Plan::line(&[1, 1, 1]).build();
    let [agent, other, third] = world.deploy(&[0, 1, 2])[..] else { panic!("three of them") };
    world.propose(agent, AgentOperation::Migrate, Target::Node(NodeIndex(1)));
    assert_eq!(world.population.steady_outcome(agent, None), Some(ParkedCounts::one(true, 0.0)));
    world.population.park(agent);
    world.cycle(&[]);
    world.propose(third, AgentOperation::Undeploy, Target::Own);
    world.cycle(&[]);
    assert_eq!(to_unpark(&mut world), [], "that is out of its reach");
    world.propose(other, AgentOperation::Migrate, Target::Node(NodeIndex(2)));
    world.cycle(&[]);
    assert_eq!(to_unpark(&mut world), [agent], "there is room now");
    world.population.unpark(agent, 1, None);
    world.evaluate(agent);
    assert_eq!(
        world.population.steady_outcome(agent, None),
        Some(ParkedCounts::one(false, 0.0)),
        "by its policy it proposes nothing"
    );
}

#[test]
fn no_agent_is_parked_if_its_next_outcome_may_differ() {
    let habit_of = |plan: Plan, operation, target: u32| {
        let mut world = plan.build();
        let agent = world.deploy(&[0])[0];
        world.propose(agent, operation, Target::Node(NodeIndex(target)));
        world.population.steady_outcome(agent, None)
    };
    let is_inhibited = Some(ParkedCounts::one(true, 0.0));
    assert_eq!(habit_of(Plan::line(&[1, 0, 0]), AgentOperation::Replicate, 1), is_inhibited);
    assert_eq!(habit_of(Plan::line(&[1, 1, 0]), AgentOperation::Replicate, 1), None, "there is room");
    assert_eq!(habit_of(Plan::line(&[1, 0, 0]), AgentOperation::Replicate, 2), None, "inhibited for another reason");
    assert_eq!(habit_of(Plan::line(&[1, 0, 0]), AgentOperation::Undeploy, 0), None, "it will be gone");
    let remembering = Plan::line(&[1, 0, 0]).policy(STILL, 3);
    assert_eq!(habit_of(remembering, AgentOperation::Replicate, 1), None, "it will remember");
    let sequential = Plan { arbitration: Arbitration::Sequential, ..Plan::line(&[1, 0, 0]) };
    assert_eq!(habit_of(sequential, AgentOperation::Replicate, 1), None, "there may be room in the middle of a cycle");
}

#[test]
fn agents_with_recurring_snapshots_are_parked_only_with_cached_proposals_and_whole_rates() {
    let mut world = Plan::line(&[9, 9]).build();
    let agent = world.deploy(&[0])[0];
    let fact = |rate| [RequestFact { neighbour: Neighbour::Own, rate, latency: 0.0 }];
    for (number, rate) in [(0, 2.0), (1, 5.0), (2, 0.5)] {
        assert_eq!(world.population.steady_outcome(agent, Some(number)), None, "it has not been seen");
        world.population.observe_recurring(agent, number, Some(&fact(rate)));
        world.evaluate(agent);
    }
    assert_eq!(world.population.steady_outcome(agent, Some(0)), Some(ParkedCounts::one(false, 2.0)));
    assert_eq!(world.population.steady_outcome(agent, Some(1)), Some(ParkedCounts::one(false, 5.0)));
    assert_eq!(world.population.steady_outcome(agent, Some(2)), None);
    world.population.park(agent);
    world.population.unpark(agent, 2, Some(1));
    assert!(world.population.is_unchanged(agent));
    assert_eq!(world.population.agent(agent).requests(), fact(5.0), "the last that it would have seen");
}

#[test]
fn a_cycle_counts_parked_agents_once() {
    let mut world = Plan::line(&[9]).build();
    let parked = [ParkedCounts { idle: 2, inhibited: 3, requests: 7.0 }];
    world.population.propose_parked(&parked);
    assert_eq!(world.population.pending_count(), 5);
    world.cycle(&[]);
    assert_eq!(world.label.parked(), parked);
    assert_eq!(world.population.pending_count(), 0);
    world.cycle(&[]);
    assert_eq!(world.label.parked(), []);
}
