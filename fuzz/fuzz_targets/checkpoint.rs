//! The target `checkpoint` of `crates/fuzzing`.
//!
//! `cargo +nightly fuzz run checkpoint`

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use mario_fuzzing::{Target, target};

static TARGET: LazyLock<&Target> = LazyLock::new(|| target("checkpoint").expect("a target"));

fuzz_target!(|bytes: &[u8]| {
    (TARGET.run)(bytes);
});
