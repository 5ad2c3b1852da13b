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
//! Small worlds have no rules of their own: what an agent knows, which requests managers accept, what agents remember, and
//! how sleep, flavours and evictions work is computed by [`mario_colony::rules`]. A test compares them with the
//! simulator's population.
//!
//! | what | where |
//! |---|---|
//! | the report on a text | `report` |
//! | the search through all worlds, and what counts as a problem | `explore` |
//! | which worlds are explored for a policy | `explore/variations`, `explore/shape`, `explore/world` |
//! | what an agent knows, and its cached decision | `explore/known`, `explore/decider` |
//! | one cycle | `explore/run` |
//! | counterexamples | `explore/story` |
//!
//! **Invariant:** the findings and counterexamples of a policy are the same on every machine.
//!
//! **Invariant:** no file is read: the caller supplies the texts.
//!
//! Not here: the rules (`colony`), the analysis of texts and the evaluation of policies (`policy`), worlds with time,
//! bandwidth and clients that move (`simulator`).

mod explore;
mod report;

pub use explore::{Bounds, Exploration};
pub use report::{CheckReport, check};
