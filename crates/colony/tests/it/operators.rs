//! Commands of operators, also during a transfer.

use std::sync::Arc;

use mario_colony::{Command, Copies, DeployKey, Descriptor, JournalId, JournalRecord, Message, TraceEvent};
use mario_domain::{ApplicationId, Hardware, InstanceId};

use crate::pair::{Ask, Pair, descriptor, policy};

#[test]
fn a_repeated_deploy_is_one_deploy() {
    let mut pair = Pair::new();
    let deploy = Command::Deploy { key: DeployKey(7), descriptor: Arc::new(descriptor()), is_anchor: false };
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
fn undeploy_aborts_a_transfer_in_preparation() {
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
fn undeploy_in_custody_stops_the_copy_at_once_and_ends_an_instance_that_is_not_taken() {
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
    assert!(pair.sides[0].reports.contains(&TraceEvent::Undeployed(instance)), "the end is reported");
}

#[test]
fn undeploy_in_custody_reports_the_node_of_a_taken_instance() {
    let mut pair = Pair::new();
    let instance = pair.deploy(0, &descriptor());
    pair.withholds = |message| matches!(message, Message::Taken { .. });
    pair.ask(0, &instance, Ask::Migrate);
    pair.command(0, Command::Undeploy(instance.clone()));
    pair.crash(0);
    assert_eq!(pair.sides[0].free(), 10, "the end is journalled");
    pair.release();
    let expected = TraceEvent::LivesOn { instance: instance.clone(), node: pair.sides[1].id.clone() };
    assert!(pair.sides[0].reports.contains(&expected));
    assert!(pair.sides[1].owns(&instance) && pair.is_quiet());
}

#[test]
fn an_instance_in_custody_for_a_lost_journal_is_adopted_under_a_fresh_id() {
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
fn no_target_waits_for_a_lost_source() {
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
fn a_source_wrongly_declared_lost_still_learns_what_was_taken() {
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
    let has_left = pair.sides[0].records.iter().any(|record| matches!(record, JournalRecord::Custody(_)));
    assert!(!has_left && pair.is_quiet());
}

/// Version 2 of [`descriptor`], with a policy that proposes nothing.
fn second_version() -> Descriptor {
    Descriptor { version: 2, policy: policy("operation(undeploy, _, self) :- fail."), ..descriptor() }
}

/// The last reported update of the first node: the versions before and after, and the reason if it was rejected.
fn updated(pair: &Pair) -> (Option<u64>, Option<u64>, Option<String>) {
    let reports = pair.sides[0].reports.iter().rev();
    let found = reports.into_iter().find_map(|report| match report {
        TraceEvent::Updated { from, to, refused, .. } => Some((*from, *to, refused.as_ref().map(ToString::to_string))),
        _ => None,
    });
    found.expect("an update")
}

#[test]
fn an_updated_instance_keeps_its_memory_and_its_copy_and_can_be_rolled_back() {
    let mut pair = Pair::new();
    let instance = pair.deploy(0, &descriptor());
    pair.ask(0, &instance, Ask::MigrateFarAway);
    assert_eq!(pair.sides[0].remembers(&instance), 1);
    let update = |descriptor| Command::Update { instance: instance.clone(), descriptor: Arc::new(descriptor) };
    pair.command(0, update(second_version()));
    assert_eq!(updated(&pair), (Some(1), Some(2), None));
    assert_eq!(pair.sides[0].remembers(&instance), 1, "what was inhibited is not forgotten");
    pair.ask(0, &instance, Ask::Undeploy);
    assert!(pair.sides[0].owns(&instance), "the new policy asks for nothing");
    let version = |pair: &Pair| pair.sides[0].node.ledger().owned().next().map(|owned| owned.descriptor.version);
    pair.crash(0);
    assert_eq!(version(&pair), Some(2), "it is in the journal");
    pair.command(0, Command::Rollback(instance.clone()));
    assert_eq!((updated(&pair), version(&pair)), ((Some(2), Some(1), None), Some(1)));
    pair.command(0, Command::Rollback(instance.clone()));
    assert!(updated(&pair).2.expect("refused").contains("no earlier description"));
    assert_eq!(version(&pair), Some(1), "a repeated rollback changes nothing");
    pair.crash(0);
    assert!(pair.sides[0].node.ledger().previous(&instance).is_none(), "nor does a restart");
    pair.command(0, update(second_version()));
    assert_eq!(version(&pair), Some(2), "what was rolled back can be rolled out");
    // The instance moves with its current descriptor. The node that it left can no longer roll it back.
    pair.command(0, update(Descriptor { version: 3, ..descriptor() }));
    pair.ask(0, &instance, Ask::Migrate);
    assert!(pair.sides[1].owns(&instance) && pair.is_quiet());
    assert_eq!(pair.sides[1].node.ledger().owned().next().map(|owned| owned.descriptor.version), Some(3));
    pair.command(0, Command::Rollback(instance));
    assert!(updated(&pair).2.expect("refused").contains("is not here"));
}

#[test]
fn an_invalid_update_is_rejected_with_its_reason() {
    let mut pair = Pair::new();
    let instance = pair.deploy(0, &descriptor());
    let mut refused = |descriptor: Descriptor| {
        pair.command(0, Command::Update { instance: instance.clone(), descriptor: Arc::new(descriptor) });
        updated(&pair).2.expect("refused")
    };
    let older = refused(Descriptor { version: 1, ..second_version() });
    assert!(older.contains("its version is 1, and version 1 runs"), "{older}");
    let mut other = second_version();
    other.application.id = ApplicationId::name("audio").expect("a name");
    assert!(refused(other).contains("it describes application audio, and this is an instance of video"));
    assert!(refused(Descriptor { copies: Copies::Exclusive, ..second_version() }).contains("exclusive"));
    assert!(refused(Descriptor { policy: policy("operation(:-"), ..second_version() }).contains("description"));
    let mut large = second_version();
    large.application.hardware = Hardware::units(11);
    let rule = refused(large.clone());
    assert!(rule.contains('9') && rule.contains("8 free"), "{rule}");
    large.application.hardware = Hardware::units(10);
    pair.command(0, Command::Update { instance: instance.clone(), descriptor: Arc::new(large) });
    assert_eq!((updated(&pair).2, pair.sides[0].free()), (None, 0), "it has all that there is");
    let small = Descriptor { version: 3, ..second_version() };
    pair.command(0, Command::Update { instance: instance.clone(), descriptor: Arc::new(small) });
    assert_eq!(pair.sides[0].free(), 8, "what it no longer needs is free once its copy was restarted");
    pair.command(0, Command::Rollback(InstanceId::name("none").expect("a name")));
    assert!(updated(&pair).2.expect("refused").contains("is not here"));
}

#[test]
fn an_update_aborts_a_preparing_transfer_and_waits_for_custody() {
    let mut pair = Pair::new();
    let instance = pair.deploy(0, &descriptor());
    let update = Command::Update { instance: instance.clone(), descriptor: Arc::new(second_version()) };
    pair.withholds = |message| matches!(message, Message::Ready { .. });
    pair.ask(0, &instance, Ask::Migrate);
    pair.command(0, update.clone());
    assert!(pair.sides[0].sent.iter().any(|message| matches!(message, Message::Abort { .. })));
    pair.release();
    assert!(pair.sides[0].owns(&instance) && pair.is_quiet());
    pair.command(0, Command::Rollback(instance.clone()));
    pair.withholds = |message| matches!(message, Message::Taken { .. });
    pair.ask(0, &instance, Ask::Migrate);
    pair.command(0, update);
    assert!(updated(&pair).2.expect("refused").contains("being handed over"));
    pair.release();
    assert!(pair.sides[1].owns(&instance) && pair.is_quiet());
}
