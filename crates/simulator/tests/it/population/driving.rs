//! Evaluation of agents one by one and as a batch, reused decisions, and invalid proposals.

use mario_domain::AgentOperation::{Migrate, Replicate};
use mario_domain::{Inhibition, Verdict};
use mario_policy::SolutionLimit;
use mario_scenario::{ApplicationIndex, NodeIndex};
use mario_simulator::population::{
    AcceptedOperation, AgentIndex, Basis, Body, ContextChange, Neighbour, Outcome, Proposal, RequestFact, Target,
};

use crate::population::world::{Plan, World, deployment, node};

/// Migrates to a neighbour that forwards requests; without one, replicates on its own node.
const FOLLOWS: &str =
    "operation(migrate, I, M) :- requests(I, M, _, _), M \\== self.\noperation(replicate, _, self).\n";

fn requests(world: &mut World, agent: AgentIndex, from: u32, rate: f64) {
    let facts = [RequestFact { neighbour: Neighbour::Node(NodeIndex(from)), rate, latency: 2.0 }];
    world.population.r2(ContextChange::Requests { agent, facts: &facts });
}

fn crowd() -> (World, Vec<AgentIndex>) {
    let mut world = Plan::line(&[4, 3, 2]).policy(FOLLOWS, 0).build();
    let agents = world.deploy(&[0, 0, 1, 2]);
    for (agent, from) in agents.iter().zip([1, 1, 2, 1]) {
        requests(&mut world, *agent, from, 5.0);
    }
    (world, agents)
}

#[test]
fn a_parallel_round_equals_a_sequential_one() {
    let (mut one_by_one, agents) = crowd();
    for agent in &agents {
        one_by_one.evaluate(*agent);
    }
    one_by_one.cycle(&[]);
    let (mut at_once, agents) = crowd();
    let wishes: Vec<Option<Proposal>> = agents
        .iter()
        .map(|agent| {
            let decision = at_once.evaluator.evaluate(&at_once.population, *agent, SolutionLimit::First);
            at_once.population.proposal(*agent, decision)
        })
        .collect();
    assert!(wishes.iter().all(Option::is_some));
    for (agent, proposal) in agents.iter().zip(wishes) {
        at_once.population.propose(*agent, proposal, Basis::Past);
    }
    at_once.cycle(&[]);
    assert_eq!(at_once.label, one_by_one.label);
    assert_eq!(at_once.placement(), one_by_one.placement());
    let accepted = at_once.verdicts().iter().filter(|verdict| **verdict == Some(Verdict::Accepted)).count();
    assert_eq!(accepted, 3, "{:?}", at_once.label);
}

#[test]
fn a_manager_asked_directly_returns_the_verdict_of_a_cycle() {
    let (mut world, agents) = crowd();
    for agent in &agents {
        world.evaluate(*agent);
    }
    let mut managers: Vec<_> = (0..3).map(|node| world.population.node(NodeIndex(node)).manager().clone()).collect();
    let needed = mario_domain::Hardware::units(1);
    let asked: Vec<Verdict> = [1, 1, 2, 1]
        .map(|target: usize| {
            let verdict = managers[target].has_room(needed);
            if verdict.is_ok() {
                managers[target].reserve(
                    AcceptedOperation { application: ApplicationIndex(0), agent: None, body: Body::default() },
                    needed,
                );
            }
            let node = managers[target].node().clone();
            verdict.map_or_else(|rule| Verdict::Inhibited(Inhibition { node, rule }), |()| Verdict::Accepted)
        })
        .into();
    world.cycle(&[]);
    let judged: Vec<Verdict> = world.verdicts().into_iter().flatten().collect();
    assert_eq!(asked, judged);
    for manager in &mut managers {
        manager.release_all();
    }
    assert_eq!(managers[2].has_room(needed), Ok(()), "nothing is promised after a cycle");
}

#[test]
fn a_decision_is_reused_only_while_the_facts_are_unchanged() {
    let mut world = Plan::line(&[3, 1]).policy(crate::world::STILL, 1).build();
    let agents = world.deploy(&[0, 0]);
    let agent = agents[0];
    assert!(!world.population.is_unchanged(agent), "it has not evaluated yet");
    let settled = |world: &mut World| {
        for _ in 0..2 {
            world.evaluate(agent);
            world.cycle(&[]);
        }
        assert!(world.population.is_unchanged(agent));
    };
    settled(&mut world);
    // New client requests change the facts; repeated ones do not.
    requests(&mut world, agent, 1, 5.0);
    assert!(!world.population.is_unchanged(agent));
    settled(&mut world);
    requests(&mut world, agent, 1, 5.0);
    assert!(world.population.is_unchanged(agent));
    requests(&mut world, agent, 1, 6.0);
    assert!(!world.population.is_unchanged(agent));
    settled(&mut world);
    // The free hardware of its own node changes the facts; that of other nodes is not visible.
    world.cycle(&[deployment(1)]);
    assert!(world.population.is_unchanged(agent));
    world.propose(agents[1], Replicate, Target::Own);
    world.cycle(&[]);
    assert!(!world.population.is_unchanged(agent));
    settled(&mut world);
    // Lost neighbours change the facts.
    world.population.r2(ContextChange::Neighbours { node: NodeIndex(0), neighbours: &[] });
    assert!(!world.population.is_unchanged(agent));
    settled(&mut world);
    // Memories change the facts when they are added and when they expire.
    world.propose(agent, Migrate, node(1));
    world.cycle(&[]);
    assert!(!world.population.is_unchanged(agent));
    world.evaluate(agent);
    assert!(!world.population.is_unchanged(agent), "it forgets");
    world.cycle(&[]);
    settled(&mut world);
}

#[test]
fn a_repeated_proposal_equals_the_last_one() {
    let mut world = Plan::line(&[1, 0]).policy("operation(migrate, _, n1).\n", 0).build();
    let agent = world.deploy(&[0])[0];
    world.evaluate(agent);
    world.cycle(&[]);
    let first = world.label.clone();
    assert!(world.population.is_unchanged(agent), "without memory, an inhibition is no news");
    world.population.repeat_proposal(agent);
    world.cycle(&[]);
    assert_eq!(world.label, first);
    assert_eq!(world.population.agent(agent).evaluations(), 2);
}

#[test]
fn an_invalid_proposal_is_a_nop() {
    for text in [
        "operation(explode, _, self).\n",
        "operation(migrate, _, _).\n",
        "operation(migrate, _, f(x)).\n",
        "operation(migrate, _, 1.5).\n",
        "operation(undeploy, _, n1).\n",
        "operation(migrate, _, M) :- atom_concat(made, up, M).\n",
        "operation(_, _, _) :- throw(broken).\n",
        "operation(_, _, _) :- halt.\n",
    ] {
        let mut world = Plan::line(&[1, 1]).policy(text, 1).build();
        let agent = world.deploy(&[0])[0];
        assert_eq!(world.evaluate(agent), None, "{text}");
        world.cycle(&[]);
        assert_eq!(world.outcomes()[..], [Outcome::Nop(agent)], "{text}");
        assert!(world.remembered(agent).is_empty());
    }
}

#[test]
fn the_first_solution_counts_even_if_it_is_invalid() {
    let text = "operation(explode, _, self).\noperation(migrate, _, n1).\n";
    let mut world = Plan::line(&[1, 1]).policy(text, 0).build();
    let agent = world.deploy(&[0])[0];
    assert_eq!(world.evaluate(agent), None);
}

#[test]
fn an_empty_name_denotes_no_node() {
    let mut world = Plan::line(&[1, 1]).policy("operation(migrate, _, '').\n", 0).build();
    let agent = world.deploy(&[0])[0];
    world.evaluate(agent);
    world.cycle(&[]);
    assert!(matches!(world.verdict(), Verdict::Inhibited(_)));
}
