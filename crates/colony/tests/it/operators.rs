//! What operators want, at any moment of a transfer.

use std::sync::Arc;

use mario_colony::{Command, DeployKey, JournalId, Message, Record, Report};

use crate::pair::{Ask, Pair, descriptor};

#[test]
fn a_repeated_deploy_is_one_deploy() {
    let mut pair = Pair::new();
    let deploy = Command::Deploy { key: DeployKey(7), descriptor: Arc::new(descriptor()) };
    pair.command(0, deploy.clone());
    let first = pair.sides[0].reports.last().cloned();
    pair.command(0, deploy.clone());
    assert_eq!(pair.sides[0].reports.last().cloned(), first, "the same answer");
    pair.crash(0);
    pair.command(0, deploy);
    assert_eq!(pair.sides[0].reports.last().cloned(), first, "also after a restart");
    assert_eq!(pair.sides[0].node.instances().count(), 1);
}

#[test]
fn undeploy_aborts_what_is_being_prepared() {
    let mut pair = Pair::new();
    let instance = pair.deploy(0, &descriptor());
    pair.withholds = |message| matches!(message, Message::Ready { .. });
    pair.ask(0, &instance, Ask::Migrate);
    pair.command(0, Command::Undeploy(instance.clone()));
    assert!(pair.sides[0].sent.iter().any(|message| matches!(message, Message::Abort { .. })));
    pair.release();
    assert!(pair.is_quiet() && pair.copies(&instance) == 0);
    assert_eq!((pair.sides[0].free(), pair.sides[1].free()), (10, 10));
}

#[test]
fn undeploy_in_custody_stops_the_copy_at_once_and_ends_what_is_not_taken() {
    let mut pair = Pair::new();
    let instance = pair.deploy(0, &descriptor());
    pair.withholds = |message| matches!(message, Message::Transfer { .. });
    pair.ask(0, &instance, Ask::Migrate);
    pair.command(0, Command::Undeploy(instance.clone()));
    assert_eq!(pair.sides[0].free(), 10, "its hardware is free before the target answers");
    pair.crash(1);
    pair.release();
    assert!(pair.is_quiet() && pair.copies(&instance) == 0);
    assert!(pair.sides.iter().all(|side| !side.owns(&instance)));
    assert!(pair.sides[0].reports.contains(&Report::Undeployed(instance)), "the operator is told");
}

#[test]
fn undeploy_in_custody_tells_where_a_taken_instance_lives() {
    let mut pair = Pair::new();
    let instance = pair.deploy(0, &descriptor());
    pair.withholds = |message| matches!(message, Message::Taken { .. });
    pair.ask(0, &instance, Ask::Migrate);
    pair.command(0, Command::Undeploy(instance.clone()));
    pair.crash(0);
    assert_eq!(pair.sides[0].free(), 10, "the end is journalled");
    pair.release();
    let told = Report::LivesOn { instance: instance.clone(), node: pair.sides[1].id.clone() };
    assert!(pair.sides[0].reports.contains(&told));
    assert!(pair.sides[1].owns(&instance) && pair.is_quiet());
}

#[test]
fn what_is_in_custody_for_a_lost_journal_is_adopted_under_a_fresh_id() {
    let mut pair = Pair::new();
    let instance = pair.deploy(0, &descriptor());
    pair.withholds = |message| matches!(message, Message::Taken { .. });
    pair.ask(0, &instance, Ask::Migrate);
    pair.command(0, Command::Lost(JournalId(2)));
    let adopted = pair.sides[0].only_instance();
    assert_ne!(adopted, instance, "the other may live on");
    assert_eq!(pair.sides[0].free(), 8);
    pair.release();
    assert!(pair.sides[0].owns(&adopted) && pair.sides[1].owns(&instance) && pair.is_quiet());
}

#[test]
fn an_instance_that_was_ended_in_custody_is_not_adopted() {
    let mut pair = Pair::new();
    let instance = pair.deploy(0, &descriptor());
    pair.withholds = |message| matches!(message, Message::Transfer { .. });
    pair.ask(0, &instance, Ask::Migrate);
    pair.command(0, Command::Undeploy(instance));
    pair.command(0, Command::Lost(JournalId(2)));
    assert!(pair.sides[0].node.is_quiet() && pair.sides[0].node.instances().count() == 0);
}

#[test]
fn nobody_waits_for_a_source_that_is_lost() {
    let mut pair = Pair::new();
    let instance = pair.deploy(0, &descriptor());
    pair.withholds = |message| matches!(message, Message::Taken { .. });
    pair.ask(0, &instance, Ask::Migrate);
    assert!(!pair.sides[1].node.is_quiet(), "it waits for the source to say that it knows");
    pair.lose_disk(0, JournalId(3));
    pair.command(1, Command::Lost(JournalId(1)));
    assert!(pair.sides[1].node.is_quiet() && pair.sides[1].owns(&instance));
    assert_eq!(pair.sides[1].node.next_timeout(), None, "nothing is sent to it any more");
    pair.crash(1);
    assert!(pair.sides[1].node.is_quiet(), "the declaration is journalled");
}

#[test]
fn a_source_that_was_declared_lost_and_was_not_is_still_told_what_was_taken() {
    let mut pair = Pair::new();
    let instance = pair.deploy(0, &descriptor());
    pair.withholds = |message| matches!(message, Message::Taken { .. });
    pair.ask(0, &instance, Ask::Migrate);
    pair.command(1, Command::Lost(JournalId(1)));
    pair.withheld.clear();
    pair.withholds = |_| false;
    pair.crash(1);
    pair.advance(60_000.0);
    assert!(!pair.sides[0].owns(&instance) && pair.sides[1].owns(&instance));
    assert!(pair.is_quiet());
}

#[test]
fn nothing_is_handed_over_to_a_journal_that_was_declared_lost() {
    let mut pair = Pair::new();
    let instance = pair.deploy(0, &descriptor());
    pair.withholds = |message| matches!(message, Message::Ready { .. });
    pair.ask(0, &instance, Ask::Migrate);
    pair.command(0, Command::Lost(JournalId(2)));
    pair.release();
    assert!(pair.sides[0].owns(&instance) && pair.is_quiet());
    pair.ask(0, &instance, Ask::Migrate);
    assert_eq!(pair.sides[0].last_rule(), Some(mario_domain::Rule::Unanswered));
    let has_left = pair.sides[0].records.iter().any(|record| matches!(record, Record::Custody(_)));
    assert!(!has_left && pair.is_quiet());
}
