//! Parses arbitrary text as `node.toml`: it must yield a configuration, or errors with positions inside the text.
//!
//! `cargo +nightly fuzz run node_config`

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use mario_live::config::NodeConfig;

fuzz_target!(|text: &str| {
    if let Err(error) = NodeConfig::read("node.toml", text, Path::new("/nowhere")) {
        assert!(!error.mistakes.is_empty());
        for mistake in error.mistakes {
            let span = mistake.span.clone().unwrap_or(0..0);
            assert!(text.get(span).is_some(), "{mistake:?} points into a character or beyond the text");
        }
    }
});
