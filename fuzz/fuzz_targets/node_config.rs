//! The target `node_config` of `crates/fuzzing`.
//!
//! `cargo +nightly fuzz run node_config`

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use mario_fuzzing::{Target, target};

static TARGET: LazyLock<&Target> = LazyLock::new(|| target("node_config").expect("a target"));

fuzz_target!(|bytes: &[u8]| {
    (TARGET.run)(bytes);
});
