//! What a run leaves: a trace, tables, figures.
//!
//! Each is a [`Recorder`](crate::Recorder) that writes to whatever it is given; files are the business of whoever runs a
//! scenario.

mod histogram;
mod json;
mod tables;
mod trace;

pub use tables::{TableOutputs, Tables};
pub use trace::{Detail, TraceWriter};
