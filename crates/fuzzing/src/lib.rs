//! One fuzz target for each reader of untrusted bytes: files, messages and requests.
//!
//! A [`Target`] is a function from bytes to an [`Outcome`], with seeds: inputs to start from. It panics if its reader
//! violates an invariant, for example if the position of an error is outside the text. There are two drivers:
//!
//! - [`campaign`](fn@campaign) mutates the seeds a fixed number of times. The tests of this crate run it for every
//!   target on the pinned toolchain, with the same inputs each time.
//! - The programs in `fuzz/` pass a target to libFuzzer, which is guided by coverage and runs until it is stopped.
//!
//! ```
//! use mario_fuzzing::{Outcome, campaign, target};
//!
//! let graphs = target("graph").expect("a known target");
//! assert_eq!((graphs.run)(b"not a graph"), Outcome::Rejected);
//! let tally = campaign(graphs, 0..20);
//! assert_eq!(tally.accepted + tally.rejected, 20);
//! ```
//!
//! To add a reader, add its target to [`TARGETS`]. The tests then fail until `bounded!` in `tests/it/main.rs` names it,
//! and `fuzz/` has a program for it, listed in `Cargo.toml` and `README.md` there.
//!
//! **Invariant:** input `n` of a target is a pure function of the target and `n`, so that its number reproduces a
//! failure.
//!
//! **Invariant:** no target opens a file that its input names, or connects to another machine.
//!
//! Not here: tests that are specific to one format, such as those that draw valid values and mutate their encoding
//! (`mario_wire`) or generate programs of the policy language (`mario_prolog`). They are in the crate of their reader.
//!
//! This crate is internal to mario: its interface changes without notice.

#![allow(clippy::disallowed_methods, reason = "readers of files and of requests are given files and requests")]

mod campaign;
mod mutation;
mod scratch;
mod targets;

pub use campaign::{Tally, campaign, input};
pub use targets::{Outcome, TARGETS, Target, target};
