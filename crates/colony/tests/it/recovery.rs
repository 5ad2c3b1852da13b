//! Nodes that crash during a transfer and restart from their journals.

use mario_colony::{Input, JournalRecord, Message};
use mario_domain::Rule;

use crate::pair::{Ask, Pair, descriptor, exclusive};

#[test]
fn a_source_that_dies_before_custody_owns_the_instance() {
    let mut pair = Pair::new();
    let instance = pair.deploy(0, &descriptor());
    pair.withholds = |message| matches!(message, Message::Ready { .. });
    pair.ask(0, &instance, Ask::Migrate);
    pair.withheld.clear();
    pair.crash(0);
    assert!(pair.sides[0].owns(&instance) && pair.is_quiet(), "the hello says that nothing is open");
    assert_eq!((pair.sides[1].free(), pair.copies(&instance)), (10, 1));
}

#[test]
fn a_source_that_dies_in_custody_hands_over_again() {
    let mut pair = Pair::new();
    let instance = pair.deploy(0, &descriptor());
    pair.withholds = |message| matches!(message, Message::Transfer { .. });
    pair.ask(0, &instance, Ask::Migrate);
    pair.withheld.clear();
    pair.crash(0);
    pair.withholds = |_| false;
    pair.advance(1_000.0);
    assert!(pair.sides[1].owns(&instance) && pair.is_quiet());
    assert_eq!(pair.copies(&instance), 1);
}

#[test]
fn a_target_that_crashes_before_taking_answers_not_taken() {
    let mut pair = Pair::new();
    let instance = pair.deploy(0, &descriptor());
    pair.withholds = |message| matches!(message, Message::Transfer { .. });
    pair.ask(0, &instance, Ask::Migrate);
    assert_eq!(pair.copies(&instance), 2);
    pair.crash(1);
    assert_eq!(pair.copies(&instance), 1, "the copy that the journal does not name is swept");
    pair.release();
    assert!(pair.sides[0].owns(&instance) && pair.is_quiet());
    assert_eq!(pair.sides[0].last_rule(), Some(Rule::Unanswered));
    assert_eq!(pair.sides[0].remembers(&instance), 1);
}

#[test]
fn a_target_that_crashes_after_taking_answers_taken() {
    let mut pair = Pair::new();
    let instance = pair.deploy(0, &descriptor());
    pair.withholds = |message| matches!(message, Message::Taken { .. });
    pair.ask(0, &instance, Ask::Migrate);
    pair.withheld.clear();
    pair.crash(1);
    pair.withholds = |_| false;
    pair.advance(1_000.0);
    assert!(pair.sides[1].owns(&instance) && pair.is_quiet() && pair.copies(&instance) == 1);
}

/// With and without an exclusive application, and for the source and the target: each run migrates an instance, and
/// crashes that node one record later than the run before, until the migration completes without a crash.
#[test]
fn a_crash_after_any_record_neither_loses_nor_duplicates_an_instance() {
    for (is_exclusive, victim) in [(false, 0), (false, 1), (true, 0), (true, 1)] {
        for fatal in 0.. {
            let mut pair = Pair::new();
            let instance = pair.deploy(0, &if is_exclusive { exclusive() } else { descriptor() });
            let first = pair.sides[victim].records.len();
            pair.propose(0, &instance, Ask::Migrate);
            let is_dead = deliver_until(&mut pair, victim, first + fatal);
            if is_dead {
                pair.crash(victim);
            }
            pair.advance(100_000.0);
            let owners = pair.sides.iter().filter(|side| side.owns(&instance)).count();
            assert_eq!((owners, pair.copies(&instance)), (1, 1), "n{victim} died after record {fatal}");
            assert!(pair.is_quiet() && pair.sides[0].free() + pair.sides[1].free() == 18);
            if !is_dead {
                assert!(fatal >= 2, "both sides journal");
                break;
            }
        }
    }
}

/// Delivers messages until a side has written more than `records` records, then drops the messages in transit and
/// returns `true`. Returns `false` if no message is left before that.
fn deliver_until(pair: &mut Pair, side: usize, records: usize) -> bool {
    while pair.deliver_one() {
        if pair.sides[side].records.len() > records {
            pair.drop_letters();
            return true;
        }
    }
    false
}

#[test]
fn nothing_is_reserved_before_the_sweep_is_done() {
    let mut pair = Pair::new();
    let instance = pair.deploy(0, &descriptor());
    let other = pair.deploy(1, &descriptor());
    pair.crash_unswept(0);
    pair.link();
    pair.ask(0, &instance, Ask::ReplicateHere);
    assert_eq!(pair.sides[0].last_rule(), Some(Rule::Recovering), "what still runs may use the hardware");
    pair.ask(1, &other, Ask::Migrate);
    assert_eq!(pair.sides[1].last_rule(), Some(Rule::Recovering));
    pair.input(0, Input::Swept);
    pair.ask(0, &instance, Ask::ReplicateHere);
    assert_eq!(pair.sides[0].last_rule(), None);
}

#[test]
fn draining_copies_still_use_hardware_after_a_restart() {
    let mut pair = Pair::new();
    let instance = pair.deploy(0, &descriptor());
    pair.sides[0].is_prompt = false;
    pair.ask(0, &instance, Ask::Undeploy);
    pair.crash(0);
    assert_eq!(pair.sides[0].free(), 8);
    pair.stop_copies(0);
    assert_eq!(pair.sides[0].free(), 10);
    assert!(pair.is_quiet());
}

#[test]
fn each_boot_is_journalled_and_creates_different_instance_ids() {
    let mut pair = Pair::new();
    let first = pair.deploy(0, &descriptor());
    pair.crash(0);
    let second = pair.deploy(0, &descriptor());
    assert_ne!(first, second);
    let boots = pair.sides[0].records.iter().filter(|record| matches!(record, JournalRecord::Boot { .. }));
    assert_eq!(boots.count(), 2);
}

#[test]
fn open_messages_are_resent_as_soon_as_a_neighbour_is_back() {
    let mut pair = Pair::new();
    let instance = pair.deploy(0, &descriptor());
    pair.withholds = |message| matches!(message, Message::Transfer { .. });
    pair.ask(0, &instance, Ask::Migrate);
    // Retries back off: the next one is not due yet.
    pair.advance(5_000.0);
    pair.withheld.clear();
    pair.withholds = |_| false;
    pair.link();
    assert!(pair.sides[1].owns(&instance), "no timer was waited for");
    assert!(pair.is_quiet());
}
