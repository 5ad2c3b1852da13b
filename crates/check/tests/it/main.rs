//! Tests of the public interface: findings in texts and in small worlds.

#![allow(clippy::disallowed_methods, reason = "tests read files")]

mod checks;
mod rules;
