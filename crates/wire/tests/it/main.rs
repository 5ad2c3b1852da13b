//! Integration tests of the wire format.

#![allow(clippy::disallowed_methods, reason = "tests read files and wait for processes")]

mod documents;
mod drawn;
mod golden;
mod hostile;
mod round_trips;
