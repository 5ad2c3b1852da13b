//! The history that policies can read: earlier requests, own operations, and the age on the node.

use mario_domain::AgentOperation::{Migrate, Replicate};
use mario_domain::FactPredicate;
use mario_policy::SolutionLimit;
use mario_scenario::{Arbitration, NodeIndex};
use mario_simulator::population::{AgentIndex, Basis, ContextChange, Neighbour, Outcome, RequestFact, Target};

use crate::population::world::{Plan, World, node};

/// Looks back, and proposes nothing.
const LOOKS_BACK: &str = ":- dynamic operation/3, age/2.\n:- remembers(requests, 2), remembers(operations, 3).\n\
                          operation(undeploy, I, self) :- age(I, N), N < 0.\n";

fn observe(world: &mut World, agent: AgentIndex, from: u32, rate: f64) {
    let facts = [RequestFact { neighbour: Neighbour::Node(NodeIndex(from)), rate, latency: 3.0 }];
    world.population.r2(ContextChange::Requests { agent, facts: &facts });
}

/// The history that an agent sees, as `earlier | done | age`. Instances and latencies are omitted.
fn shown(world: &mut World, agent: AgentIndex) -> String {
    world.evaluator.evaluate(&world.population, agent, SolutionLimit::All);
    let facts = world.evaluator.facts();
    let row =
        |row: &[mario_policy::Constant]| row.iter().map(|value| facts.text(*value)).collect::<Vec<String>>().join(" ");
    let earlier = facts.rows::<5>(FactPredicate::Earlier).map(|[ago, _, from, rate, _]| row(&[ago, from, rate]));
    let done = facts.rows::<4>(FactPredicate::Done).map(|[ago, _, operation, target]| row(&[ago, operation, target]));
    let age = facts.rows::<2>(FactPredicate::Age).map(|[_, age]| row(&[age]));
    let join = |rows: Vec<String>| rows.join(", ");
    format!("{} | {} | {}", join(earlier.collect()), join(done.collect()), join(age.collect()))
}

fn replica(world: &World) -> AgentIndex {
    let created = world.outcomes().into_iter().find_map(|outcome| match outcome {
        Outcome::Judged(judged) => judged.created,
        _ => None,
    });
    created.expect("a replica")
}

#[test]
fn the_history_of_an_agent_migrates_with_it() {
    let mut world = Plan::line(&[3, 3, 3]).policy(LOOKS_BACK, 0).build();
    let agent = world.deploy(&[0])[0];
    assert_eq!(shown(&mut world, agent), " |  | 0", "there is nothing before the first evaluation");
    observe(&mut world, agent, 1, 5.0);
    world.propose(agent, Replicate, Target::Own);
    world.cycle(&[]);
    let replica = replica(&world);
    assert_eq!(shown(&mut world, replica), " |  | 0", "a replica begins without a past");
    assert_eq!(shown(&mut world, agent), "1 n1 5 | 1 replicate self | 1");
    observe(&mut world, agent, 1, 7.0);
    world.propose(agent, Migrate, node(1));
    world.cycle(&[]);
    assert_eq!(
        shown(&mut world, agent),
        "1 n1 7, 2 n1 5 | 1 migrate n1, 2 replicate self | 0",
        "its past goes with it"
    );
    world.population.propose(agent, None, Basis::Past);
    world.cycle(&[]);
    assert_eq!(shown(&mut world, agent), "2 n1 7 | 2 migrate n1, 3 replicate self | 1", "no requests came since");
    world.population.propose(agent, None, Basis::Past);
    world.cycle(&[]);
    assert_eq!(shown(&mut world, agent), " | 3 migrate n1 | 2");
}

#[test]
fn inhibited_operations_are_not_in_the_history() {
    let mut world = Plan::line(&[1, 0]).policy(LOOKS_BACK, 0).build();
    let agent = world.deploy(&[0])[0];
    world.propose(agent, Migrate, node(1));
    world.cycle(&[]);
    assert_eq!(shown(&mut world, agent), " |  | 1");
}

#[test]
fn a_migration_that_creates_a_new_instance_starts_without_a_history() {
    let plan = Plan { arbitration: Arbitration::Sequential, ..Plan::line(&[1, 1]).policy(LOOKS_BACK, 0) };
    let mut world = plan.build();
    let agent = world.deploy(&[0])[0];
    observe(&mut world, agent, 1, 5.0);
    world.propose(agent, Migrate, node(1));
    world.cycle(&[]);
    let successor = replica(&world);
    assert_eq!(shown(&mut world, successor), " |  | 0");
}

#[test]
fn an_agent_is_unchanged_once_its_history_equals_its_current_facts() {
    const SUSTAINED: &str = ":- remembers(requests, 2).\n:- dynamic operation/3, earlier/5.\n\
                             operation(replicate, I, self) :- earlier(2, I, _, R, _), R > 9.\n";
    let mut world = Plan::line(&[3, 3]).policy(SUSTAINED, 0).build();
    let agent = world.deploy(&[0])[0];
    let mut unchanged = Vec::new();
    for rate in [5.0, 5.0, 5.0, 5.0, 7.0, 5.0, 5.0, 5.0, 5.0] {
        observe(&mut world, agent, 1, rate);
        unchanged.push(world.population.is_unchanged(agent));
        world.evaluate(agent);
        world.cycle(&[]);
    }
    assert_eq!(unchanged, [false, false, false, true, false, false, false, false, true]);
}
