//! A colony of real daemons on one machine, built from a scenario: real links, real workloads, real HTTP clients, and
//! faults on request.
//!
//! Start at [`run`]: it writes the directory of a colony, starts one `mario node` process per node, deploys the
//! applications, sends the requests of the scenario's users, and stops every process that it started.
//!
//! | module | what is in it |
//! |---|---|
//! | [`plan`] | the live form of a scenario: nodes, links with delays, applications, users |
//! | `directory` | the files of a colony: keys, `node.toml`, signed applications |
//! | `relay` | links with the latency of the scenario, which can be cut |
//! | `memory` | whether the machine has enough memory |
//! | `daemons` | the processes: start, kill, stop, and leave none behind |
//! | [`clients`] | the users: HTTP requests in an open loop, from the access point where each user is |
//! | `reach` | which requests could have been answered, given the faults |
//! | [`chaos`] | faults drawn from a seed: killed daemons and cut links |
//! | [`summary`] | the results |
//! | `feed` | the data of a running colony for a dashboard |
//! | `colony` | runs a colony from start to end |
//!
//! A [`Plan`] is the live form of a scenario:
//!
//! ```
//! use mario_scenario::{Document, NoFiles};
//! use mario_testbed::Plan;
//!
//! let mut document = Document::preset("paper")?;
//! document.set(&["topology.size=2".to_owned()]);
//! let scenario = document.resolve(&mut NoFiles)?.scenario;
//!
//! // 1000 time units of the scenario pass per second, so a time unit is a millisecond.
//! let plan = Plan::new(&scenario, 1000.0)?;
//! assert_eq!(plan.nodes.len(), 5);
//! assert_eq!(plan.links.len(), 4, "the cloud and its four children");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Invariant:** every process started here has ended when [`run`] returns, even with an error.
//!
//! **Invariant:** every socket is bound to loopback.
//!
//! **Invariant:** clients send requests at the times of the scenario, and never wait for an answer first.
//!
//! The node itself is in `live`, and the output for users in `cli`.
//!
//! This crate is internal to mario: its interface changes without notice.

#![allow(clippy::disallowed_methods, reason = "a shell: files, clocks and the environment are its work")]

mod daemons;
mod directory;
mod memory;
mod reach;
mod relay;

pub mod chaos;
pub mod clients;
pub mod plan;
pub mod summary;

mod feed;

mod colony;

pub use colony::{Options, Progress, run, stop_signal};
pub use feed::DashboardFeed;
pub use plan::Plan;
pub use summary::Summary;
