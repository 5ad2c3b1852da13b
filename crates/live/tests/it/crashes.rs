//! Kills the source or the target of a migration or a replication, before and after every write of its journal: no
//! instance is lost or duplicated.

use crate::colony::Colony;
use crate::daemons::MOVES;

/// A policy that replicates from `a` to `b`.
const REPLICATES: &str = "operation(replicate, I, b) :- serviceInstance(I, _, a).";

/// The writes of the journal at which a daemon crashes, counted from its start. A migration or a replication should
/// take fewer on either side: a test ends at the first write that the daemon does not reach.
const WRITES: std::ops::RangeInclusive<u32> = 1..=8;

/// Runs a migration from `a` to `b`. The node `victim` dies before or after the write that `crash` names, and is
/// restarted. Returns whether it died.
fn migration_with_a_crash(victim: usize, crash: &str) -> bool {
    let mut colony = Colony::new("crash", &["a", "b"], 2);
    for index in [0, 1] {
        colony.start(index, (index == victim).then_some(crash));
    }
    let mut has_died = false;
    let mut revive = |colony: &mut Colony| {
        if !has_died && colony.has_ended(victim) {
            has_died = true;
            colony.kill(victim);
            colony.start(victim, None);
        }
    };
    let document = colony.signed(MOVES);
    // The operator repeats the command with the same key until it is answered.
    let mut instance = String::new();
    colony.wait("it is deployed", |colony| {
        revive(colony);
        let answer = colony.deploy(0, "5", &document).and_then(|reply| reply.json().ok()).unwrap_or_default();
        instance = answer["instance"].as_str().unwrap_or_default().to_owned();
        !instance.is_empty()
    });
    colony.wait("it has moved and all is quiet", |colony| {
        revive(colony);
        colony.healthy(1) == [instance.clone()]
            && (0..2).all(|index| colony.get(index, "/v1/status")["is_quiet"] == true)
    });
    assert!(colony.healthy(0).is_empty(), "{crash}: it is not on both nodes");
    let free: Vec<_> = (0..2).map(|index| colony.get(index, "/v1/status")["free"].clone()).collect();
    assert_eq!(free, [2, 1], "{crash} of {victim}: hardware is counted right");
    assert_eq!(colony.client(1, "/").expect("an answer").0, 200);
    if !has_died {
        // The daemon must not crash during the clean-up.
        colony.kill(victim);
        colony.start(victim, None);
    }
    let (trace, report) = colony.audited();
    assert!(report.is_clean(), "{crash} of {victim}:\n{report}\n{trace}");
    assert_eq!(report.counts.operations.get("migrate"), Some(&1), "{report}");
    has_died
}

/// Runs a replication from `a` to `b`. The node `victim` dies before or after the write that `crash` names, and is
/// restarted. Returns whether it died.
fn replication_with_a_crash(victim: usize, crash: &str) -> bool {
    let mut colony = Colony::new("replica", &["a", "b"], 2);
    for index in [0, 1] {
        colony.start(index, (index == victim).then_some(crash));
    }
    let mut has_died = false;
    let mut revive = |colony: &mut Colony| {
        if !has_died && colony.has_ended(victim) {
            has_died = true;
            colony.kill(victim);
            colony.start(victim, None);
        }
    };
    // The application may replicate only once. If the target dies before it accepts the replica, the replication is not
    // used up, and the agent proposes it again.
    let document = colony.signed_with(REPLICATES, "hardware = 1\nreplications_max = 1\n", "", "");
    let mut instance = String::new();
    colony.wait("it is deployed", |colony| {
        revive(colony);
        let answer = colony.deploy(0, "5", &document).and_then(|reply| reply.json().ok()).unwrap_or_default();
        instance = answer["instance"].as_str().unwrap_or_default().to_owned();
        !instance.is_empty()
    });
    colony.wait("there is a replica and all is quiet", |colony| {
        revive(colony);
        colony.healthy(0) == [instance.clone()]
            && colony.healthy(1).len() == 1
            && (0..2).all(|index| colony.get(index, "/v1/status")["is_quiet"] == true)
    });
    // All replications are used up, so there is never a second replica.
    let left = |colony: &Colony, index| colony.get(index, "/v1/instances")["instances"][0]["replications_left"].clone();
    assert_eq!([left(&colony, 0), left(&colony, 1)], [0, 0], "{crash} of {victim}");
    let free: Vec<_> = (0..2).map(|index| colony.get(index, "/v1/status")["free"].clone()).collect();
    assert_eq!(free, [1, 1], "{crash} of {victim}: hardware is counted right");
    if !has_died {
        // The daemon must not crash during the clean-up.
        colony.kill(victim);
        colony.start(victim, None);
    }
    let (trace, report) = colony.audited();
    assert!(report.is_clean(), "{crash} of {victim}:\n{report}\n{trace}");
    assert_eq!(report.counts.operations.get("replicate"), Some(&1), "{report}");
    has_died
}

fn every_write(victim: usize, with_a_crash: fn(usize, &str) -> bool) {
    let mut deaths = 0;
    for write in WRITES {
        for when in ["before", "after"] {
            let has_died = with_a_crash(victim, &format!("{when}:{write}"));
            deaths += u32::from(has_died);
            if !has_died {
                // The operation took fewer writes, so later ones would not be reached either.
                println!("{deaths} crashes of node {victim}, the last around write {}", write - 1);
                assert!(deaths >= 6, "only {deaths} crashes");
                return;
            }
        }
    }
    println!("{deaths} crashes of node {victim}");
}

#[test]
fn a_migration_survives_a_crash_of_the_source_at_every_write() {
    every_write(0, migration_with_a_crash);
}

#[test]
fn a_migration_survives_a_crash_of_the_target_at_every_write() {
    every_write(1, migration_with_a_crash);
}

#[test]
fn a_replication_survives_a_crash_of_the_source_at_every_write() {
    every_write(0, replication_with_a_crash);
}

#[test]
fn a_replication_survives_a_crash_of_the_target_at_every_write() {
    every_write(1, replication_with_a_crash);
}
