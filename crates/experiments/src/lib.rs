//! Makes results of runs: figures from traces, the reproduction of the published experiments, comparisons and sweeps.
//!
//! **Invariant:** what is drawn or printed of a kept run is computed from its trace alone.

pub mod report;
