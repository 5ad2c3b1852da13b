//! A colony of real daemons on one machine, made from a scenario: real links, real workloads, real HTTP clients, and faults on
//! request.
//!
//! Start at [`run`]: it writes the directory of a colony, starts one `mario node` process for each node, deploys the
//! applications, lets the users of the scenario send requests, and stops every process that it started.
//!
//! | module | what is in it |
//! |---|---|
//! | [`plan`] | what a scenario means live: nodes, links with delays, applications, users |
//! | `directory` | the files of a colony: keys, `node.toml`, signed applications |
//! | `relay` | links with the latency of the scenario, which can be cut |
//! | `daemons` | the processes: start, kill, stop, and nothing left behind |
//! | [`clients`] | the users: HTTP requests in an open loop, from the access point where each user is |
//! | `reach` | which requests could have been answered at all, given the faults |
//! | [`chaos`] | faults drawn from a seed: killed daemons and cut links |
//! | [`summary`] | what came of it |
//! | `window` | what a page outside sees while it runs |
//! | `colony` | all of it together |
//!
//! **Invariant:** every process started here has ended when [`run`] returns, whatever it returns.
//! **Invariant:** every socket is bound to loopback.
//!
//! Not here: what a node does (`live`), and how a run is shown (`cli`).

mod daemons;
mod directory;
mod reach;
mod relay;

pub mod chaos;
pub mod clients;
pub mod plan;
pub mod summary;

mod window;

mod colony;

pub use colony::{Options, Progress, run, stop_signal};
pub use plan::Plan;
pub use summary::Summary;
pub use window::Window;
