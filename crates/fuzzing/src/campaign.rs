//! Runs a target on mutations of its seeds.

use std::ops::Range;

use crate::mutation::mutated;
use crate::targets::{Outcome, Target};

/// How many inputs of a campaign a reader accepted and rejected.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// Inputs that the reader accepted.
    pub accepted: u64,
    /// Inputs that the reader rejected.
    pub rejected: u64,
}

/// Returns input `number` of a target.
pub fn input(target: &Target, number: u64) -> Vec<u8> {
    mutated(&(target.seeds)(), target.pieces, number)
}

/// Runs a target on the inputs with these numbers. If the target panics, the command that replays the input is printed
/// to standard error.
pub fn campaign(target: &Target, numbers: Range<u64>) -> Tally {
    let seeds = (target.seeds)();
    let mut tally = Tally::default();
    for number in numbers {
        let input = mutated(&seeds, target.pieces, number);
        let reporting = Reporting { target: target.name, number };
        match (target.run)(&input) {
            Outcome::Accepted => tally.accepted += 1,
            Outcome::Rejected => tally.rejected += 1,
        }
        drop(reporting);
    }
    tally
}

/// A guard that prints how to replay the current input if it is dropped during a panic.
struct Reporting {
    target: &'static str,
    number: u64,
}

impl Drop for Reporting {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let Reporting { target, number } = self;
            eprintln!(
                "input {number} of target `{target}` failed; replay it: cargo run -p mario-fuzzing -- replay {target} {number}"
            );
        }
    }
}
