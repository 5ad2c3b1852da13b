//! Migrations and replications.

use mario_colony::{Command, Input, JournalRecord, Message, OwnCause, TraceEvent};
use mario_domain::{Operation, Rule, Verdict};

use crate::pair::{Ask, Pair, descriptor, exclusive, span};

#[test]
fn migrate_keeps_id_application_and_memory() {
    let mut pair = Pair::new();
    let instance = pair.deploy(0, &descriptor());
    pair.ask(0, &instance, Ask::MigrateFarAway);
    assert_eq!(pair.sides[0].remembers(&instance), 1);
    pair.ask(0, &instance, Ask::Migrate);
    assert!(!pair.sides[0].owns(&instance) && pair.sides[1].owns(&instance));
    let snapshot = pair.sides[1].node.snapshot(&instance).expect("it is there");
    assert_eq!((snapshot.evaluations, snapshot.memory.len()), (2, 1));
    let application = pair.sides[1].records.iter().find_map(|record| match record {
        JournalRecord::Own { owned, cause: OwnCause::Taken { .. } } => Some((owned.epoch.0, owned.descriptor.clone())),
        _ => None,
    });
    let (epoch, taken) = application.expect("it was taken");
    assert_eq!((epoch, &*taken), (2, &descriptor()));
    pair.ask(1, &instance, Ask::MigrateFarAway);
    assert_eq!(pair.sides[1].node.snapshot(&instance).expect("it is there").evaluations, 3, "the count goes on");
    assert!(pair.is_quiet());
    assert_eq!((pair.sides[0].free(), pair.sides[1].free(), pair.copies(&instance)), (10, 8, 1));
}

#[test]
fn replicate_makes_a_fresh_id_with_empty_memory_and_the_parent_keeps_its_own() {
    let mut pair = Pair::new();
    let parent = pair.deploy(0, &descriptor());
    pair.ask(0, &parent, Ask::MigrateFarAway);
    pair.ask(0, &parent, Ask::Replicate);
    let child = pair.sides[1].only_instance();
    assert!(child != parent && pair.sides[0].owns(&parent));
    assert_eq!((pair.sides[0].remembers(&parent), pair.sides[1].remembers(&child)), (1, 0));
    assert_eq!(pair.sides[1].node.snapshot(&child).expect("it is there").evaluations, 0);
    assert!(pair.is_quiet());
}

#[test]
fn replicate_on_the_same_node_is_one_local_record() {
    let mut pair = Pair::new();
    let parent = pair.deploy(0, &descriptor());
    let (records, sent) = (pair.sides[0].records.len(), pair.sides[0].sent.len());
    pair.ask(0, &parent, Ask::ReplicateHere);
    assert_eq!((pair.sides[0].records.len(), pair.sides[0].sent.len()), (records + 1, sent));
    assert_eq!(pair.sides[0].node.instances().count(), 2);
    assert_eq!(pair.sides[0].free(), 6);
}

#[test]
fn undeploy_frees_hardware_only_when_the_copy_has_stopped() {
    let mut pair = Pair::new();
    let instance = pair.deploy(0, &descriptor());
    pair.sides[0].is_prompt = false;
    pair.ask(0, &instance, Ask::Undeploy);
    assert!(!pair.sides[0].owns(&instance) && !pair.is_quiet());
    assert_eq!(pair.sides[0].free(), 8);
    pair.stop_copies(0);
    assert_eq!(pair.sides[0].free(), 10);
    assert!(pair.is_quiet());
}

#[test]
fn an_instance_that_returns_replaces_its_older_custody() {
    let mut pair = Pair::new();
    let instance = pair.deploy(0, &descriptor());
    pair.withholds = |message| matches!(message, Message::Taken { .. });
    pair.ask(0, &instance, Ask::Migrate);
    assert!(pair.sides[1].owns(&instance) && pair.copies(&instance) == 2);
    pair.ask(1, &instance, Ask::Migrate);
    assert!(pair.sides[0].owns(&instance) && !pair.sides[1].owns(&instance));
    let is_reported = pair.sides[0].reports.iter().any(|report| match report {
        TraceEvent::Judged { request, verdict, .. } => {
            *verdict == Verdict::Accepted && matches!(request.operation(), Operation::Migrate(_))
        }
        _ => false,
    });
    assert!(is_reported, "the first migration was accepted");
    pair.release();
    assert!(pair.sides[0].owns(&instance) && pair.is_quiet());
    assert_eq!((pair.sides[0].free(), pair.sides[1].free(), pair.copies(&instance)), (8, 10, 1));
}

#[test]
fn the_return_of_an_instance_that_was_ended_in_custody_is_reported() {
    let mut pair = Pair::new();
    let instance = pair.deploy(0, &descriptor());
    pair.withholds = |message| matches!(message, Message::Taken { .. });
    pair.ask(0, &instance, Ask::Migrate);
    pair.command(0, Command::Undeploy(instance.clone()));
    pair.ask(1, &instance, Ask::Migrate);
    let expected = TraceEvent::LivesOn { instance, node: pair.sides[0].id.clone() };
    assert!(pair.sides[0].reports.contains(&expected));
}

#[test]
fn an_exclusive_application_stops_on_the_source_before_it_starts_on_the_target() {
    let mut pair = Pair::new();
    let instance = pair.deploy(0, &exclusive());
    pair.sides[0].is_prompt = false;
    pair.ask(0, &instance, Ask::Migrate);
    assert!(pair.sides[0].owns(&instance) && pair.copies(&instance) == 1, "it stops");
    pair.stop_copies(0);
    assert!(pair.sides[1].owns(&instance) && pair.copies(&instance) == 1);
    assert!(pair.is_quiet());
    assert_eq!((pair.sides[0].free(), pair.sides[1].free()), (10, 8));
}

#[test]
fn an_exclusive_application_that_is_not_taken_keeps_its_hardware() {
    let mut pair = Pair::with(|side, config| {
        if side == 0 {
            config.capacity = mario_domain::Capacity::units(2);
        }
    });
    let instance = pair.deploy(0, &exclusive());
    pair.withholds = |message| matches!(message, Message::Transfer { .. });
    pair.ask(0, &instance, Ask::Migrate);
    assert_eq!((pair.copies(&instance), pair.sides[0].free()), (0, 0), "its place is kept");
    pair.crash(1);
    pair.release();
    assert!(pair.sides[0].owns(&instance) && pair.copies(&instance) == 1);
    assert_eq!(pair.sides[0].last_rule(), Some(Rule::Unanswered));
    assert!(pair.is_quiet());
}

#[test]
fn a_copy_that_two_transfers_stop_is_stopped_once() {
    let mut pair = Pair::new();
    let instance = pair.deploy(0, &exclusive());
    pair.sides[0].is_prompt = false;
    pair.ask(0, &instance, Ask::Migrate);
    pair.command(0, Command::Pin(instance.clone()));
    pair.command(0, Command::Unpin(instance.clone()));
    pair.ask(0, &instance, Ask::Migrate);
    assert_eq!(pair.sides[0].stopping.len(), 1);
    pair.stop_copies(0);
    assert!(pair.sides[1].owns(&instance) && pair.copies(&instance) == 1);
}

#[test]
fn a_copy_stopped_for_an_aborted_transfer_restarts() {
    let mut pair = Pair::new();
    let instance = pair.deploy(0, &exclusive());
    pair.sides[0].is_prompt = false;
    pair.ask(0, &instance, Ask::Migrate);
    pair.command(0, Command::Pin(instance.clone()));
    assert!(!pair.sides[0].node.is_quiet(), "its copy stops and has to start again");
    pair.stop_copies(0);
    assert!(pair.sides[0].owns(&instance) && pair.copies(&instance) == 1);
    assert!(pair.is_quiet() && pair.sides[1].free() == 10);
}

#[test]
fn a_late_request_for_a_replica_of_an_exclusive_application_starts_no_copy() {
    let mut pair = Pair::new();
    let parent = pair.deploy(0, &exclusive());
    pair.withholds = |message| matches!(message, Message::Prepare(_));
    pair.ask(0, &parent, Ask::Replicate);
    let late = pair.withheld[0].clone();
    pair.release();
    let child = pair.sides[1].only_instance();
    pair.ask(1, &child, Ask::Migrate);
    assert!(pair.sides[0].owns(&child));
    pair.withholds = |message| matches!(message, Message::Abort { .. });
    pair.hand(late);
    assert_eq!(pair.copies(&child), 1);
    pair.deliver();
    pair.release();
    assert!(pair.is_quiet());
}

#[test]
fn replications_are_split_and_run_out() {
    let mut pair = Pair::new();
    let parent = pair.deploy(0, &mario_colony::Descriptor { replications_max: Some(2), ..descriptor() });
    pair.ask(0, &parent, Ask::Replicate);
    let child = pair.sides[1].only_instance();
    pair.ask(1, &child, Ask::Replicate);
    assert_eq!(pair.sides[1].last_rule(), Some(Rule::Budget), "the one that was left stayed with the parent");
    pair.ask(0, &parent, Ask::ReplicateHere);
    assert_eq!(pair.sides[0].last_rule(), None);
    pair.ask(0, &parent, Ask::Replicate);
    assert_eq!(pair.sides[0].last_rule(), Some(Rule::Budget));
}

#[test]
fn replications_come_back_if_the_replica_is_not_taken() {
    let mut pair = Pair::new();
    let parent = pair.deploy(0, &mario_colony::Descriptor { replications_max: Some(1), ..descriptor() });
    pair.withholds = |message| matches!(message, Message::Transfer { .. });
    pair.ask(0, &parent, Ask::Replicate);
    pair.ask(0, &parent, Ask::ReplicateHere);
    assert_eq!(pair.sides[0].last_rule(), Some(Rule::Budget));
    pair.crash(1);
    pair.release();
    assert_eq!(pair.sides[1].node.instances().count(), 0);
    pair.ask(0, &parent, Ask::ReplicateHere);
    assert_eq!(pair.sides[0].last_rule(), None);
    assert!(pair.is_quiet());
}

#[test]
fn an_application_is_offered_to_a_target_once_at_a_time() {
    let mut pair = Pair::new();
    let [one, other] = [pair.deploy(0, &descriptor()), pair.deploy(0, &descriptor())];
    pair.withholds = |message| matches!(message, Message::Transfer { .. });
    pair.ask(0, &one, Ask::Replicate);
    pair.ask(0, &other, Ask::Replicate);
    assert_eq!(pair.sides[0].last_rule(), Some(Rule::OpenGrant));
    pair.release();
    pair.ask(0, &other, Ask::Replicate);
    assert_eq!(pair.sides[0].last_rule(), None);
}

#[test]
fn of_two_offers_prepared_at_once_the_second_is_aborted() {
    let mut pair = Pair::new();
    let [one, other] = [pair.deploy(0, &descriptor()), pair.deploy(0, &descriptor())];
    pair.withholds = |message| matches!(message, Message::Transfer { .. });
    pair.propose(0, &one, Ask::Replicate);
    pair.propose(0, &other, Ask::Replicate);
    pair.deliver();
    assert_eq!(pair.sides[0].last_rule(), Some(Rule::OpenGrant));
    assert_eq!(pair.sides[0].remembers(&other), 1);
    pair.release();
    assert!(pair.is_quiet() && pair.sides[1].node.instances().count() == 1);
}

#[test]
fn a_reservation_expires_and_its_hardware_is_free_when_the_copy_has_stopped() {
    let mut pair = Pair::new();
    let instance = pair.deploy(0, &descriptor());
    pair.withholds = |message| matches!(message, Message::Ready { .. } | Message::Abort { .. });
    pair.ask(0, &instance, Ask::Migrate);
    assert_eq!(pair.sides[1].free(), 8);
    pair.sides[1].is_prompt = false;
    pair.advance(60_001.0);
    assert_eq!(pair.sides[1].free(), 8, "its copy stops");
    pair.stop_copies(1);
    assert_eq!(pair.sides[1].free(), 10);
}

#[test]
fn a_transfer_to_a_target_that_is_not_ready_in_time_is_aborted() {
    let mut pair = Pair::new();
    let instance = pair.deploy(0, &descriptor());
    pair.sides[1].is_prompt = false;
    pair.ask(0, &instance, Ask::Migrate);
    pair.advance(29_999.0);
    assert!(!pair.sides[0].node.is_quiet());
    pair.advance(2.0);
    assert_eq!(pair.sides[0].last_rule(), Some(Rule::Unanswered));
    assert!(pair.sides[0].node.is_quiet() && pair.sides[0].remembers(&instance) == 1);
    pair.stop_copies(1);
    assert!(pair.is_quiet() && pair.copies(&instance) == 1);
}

#[test]
fn a_copy_that_does_not_start_inhibits_the_transfer() {
    let mut pair = Pair::new();
    let instance = pair.deploy(0, &descriptor());
    pair.sides[1].is_prompt = false;
    pair.ask(0, &instance, Ask::Migrate);
    let workload = pair.sides[1].starting[0];
    pair.input(1, Input::NotStarted { workload, cause: "no image".to_owned() });
    assert_eq!(pair.sides[0].last_rule(), Some(Rule::NotStarted { cause: "no image".to_owned() }));
    pair.stop_copies(1);
    assert!(pair.is_quiet() && pair.sides[1].free() == 10);
}

#[test]
fn a_copy_of_an_owned_instance_that_does_not_start_is_tried_again() {
    let mut pair = Pair::new();
    pair.sides[0].is_prompt = false;
    let instance = pair.deploy(0, &descriptor());
    let workload = pair.sides[0].starting.remove(0);
    pair.sides[0].running.clear();
    pair.input(0, Input::NotStarted { workload, cause: "no image".to_owned() });
    assert!(!pair.is_quiet());
    pair.advance(30_000.0);
    assert_eq!((pair.sides[0].starting.clone(), pair.copies(&instance)), (vec![workload], 1));
    pair.sides[0].running.clear();
    pair.input(0, Input::NotStarted { workload, cause: "no image".to_owned() });
    pair.ask(0, &instance, Ask::Undeploy);
    pair.stop_copies(0);
    pair.advance(30_000.0);
    assert!(pair.is_quiet() && pair.copies(&instance) == 0, "nothing needs it any more");
}

#[test]
fn a_copy_that_ends_is_restarted_at_once_then_with_backoff_and_at_once_again_after_it_was_healthy() {
    let mut pair = Pair::new();
    pair.sides[0].is_prompt = false;
    let _instance = pair.deploy(0, &descriptor());
    let workload = pair.sides[0].starting.remove(0);
    let fails = |pair: &mut Pair, after: f64| {
        pair.sides[0].running.clear();
        pair.sides[0].starting.clear();
        pair.input(0, Input::NotStarted { workload, cause: "it exited with status 3".to_owned() });
        if after > 1.0 {
            pair.advance(after - 1.0);
            assert_eq!(pair.sides[0].starting, [], "it is not restarted before {after} ms");
        }
        pair.advance(1.0);
        assert_eq!(pair.sides[0].starting, [workload], "it is restarted after {after} ms");
    };
    for after in [0.0, 500.0, 1_000.0, 2_000.0, 4_000.0, 8_000.0, 10_000.0, 10_000.0] {
        fails(&mut pair, after);
    }
    let restart = pair.sides[0].node.restart(workload).expect("known");
    assert_eq!((restart.failures, restart.cause.as_str()), (8, "it exited with status 3"));
    // A copy that is healthy for a short time does not reset the backoff.
    pair.input(0, Input::Healthy(workload));
    assert_eq!(pair.sides[0].node.copies_down(), 0);
    pair.advance(59_000.0);
    fails(&mut pair, 10_000.0);
    pair.input(0, Input::Healthy(workload));
    pair.advance(60_000.0);
    fails(&mut pair, 0.0);
    fails(&mut pair, 500.0);
}

#[test]
fn memory_above_the_limit_is_inhibited() {
    let mut pair = Pair::with(|_, config| config.limits.snapshot_bytes_max = 30);
    let instance = pair.deploy(0, &descriptor());
    pair.ask(0, &instance, Ask::MigrateFarAway);
    pair.ask(0, &instance, Ask::MigrateFarAway);
    pair.ask(0, &instance, Ask::Migrate);
    assert_eq!(pair.sides[0].last_rule(), Some(Rule::Oversized { bytes: 48, bytes_max: 30 }));
    assert!(pair.sides[0].owns(&instance) && pair.is_quiet());
}

#[test]
fn a_newcomer_first_evaluates_one_full_period_after_it_arrived() {
    let mut pair = Pair::with(|_, config| config.timing.evaluation_period = Some(span(100.0)));
    let instance = pair.deploy(0, &descriptor());
    let evaluations = |pair: &Pair| {
        let evaluated = |report: &&TraceEvent| matches!(report, TraceEvent::Evaluated { .. });
        pair.sides[1].reports.iter().filter(evaluated).count()
    };
    pair.advance(30.0);
    pair.ask(0, &instance, Ask::Migrate);
    assert!(pair.sides[1].owns(&instance));
    pair.advance(99.0);
    assert_eq!(evaluations(&pair), 0);
    pair.advance(1.0);
    assert_eq!(evaluations(&pair), 1);
    pair.advance(100.0);
    assert_eq!(evaluations(&pair), 2);
}
