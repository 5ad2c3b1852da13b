//! Requests that managers accept or inhibit, and the inhibitions that agents remember.

use std::sync::Arc;
use std::time::{Duration, Instant};

use mario_colony::{Command, Descriptor, Input, TraceEvent};
use mario_domain::{Capacity, Hardware, InstanceId, NodeId, Rule};

use crate::pair::{Ask, Pair, descriptor, policy};

const ONE_EACH: &str = "reject(request(_, _, App, _, To), one_each) :- node(To, _), serviceInstance(_, App, To).";

#[test]
fn inhibited_by_capacity_on_target_and_source() {
    let mut pair = Pair::with(|side, config| config.capacity = Capacity::units([3, 1][side]));
    let instance = pair.deploy(0, &descriptor());
    let rule = |free| Some(Rule::Capacity { needed: Hardware::units(2), free: Capacity::units(free) });
    pair.ask(0, &instance, Ask::Migrate);
    assert_eq!(pair.sides[0].last_rule(), rule(1));
    pair.ask(0, &instance, Ask::ReplicateHere);
    assert_eq!(pair.sides[0].last_rule(), rule(1));
    assert_eq!(pair.sides[0].remembers(&instance), 2);
    assert!(pair.is_quiet());
}

#[test]
fn inhibited_if_the_target_is_not_a_neighbour() {
    let mut pair = Pair::new();
    let instance = pair.deploy(0, &descriptor());
    pair.ask(0, &instance, Ask::MigrateFarAway);
    let target = NodeId::name("far_away").expect("a name");
    assert_eq!(pair.sides[0].last_rule(), Some(Rule::Neighbourhood { target }));
}

#[test]
fn an_inhibition_is_remembered_for_as_many_evaluations_as_the_policy_says() {
    let mut pair = Pair::new();
    let instance = pair.deploy(0, &descriptor());
    pair.ask(0, &instance, Ask::MigrateFarAway);
    let mut remembered = Vec::new();
    for _ in 0..5 {
        remembered.push(pair.sides[0].remembers(&instance));
        pair.input(0, Input::Observed(silence(&instance)));
        pair.input(0, Input::Evaluate(instance.clone()));
    }
    assert_eq!(remembered, [1, 1, 1, 0, 0], "evaluations 2, 3 and 4 see the inhibition of evaluation 1");
}

fn silence(instance: &InstanceId) -> mario_colony::Observation {
    mario_colony::Observation { instance: instance.clone(), requests: Vec::new(), random: None }
}

#[test]
fn inhibitions_are_still_remembered_after_a_migration() {
    let text = "
        operation(migrate, I, far_away) :- \\+ inhibited(migrate, I, far_away).
        operation(migrate, I, M) :- \\+ inhibited(migrate, I, M), node(_, _, [M|_]).";
    let mut pair = Pair::new();
    let instance = pair.deploy(0, &Descriptor { policy: policy(text), ..descriptor() });
    pair.ask(0, &instance, Ask::Migrate);
    assert!(pair.sides[0].owns(&instance));
    pair.ask(0, &instance, Ask::Migrate);
    pair.ask(1, &instance, Ask::Migrate);
    assert!(pair.sides[0].owns(&instance), "it did not ask for the far node again");
}

#[test]
fn an_acceptance_policy_inhibits_with_its_reason() {
    let mut pair = Pair::with(|side, config| {
        if side == 1 {
            config.acceptance = Some(Pair::acceptance("reject(request(_, _, video, _, _), no_videos)."));
        }
    });
    let instance = pair.deploy(0, &descriptor());
    pair.ask(0, &instance, Ask::Migrate);
    assert_eq!(pair.sides[0].last_rule(), Some(Rule::Acceptance { reason: "no_videos".to_owned() }));
    assert!(pair.sides[0].owns(&instance) && pair.sides[0].remembers(&instance) == 1);
}

#[test]
fn a_policy_of_one_each_accepts_one_of_three_migrations_in_a_cycle() {
    let mut pair = Pair::with(|side, config| {
        if side == 1 {
            config.acceptance = Some(Pair::acceptance(ONE_EACH));
        }
    });
    let instances = [(); 3].map(|()| pair.deploy(0, &descriptor()));
    for instance in &instances {
        pair.propose(0, instance, Ask::Migrate);
    }
    pair.deliver();
    assert_eq!(pair.sides[1].node.instances().count(), 1);
    let one_each = Rule::Acceptance { reason: "one_each".to_owned() };
    let inhibited = pair.sides[0].reports.iter().filter(|report| match report {
        TraceEvent::Judged { verdict: mario_domain::Verdict::Inhibited(inhibition), .. } => inhibition.rule == one_each,
        _ => false,
    });
    assert_eq!(inhibited.count(), 2);
    let left = pair.sides[0].node.instances().next().expect("two are left").clone();
    pair.ask(0, &left, Ask::Replicate);
    assert_eq!(pair.sides[0].last_rule(), Some(one_each), "a replica is one more");
    assert!(pair.is_quiet());
}

#[test]
fn a_policy_of_one_each_counts_an_exclusive_instance_that_may_come_back() {
    let mut pair = Pair::with(|_, config| config.acceptance = Some(Pair::acceptance(ONE_EACH)));
    let instance = pair.deploy(0, &crate::pair::exclusive());
    pair.withholds = |message| matches!(message, mario_colony::Message::Transfer { .. });
    pair.ask(0, &instance, Ask::Migrate);
    let key = mario_colony::DeployKey(99);
    pair.command(0, Command::Deploy { key, descriptor: Arc::new(crate::pair::exclusive()), is_anchor: false });
    assert_eq!(pair.sides[0].last_rule(), Some(Rule::Acceptance { reason: "one_each".to_owned() }));
}

#[test]
fn an_acceptance_policy_that_raises_an_error_inhibits_and_is_reported() {
    let mut pair = Pair::with(|side, config| {
        if side == 1 {
            config.acceptance = Some(Pair::acceptance("reject(request(_, _, App, _, _), R) :- R is App + 1."));
        }
    });
    let instance = pair.deploy(0, &descriptor());
    pair.ask(0, &instance, Ask::Migrate);
    assert!(matches!(pair.sides[0].last_rule(), Some(Rule::AcceptanceFailed { .. })));
    assert!(pair.sides[1].reports.iter().any(|report| matches!(report, TraceEvent::AcceptanceFailed { .. })));
    assert!(pair.sides[0].owns(&instance) && pair.is_quiet());
}

#[test]
fn a_descriptor_with_a_broken_policy_is_inhibited() {
    let mut pair = Pair::new();
    let broken = Descriptor { policy: policy("operation(migrate, I, M :- "), ..descriptor() };
    let key = mario_colony::DeployKey(1);
    pair.command(0, Command::Deploy { key, descriptor: Arc::new(broken), is_anchor: false });
    assert!(matches!(pair.sides[0].last_rule(), Some(Rule::Descriptor { .. })));
    assert_eq!(pair.sides[0].node.instances().count(), 0);
}

#[test]
fn a_policy_whose_loading_does_not_end_costs_no_more_than_a_decision() {
    let mut pair = Pair::with(|_, config| config.budget.inferences = 10_000);
    let text = "operation(undeploy, _, self).\n:- repeat, fail.\n";
    let endless = Descriptor { policy: policy(text), ..descriptor() };
    let key = mario_colony::DeployKey(1);
    let started = Instant::now();
    pair.command(0, Command::Deploy { key, descriptor: Arc::new(endless), is_anchor: false });
    let rule = pair.sides[0].last_rule();
    let is_interrupted = matches!(&rule, Some(Rule::Descriptor { cause }) if cause.contains("loading was interrupted"));
    assert!(is_interrupted, "{rule:?}");
    assert!(started.elapsed() < Duration::from_secs(1), "it took {:?}", started.elapsed());
}

#[test]
fn a_pinned_instance_neither_ends_nor_moves_until_it_is_unpinned() {
    let mut pair = Pair::new();
    let instance = pair.deploy(0, &descriptor());
    pair.command(0, Command::Pin(instance.clone()));
    for ask in [Ask::Undeploy, Ask::Migrate] {
        pair.ask(0, &instance, ask);
        assert_eq!(pair.sides[0].last_rule(), Some(Rule::Pinned));
    }
    pair.crash(0);
    pair.ask(0, &instance, Ask::Migrate);
    assert_eq!(pair.sides[0].last_rule(), Some(Rule::Pinned), "a pin is journalled");
    pair.ask(0, &instance, Ask::Replicate);
    assert_eq!(pair.sides[0].last_rule(), None, "it may multiply");
    pair.command(0, Command::Unpin(instance.clone()));
    pair.ask(0, &instance, Ask::Migrate);
    assert!(pair.sides[1].owns(&instance));
}

#[test]
fn a_node_that_leaves_inhibits_arrivals() {
    let mut pair = Pair::new();
    let instance = pair.deploy(0, &descriptor());
    pair.input(1, Input::Availability(mario_colony::Availability::Leaving));
    pair.ask(0, &instance, Ask::Migrate);
    assert_eq!(pair.sides[0].last_rule(), Some(Rule::Leaving));
}
