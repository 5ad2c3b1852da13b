//! Integration tests of the Prolog engine.

#![allow(clippy::disallowed_methods, reason = "tests read files and wait for processes")]

mod answers;
mod campaign;
mod conformity;
mod differential;
mod engine;
mod floats;
mod fuzz;
mod garbage;
mod host;
mod hostile;
mod library;
mod loading;
mod rules;
mod tables;
mod units;
