//! Unexpected messages: late, forged, or from a neighbour whose journal was replaced or restored.

use std::sync::Arc;

use mario_colony::{
    AgentSnapshot, Epoch, Hello, Input, JournalId, JournalRecord, Message, Prepare, Token, TransferId, TransferKind,
};
use mario_domain::{FlavourIndex, InstanceId, Rule, Wakefulness};

use crate::pair::{Ask, Letter, Pair, descriptor};

fn prepare(instance: &InstanceId, transfer: TransferId) -> Message {
    Message::Prepare(Arc::new(Prepare {
        transfer,
        kind: TransferKind::Migrate,
        instance: instance.clone(),
        asked_by: instance.clone(),
        epoch: Epoch(77),
        descriptor: Arc::new(descriptor()),
        flavour: FlavourIndex::DEFAULT,
        wakefulness: Wakefulness::Awake,
        replications_left: None,
        snapshot_bytes: 0,
    }))
}

const FORGED: TransferId = TransferId { journal: JournalId(2), boot: 9, counter: 9 };

/// Delivers a message from the second node to the first.
fn says(pair: &mut Pair, message: Message) {
    let letter = Letter { to: 0, sender: JournalId(2), receiver: Some(JournalId(1)), message };
    pair.hand(letter);
}

#[test]
fn an_offer_of_an_instance_that_the_target_owns_changes_nothing() {
    let mut pair = Pair::new();
    let instance = pair.deploy(0, &descriptor());
    let (records, free) = (pair.sides[0].records.len(), pair.sides[0].free());
    says(&mut pair, prepare(&instance, FORGED));
    let answer = pair.sides[0].sent.last();
    let is_inhibited =
        matches!(answer, Some(Message::Inhibit { inhibition, .. }) if inhibition.rule == Rule::Unanswered);
    assert!(is_inhibited, "{answer:?}");
    let snapshot = Arc::new(AgentSnapshot::default());
    says(&mut pair, Message::Transfer { transfer: FORGED, token: Token(1), snapshot, is_anchor: false, concerning: 0 });
    assert_eq!(pair.sides[0].sent.last(), Some(&Message::NotTaken { transfer: FORGED }));
    assert_eq!((pair.sides[0].records.len(), pair.sides[0].free()), (records, free));
    assert!(pair.sides[0].owns(&instance) && pair.copies(&instance) == 1);
}

#[test]
fn a_reservation_is_void_once_the_instance_arrived_by_another_transfer() {
    let mut pair = Pair::new();
    let instance = pair.deploy(1, &descriptor());
    says(&mut pair, prepare(&instance, FORGED));
    let token = pair.sides[0].sent.iter().rev().find_map(|message| match message {
        Message::Ready { token, .. } => Some(*token),
        _ => None,
    });
    pair.withholds = |message| matches!(message, Message::Abort { transfer } if *transfer == FORGED);
    pair.ask(1, &instance, Ask::Migrate);
    assert!(pair.sides[0].owns(&instance));
    let snapshot = Arc::new(AgentSnapshot::default());
    says(
        &mut pair,
        Message::Transfer {
            transfer: FORGED,
            token: token.expect("a place"),
            snapshot,
            is_anchor: false,
            concerning: 0,
        },
    );
    assert_eq!(pair.sides[0].sent.last(), Some(&Message::NotTaken { transfer: FORGED }));
    assert_eq!((pair.sides[0].free(), pair.copies(&instance)), (8, 1));
}

#[test]
fn a_transfer_with_another_token_is_not_taken() {
    let mut pair = Pair::new();
    let instance = pair.deploy(1, &descriptor());
    says(&mut pair, prepare(&instance, FORGED));
    let snapshot = Arc::new(AgentSnapshot::default());
    says(&mut pair, Message::Transfer { transfer: FORGED, token: Token(1), snapshot, is_anchor: false, concerning: 0 });
    assert_eq!(pair.sides[0].sent.last(), Some(&Message::NotTaken { transfer: FORGED }));
    assert!(!pair.sides[0].owns(&instance) && pair.sides[0].free() == 10);
}

#[test]
fn an_answer_of_another_journal_than_the_target_changes_nothing() {
    let mut pair = Pair::new();
    let instance = pair.deploy(0, &descriptor());
    pair.withholds = |message| matches!(message, Message::Transfer { .. });
    pair.ask(0, &instance, Ask::Migrate);
    let transfer = pair.withheld[0].message.transfer().expect("a transfer");
    let records = pair.sides[0].records.len();
    for message in [Message::Taken { transfer, concerning: 0 }, Message::NotTaken { transfer }] {
        pair.hand(Letter { to: 0, sender: JournalId(3), receiver: Some(JournalId(1)), message });
    }
    assert_eq!(pair.sides[0].records.len(), records);
    pair.release();
    assert!(pair.sides[1].owns(&instance));
}

#[test]
fn messages_to_an_old_journal_are_dropped() {
    let mut pair = Pair::new();
    let instance = pair.deploy(0, &descriptor());
    pair.withholds = |message| matches!(message, Message::Transfer { .. });
    pair.ask(0, &instance, Ask::Migrate);
    pair.lose_disk(1, JournalId(3));
    let sent = pair.sides[1].sent.len();
    pair.release();
    pair.advance(100_000.0);
    assert_eq!(pair.sides[1].sent.len(), sent, "not even an answer");
    assert!(!pair.sides[0].node.is_quiet() && pair.copies(&instance) == 1, "it stays in custody");
}

#[test]
fn a_peer_whose_journal_went_back_in_time_is_rejected_until_it_is_replaced() {
    let mut pair = Pair::new();
    let instance = pair.deploy(1, &descriptor());
    pair.link();
    let hello = |journal, sequence| hello(journal, sequence, u64::MAX);
    says(&mut pair, hello(JournalId(2), 1));
    let refused = mario_colony::TraceEvent::RefusedPeer(pair.sides[1].id.clone());
    assert_eq!(pair.sides[0].reports.last(), Some(&refused));
    pair.ask(1, &instance, Ask::Migrate);
    assert!(pair.sides[1].owns(&instance) && pair.sides[0].free() == 10, "nothing that it says is believed");
    let from = pair.sides[1].id.clone();
    let (sender, message) = (JournalId(5), hello(JournalId(5), 1));
    pair.input(0, Input::Received { from, sender, receiver: None, message });
    let known = pair.sides[0].records.last();
    assert!(matches!(known, Some(JournalRecord::Peer { journal: JournalId(5), .. })), "a new disk is a new node");
}

fn hello(journal: JournalId, sequence: u64, concerning: u64) -> Message {
    let (open, facts, held) = (Vec::new(), Vec::new(), Vec::new());
    Message::Hello(Hello { journal, sequence, concerning, open, facts, knows: None, held })
}

#[test]
fn a_disk_restored_from_before_a_transfer_is_detected() {
    let mut pair = Pair::new();
    let instance = pair.deploy(0, &descriptor());
    pair.link();
    pair.ask(0, &instance, Ask::Migrate);
    assert!(pair.sides[1].owns(&instance) && pair.sides[0].node.is_quiet());
    let owned = pair.sides[1]
        .records
        .iter()
        .position(|record| matches!(record, JournalRecord::Own { .. }))
        .expect("it took it");
    let concerning = owned as u64 + 1;
    let refused = mario_colony::TraceEvent::RefusedPeer(pair.sides[1].id.clone());
    // A journal that has the record of the take is trusted. One without it is not, even if it has more records.
    says(&mut pair, hello(JournalId(2), 1_000, concerning));
    assert!(!pair.sides[0].reports.contains(&refused));
    says(&mut pair, hello(JournalId(2), 2_000, concerning - 1));
    assert_eq!(pair.sides[0].reports.last(), Some(&refused));
}

#[test]
fn a_stale_ready_is_answered_by_abort() {
    let mut pair = Pair::new();
    let instance = pair.deploy(0, &descriptor());
    pair.withholds = |message| matches!(message, Message::Ready { .. });
    pair.ask(0, &instance, Ask::Migrate);
    pair.sides[0].sent.clear();
    pair.withholds = |message| matches!(message, Message::Hello(_));
    let ready = pair.withheld.clone();
    pair.crash(0);
    assert_eq!(pair.sides[1].free(), 8, "the place is kept");
    pair.hand(ready[0].clone());
    assert!(matches!(pair.sides[0].sent.last(), Some(Message::Abort { .. })));
    pair.deliver();
    assert_eq!(pair.sides[1].free(), 10);
}
