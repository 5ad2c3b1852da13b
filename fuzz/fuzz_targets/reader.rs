//! Loads arbitrary bytes as a program: this must yield a program or problems with positions, never a panic.
//!
//! `cargo +nightly fuzz run reader`

#![no_main]

use libfuzzer_sys::fuzz_target;
use mario_prolog::{Budget, Engine, Problem};
use std::sync::OnceLock;

fuzz_target!(|bytes: &[u8]| {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    let engine = ENGINE.get_or_init(Engine::new);
    let text = String::from_utf8_lossy(bytes);
    let mut loader = engine.loader();
    loader.budget(Budget { inferences: 10_000, heap_bytes: 1 << 22, output_bytes: 1 << 16, ..Budget::default() });
    loader.load("fuzz.pl", &text);
    let problems: Vec<Problem> = match loader.finish() {
        Ok(loaded) => loaded.warnings,
        Err(error) => error.errors.into_iter().chain(error.warnings).collect(),
    };
    for problem in problems {
        assert!(text.get(problem.span.clone()).is_some(), "{problem:?} points into a character or beyond the text");
    }
});
