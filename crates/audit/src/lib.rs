//! Independent checks over traces.
//!
//! Start at [`audit()`]: it reads a trace and returns a [`Report`] of what was checked and counted, with a [`Finding`]
//! for each contradiction. [`Audit`] does the same for records from another source. [`reader`] is for other consumers
//! of a trace, and [`Knowledge`] for recomputing or explaining decisions.
//!
//! The auditor replays the state of the infrastructure from the records alone, by the rules of the semantics, and
//! checks each record against it. Values that it cannot derive, such as the number of client requests that reached an
//! instance, are taken as recorded, and each decision is recomputed from them.
//!
//! **Invariant:** it shares no code with the writers of traces. Only the policy engine is common, and only to recompute
//! decisions. **Invariant:** its memory holds the header, one line, and the living instances, whatever the length of
//! the trace. **Invariant:** total: bytes that are not a trace are an error, a contradictory trace is a report, and
//! neither is a panic.

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
