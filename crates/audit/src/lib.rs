//! An independent auditor of traces: replays a run from its records, and reports contradictions.
//!
//! Start at [`audit()`]: it reads a trace and returns an [`AuditReport`] with the numbers of recorded events, and
//! with the first contradictions, each as a [`Finding`]. [`Audit`] does the same for records from another source.
//!
//! ```
//! use mario_audit::{FindingKind, Options, audit};
//!
//! let trace = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/traces/small.jsonl"));
//! let report = audit(trace.as_bytes(), Options::default(), &mut |_lines| ())?;
//! assert!(report.is_clean());
//! assert_eq!(report.counts.evaluations, 5);
//!
//! // The totals at the end claim one handover too many.
//! let forged = trace.replacen("\"handovers\":1", "\"handovers\":2", 1);
//! let report = audit(forged.as_bytes(), Options::default(), &mut |_lines| ())?;
//! assert_eq!(report.findings[0].kind, FindingKind::Totals);
//!
//! // A record of a node that does not exist cannot even be read.
//! let broken = trace.replacen("[\"deployed\",0,1,0,0,0]", "[\"deployed\",0,1,0,9,0]", 1);
//! assert!(audit(broken.as_bytes(), Options::default(), &mut |_lines| ()).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The auditor replays the state of the infrastructure from the records alone, by the rules of the semantics, and
//! checks each record against it. Values that it cannot derive, such as the number of client requests that reached an
//! instance, are taken as recorded. Decisions are recomputed from them, unless [`Options`] say otherwise.
//!
//! **Invariant:** it shares no code with the writers of traces, nor with the reader and the state of everyone else
//! (`mario_trace`). Only the types of the domain are common, and the policy engine, which it uses only to recompute
//! decisions of agents and of node managers.
//!
//! **Invariant:** its memory holds the header, one line, the state of nodes, users and existing instances, one entry
//! for each id of an instance or a transfer that was ever used, a bounded number of findings, and a cache of decisions
//! of bounded size. Beyond that, it does not grow with the length of the trace.
//!
//! **Invariant:** it is total: bytes that are not a trace yield an error, a contradictory trace yields a report, and
//! neither causes a panic.
//!
//! This crate is internal to mario: its interface changes without notice.

pub mod reader;

mod finding;
mod report;

mod world;

mod facts;
mod histories;
mod knowledge;
mod policies;

mod acceptances;
mod decisions;

mod audit;
mod texts;

pub use audit::{Audit, DecisionCheck, INFERENCE_BUDGET_DEFAULT, Options, audit};
pub use finding::{Finding, FindingKind};
pub use report::{AuditReport, Counts, Provenance, TraceEnding};
