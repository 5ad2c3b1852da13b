//! Makes results of runs: figures from traces, the reproduction of the published experiments, comparisons and sweeps, and a
//! report of them.
//!
//! Start at [`figures::from_trace`] for what a run came to, and at [`report::Report`] to see it.
//!
//! **Invariant:** what is drawn or printed of a kept run is computed from its trace alone.

pub mod figures;
pub mod report;
