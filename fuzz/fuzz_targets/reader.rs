//! Any bytes as a program text: read, compiled, its problems rendered.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mario_prolog::{Budget, Engine};
use std::sync::LazyLock;

static ENGINE: LazyLock<Engine> = LazyLock::new(Engine::new);

/// For the directives of a text.
const BUDGET: Budget = Budget {
    inferences: 1_000,
    heap_bytes: 1 << 20,
    trail_entries: 10_000,
    choice_points: 1_000,
    answers: 1,
    output_bytes: 10_000,
};

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let mut loader = ENGINE.loader();
    loader.budget(BUDGET);
    loader.load("fuzz.pl", &text);
    if let Err(error) = loader.finish() {
        assert!(!error.to_string().is_empty());
    }
});
