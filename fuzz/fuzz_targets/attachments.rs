//! The target `attachments` of `crates/fuzzing`.
//!
//! `cargo +nightly fuzz run attachments`

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use mario_fuzzing::{Target, target};

static TARGET: LazyLock<&Target> = LazyLock::new(|| target("attachments").expect("a target"));

fuzz_target!(|bytes: &[u8]| {
    (TARGET.run)(bytes);
});
