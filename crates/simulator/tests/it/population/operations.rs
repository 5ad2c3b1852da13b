//! Rule r1: the effects and limits of deploys, undeploys, migrations and replications.

use mario_domain::AgentOperation::{Migrate, Replicate, Undeploy};
use mario_domain::{Capacity, Hardware, InstanceId, NodeId, Rule, Verdict};
use mario_scenario::{Arbitration, NodeIndex};
use mario_simulator::population::{Outcome, Target};

use crate::population::world::{Plan, deployment, full, inhibited, node, node_id};

#[test]
fn a_deploy_creates_an_agent_on_its_node() {
    let mut world = Plan::line(&[2, 1]).build();
    let agents = world.deploy(&[0, 1]);
    assert_eq!(world.placement(), [[0], [1]]);
    let ids: Vec<InstanceId> = agents.iter().map(|agent| world.population.instance(*agent)).collect();
    assert_eq!(ids, [InstanceId::number(1), InstanceId::number(2)]);
    assert_eq!([world.free(0), world.free(1)], [Capacity::units(1), Capacity::units(0)]);
}

#[test]
fn an_undeploy_removes_the_agent_and_frees_its_hardware() {
    let mut world = Plan::line(&[1]).build();
    let agent = world.deploy(&[0])[0];
    world.propose(agent, Undeploy, Target::Own);
    world.cycle(&[]);
    assert_eq!(world.verdict(), Verdict::Accepted);
    assert!(!world.population.agent(agent).is_alive());
    assert_eq!((world.placement(), world.free(0)), (vec![vec![]], Capacity::units(1)));
}

#[test]
fn an_undeploy_removes_the_agents_own_instance_and_ignores_its_target() {
    for arbitration in [Arbitration::Managers, Arbitration::Sequential] {
        for target in [node(1), Target::Unknown(Box::new(NodeId::name("nowhere").expect("a name")))] {
            let mut world = Plan { arbitration, ..Plan::line(&[1, 1]) }.build();
            let agents = world.deploy(&[0, 1]);
            world.propose(agents[0], Undeploy, target);
            world.cycle(&[]);
            assert_eq!(world.verdict(), Verdict::Accepted);
            assert_eq!(world.placement(), [vec![], vec![1]]);
        }
    }
}

#[test]
fn a_migration_keeps_the_agent_its_id_its_memory_and_the_number_of_instances() {
    let mut world = Plan::line(&[1, 1, 0]).policy(crate::world::STILL, 10).build();
    let agent = world.deploy(&[0])[0];
    world.propose(agent, Replicate, Target::Own);
    world.cycle(&[]);
    let (before, instance) = (world.population.agent(agent).clone(), world.population.instance(agent));
    assert_eq!(before.remembered().len(), 1);
    world.propose(agent, Migrate, node(1));
    world.cycle(&[]);
    let Outcome::Judged(judged) = &world.outcomes()[0] else { panic!("{:?}", world.label) };
    assert_eq!((judged.from, judged.created), (NodeIndex(0), None));
    let after = world.population.agent(agent);
    assert_eq!((after.node(), after.is_alive()), (NodeIndex(1), true));
    assert_eq!(world.population.instance(agent), instance);
    assert_eq!((after.application(), after.policy()), (before.application(), before.policy()));
    assert_eq!(after.remembered(), before.remembered());
    assert_eq!(after.evaluations(), 2);
    assert_eq!(world.placement(), [vec![], vec![0], vec![]]);
    assert_eq!(world.population.agent_count(), 1);
}

#[test]
fn a_migration_of_the_prototype_creates_a_new_agent_without_memory() {
    let mut world = Plan { arbitration: Arbitration::Sequential, ..Plan::line(&[1, 1]) }.build();
    let agent = world.deploy(&[0])[0];
    world.propose(agent, Migrate, node(1));
    world.cycle(&[]);
    let Outcome::Judged(judged) = &world.outcomes()[0] else { panic!("{:?}", world.label) };
    let successor = judged.created.expect("a new agent");
    assert!(!world.population.agent(agent).is_alive());
    assert_eq!(world.population.agent(successor).evaluations(), 0);
    assert_eq!(world.placement(), [vec![], vec![successor.0]]);
}

#[test]
fn a_replica_has_a_fresh_id_and_no_memory_and_the_original_stays() {
    let mut world = Plan::line(&[1, 3]).policy(crate::world::STILL, 10).build();
    let agent = world.deploy(&[0])[0];
    world.propose(agent, Replicate, Target::Own);
    world.cycle(&[]);
    world.propose(agent, Replicate, node(1));
    world.cycle(&[]);
    let Outcome::Judged(judged) = &world.outcomes()[0] else { panic!("{:?}", world.label) };
    let created = judged.created.expect("a replica");
    let replica = world.population.agent(created);
    let original = world.population.agent(agent);
    assert_ne!(world.population.instance(created), world.population.instance(agent));
    assert_eq!((replica.application(), replica.policy()), (original.application(), original.policy()));
    assert_eq!((replica.node(), replica.evaluations(), replica.remembered().len()), (NodeIndex(1), 0, 0));
    assert_eq!((original.node(), original.remembered().len()), (NodeIndex(0), 1));
    assert_eq!(world.placement(), [[0], [1]]);
}

#[test]
fn an_instance_may_be_replicated_but_not_migrated_to_its_own_node() {
    for target in [Target::Own, node(0)] {
        let mut world = Plan::line(&[2, 2]).build();
        let agent = world.deploy(&[0])[0];
        world.propose(agent, Migrate, target.clone());
        world.cycle(&[]);
        assert_eq!(world.verdict(), inhibited(0, Rule::Neighbourhood { target: node_id(0) }));
        world.propose(agent, Replicate, target);
        world.cycle(&[]);
        assert_eq!(world.verdict(), Verdict::Accepted);
        assert_eq!(world.placement(), [vec![0, 1], vec![]]);
    }
}

#[test]
fn a_target_outside_the_neighbourhood_is_inhibited_for_that_reason() {
    for operation in [Migrate, Replicate] {
        let mut world = Plan::line(&[1, 1, 1]).build();
        let agent = world.deploy(&[0])[0];
        world.propose(agent, operation, node(2));
        world.cycle(&[]);
        assert_eq!(world.verdict(), inhibited(0, Rule::Neighbourhood { target: node_id(2) }));
        let nowhere = NodeId::name("nowhere").expect("a name");
        world.propose(agent, operation, Target::Unknown(Box::new(nowhere.clone())));
        world.cycle(&[]);
        assert_eq!(world.verdict(), inhibited(0, Rule::Neighbourhood { target: nowhere }));
        assert_eq!(world.placement(), [vec![0], vec![], vec![]]);
    }
}

#[test]
fn two_requests_for_the_last_unit_are_never_both_accepted() {
    for operation in [Migrate, Replicate] {
        let mut world = Plan::line(&[1, 1, 1]).build();
        let agents = world.deploy(&[0, 2]);
        for agent in &agents {
            world.propose(*agent, operation, node(1));
        }
        world.cycle(&[]);
        assert_eq!(world.verdicts(), [Some(Verdict::Accepted), Some(full(1))]);
        assert_eq!(world.free(1), Capacity::units(0));
    }
}

#[test]
fn reservations_count_the_hardware_of_each_application() {
    let mut world = Plan { applications: vec![1, 3], ..Plan::line(&[1, 4, 4]) }.build();
    let small = world.deploy(&[0])[0];
    let large =
        mario_simulator::population::Deployment { application: mario_scenario::ApplicationIndex(1), ..deployment(2) };
    world.cycle(&[large]);
    let large = mario_simulator::population::AgentIndex(1);
    for (first, second) in [(small, large), (large, small)] {
        world.propose(first, Replicate, node(1));
        world.propose(second, Replicate, node(1));
    }
    world.cycle(&[]);
    assert_eq!(world.verdicts(), [Some(Verdict::Accepted), Some(Verdict::Accepted)]);
    assert_eq!(world.free(1), Capacity::units(0));
    let mut world = Plan { applications: vec![3], ..Plan::line(&[3, 5, 3]) }.build();
    for agent in world.deploy(&[0, 2]) {
        world.propose(agent, Replicate, node(1));
    }
    world.cycle(&[]);
    let short = Rule::Capacity { needed: Hardware::units(3), free: Capacity::units(2) };
    assert_eq!(world.verdicts(), [Some(Verdict::Accepted), Some(inhibited(1, short))]);
}

#[test]
fn freed_hardware_is_available_from_the_next_cycle_on() {
    for leaving in [Undeploy, Migrate] {
        let mut world = Plan::line(&[1, 1, 1]).build();
        let agents = world.deploy(&[0, 1]);
        let target = if leaving == Undeploy { Target::Own } else { node(2) };
        world.propose(agents[1], leaving, target);
        world.propose(agents[0], Migrate, node(1));
        world.cycle(&[deployment(1)]);
        assert_eq!(world.verdicts(), [Some(full(1)), Some(Verdict::Accepted), Some(full(1))]);
        world.propose(agents[0], Migrate, node(1));
        world.cycle(&[]);
        assert_eq!(world.verdict(), Verdict::Accepted);
    }
}

#[test]
fn two_full_neighbours_cannot_exchange_instances() {
    let mut world = Plan::line(&[1, 1]).build();
    let agents = world.deploy(&[0, 1]);
    world.propose(agents[0], Migrate, node(1));
    world.propose(agents[1], Migrate, node(0));
    world.cycle(&[]);
    assert_eq!(world.verdicts(), [Some(full(1)), Some(full(0))]);
}

#[test]
fn operators_deploys_are_judged_first() {
    let mut world = Plan::line(&[1, 1]).build();
    let agent = world.deploy(&[0])[0];
    world.propose(agent, Replicate, node(1));
    world.cycle(&[deployment(1), deployment(1)]);
    assert!(matches!(world.outcomes()[..], [Outcome::Deployed(_), Outcome::Deployed(_), Outcome::Judged(_)]));
    assert_eq!(world.verdicts(), [Some(Verdict::Accepted), Some(full(1)), Some(full(1))]);
}

#[test]
fn agents_are_judged_once_in_the_order_of_their_evaluations() {
    let mut world = Plan::line(&[3, 1]).build();
    let agents = world.deploy(&[0, 0, 0]);
    for agent in [agents[2], agents[0], agents[1], agents[2]] {
        world.propose(agent, Replicate, node(1));
    }
    world.cycle(&[]);
    let order: Vec<u32> = world
        .label
        .iter()
        .map(|outcome| match outcome {
            Outcome::Judged(judged) => judged.agent.0,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(order, [2, 0, 1]);
    assert_eq!(world.verdicts(), [Some(Verdict::Accepted), Some(full(1)), Some(full(1))]);
    world.cycle(&[]);
    assert!(world.label.is_empty(), "what was judged is not judged again");
}

#[test]
fn an_agent_that_proposes_nothing_does_nothing() {
    let mut world = Plan::line(&[1, 1]).build();
    let agent = world.deploy(&[0])[0];
    assert_eq!(world.evaluate(agent), None);
    world.cycle(&[]);
    assert_eq!(world.outcomes()[..], [Outcome::Nop(agent)]);
    assert_eq!(world.placement(), [vec![0], vec![]]);
}

#[test]
fn an_inhibited_request_changes_only_the_memory_of_its_agent() {
    let mut world = Plan::line(&[1, 2, 1]).policy(crate::world::STILL, 1).build();
    let agents = world.deploy(&[0, 1, 1, 2]);
    let state = |world: &crate::population::world::World| {
        let managers = (0..3).map(|node| format!("{:?}", world.population.node(NodeIndex(node)))).collect::<Vec<_>>();
        let others =
            agents[1..].iter().map(|agent| format!("{:?}", world.population.agent(*agent))).collect::<Vec<_>>();
        (managers, others, world.population.numbers, world.population.agent_count())
    };
    let before = state(&world);
    world.propose(agents[0], Migrate, node(1));
    world.cycle(&[deployment(1)]);
    assert_eq!(world.verdicts(), [Some(full(1)), Some(full(1))]);
    assert_eq!(state(&world), before);
    assert_eq!(world.remembered(agents[0]), [(1, Migrate, node(1))]);
}

#[test]
fn an_unbounded_node_accepts_every_instance() {
    let plan = Plan { capacities: vec![Capacity::Unbounded], applications: vec![u64::MAX], ..Plan::line(&[1]) };
    let mut world = plan.build();
    world.deploy(&[0, 0, 0]);
    assert_eq!((world.free(0), world.placement()), (Capacity::Unbounded, vec![vec![0, 1, 2]]));
}
