//! The auditor against true traces, against traces with one lie each, and against noise.

mod mutations;
mod random;
mod trace;
mod truth;
mod world;
