//! Computes results of runs: figures from traces, the reproduction of the published experiments, comparisons of policies,
//! parameter sweeps and plots. It also checks the files of a run against its trace, and turns the state of a run into a
//! scenario. `mario-report` shows results on a page.
//!
//! Start at [`figures::from_trace`] for the figures of a run, at [`reproduce::reproduce`] for the published
//! experiments, at [`study::carry_out`] for many runs of many policies, at [`comparison::Comparison`] for their
//! differences, and at [`scale::measure`] for the cost of large runs.
//!
//! | module | for |
//! |---|---|
//! | [`figures`], [`measures`], [`metric`] | the figures of a run: operations, response times, energy and costs, and user-defined metrics |
//! | [`drive`] | the loop that runs a simulation to its end |
//! | [`study`], [`runs`], [`sweep`] | many runs: their plan, their execution on several threads, their storage and merging |
//! | [`comparison`], [`statistics`] | differences between policies, with confidence intervals and tests |
//! | [`reproduce`], [`published`] | the experiments of the paper, and its figures |
//! | [`plot`], [`table`] | charts for papers, and tables of texts |
//! | [`snapshot`] | the state of a run, or of live nodes, at a given time, as a scenario |
//! | [`replay`] | what happened from then on, as recorded and under another policy |
//! | [`run_files`] | checks the files of a run against its trace |
//! | [`scale`] | the cost of large runs |
//!
//! The figures of one run:
//!
//! ```
//! use mario_experiments::figures;
//! use mario_scenario::{Document, NoFiles};
//! use mario_simulator::{Detail, RunOptions, Simulation, TraceRecorder};
//!
//! let mut document = Document::preset("paper")?;
//! document.set(&["duration=4000".to_owned()]);
//! let scenario = document.resolve(&mut NoFiles)?.scenario;
//!
//! let mut recorder = TraceRecorder::new(Vec::new(), &scenario, Detail::Full);
//! let mut simulation = Simulation::new(&scenario, RunOptions::default())?;
//! simulation.run(&mut recorder);
//! let trace = recorder.finish(simulation.now())?;
//!
//! let run = figures::from_trace(trace.as_slice())?;
//! let all = run.figures.groups.first().expect("the group of all applications");
//! assert!(all.operations.replicate > 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A comparison of two policies, each with the same three seeds, on two threads:
//!
//! ```
//! use mario_experiments::comparison::Comparison;
//! use mario_experiments::runs::Contender;
//! use mario_experiments::study::{Shard, StudyPlan, carry_out};
//! use mario_scenario::{Document, NoFiles};
//!
//! let mut document = Document::preset("paper")?;
//! document.set(&["duration=2000".to_owned()]);
//! let plan = StudyPlan {
//!     document: &document,
//!     variants: vec![Vec::new()],
//!     contenders: ["latency-aware", "workload-aware"].map(Contender::read).to_vec(),
//!     seeds: 3,
//!     shard: Shard::WHOLE,
//!     jobs: 2,
//! #   metrics: Vec::new(),
//! #   metric_timeout: std::time::Duration::from_secs(60),
//! #   functions: Default::default(),
//! #   outcomes: Vec::new(),
//! #   kept_seeds: Vec::new(),
//! };
//! let results = carry_out(&plan, None, || NoFiles, &mut |_done, _of| true)?;
//! assert!(Comparison::of(&results, &[]).text().contains("latency-aware"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Invariant:** figures of a stored run are computed from its trace alone.
//!
//! **Invariant:** results do not depend on the number of threads, except measured times and memory.
//!
//! **Invariant:** this crate never writes to a terminal. Output for users is returned as text.
//!
//! This crate is internal to mario: its interface changes without notice.

#![allow(clippy::disallowed_methods, reason = "a shell: files, clocks and the environment are its work")]

// Modules that read traces deny wildcard arms, so that none swallows a new operation, record or change in silence.

#[deny(clippy::wildcard_enum_match_arm)]
pub mod figures;
#[deny(clippy::wildcard_enum_match_arm)]
pub mod run_files;

pub mod measures;
pub mod metric;
pub mod statistics;

pub mod drive;
pub mod runs;

pub mod published;
pub mod reproduce;

pub mod study;

pub mod comparison;
pub mod plot;
pub mod sweep;
pub mod table;

#[deny(clippy::wildcard_enum_match_arm)]
pub mod replay;
#[deny(clippy::wildcard_enum_match_arm)]
pub mod snapshot;

pub mod scale;
