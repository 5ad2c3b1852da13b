//! Virtual time: network, workload, churn, management and measurements.
//!
//! Start at [`Simulation::run`]: it runs a [`Scenario`](mario_scenario::Scenario), everything that a run depends on as
//! plain data, and reports events to a [`Recorder`]:
//!
//! ```
//! use mario_scenario::{Document, NoFiles};
//! use mario_simulator::{RunOptions, Simulation, Tally};
//!
//! let mut document = Document::preset("paper")?;
//! document.set(&["duration=4000".to_owned()]);
//! let scenario = document.resolve(&mut NoFiles)?.scenario;
//!
//! let mut tally = Tally::new(&scenario);
//! Simulation::new(&scenario, RunOptions::default())?.run(&mut tally);
//! assert!(tally.figures().groups[0].operations.replicate > 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`RunDirectory`] is the recorder that stores a run: its trace, its tables and its [`Figures`].
//!
//! **Invariant:** a run is a pure function of the scenario, whose seed is part of it. Threads and the reuse of proposals
//! change no byte.
//! **Invariant:** events of one time happen in the order in which they were scheduled.
//!
//! Not here: what a world consists of and how it is written (`scenario`), what agents may do and managers accept (`population`), how
//! a trace is written (`trace`), and whether it is true (`audit`).

mod chance;
mod flow;
mod network;
mod observation;
mod optimum;
mod paths;
mod placement;
pub mod population;
mod queue;
mod routing;
mod whole_number;

mod recorder;
mod simulation;

mod figures;
mod output;
mod validation;

pub use mario_trace::Detail;

pub use figures::{
    Counts, CycleCounts, Figures, FurtherCounts, GroupFigures, Ratios, Regret, RegretFigures, Spread, StepCounts,
    Tally, Versus,
};
pub use optimum::{TooLarge, Value};
pub use output::{
    Checkpoint, Existing, Keep, KeepError, PastError, ResumeError, RunDirectory, Summary, TableOutputs, Tables,
    TraceRecorder, hold_against, verify, write_whole,
};
// Only for the test of the order of events.
#[doc(hidden)]
pub use queue::EventQueue;
pub use recorder::{Cause, Compared, NullRecorder, Recorder, Sent, SentCalls, Served, ServedCall};
pub use simulation::{
    AskedAcceptances, BudgetWatch, CallIndex, Effort, FailedAcceptance, FailedDecision, FirstReasons, InhibitedRequest,
    PolicyPlace, Reuse, RunOptions, Simulation, SimulationError,
};
