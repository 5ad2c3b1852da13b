//! Independent checks over traces.
//!
//! Start at [`audit()`]: it reads a trace and returns a [`Report`] of what was checked and counted, with a [`Finding`]
//! for each contradiction. [`Audit`] is the same for records from elsewhere. [`reader`] is for other consumers of a
//! trace, and [`Knowledge`] for deciding or explaining again.
//!
//! The auditor replays the state of the infrastructure from the records alone, by the rules of the semantics, and
//! checks each record against it. What it cannot know, such as how many client requests reached an instance, it takes
//! as recorded, and recomputes each decision from it.
//!
//! **Invariant:** it shares no code with the writers of traces. Only the policy engine is common, and only to recompute
//! decisions.
//! **Invariant:** its memory is the header, one line, and what is alive, whatever the length of the trace.
//! **Invariant:** total: bytes that are not a trace are an error, a contradictory trace is a report, and neither is a
//! panic.

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
