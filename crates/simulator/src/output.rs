//! The outputs of a run: a trace, tables, figures.
//!
//! Each output is a [`Recorder`](crate::Recorder) that can use any writer; [`RunDirectory`] opens files for them.

mod checkpoint;
mod digest;
mod directory;
mod past;
mod sealed;
mod tables;
mod trace;
mod whole;

pub use checkpoint::{Checkpoint, ResumeError};
pub use directory::{Existing, Keep, KeepError, RunDirectory, Summary};
pub use past::{PastError, hold_against, verify};
pub use tables::{TableOutputs, Tables};
pub use trace::TraceRecorder;
pub use whole::write_whole;
