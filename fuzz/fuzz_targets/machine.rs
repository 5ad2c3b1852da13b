//! Runs arbitrary text as a goal: it must end in an answer, a failure, an exception or an exhausted budget, and leave
//! the machine usable for the next query.
//!
//! `cargo +nightly fuzz run machine`

#![no_main]

use libfuzzer_sys::fuzz_target;
use mario_prolog::{Budget, Engine, Machine, Outcome};
use std::cell::RefCell;

thread_local! {
    static MACHINE: RefCell<(Engine, Machine)> = RefCell::new({
        let engine = Engine::new();
        let machine = Machine::new(&engine);
        (engine, machine)
    });
}

fuzz_target!(|goal: &str| {
    MACHINE.with_borrow_mut(|(engine, machine)| {
        let budget = Budget { inferences: 20_000, heap_bytes: 1 << 23, output_bytes: 1 << 16, ..Budget::default() };
        if let Ok(mut query) = machine.query(engine.library(), goal, &(), &budget) {
            for _ in 0..5 {
                if query.next_answer() != Outcome::Answer {
                    break;
                }
                query.bindings();
            }
        }
        let mut query = machine.query(engine.library(), "X is 6 * 7", &(), &budget).expect("the goal is right");
        assert_eq!(query.next_answer(), Outcome::Answer);
    });
});
