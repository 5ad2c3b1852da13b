//! The memory of agents: its content, its duration, and its effect on decisions.

use mario_domain::AgentOperation::{Migrate, Replicate, Undeploy};
use mario_scenario::Memory;
use mario_simulator::population::{Basis, Proposal, Target};

use crate::population::world::{Plan, World, node};
use crate::world::STILL;

/// Replicates to `n1` unless it remembers that this was inhibited.
const TRIES_ONCE: &str = ":- dynamic inhibited/3.\noperation(replicate, I, n1) :- \\+ inhibited(replicate, I, n1).\n";

/// The evaluations at which an agent still sees that its first proposal was inhibited.
fn seen_at(world: &mut World, evaluations: u32) -> Vec<u32> {
    let agent = world.deploy(&[0])[0];
    world.propose(agent, Replicate, node(1));
    world.cycle(&[]);
    let mut seen = Vec::new();
    for evaluation in 2..=evaluations {
        if !world.population.visible_memory(world.population.agent(agent)).is_empty() {
            seen.push(evaluation);
        }
        world.population.propose(agent, None, Basis::Past);
        world.cycle(&[]);
    }
    seen
}

#[test]
fn an_inhibition_is_seen_at_the_next_k_evaluations() {
    for (k, expected) in [(0, vec![]), (1, vec![2]), (2, vec![2, 3]), (10, (2..=11).collect())] {
        let mut world = Plan::line(&[1, 0]).policy(STILL, k).build();
        assert_eq!(seen_at(&mut world, 14), expected, "memory of {k}");
    }
}

#[test]
fn a_policy_that_heeds_its_memory_proposes_every_k_plus_1_evaluations() {
    for (k, expected) in
        [(0, "????????????????"), (1, "?.?.?.?.?.?.?.?."), (2, "?..?..?..?..?..?"), (10, "?..........?....")]
    {
        let mut world = Plan::line(&[1, 0]).policy(TRIES_ONCE, k).build();
        let agent = world.deploy(&[0])[0];
        let asked: String = (0..16)
            .map(|_| {
                let asks = world.evaluate(agent).is_some();
                world.cycle(&[]);
                if asks { '?' } else { '.' }
            })
            .collect();
        assert_eq!(asked, expected, "memory of {k}");
    }
}

#[test]
fn periodic_memory_is_cleared_after_the_facts_of_evaluations_6_11_16() {
    let plan = Plan { memory: Memory::Periodic { every: 5 }, ..Plan::line(&[1, 0]).policy(TRIES_ONCE, 0) };
    let mut world = plan.build();
    let agent = world.deploy(&[0])[0];
    let mut asked = Vec::new();
    for evaluation in 1..=18 {
        if world.evaluate(agent).is_some() {
            asked.push(evaluation);
        }
        world.cycle(&[]);
    }
    // At evaluation 6, the old inhibition is still visible, so nothing is proposed. From 7 on, it is forgotten.
    assert_eq!(asked, [1, 7, 12, 17]);
}

#[test]
fn an_inhibition_at_the_evaluation_that_clears_the_memory_is_kept() {
    let plan = Plan { memory: Memory::Periodic { every: 5 }, ..Plan::line(&[1, 0]) };
    let mut world = plan.build();
    let agent = world.deploy(&[0])[0];
    let mut lengths = Vec::new();
    for _ in 0..12 {
        world.propose(agent, Replicate, node(1));
        world.cycle(&[]);
        lengths.push(world.population.visible_memory(world.population.agent(agent)).len());
    }
    // Periodic memory keeps duplicates.
    assert_eq!(lengths, [1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 1, 2]);
}

#[test]
fn sliding_memory_is_seen_in_standard_order_and_without_duplicates() {
    let mut world = Plan::line(&[1, 0]).policy(STILL, 10).build();
    let agent = world.deploy(&[0])[0];
    let unknown = Target::Unknown(Box::new(mario_domain::NodeId::number(7)));
    let targets = [node(1), Target::Own, unknown.clone(), node(1)];
    for operation in [Replicate, Migrate] {
        for target in &targets {
            world.propose(agent, operation, target.clone());
            world.cycle(&[]);
        }
    }
    let seen: Vec<_> = world
        .population
        .visible_memory(world.population.agent(agent))
        .into_iter()
        .map(|known| (known.operation, known.target.clone()))
        .collect();
    let ordered = [unknown, node(1), Target::Own];
    let expected: Vec<_> =
        [Migrate, Replicate].into_iter().flat_map(|name| ordered.clone().map(|target| (name, target))).collect();
    assert_eq!(seen, expected);
}

#[test]
fn the_target_is_remembered_as_the_policy_wrote_it() {
    let text = "operation(replicate, _, self).\n";
    let mut world = Plan::line(&[1]).policy(text, 3).build();
    let agent = world.deploy(&[0])[0];
    assert_eq!(world.evaluate(agent), Some(Proposal { operation: Replicate, target: Target::Own }));
    world.cycle(&[]);
    assert_eq!(world.remembered(agent), [(1, Replicate, Target::Own)]);
}

#[test]
fn an_inhibited_undeploy_is_remembered() {
    let mut world = Plan::line(&[1]).policy(STILL, 1).accepting(0, "accept(request(deploy, _, _, _, _)).\n").build();
    let agent = world.deploy(&[0])[0];
    world.propose(agent, Undeploy, Target::Own);
    world.cycle(&[]);
    assert_eq!(world.remembered(agent), [(1, Undeploy, Target::Own)]);
}
