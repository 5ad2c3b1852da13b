//! The live node: [`mario_colony::Node`] with real time, real links, real workloads and real clients.
//!
//! Start at [`daemon::run`]; `seams` has the interfaces between the parts of the daemon.
//!
//! | module | what is in it |
//! |---|---|
//! | [`config`] | `node.toml`, and the checks of a machine before a node starts on it |
//! | [`identity`] | the authority of a colony, certificates, and TLS with them |
//! | [`application`] | applications as their owners describe and sign them |
//! | `journal` | the records of a node on disk |
//! | `recorder` | the node's part of the trace of its colony |
//! | `admission`, `descriptors` | which connections the node serves at once, and how many file descriptors it has |
//! | `links` | connections with mutual TLS to each neighbour, for messages and for client requests |
//! | [`daemon`] | the node's event loop, its copies and its routes |
//! | [`api`] | the data of the operators' interface |
//! | [`operators`] | the operators' interface, and a client for it |
//! | [`survey`], [`rollout`] | what several nodes tell, and changes of applications on several nodes |
//! | `traffic` | the data plane: client requests, hop by hop |
//! | [`workloads`] | the driver that runs copies of applications as processes |
//! | `seams` | the interfaces between the daemon, the data plane and the drivers of workloads |
//!
//! External input is checked before it is used. For example, errors in the configuration of a node have positions:
//!
//! ```
//! use std::path::Path;
//!
//! use mario_live::config::NodeConfig;
//!
//! let text = r#"
//! id = "edge-1"
//! capacity = 8
//!
//! [listen]
//! links = "127.0.0.1:7440"
//! ingress = "127.0.0.1:8080"
//! operators = "127.0.0.1:7441"
//!
//! [identity]
//! authority = "ca.pem"
//! certificate = "edge-1.pem"
//! key = "edge-1.key"
//! "#;
//! let config = NodeConfig::read("node.toml", text, Path::new("/etc/mario"))?;
//! assert_eq!(config.identity.key, Path::new("/etc/mario/edge-1.key"));
//!
//! let wrong = text.replace("127.0.0.1:8080", "here");
//! let error = NodeConfig::read("node.toml", &wrong, Path::new("/etc/mario")).expect_err("`here` is no address");
//! let mistake = &error.mistakes[0];
//! assert_eq!(mistake.message, "\"here\" is not an address with a port");
//! assert_eq!(&wrong[mistake.place.clone().expect("a place").span], "\"here\"");
//! # Ok::<(), mario_live::config::ConfigError>(())
//! ```
//!
//! `mario node` runs the daemon with such a configuration, roughly as follows; the crate `testbed` runs many nodes on
//! one machine.
//!
//! ```no_run
//! use std::path::Path;
//!
//! use mario_live::config::{NodeConfig, check};
//! use mario_live::daemon::{DaemonDependencies, WorkloadsAtStop, run, stop_signal};
//! use mario_live::workloads::Launcher;
//! use mario_prolog::Engine;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let engine = Engine::new();
//! let text = std::fs::read_to_string("node.toml")?;
//! let config = NodeConfig::read("node.toml", &text, Path::new("."))?;
//! let checked = check(&config, &engine)?;
//! // The daemon starts workloads through its own executable, which handles these two commands.
//! let launcher = Launcher {
//!     binary: std::env::current_exe()?,
//!     launch: vec!["workload-launch".to_owned()],
//!     sample: vec!["workload-sample".to_owned()],
//! };
//! let ready = |addresses| println!("{addresses:?}");
//! let dependencies = DaemonDependencies { launcher, workloads_at_stop: WorkloadsAtStop::Keep };
//! run(config, checked, &engine, dependencies, ready, stop_signal()?).await?;
//! # Ok(())
//! # }
//! ```
//!
//! **Invariant:** agents and managers decide in [`mario_colony::Node`]; this crate feeds it inputs, and performs its
//! effects. There are two exceptions: this crate rejects transfers, deploys and updates whose signed description this
//! node cannot use, and chooses the targets of the instances of a draining node.
//!
//! **Invariant:** everything that a neighbour, a client or a workload can send is bounded.
//!
//! **Invariant:** only processes that this daemon started are killed, or those that a previous daemon on the same data
//! directory started.
//!
//! **Invariant:** no effect of a node is performed before all preceding journal records are on disk.
//!
//! This crate is internal to mario: its interface changes without notice.

#![allow(clippy::disallowed_methods, reason = "a shell: files, clocks and the environment are its work")]

use mario_prolog::Budget;

mod admission;
mod descriptors;
mod error;
mod random;

pub mod config;
pub mod identity;

pub mod application;
mod journal;

// For tests, benchmarks and fuzz targets.
#[doc(hidden)]
pub mod seams;
#[doc(hidden)]
pub mod traffic;

pub mod workloads;

pub mod api;

mod links;
mod recorder;

pub mod daemon;
pub mod operators;
pub mod rollout;
pub mod survey;

pub use error::LiveError;
#[doc(hidden)] // For the panic hook of the command line.
pub use journal::contains_panics;
pub use random::random_id;

/// The budget of one decision on a node. It is small because nodes run policies that they do not trust, and a decision
/// must not delay the daemon's other work.
pub const BUDGET: Budget = Budget {
    inferences: 2_000_000,
    heap_bytes: 32 << 20,
    trail_entries: 1 << 20,
    choice_points: 1 << 18,
    answers: 10_000,
    output_bytes: 64 << 10,
};
