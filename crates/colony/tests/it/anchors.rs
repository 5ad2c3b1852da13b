//! Anchors: instances that operators deployed, which do not undeploy themselves.

use mario_colony::{Command, JournalRecord, Ledger, Message};
use mario_domain::Rule;

use crate::pair::{Ask, Pair, descriptor, exclusive};

fn is_anchor(pair: &Pair, side: usize, instance: &mario_domain::InstanceId) -> Option<bool> {
    pair.sides[side].node.ledger().owned().find(|owned| owned.instance == *instance).map(|owned| owned.is_anchor)
}

#[test]
fn an_anchor_does_not_undeploy_itself_until_an_operator_allows_it() {
    let mut pair = Pair::new();
    let instance = pair.deploy_anchor(0, &descriptor());
    pair.ask(0, &instance, Ask::Undeploy);
    assert_eq!(pair.sides[0].last_rule(), Some(Rule::Anchor));
    pair.crash(0);
    pair.ask(0, &instance, Ask::Undeploy);
    assert_eq!(pair.sides[0].last_rule(), Some(Rule::Anchor), "it is journalled");
    pair.command(0, Command::Anchor { instance: instance.clone(), is_anchor: false });
    pair.crash(0);
    pair.ask(0, &instance, Ask::Undeploy);
    assert!(!pair.sides[0].owns(&instance), "the end of it is journalled, too");
}

#[test]
fn an_operator_makes_any_instance_an_anchor_and_can_still_undeploy_it() {
    let mut pair = Pair::new();
    let instance = pair.deploy(0, &descriptor());
    pair.command(0, Command::Anchor { instance: instance.clone(), is_anchor: true });
    pair.ask(0, &instance, Ask::Undeploy);
    assert_eq!(pair.sides[0].last_rule(), Some(Rule::Anchor));
    pair.command(0, Command::Undeploy(instance.clone()));
    assert!(!pair.sides[0].owns(&instance) && pair.is_quiet());
}

#[test]
fn an_anchor_takes_the_property_along_and_its_replicas_have_none() {
    for described in [descriptor(), exclusive()] {
        let mut pair = Pair::new();
        let instance = pair.deploy_anchor(0, &described);
        pair.ask(0, &instance, Ask::Migrate);
        assert_eq!(is_anchor(&pair, 1, &instance), Some(true));
        pair.ask(1, &instance, Ask::Undeploy);
        assert_eq!(pair.sides[1].last_rule(), Some(Rule::Anchor));
        for ask in [Ask::Replicate, Ask::ReplicateHere] {
            pair.ask(1, &instance, ask);
        }
        let all = pair.sides.iter().flat_map(|side| side.node.ledger().owned());
        let anchors: Vec<bool> = all.filter(|owned| owned.instance != instance).map(|owned| owned.is_anchor).collect();
        assert_eq!(anchors, [false, false]);
    }
}

#[test]
fn an_anchor_stays_one_in_custody_through_crashes_and_under_the_fresh_id_after_a_declared_loss() {
    let mut pair = Pair::new();
    let instance = pair.deploy_anchor(0, &descriptor());
    pair.withholds = |message| matches!(message, Message::Transfer { .. });
    pair.ask(0, &instance, Ask::Migrate);
    pair.crash(0);
    pair.command(0, Command::Lost(pair.sides[1].node.journal()));
    let adopted: Vec<bool> = pair.sides[0].node.ledger().owned().map(|owned| owned.is_anchor).collect();
    assert_eq!(adopted, [true]);
}

#[test]
fn the_state_of_an_anchor_while_it_is_prepared_is_the_one_that_it_takes_along() {
    let mut pair = Pair::new();
    let instance = pair.deploy_anchor(0, &descriptor());
    pair.withholds = |message| matches!(message, Message::Ready { .. });
    pair.ask(0, &instance, Ask::Migrate);
    pair.command(0, Command::Anchor { instance: instance.clone(), is_anchor: false });
    pair.release();
    assert_eq!(is_anchor(&pair, 1, &instance), Some(false));
}

#[test]
fn a_record_of_an_instance_that_the_node_does_not_own_changes_nothing() {
    let mut ledger = Ledger::default();
    let mut pair = Pair::new();
    let instance = pair.deploy(0, &descriptor());
    ledger.apply(&JournalRecord::Anchored { instance, is_anchor: true });
    assert_eq!(ledger.owned().count(), 0);
}
