//! The auditor on correct traces, on traces with one lie each, and on corrupted traces.

#![allow(clippy::disallowed_methods, reason = "tests read files and wait for processes")]

mod budget;
mod calls;
mod golden;
mod live;
mod measured;
mod mutations;
mod owners;
mod promises;
mod reading;
mod regret;
mod remembering;
mod sleep;
mod sums;
mod trace;
mod truth;
mod world;
