//! Utilities that the tests of several crates share.
//!
//! | for | use |
//! |---|---|
//! | random values from a seed | [`Random`] |
//! | a directory to write to | [`Scratch`], removed when dropped; [`empty_directory`], kept for inspection |
//! | an address for a process that listens | [`free_address`] |
//! | a condition that becomes true later | [`wait_for`] |
//! | a text in the repository that code must produce | [`check_stored`], [`replaced_part`] |
//! | a long text that differs from another | [`assert_same_text`] |
//! | files of a previous version | [`previous_version`], [`previous_text`], [`copy_previous_data`] |
//!
//! ```
//! use mario_testing::Random;
//!
//! let mut random = Random::new(7);
//! let names = ["a", "b", "c"];
//! assert!(names.contains(random.choose(&names)));
//! assert!(random.below(10) < 10);
//! assert_eq!(Random::new(7).number(), Random::new(7).number());
//! ```
//!
//! **Invariant:** only tests and benchmarks use this crate, and it depends on no other crate of the workspace, so the
//! code under test cannot break it.
//!
//! **Invariant:** a seed produces the same numbers on every machine and in every version. Stored results depend on
//! this.
//!
//! This crate is internal to mario: its interface changes without notice.

#![allow(clippy::disallowed_methods, reason = "tests read files and wait for processes")]

mod addresses;
mod directories;
mod previous_version;
mod random;
mod stored;
mod waiting;

pub use addresses::free_address;
pub use directories::{Scratch, empty_directory};
pub use previous_version::{copy_previous_data, previous_text, previous_version};
pub use random::{Random, Whole};
pub use stored::{assert_same_text, check_stored, replaced_part};
pub use waiting::wait_for;
