//! Compares cached decisions with those of the policy.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use mario_domain::{Application, ApplicationId, Capacity, Fact, FactValue, Hardware, Id, NodeId, Quantity};
use mario_policy::{PolicySettings, SolutionLimit};
use mario_prolog::{Budget, Directories};
use mario_scenario::{ApplicationIndex, Arbitration, Memory, NodeIndex, PolicyIndex};

use super::*;
use mario_colony::rules::{History, RememberedOperation};
use mario_testing::Random;

use crate::population::agent::Body;
use crate::population::agent::{Neighbour, RequestFact};
use crate::population::evaluate::Evaluator;
use crate::population::numbers::InstanceNumbers;
use crate::population::proposal::Target;
use crate::population::simulated_node::SimulatedNode;
use crate::population::state::{ContextChange, PopulationConfig};

/// Shipped policies that propose something without extra facts.
const SHIPPED: [&str; 10] = [
    "workload-aware",
    "latency-aware",
    "workload-and-latency-aware",
    "workload-and-latency-aware-with-memory",
    "cost-aware",
    "load-thresholds",
    "popularity",
    "popularity-with-cool-down",
    "stay-in-region",
    "sustained-demand",
];

/// Of the own node, `self` and the neighbours, picks the last in standard order. Migrates there if client requests come
/// from there, unless it is the name of the own node.
const FARTHEST: &str = "operation(migrate, I, N) :- node(O, _, Ns), msort([O, self|Ns], S), last(S, N), N \\== O, \
                        requests(I, N, _, _).";

fn engine() -> &'static Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(Engine::new)
}

#[expect(clippy::disallowed_methods, reason = "the policies that ship are files of the repository")]
fn shipped(name: &str, settings: PolicySettings) -> Policy {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../policies");
    let path = directory.join(format!("{name}.pl"));
    let text = fs::read_to_string(&path).expect("it is shipped");
    let path = path.to_str().expect("a path of the workspace");
    Policy::load(engine(), path, &text, Some(Box::new(Directories::new([directory]))), settings).expect("a policy")
}

fn written(text: &str, settings: PolicySettings) -> Policy {
    Policy::load(engine(), "policy", text, None, settings).expect("a policy")
}

/// Draws the name of a node, which may be a number, and may sort before or after `self`.
fn node_name(dice: &mut Random, number: usize) -> NodeId {
    let number = number as i64;
    match dice.below(4) {
        0 => NodeId::number(50 - 7 * number),
        1 => NodeId::name(&format!("z{number}")).expect("a name"),
        _ => NodeId::name(&format!("{}{number}", dice.pick(&["a", "n", "se", "self", "sf"]))).expect("a name"),
    }
}

fn population(dice: &mut Random, policies: Vec<Policy>, facts: Vec<Fact>) -> Population {
    let count = 3 + dice.below(6);
    let mut neighbours = vec![Vec::new(); count];
    for node in 1..count {
        let other = dice.below(node);
        neighbours[node].push(NodeIndex::at(other));
        neighbours[other].push(NodeIndex::at(node));
    }
    let nodes = neighbours.into_iter().enumerate().map(|(node, around)| {
        let capacity = if node == 0 { Capacity::Unbounded } else { Capacity::units(40) };
        SimulatedNode::new(node_name(dice, node), capacity, around, None)
    });
    let nodes = nodes.collect();
    // The first and the last application are equal up to their names.
    let applications = (1..5).map(|number| Application {
        id: ApplicationId::name(&format!("app{number}")).expect("a name"),
        owner: None,
        hardware: Hardware::units(1 + number % 3),
        max_rate: Quantity::whole(5),
        max_latency: Quantity::whole(if number % 3 == 1 { 10 } else { 1 }),
        flavours: Vec::new(),
        sleep: None,
    });
    let founding = PopulationConfig {
        arbitration: Arbitration::Managers,
        notice: 3,
        memory: dice.pick(&[Memory::Sliding, Memory::Periodic { every: 5 }]),
        numbers: InstanceNumbers::COUNTED,
        applications: applications.collect(),
        application_facts: facts,
        anchors: Vec::new(),
        policies,
        nodes,
        node_facts: Vec::new(),
    };
    let mut population = Population::new(engine(), founding);
    for number in 0..4 * count {
        let policy = PolicyIndex::at(dice.below(population.policies.len()));
        population.create(ApplicationIndex::at(number % 4), policy, NodeIndex::at(number % count), Body::default());
    }
    population
}

/// Draws observations and memories for an agent, mostly about its neighbours.
fn draw_facts(dice: &mut Random, population: &mut Population, agent: AgentIndex) {
    let own = population.agent(agent).node();
    let mut near: Vec<NodeIndex> = population.node(own).neighbours().to_vec();
    near.push(if dice.below(20) == 0 { own } else { near[0] });
    near.push(if dice.below(20) == 0 { NodeIndex::at(dice.below(population.nodes.len())) } else { near[0] });
    let mut facts: Vec<RequestFact> = (0..dice.pick(&[0, 1, 1, 2, 2, 3]))
        .map(|_| RequestFact {
            neighbour: if dice.below(3) == 0 { Neighbour::Own } else { Neighbour::Node(dice.pick(&near)) },
            rate: dice.pick(&[1.0, 3.0, 3.0, 6.0]),
            latency: dice.pick(&[0.5, 3.0, 11.0]),
        })
        .collect();
    facts.sort_by_key(|fact| population.rank(fact.neighbour));
    population.r2(ContextChange::Requests { agent, facts: &facts });
    let remembered = (0..dice.pick(&[0, 0, 0, 1, 1, 2])).map(|_| RememberedOperation {
        evaluation: 1,
        operation: dice.pick(&[AgentOperation::Migrate, AgentOperation::Replicate, AgentOperation::Undeploy]),
        target: match dice.below(40) {
            0 => Target::Unknown(Box::new(NodeId::name("nowhere").expect("a name"))),
            1..10 => Target::Own,
            _ => Target::Node(dice.pick(&near)),
        },
    });
    let remembering = &mut population.agents[agent.position()];
    remembering.extra.get_or_insert_default().remembered = remembered.collect();
    remembering.is_blank = false;
    draw_past(dice, population, agent, &facts);
}

/// Draws a history for an agent if its policy looks back. The observations in the history are `facts` or empty; some
/// histories have an accepted migrate to `self`.
fn draw_past(dice: &mut Random, population: &mut Population, agent: AgentIndex, facts: &[RequestFact]) {
    let remembers = population.policy(population.agent(agent).policy()).remembers();
    if remembers.is_nothing() {
        return;
    }
    let mut history = History { arrived: dice.below(3) as u32, ..History::default() };
    for _ in 0..dice.pick(&[0, 1, 2, 2, 2]) {
        history.evaluated(remembers, if dice.below(4) == 0 { &[] } else { facts }, 5);
    }
    if dice.below(4) == 0 {
        let done = RememberedOperation { evaluation: 3, operation: AgentOperation::Migrate, target: Target::Own };
        history.accepted(remembers, done);
    }
    let remembering = &mut population.agents[agent.position()];
    remembering.evaluations = 4;
    remembering.extra.get_or_insert_default().history = Some(Box::new(history));
}

/// Draws many observations for the agents of a population, and compares cached decisions with those of their policies.
/// Returns the number of hits, and of proposals among the hits.
fn compare(dice: &mut Random, mut population: Population, rounds: usize) -> [usize; 2] {
    let mut decisions = DecisionCache { limit: rounds, ..DecisionCache::new(engine(), &population) };
    let mut evaluator = Evaluator::new(engine(), &population);
    let mut found = [0; 2];
    for _ in 0..rounds {
        let agent = AgentIndex::at(dice.below(population.agent_count()));
        draw_facts(dice, &mut population, agent);
        let known = decisions.lookup(&population, agent);
        let decision = evaluator.evaluate(&population, agent, SolutionLimit::First);
        let asked = population.proposal(agent, decision);
        match known {
            Lookup::Hit(proposal, _) => {
                assert_eq!(
                    proposal,
                    asked,
                    "{}: {:?}",
                    population.policy(population.agent(agent).policy()).name(),
                    agent
                );
                found[0] += 1;
                found[1] += usize::from(proposal.is_some());
            }
            Lookup::Miss(Some(slot)) => {
                let (is_plain, basis) = (population.is_plain(agent, decision), Basis::of(decision));
                decisions.insert(slot, &population, agent, asked.as_ref(), is_plain, basis);
            }
            Lookup::Miss(None) => {}
            Lookup::Pending(_) => panic!("nobody else is asked"),
        }
    }
    found
}

#[test]
fn cached_decisions_equal_those_of_the_policy() {
    let mut dice = Random::new(5);
    for name in SHIPPED.iter().copied().chain(["farthest"]) {
        let settings = PolicySettings { memory: 3, ..PolicySettings::default() };
        let load = || if name == "farthest" { written(FARTHEST, settings) } else { shipped(name, settings) };
        let mut found = [0; 2];
        for _ in 0..6 {
            let population = population(&mut dice, vec![load(), shipped("never-move", settings)], Vec::new());
            let [all, proposals] = compare(&mut dice, population, 4_000);
            found = [found[0] + all, found[1] + proposals];
        }
        assert!(found[0] > 3_000 && found[1] > 300, "{name}: {found:?} were found");
    }
}

#[test]
fn decisions_that_depend_on_names_are_not_shared() {
    let settings = PolicySettings::default();
    let fact = |key: &str| Fact {
        subject: Id::name("app1").expect("a name"),
        key: Id::name(key).expect("a name"),
        value: FactValue::Id(Id::name("n1").expect("a name")),
    };
    let seeing = written("operation(migrate, I, N) :- requests(I, N, _, _), N @< m.", settings);
    let mut dice = Random::new(1);
    for (policy, facts, is_shared) in [
        (seeing, Vec::new(), false),
        (shipped("load-thresholds", settings), vec![fact("home")], false),
        (shipped("load-thresholds", settings), Vec::new(), true),
        (shipped("workload-aware", settings), vec![fact("home")], true),
    ] {
        let population = population(&mut dice, vec![policy], facts);
        let found = compare(&mut dice, population, 2_000);
        assert_eq!(found[0] > 0, is_shared, "{found:?}");
    }
}

#[test]
fn failed_decisions_are_not_cached() {
    let raising = "operation(migrate, I, N) :- requests(I, N, _, _), X is foo + 1, X > 0.";
    let long = "operation(migrate, I, N) :- between(1, 2000, X), X >= 2000, requests(I, N, _, _).";
    let budget = Budget { inferences: 50_000, ..PolicySettings::default().budget };
    for (text, settings) in [(raising, PolicySettings::default()), (long, PolicySettings { memory: 0, budget })] {
        let mut dice = Random::new(2);
        let population = population(&mut dice, vec![written(text, settings)], Vec::new());
        // Hits without a proposal are possible: without client requests, `raising` raises no exception.
        let found = compare(&mut dice, population, 2_000);
        assert_eq!(found[1], 0, "{text}");
    }
    let mut dice = Random::new(2);
    let population = population(&mut dice, vec![written(long, PolicySettings::default())], Vec::new());
    assert!(compare(&mut dice, population, 2_000)[1] > 0, "far from the end of its budget it is told to others");
}

#[test]
fn a_slot_is_taken_before_the_answer_is_known() {
    let mut dice = Random::new(3);
    let mut population = population(&mut dice, vec![shipped("workload-aware", PolicySettings::default())], Vec::new());
    let mut decisions = DecisionCache::new(engine(), &population);
    let node = population.agent(AgentIndex(0)).node();
    let application = population.agent(AgentIndex(0)).application();
    let other = population.create(application, PolicyIndex(0), node, Body::default());
    let facts = [RequestFact { neighbour: Neighbour::Own, rate: 99.0, latency: 0.0 }];
    let first = AgentIndex(0);
    for agent in [first, other] {
        population.r2(ContextChange::Requests { agent, facts: &facts });
    }
    let Lookup::Miss(Some(slot)) = decisions.lookup(&population, first) else { panic!("nobody was asked") };
    assert_eq!(decisions.lookup(&population, other), Lookup::Pending(slot));
    assert_eq!(decisions.lookup_pending(&population, other, slot), None);
    let proposal = Proposal { operation: AgentOperation::Replicate, target: Target::Own };
    decisions.insert(slot, &population, first, Some(&proposal), true, Basis::Present);
    assert_eq!(decisions.lookup_pending(&population, other, slot), Some((Some(proposal.clone()), Basis::Present)));
    assert_eq!(decisions.lookup(&population, other), Lookup::Hit(Some(proposal), Basis::Present));
    decisions.insert(slot, &population, first, None, false, Basis::Present);
    assert_eq!(decisions.lookup_pending(&population, other, slot), None, "it is of no use to others");
    assert_eq!(decisions.lookup(&population, other), Lookup::Miss(None));
}

#[test]
fn a_full_cache_stores_nothing_until_it_is_cleared() {
    let mut dice = Random::new(4);
    let mut population = population(&mut dice, vec![shipped("workload-aware", PolicySettings::default())], Vec::new());
    let mut decisions = DecisionCache::new(engine(), &population);
    let agent = AgentIndex(0);
    let limit = decisions.limit;
    assert_eq!(limit, 1024, "it is a small world");
    let mut find = |decisions: &mut DecisionCache, rate: usize| {
        let facts = [RequestFact { neighbour: Neighbour::Own, rate: rate as f64, latency: 0.0 }];
        population.r2(ContextChange::Requests { agent, facts: &facts });
        let found = decisions.lookup(&population, agent);
        if let Lookup::Miss(Some(slot)) = found {
            decisions.insert(slot, &population, agent, None, true, Basis::Present);
        }
        found
    };
    for rate in 0..limit {
        assert!(matches!(find(&mut decisions, rate), Lookup::Miss(Some(_))));
    }
    assert_eq!(find(&mut decisions, limit), Lookup::Miss(None));
    for rate in (0..limit).step_by(100) {
        assert_eq!(find(&mut decisions, rate), Lookup::Hit(None, Basis::Present));
    }
    decisions.make_room();
    assert!(matches!(find(&mut decisions, limit), Lookup::Miss(Some(_))));
    decisions.make_room();
    assert_eq!(find(&mut decisions, limit), Lookup::Hit(None, Basis::Present), "there is room left");
}
