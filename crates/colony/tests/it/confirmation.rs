//! A node asks its neighbours whether its journal is the latest one.

use mario_colony::{
    Command, Confirmation, Epoch, Evidence, HeldInstance, Hello, Input, JournalId, Message, Outdated, TraceEvent,
    Unconfirmed,
};
use mario_domain::Rule;

use crate::pair::{Ask, Pair, descriptor, exclusive};

#[test]
fn a_node_with_an_old_copy_of_its_journal_stops_its_copies_at_once_and_for_ever() {
    let mut pair = Pair::new();
    let instance = pair.deploy(0, &descriptor());
    let other = pair.deploy(0, &descriptor());
    let backup = pair.sides[0].shadow.clone();
    pair.ask(0, &instance, Ask::Migrate);
    assert!(pair.sides[1].owns(&instance) && pair.copies(&instance) == 1);
    pair.restore(0, backup);
    assert_eq!(pair.sides[0].node.confirmation(), Confirmation::Unconfirmed);
    assert_eq!(pair.copies(&instance), 2, "no neighbour can be asked, so it serves what it seems to own");
    pair.link();
    assert_eq!(pair.sides[0].node.confirmation(), Confirmation::Outdated);
    assert!(pair.sides[0].running.is_empty() && pair.copies(&instance) == 1);
    assert!(matches!(pair.sides[0].reports.last(), Some(TraceEvent::Outdated(_))));
    assert!(pair.sides[1].node.rejects(&pair.sides[0].id) && pair.sides[1].node.is_quiet());
    // Neither commands nor clients nor a restart bring them back.
    let records = pair.sides[0].records.len();
    pair.propose(0, &other, Ask::ReplicateHere);
    pair.input(0, Input::Requested(other.clone()));
    pair.advance(100_000.0);
    assert_eq!(pair.sides[0].records.len(), records);
    pair.crash_unswept(0);
    assert_eq!(pair.sides[0].node.confirmation(), Confirmation::Outdated);
    pair.input(0, Input::Swept);
    pair.link();
    assert!(pair.sides[0].running.is_empty() && pair.sides[1].owns(&instance));
}

#[test]
fn an_exclusive_instance_waits_until_a_neighbour_has_confirmed_the_journal() {
    let mut pair = Pair::new();
    let (waits, runs) = (pair.deploy(0, &exclusive()), pair.deploy(0, &descriptor()));
    pair.crash_unswept(0);
    // What still runs of it is neither adopted nor killed.
    pair.sides[0].running.clear();
    pair.input(0, Input::Swept);
    pair.restore(0, pair.sides[0].shadow.clone());
    assert_eq!((pair.copies(&waits), pair.copies(&runs)), (0, 1));
    let deploy =
        Command::Deploy { key: mario_colony::DeployKey(99), descriptor: descriptor().into(), is_anchor: false };
    pair.command(0, deploy);
    assert_eq!(pair.sides[0].last_rule(), Some(Rule::Unconfirmed), "its ids may exist already");
    pair.advance(100_000.0);
    assert_eq!(pair.copies(&waits), 0);
    pair.link();
    assert_eq!((pair.copies(&waits), pair.copies(&runs)), (1, 1));
    let by = pair.sides[1].id.clone();
    assert!(pair.sides[0].reports.contains(&TraceEvent::Confirmed { by }));
    pair.deploy(0, &descriptor());
}

#[test]
fn a_node_may_be_told_to_serve_all_or_to_need_no_confirmation() {
    for (unconfirmed, expected) in
        [(Unconfirmed::All, Confirmation::Unconfirmed), (Unconfirmed::NotAsked, Confirmation::Confirmed)]
    {
        let mut pair = Pair::with(|_, config| config.unconfirmed = unconfirmed);
        let instance = pair.deploy(0, &exclusive());
        assert_eq!(pair.sides[0].node.confirmation(), Confirmation::Confirmed, "a new journal");
        pair.restore(0, pair.sides[0].shadow.clone());
        assert_eq!((pair.sides[0].node.confirmation(), pair.copies(&instance)), (expected, 1));
        pair.deploy(0, &descriptor());
    }
}

fn hello(pair: &mut Pair, change: impl FnOnce(&mut Hello)) {
    let (journal, open, facts, held) = (JournalId(2), Vec::new(), Vec::new(), Vec::new());
    let mut hello = Hello { journal, sequence: 1_000, concerning: 1_000, open, facts, knows: None, held };
    change(&mut hello);
    let (from, message) = (pair.sides[1].id.clone(), Message::Hello(hello));
    pair.input(0, Input::Received { from, sender: journal, receiver: None, message });
}

#[test]
fn a_later_epoch_elsewhere_shows_that_the_journal_is_an_old_copy() {
    let mut pair = Pair::new();
    let instance = pair.deploy(0, &descriptor());
    let held = |epoch| vec![HeldInstance { instance: instance.clone(), epoch: Epoch(epoch) }];
    // It may have been here before.
    for epoch in [0, 1] {
        hello(&mut pair, |hello| hello.held = held(epoch));
        assert_eq!(pair.sides[0].node.confirmation(), Confirmation::Confirmed);
    }
    hello(&mut pair, |hello| hello.held = held(3));
    let evidence = Evidence::Epoch { instance: instance.clone(), known: Epoch(3), own: Epoch(1) };
    let outdated = Outdated { by: pair.sides[1].id.clone(), evidence };
    assert_eq!(pair.sides[0].node.ledger().outdated(), Some(&outdated));
    assert_eq!(pair.copies(&instance), 0);
    let told = outdated.to_string();
    assert!(told.contains("was on neighbour n1 in epoch 3, and is in epoch 1 here"), "{told}");
}

#[test]
fn what_a_neighbour_knows_of_another_journal_or_has_right_proves_nothing() {
    let mut pair = Pair::new();
    pair.deploy(0, &descriptor());
    let sequence = pair.sides[0].node.ledger().sequence();
    let known = |journal, sequence| Some(mario_colony::PeerRecord { journal, sequence, concerning: 0 });
    hello(&mut pair, |hello| hello.knows = known(JournalId(77), u64::MAX));
    hello(&mut pair, |hello| hello.knows = known(JournalId(1), sequence));
    assert_eq!(pair.sides[0].node.confirmation(), Confirmation::Confirmed);
    hello(&mut pair, |hello| hello.knows = known(JournalId(1), sequence + 5));
    assert!(pair.sides[0].node.ledger().outdated().is_some());
}

#[test]
fn a_replaced_journal_can_still_be_declared_lost_and_is_rejected_when_it_comes_back() {
    let mut pair = Pair::new();
    let instance = pair.deploy(1, &descriptor());
    let backup = pair.sides[1].shadow.clone();
    let old = pair.sides[1].node.journal();
    pair.lose_disk(1, JournalId(9));
    assert!(pair.sides[0].node.ledger().has_met(old), "the repaired node has introduced itself already");
    pair.command(0, Command::Lost(old));
    let former: Vec<(JournalId, bool)> =
        pair.sides[0].node.ledger().former().map(|(_, journal, is_lost)| (journal, is_lost)).collect();
    assert_eq!(former, [(old, true)]);
    assert!(!pair.sides[0].node.rejects(&pair.sides[1].id), "the new journal is welcome");
    pair.restore(1, backup);
    assert_eq!(pair.copies(&instance), 1, "before it can ask");
    pair.link();
    assert_eq!(pair.sides[1].node.confirmation(), Confirmation::Outdated);
    assert_eq!(pair.copies(&instance), 0);
}
