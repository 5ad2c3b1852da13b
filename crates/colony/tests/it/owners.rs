//! The owner of a node evicts and shrinks instances there.

use mario_colony::{Command, Descriptor, Input, TraceEvent};
use mario_domain::{Capacity, Flavour, FlavourId, FlavourIndex, Hardware, InstanceId, Quantity};

use crate::pair::{Ask, Pair, descriptor, policy};

/// A policy that evicts every instance.
const EVICT_ALL: &str = "evict(I, nobody) :- serviceInstance(I, _, _).";

/// Two nodes. `text` is the policy of the first node's owner. Evicted instances get a notice of two evaluations.
fn owned(text: &str) -> Pair {
    Pair::with(|side, config| {
        if side == 0 {
            config.acceptance = Some(Pair::acceptance(text));
        }
        config.timing.notice = 2;
    })
}

fn announced(pair: &Pair) -> Vec<(InstanceId, u32, String)> {
    let announced = pair.sides[0].reports.iter().filter_map(|report| match report {
        TraceEvent::Announced { instance, evaluations, reason } => {
            Some((instance.clone(), *evaluations, reason.clone()))
        }
        _ => None,
    });
    announced.collect()
}

fn evicted(pair: &Pair) -> Vec<(InstanceId, String, bool)> {
    let gone = pair.sides[0].reports.iter().filter_map(|report| match report {
        TraceEvent::Evicted { instance, reason, is_pinned } => Some((instance.clone(), reason.clone(), *is_pinned)),
        _ => None,
    });
    gone.collect()
}

/// Activates the first node's manager: it evicts instances whose notice has ended, then evaluates the owner's policy.
fn activate(pair: &mut Pair) {
    pair.input(0, Input::Evict);
    pair.input(0, Input::Initiative);
}

#[test]
fn an_eviction_is_announced_once_and_enacted_after_the_last_evaluation() {
    let mut pair = owned(EVICT_ALL);
    let instance = pair.deploy(0, &descriptor());
    activate(&mut pair);
    activate(&mut pair);
    assert_eq!(announced(&pair), [(instance.clone(), 2, "nobody".to_owned())]);
    for left in [1, 0] {
        assert!(pair.sides[0].owns(&instance), "{left} evaluations are left");
        pair.ask(0, &instance, Ask::MigrateFarAway);
        activate(&mut pair);
    }
    assert!(!pair.sides[0].owns(&instance));
    assert_eq!(evicted(&pair), [(instance, "nobody".to_owned(), false)]);
    assert!(pair.is_quiet());
}

#[test]
fn an_agent_under_notice_can_move_and_is_not_evicted_elsewhere() {
    let text = "operation(migrate, I, M) :- leave(I, 1), node(_, _, [M|_]).";
    let mut pair = owned(EVICT_ALL);
    let instance = pair.deploy(0, &Descriptor { policy: policy(text), ..descriptor() });
    activate(&mut pair);
    pair.ask(0, &instance, Ask::Migrate);
    assert!(pair.sides[0].owns(&instance), "it has two evaluations left, and waits");
    activate(&mut pair);
    pair.ask(0, &instance, Ask::Migrate);
    activate(&mut pair);
    assert!(pair.sides[1].owns(&instance), "it moved with the last");
    assert!(evicted(&pair).is_empty());
    for _ in 0..4 {
        pair.ask(1, &instance, Ask::MigrateFarAway);
        pair.input(1, Input::Evict);
        pair.input(1, Input::Initiative);
    }
    assert!(pair.sides[1].owns(&instance), "the other node has no such owner");
}

#[test]
fn an_eviction_overrides_a_pin_and_is_reported() {
    let mut pair = owned(EVICT_ALL);
    let instance = pair.deploy(0, &descriptor());
    pair.command(0, Command::Pin(instance.clone()));
    activate(&mut pair);
    for _ in 0..2 {
        pair.ask(0, &instance, Ask::Migrate);
        activate(&mut pair);
    }
    assert_eq!(evicted(&pair), [(instance.clone(), "nobody".to_owned(), true)]);
    assert!(!pair.sides[0].owns(&instance) && !pair.sides[1].owns(&instance));
}

#[test]
fn a_node_that_restarts_asks_its_owner_again() {
    let mut pair = owned(EVICT_ALL);
    let instance = pair.deploy(0, &descriptor());
    activate(&mut pair);
    pair.ask(0, &instance, Ask::MigrateFarAway);
    pair.crash(0);
    activate(&mut pair);
    pair.ask(0, &instance, Ask::MigrateFarAway);
    activate(&mut pair);
    assert!(pair.sides[0].owns(&instance), "the notice began anew");
    assert_eq!(announced(&pair).len(), 2);
}

fn flavoured() -> Descriptor {
    let mut described = descriptor();
    let own = &described.application;
    let flavour = |name: &str, units| Flavour {
        id: FlavourId::name(name).expect("a name"),
        hardware: Hardware::units(units),
        max_rate: own.max_rate,
        max_latency: own.max_latency,
        quality: Quantity::whole(1),
    };
    let units = own.hardware.as_units();
    described.application.flavours =
        vec![flavour("full", units), flavour("lite", units / 2), flavour("large", units + 1)];
    described
}

#[test]
fn a_shrink_is_enacted_at_once_and_frees_hardware_when_the_copy_has_shrunk() {
    let mut pair = owned("shrink(I, lite, tight) :- serviceInstance(I, _, _).");
    let instance = pair.deploy(0, &flavoured());
    let before = pair.sides[0].node.manager().free();
    activate(&mut pair);
    activate(&mut pair);
    let shrunk: Vec<_> =
        pair.sides[0].reports.iter().filter(|report| matches!(report, TraceEvent::Shrunk { .. })).collect();
    let expected = TraceEvent::Shrunk { instance, flavour: FlavourIndex(1), reason: "tight".to_owned() };
    assert_eq!(shrunk, [&expected], "once: it runs so from then on");
    let units = Hardware::units(flavoured().application.hardware.as_units() / 2);
    assert_eq!(Some(pair.sides[0].node.manager().free()), before.give_back(units));
}

#[test]
fn an_owner_whose_policy_has_no_valid_answer_does_nothing() {
    for text in [
        "shrink(I, large, more) :- serviceInstance(I, _, _). evict(I, all) :- serviceInstance(I, _, _).",
        "evict(7, x).",
    ] {
        let mut pair = owned(text);
        let instance = pair.deploy(0, &flavoured());
        activate(&mut pair);
        let failed =
            pair.sides[0].reports.iter().filter(|report| matches!(report, TraceEvent::InitiativeFailed { .. }));
        assert_eq!(failed.count(), 1, "{text}");
        assert!(announced(&pair).is_empty() && pair.sides[0].owns(&instance), "{text}");
    }
    let mut pair = Pair::new();
    let instance = pair.deploy(0, &descriptor());
    activate(&mut pair);
    assert!(pair.sides[0].owns(&instance) && pair.sides[0].node.manager().capacity() == Capacity::units(10));
}
