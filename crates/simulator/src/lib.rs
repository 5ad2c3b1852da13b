//! A discrete-event simulator of applications on the nodes of a network: users move and send client requests, nodes and
//! links fail, agents manage the instances, and recorders measure.
//!
//! Start at [`Simulation::run`]. It runs a [`Scenario`](mario_scenario::Scenario), which is all input of a run as plain
//! data, and reports events to a [`Recorder`]:
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
//! A recorder of your own implements the methods of [`Recorder`] for the events that it needs:
//!
//! ```
//! # use mario_scenario::{Document, NoFiles};
//! use mario_domain::Time;
//! use mario_scenario::{NodeIndex, UserIndex};
//! use mario_simulator::{Recorder, RunOptions, Simulation};
//!
//! #[derive(Default)]
//! struct Handovers(usize);
//!
//! impl Recorder for Handovers {
//!     fn handover(&mut self, _time: Time, _user: UserIndex, _from: Option<NodeIndex>, _to: Option<NodeIndex>) {
//!         self.0 += 1;
//!     }
//! }
//!
//! # let mut document = Document::preset("paper")?;
//! # document.set(&["duration=4000".to_owned()]);
//! # let scenario = document.resolve(&mut NoFiles)?.scenario;
//! let mut handovers = Handovers::default();
//! Simulation::new(&scenario, RunOptions::default())?.run(&mut handovers);
//! assert!(handovers.0 > 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`RunDirectory`] stores a run in files: its trace, its tables and its [`Figures`]. It also writes [`Checkpoint`]s,
//! from which an interrupted run is resumed.
//!
//! **Invariant:** a run is a pure function of the scenario, which includes the seed. The number of threads and the
//! reuse of proposals do not change a byte of the output.
//!
//! **Invariant:** events at the same time happen in the order in which they were scheduled.
//!
//! **Invariant:** only planners and the computation of regret use the whole infrastructure.
//!
//! **Invariant:** only `output` accesses files. Complete result files, here and in other crates, are written only by
//! `output/whole.rs`.
//!
//! **Invariant:** a run that is checkpointed between any two events and resumed elsewhere writes the same bytes. A new
//! field of the state does not compile until `simulation/checkpoint.rs` and `output/checkpoint.rs` handle it; a new
//! index needs a row in `validation/rules.rs`, because restored state is used only after it was validated.
//!
//! The tables of nodes and agents, and the management cycle, are in [`population`]. Not here: the contents of a world
//! and its file formats (`mario_scenario`), the rules by which managers accept or inhibit operations
//! (`mario_colony::rules`), the evaluation of policies (`mario_policy`), the trace format (`mario_trace`), and the
//! verification of traces (`mario_audit`).
//!
//! This crate is internal to mario: its interface changes without notice.

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
    Counts, CycleCounts, Figures, FurtherCounts, GroupFigures, MeanAndMax, Ratios, Regret, RegretFigures, StepCounts,
    Tally, ValueComparison,
};
pub use optimum::{PlacementValue, TooLarge};
pub use output::{
    Checkpoint, IfExists, OutputError, OutputOptions, PastError, ResumeError, RunDirectory, Summary, TableOutputs,
    Tables, TraceRecorder, compare_with_trace, verify, verify_with,
};
// For the other crates that write result files.
#[doc(hidden)]
pub use output::write_atomically;
// Public only for the benchmarks.
#[doc(hidden)]
pub use queue::EventQueue;
pub use recorder::{CallResults, Cause, NullRecorder, Recorder, RegretSample, Served, ServedCall, UserResults};
pub use simulation::{
    Absence, AcceptanceStatistics, BudgetWatch, CallIndex, FailedAcceptance, FailedDecision, FirstReasons,
    InhibitedRequest, PolicyLocation, Reuse, RunOptions, RunStatistics, Simulation, SimulationError,
};
