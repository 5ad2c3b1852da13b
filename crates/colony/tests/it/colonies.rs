//! Whole colonies of real nodes in simulated time, with random faults: messages are late, lost, duplicated and
//! reordered, links are cut, daemons are killed with torn journal tails, disks are lost and slow, clocks jump,
//! workloads fail to start, and operators issue random commands.
//!
//! `MARIO_COLONIES=100000` runs that number of colonies, from seed `MARIO_COLONIES_FROM` (default 0).
//! `MARIO_COLONY=1234` replays one and prints its log. A failing seed prints its replay command and a shrunk schedule.

mod book;
mod checker;
mod daemon;
mod machine;
mod plan;
mod sabotage;
mod tally;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};

use plan::Plan;
use sabotage::Sabotage;
use tally::Tally;
use world::{Ground, World};

/// The number of colonies in a run without environment variables.
const COLONIES: u64 = 1_000;

/// The checker must detect each sabotage within this number of colonies.
const SABOTAGED: u64 = 2_000;

/// The minimum number of events of these kinds in a run of at least [`COLONIES`] colonies from seed 0.
const LEAST: [(&str, u64); 16] = [
    ("migrations", 6_000),
    ("exclusive migrations", 2_000),
    ("grants", 700),
    ("replicas taken", 700),
    ("replicated here", 400),
    ("undeployed", 1_000),
    ("not taken", 150),
    ("return trips", 100),
    ("adopted", 50),
    ("ended in custody", 40),
    ("crashes in custody", 700),
    ("torn tails", 200),
    ("lost disks", 1_000),
    ("cuts", 2_000),
    ("clock jumps", 500),
    ("failed starts", 1_000),
];

/// The result of running one colony.
struct Outcome {
    log: String,
    tally: Tally,
    violation: Option<String>,
}

fn run(ground: &Ground, plan: &Plan, sabotage: Option<Sabotage>) -> Outcome {
    let mut world = World::new(plan, ground, sabotage);
    let has_panicked = catch_unwind(AssertUnwindSafe(|| world.run())).is_err();
    let violation = if has_panicked { Some("a panic".to_owned()) } else { world.checker.violation.take() };
    Outcome { log: world.log, tally: world.checker.tally, violation }
}

/// Shrinks a failing schedule: removes runs of events without which it still fails, long runs first.
fn shrink(ground: &Ground, plan: &Plan) -> Plan {
    let mut smallest = plan.clone();
    let mut length = smallest.events.len().div_ceil(2);
    while length > 0 {
        let mut start = 0;
        while start < smallest.events.len() {
            let mut smaller = smallest.clone();
            smaller.events.drain(start..(start + length).min(smallest.events.len()));
            if run(ground, &smaller, None).violation.is_some() {
                smallest = smaller;
            } else {
                start += length;
            }
        }
        length /= 2;
    }
    smallest
}

/// Prints the shrunk schedule of a failing seed, its conditions and nodes, the end of the log of the shrunk run, and
/// the replay command; then panics.
fn fail(ground: &Ground, plan: &Plan, violation: &str) -> ! {
    let smallest = shrink(ground, plan);
    eprintln!("the smallest schedule that fails:");
    for event in &smallest.events {
        eprintln!("  {} {:?}", event.at, event.what);
    }
    eprintln!("with {:?}, {:?}", smallest.conditions, smallest.nodes);
    let Outcome { log, violation: last, .. } = run(ground, &smallest, None);
    let lines: Vec<&str> = log.lines().collect();
    for line in &lines[lines.len().saturating_sub(60)..] {
        eprintln!("  {line}");
    }
    eprintln!("  {}", last.unwrap_or_default());
    eprintln!("replay: MARIO_COLONY={} cargo test -p mario-colony --test it colonies", plan.seed);
    panic!("colony {}: {violation}", plan.seed);
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}

#[test]
fn no_fault_loses_or_duplicates_an_instance() {
    let ground = Ground::new();
    if let Some(seed) = number("MARIO_COLONY") {
        let plan = Plan::draw(seed);
        let outcome = run(&ground, &plan, None);
        println!("{:#?}\n{}{}", plan.events, outcome.log, outcome.tally);
        if let Some(violation) = outcome.violation {
            fail(&ground, &plan, &violation);
        }
        return;
    }
    let colonies = number("MARIO_COLONIES").unwrap_or(COLONIES);
    let first = number("MARIO_COLONIES_FROM").unwrap_or(0);
    let mut total = Tally::default();
    for seed in first..first + colonies {
        let plan = Plan::draw(seed);
        let outcome = run(&ground, &plan, None);
        if let Some(violation) = &outcome.violation {
            fail(&ground, &plan, violation);
        }
        assert_eq!(outcome.log, run(&ground, &plan, None).log, "colony {seed} is not deterministic");
        total.add(&outcome.tally);
    }
    println!("{colonies} colonies: {total}");
    if first == 0 && colonies >= COLONIES {
        for (name, least) in LEAST {
            assert!(total.of(name) >= least, "only {} {name} in {colonies} colonies", total.of(name));
        }
    }
}

/// Returns the seed of the first colony in which the checker reports a violation that contains `expected`.
fn colonies_until_violation(sabotage: Sabotage, expected: &str) -> u64 {
    let ground = Ground::new();
    let is_seen = |seed: &u64| {
        let violation = run(&ground, &Plan::draw(*seed), Some(sabotage)).violation;
        violation.is_some_and(|violation| violation.contains(expected))
    };
    (0..SABOTAGED).find(is_seen).unwrap_or_else(|| {
        panic!("the checker does not see `{expected}` for {sabotage:?} in {SABOTAGED} colonies");
    })
}

macro_rules! must_fail {
    ($($name:ident: $sabotage:ident, $expected:literal;)*) => { $(
        #[test]
        fn $name() {
            println!("seen in colony {}", colonies_until_violation(Sabotage::$sabotage, $expected));
        }
    )* };
}

must_fail! {
    the_checker_sees_transfers_that_leave_before_custody_is_on_disk: SendsTransferBeforeSync, "invariant 1";
    the_checker_sees_taken_said_before_it_is_on_disk: SendsTakenBeforeSync, "invariant 3";
    the_checker_sees_forget_said_before_gone_is_on_disk: SendsForgetBeforeSync, "invariant 1";
    the_checker_sees_transfers_that_are_judged_without_their_tokens: IgnoresTokens, "invariant 1";
    the_checker_sees_custody_that_ends_by_timeout: GivesUpCustody, "invariant 1";
    the_checker_sees_transfers_that_are_forgotten_unasked: ForgetsUnasked, "invariant 1";
    the_checker_sees_the_same_id_after_a_declared_loss: RevivesLost, "invariant 1";
    the_checker_sees_an_identity_that_outlives_its_disk: KeepsIdentity, "born twice";
    the_checker_sees_hardware_that_is_promised_twice: Overbooks, "invariant 2";
    the_checker_sees_copies_that_no_sweep_ended: SweepsNothing, "invariant 2";
    the_checker_sees_copies_that_run_after_they_were_said_to_have_stopped: SaysStoppedTooEarly, "two copies";
}
