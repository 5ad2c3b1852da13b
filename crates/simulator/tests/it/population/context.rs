//! Rule r2: nodes that leave, go down and come up, and links that go down and up.

use mario_colony::Availability;
use mario_domain::AgentOperation::{Migrate, Replicate, Undeploy};
use mario_domain::{Capacity, Rule, Verdict};
use mario_scenario::NodeIndex;
use mario_simulator::population::{ContextChange, Target};

use crate::population::world::{Plan, deployment, inhibited, node};

#[test]
fn a_leaving_node_accepts_no_instance_and_lets_all_leave() {
    let mut world = Plan::line(&[2, 3]).build();
    let agents = world.deploy(&[0, 1, 1]);
    world.population.r2(ContextChange::Leaving(NodeIndex(1)));
    world.propose(agents[0], Migrate, node(1));
    world.propose(agents[1], Replicate, Target::Own);
    world.propose(agents[2], Migrate, node(0));
    world.cycle(&[deployment(1)]);
    let leaving = Some(inhibited(1, Rule::Leaving));
    assert_eq!(world.verdicts(), [leaving.clone(), leaving.clone(), leaving, Some(Verdict::Accepted)]);
    world.propose(agents[1], Undeploy, Target::Own);
    world.cycle(&[]);
    assert_eq!(world.verdict(), Verdict::Accepted);
}

#[test]
fn a_node_that_goes_down_loses_its_instances_and_comes_up_empty() {
    let mut world = Plan::line(&[1, 2]).build();
    let agents = world.deploy(&[0, 1, 1]);
    assert_eq!(world.population.r2(ContextChange::Down(NodeIndex(1))), agents[1..]);
    assert_eq!(world.placement(), [vec![0], vec![]]);
    assert!(agents[1..].iter().all(|agent| !world.population.agent(*agent).is_alive()));
    world.propose(agents[0], Replicate, node(1));
    world.cycle(&[deployment(1)]);
    let down = Some(inhibited(1, Rule::Down));
    assert_eq!(world.verdicts(), [down.clone(), down]);
    world.population.r2(ContextChange::Up(NodeIndex(1)));
    assert_eq!(
        (world.free(1), world.population.node(NodeIndex(1)).manager().availability()),
        (Capacity::units(2), Availability::Up)
    );
    world.cycle(&[deployment(1), deployment(1)]);
    assert_eq!(world.verdicts(), [Some(Verdict::Accepted), Some(Verdict::Accepted)]);
}

#[test]
fn a_pending_agent_whose_node_goes_down_is_not_judged() {
    let mut world = Plan::line(&[1, 1]).build();
    let agents = world.deploy(&[0, 1]);
    world.propose(agents[0], Replicate, node(1));
    world.propose(agents[1], Undeploy, Target::Own);
    assert_eq!(world.population.pending_count(), 2);
    world.population.r2(ContextChange::Down(NodeIndex(1)));
    assert_eq!(world.population.pending_count(), 1, "who is gone waits for nothing");
    world.population.r2(ContextChange::Up(NodeIndex(1)));
    world.cycle(&[]);
    assert_eq!(world.verdict(), Verdict::Accepted);
    assert_eq!(world.placement(), [[0], [2]]);
}

#[test]
fn a_node_without_a_working_link_is_not_a_neighbour() {
    let mut world = Plan::line(&[1, 1]).policy("operation(replicate, _, M) :- node(_, _, [M | _]).\n", 0).build();
    let agent = world.deploy(&[0])[0];
    let change = |neighbours| ContextChange::Neighbours { node: NodeIndex(0), neighbours };
    world.population.r2(change(&[]));
    assert_eq!(world.evaluate(agent), None);
    world.propose(agent, Replicate, node(1));
    world.cycle(&[]);
    let rule = Rule::Neighbourhood { target: crate::population::world::node_id(1) };
    assert_eq!(world.verdict(), inhibited(0, rule));
    world.population.r2(change(&[NodeIndex(1)]));
    assert!(world.evaluate(agent).is_some());
    world.cycle(&[]);
    assert_eq!(world.verdict(), Verdict::Accepted);
}
