//! Independent checks over traces.
//!
//! Start at [`audit()`]: it reads a trace and gives a [`Report`] of what was checked, what was counted, and what is wrong,
//! each as a [`Finding`]. [`Audit`] is the same for records that come from elsewhere. [`reader`] is for whoever makes
//! something else of a trace, and [`Knowledge`] for whoever wants to decide or explain again.
//!
//! The auditor replays the state of the infrastructure from the records alone, by the rules of the semantics, and holds
//! each record against it. What it cannot know, such as how many client requests reached an instance, it takes as
//! recorded, and makes each decision again from it.
//!
//! **Invariant:** it shares no code with what writes traces. The one thing in common is the policy engine, and even that only
//! to make decisions again.
//! **Invariant:** its memory is the header, one line, and what is alive, whatever the length of the trace.
//! **Invariant:** total: bytes that are no trace are an error, a trace that cannot be is a report, and neither is a panic.

pub mod reader;

mod finding;
mod report;

mod world;

mod facts;
mod knowledge;
mod past;
mod policies;

mod acceptances;
mod decisions;

mod audit;
mod texts;

pub use audit::{Audit, Decide, INFERENCES, Options, audit};
pub use finding::{Finding, FindingKind};
pub use knowledge::{Knowledge, Situation};
pub use past::{Pasts, Recalled};
pub use policies::resolver;
pub use report::{Counts, Provenance, Report, TraceEnding};
