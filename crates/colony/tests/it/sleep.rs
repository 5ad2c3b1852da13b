//! Instances that fall asleep, and client requests that wake them.

use mario_colony::{Copies, Descriptor, Input, Message, TraceEvent};
use mario_domain::{Capacity, Hardware, InstanceId, Quantity, Rule, Sleep, Verdict};

use crate::pair::{Ask, Pair, SideIndex, descriptor, policy};

/// A policy that migrates, replicates, undeploys and sleeps on command. It never wakes: for a sleeping instance, the
/// first solution of command 5 is still a sleep.
const SLEEPY: &str = "
operation(migrate, I, M) :- fact(I, random, 1), node(_, _, [M|_]).
operation(replicate, I, M) :- fact(I, random, 2), node(_, _, [M|_]).
operation(replicate, I, self) :- fact(I, random, 3).
operation(undeploy, I, self) :- fact(I, random, 4).
operation(sleep, I, self) :- fact(I, random, 5).
operation(wake, I, self) :- fact(I, random, 5), asleep(I).
";

/// An application that needs 4 units awake and 1 asleep.
fn sleepy() -> Descriptor {
    let mut described = Descriptor { policy: policy(SLEEPY), ..descriptor() };
    described.application.hardware = Hardware::units(4);
    described.application.sleep = Some(Sleep { keeps: Hardware::units(1), start: Quantity::whole(20) });
    described
}

/// The command to sleep: [`SLEEPY`] reads command 5 as sleep.
const SLEEP: Ask = Ask::MigrateFarAway;

fn free(pair: &Pair, side: SideIndex) -> Capacity {
    pair.sides[side].node.manager().free()
}

fn woken(pair: &Pair, side: SideIndex) -> Vec<(InstanceId, Verdict)> {
    let reports = pair.sides[side].reports.iter().filter_map(|report| match report {
        TraceEvent::Woken { instance, verdict } => Some((instance.clone(), verdict.clone())),
        _ => None,
    });
    reports.collect()
}

/// The rule that inhibited the first node's last judged request; `None` if it was accepted or none was judged.
fn inhibition(pair: &Pair) -> Option<Rule> {
    let judged = pair.sides[0].reports.iter().rev().find_map(|report| match report {
        TraceEvent::Judged { verdict, .. } => Some(verdict.clone()),
        _ => None,
    });
    match judged {
        Some(Verdict::Inhibited(inhibition)) => Some(inhibition.rule),
        _ => None,
    }
}

#[test]
fn a_sleeping_instance_frees_hardware_once_stopped_and_takes_it_back_on_a_request() {
    let mut pair = Pair::new();
    let instance = pair.deploy(0, &sleepy());
    pair.sides[0].is_prompt = false;
    pair.ask(0, &instance, SLEEP);
    assert!(pair.sides[0].node.is_asleep(&instance));
    assert_eq!(free(&pair, 0), Capacity::units(6), "its copy still finishes its requests");
    pair.stop_copies(0);
    assert_eq!(free(&pair, 0), Capacity::units(9));
    assert!(pair.sides[0].running.is_empty());
    pair.input(0, Input::Requested(instance.clone()));
    assert_eq!(woken(&pair, 0), [(instance.clone(), Verdict::Accepted)]);
    assert_eq!(free(&pair, 0), Capacity::units(6));
    pair.start_copies(0);
    assert_eq!(pair.sides[0].running.len(), 1);
    pair.input(0, Input::Requested(instance));
    assert_eq!(woken(&pair, 0).len(), 1, "one that is awake is not asked about");
}

#[test]
fn waking_while_the_copy_stops_needs_no_more_hardware() {
    let mut pair = Pair::new();
    let instance = pair.deploy(0, &sleepy());
    pair.sides[0].is_prompt = false;
    pair.ask(0, &instance, SLEEP);
    pair.input(0, Input::Requested(instance.clone()));
    assert_eq!(free(&pair, 0), Capacity::units(6), "what the copy uses is what the instance needs");
    assert_eq!(pair.sides[0].starting.len(), 1, "the shell starts it once it has stopped");
    pair.stop_copies(0);
    assert!(!pair.sides[0].node.is_asleep(&instance));
    assert_eq!(free(&pair, 0), Capacity::units(6));
}

#[test]
fn a_manager_without_room_is_asked_once_between_two_evaluations() {
    let mut pair = Pair::new();
    let instance = pair.deploy(0, &sleepy());
    pair.ask(0, &instance, SLEEP);
    let others = [pair.deploy(0, &sleepy()), pair.deploy(0, &sleepy())];
    assert_eq!(free(&pair, 0), Capacity::units(1));
    for _ in 0..3 {
        pair.input(0, Input::Requested(instance.clone()));
    }
    let asked = woken(&pair, 0);
    assert_eq!(asked.len(), 1);
    let refused = pair.sides[0].node.wake_refused(&instance).expect("the reason is kept").clone();
    assert_eq!(refused.rule, Rule::Capacity { needed: Hardware::units(3), free: Capacity::units(1) });
    assert_eq!(asked[0].1, Verdict::Inhibited(refused));
    pair.ask(0, &others[0], Ask::Undeploy);
    pair.input(0, Input::Requested(instance.clone()));
    assert_eq!(woken(&pair, 0).len(), 1, "not before the agent has evaluated");
    pair.ask(0, &instance, SLEEP);
    assert!(matches!(inhibition(&pair), Some(Rule::Asleep)), "it sleeps already");
    pair.input(0, Input::Requested(instance.clone()));
    assert_eq!(woken(&pair, 0)[1], (instance, Verdict::Accepted));
}

#[test]
fn a_sleeping_instance_survives_a_crash_asleep_and_its_copy_is_not_started() {
    for copy_has_stopped in [true, false] {
        let mut pair = Pair::new();
        let instance = pair.deploy(0, &sleepy());
        pair.sides[0].is_prompt = copy_has_stopped;
        pair.ask(0, &instance, SLEEP);
        pair.sides[0].is_prompt = true;
        pair.crash(0);
        pair.input(0, Input::Swept);
        assert!(pair.sides[0].node.is_asleep(&instance));
        assert!(pair.sides[0].running.is_empty(), "its copy is stopped, if it still ran");
        assert_eq!(free(&pair, 0), Capacity::units(9));
        pair.input(0, Input::Requested(instance.clone()));
        pair.crash(0);
        pair.input(0, Input::Swept);
        assert!(!pair.sides[0].node.is_asleep(&instance), "that it woke is written down");
        assert_eq!((free(&pair, 0), pair.sides[0].running.len()), (Capacity::units(6), 1));
    }
}

#[test]
fn a_sleeping_instance_migrates_and_replicates_asleep() {
    for copies in [Copies::MayOverlap, Copies::Exclusive] {
        let mut pair = Pair::new();
        let instance = pair.deploy(0, &Descriptor { copies, ..sleepy() });
        pair.ask(0, &instance, SLEEP);
        pair.ask(0, &instance, Ask::Replicate);
        let replica = pair.sides[1].node.instances().next().expect("a replica").clone();
        pair.ask(0, &instance, Ask::Migrate);
        for instance in [&instance, &replica] {
            assert!(pair.sides[1].node.is_asleep(instance), "{copies:?}");
        }
        assert!(pair.is_quiet());
        assert_eq!((free(&pair, 0), free(&pair, 1)), (Capacity::units(10), Capacity::units(8)));
        assert!(pair.sides.iter().all(|side| side.running.is_empty()), "{copies:?}");
        pair.input(1, Input::Requested(instance.clone()));
        assert_eq!((free(&pair, 1), pair.sides[1].running.len()), (Capacity::units(5), 1));
    }
}

#[test]
fn a_stopping_copy_counts_on_the_node_that_its_sleeping_instance_left() {
    let mut pair = Pair::new();
    let instance = pair.deploy(0, &sleepy());
    pair.sides[0].is_prompt = false;
    pair.ask(0, &instance, SLEEP);
    pair.ask(0, &instance, Ask::Migrate);
    assert!(pair.sides[1].node.is_asleep(&instance));
    assert_eq!(free(&pair, 0), Capacity::units(7), "its copy uses three units beyond what a sleeper keeps");
    pair.stop_copies(0);
    assert_eq!(free(&pair, 0), Capacity::units(10));
}

#[test]
fn a_request_that_wakes_an_instance_aborts_its_migration() {
    let mut pair = Pair::new();
    let instance = pair.deploy(0, &sleepy());
    pair.ask(0, &instance, SLEEP);
    pair.withholds = |message| matches!(message, Message::Ready { .. });
    pair.ask(0, &instance, Ask::Migrate);
    pair.input(0, Input::Requested(instance.clone()));
    assert!(!pair.sides[0].node.is_asleep(&instance));
    pair.release();
    assert!(pair.sides[0].owns(&instance) && !pair.sides[1].owns(&instance));
    assert_eq!(free(&pair, 1), Capacity::units(10), "the place for a sleeper is dropped");
    assert!(pair.is_quiet());
}

#[test]
fn an_application_without_sleep_settings_cannot_sleep() {
    let mut pair = Pair::new();
    let instance = pair.deploy(0, &Descriptor { policy: policy(SLEEPY), ..descriptor() });
    pair.ask(0, &instance, SLEEP);
    assert!(matches!(inhibition(&pair), Some(Rule::Sleepless)));
    assert!(!pair.sides[0].node.is_asleep(&instance));
}
