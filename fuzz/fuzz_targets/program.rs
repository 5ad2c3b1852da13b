//! Compiles arbitrary text as a program whose first line is a goal, and runs the goal with a small budget.
//!
//! `cargo +nightly fuzz run program`

#![no_main]

use libfuzzer_sys::fuzz_target;
use mario_prolog::{Budget, Engine, Machine, Outcome};
use std::sync::{Arc, LazyLock};

static ENGINE: LazyLock<Engine> = LazyLock::new(Engine::new);

const BUDGET: Budget = Budget {
    inferences: 2_000,
    heap_bytes: 1 << 20,
    trail_entries: 10_000,
    choice_points: 1_000,
    answers: 5,
    output_bytes: 10_000,
};

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let (goal, program) = text.split_once('\n').unwrap_or((&text, ""));
    let mut loader = ENGINE.loader();
    loader.budget(BUDGET);
    loader.load("fuzz.pl", program);
    let program = loader.finish().map_or_else(|_| Arc::clone(ENGINE.library()), |loaded| loaded.program);
    let mut machine = Machine::new(&ENGINE);
    if let Ok(mut query) = machine.query(&program, goal, &(), &BUDGET) {
        while query.next_answer() == Outcome::Answer {
            query.bindings();
        }
    }
});
