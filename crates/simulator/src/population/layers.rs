//! Optimisations. No layer changes a result. [`Reuse::Nothing`](crate::Reuse::Nothing) switches off the caches and
//! parking; tests compare such runs with optimised ones.
//!
//! The speedup of each layer: the CPU time without it, as a multiple of the time with it, in the paper's world at three
//! sizes (traffic as rates, `workload-and-latency-aware`, one thread).
//!
//! | layer | 85 nodes | 21,845 | 349,525 |
//! |---|---|---|---|
//! | `proposal_cache`: an agent with known facts repeats its proposal | 1.02 | 1.01 | 0.97; 1.4 to 1.5 if all decisions are recorded |
//! | `proposal_cache`, recurring snapshots: recurring traffic is identified by a number | 1.14 | 1.28 | 1.36 |
//! | `decision_cache`: agents share decisions on knowledge that is the same up to names | 1.28 | 1.83 | 1.66 |
//! | `parking`: quiescent agents are counted, not visited | 1.35 | 1.52 | 1.47 |
//! | `full_nodes` and `pending`: a request for a full node is inhibited without touching agent or node | 1.02 | 1.10 | 1.10 |
//! | prefetching, in batches before agents are visited | 0.94 | 1.21 | 1.18 |
//!
//! Two further layers were removed because they gained less than 10 % at every size: packing proposals into four bytes,
//! and aligning agents and snapshots to cache lines (0.97 to 1.02).

pub(crate) mod decision_cache;
pub(crate) mod full_nodes;
pub(crate) mod parking;
pub(crate) mod pending;
pub(crate) mod proposal_cache;
