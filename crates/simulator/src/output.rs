//! The outputs of a run: a trace, tables, figures and checkpoints; and the comparison of a run with a recorded one.
//!
//! The trace and the tables are [`Recorder`](crate::Recorder)s that write to any writer; [`RunDirectory`] opens the
//! files of a run for them.

mod checkpoint;
mod digest;
mod directory;
mod past;
mod sealed;
mod tables;
mod trace;
mod whole;

pub use checkpoint::{Checkpoint, ResumeError};
pub use directory::{IfExists, OutputError, OutputOptions, RunDirectory, Summary};
pub use past::{PastError, compare_with_trace, verify, verify_with};
pub use tables::{TableOutputs, Tables};
pub use trace::TraceRecorder;
pub use whole::write_atomically;
