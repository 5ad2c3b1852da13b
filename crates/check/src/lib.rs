//! Finds problems in a policy before it is deployed: those in its text, and those that occur when agents run it in small
//! worlds (bounded model checking).
//!
//! Start at [`check`]. Static analysis is that of [`mario_policy::analyse`]. A policy of agents is then run in all small
//! worlds with the facts that it reads; a finding has a counterexample, the steps of a smallest world in which the
//! problem occurs:
//!
//! ```
//! use mario_check::{Bounds, check};
//! use mario_policy::{FindingKind, PolicySettings};
//! use mario_prolog::{Directories, Engine};
//!
//! let text = "operation(replicate, Instance, self) :- requests(Instance, _, _, _).";
//! let files = || Box::new(Directories::new(["."])) as Box<_>;
//! let bounds = Bounds { nodes: 2, ..Bounds::default() };
//! let report = check(&Engine::new(), "greedy.pl", text, &files, PolicySettings::default(), &bounds, &mut |_| {})?;
//! assert_eq!(report.findings[0].kind, FindingKind::UnboundedReplication);
//! assert!(report.findings[0].story[0].starts_with("nodes: n1 alone"));
//! # Ok::<(), mario_policy::PolicyError>(())
//! ```
//!
//! **Invariant:** the findings and counterexamples of a policy are the same on every machine.
//!
//! **Invariant:** no file is read: the caller supplies the texts.

mod explore;
mod report;

pub use explore::{Bounds, Exploration};
pub use report::{CheckReport, check};
