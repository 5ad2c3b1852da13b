//! The writer of traces, for simulated and for live nodes.
//!
//! Start at [`TraceWriter`]: it starts with a [`Header`], takes records as plain data in order, and
//! [ends](TraceWriter::finish) with the results of the run. `docs/trace.md` is the format.
//!
//! Records refer to nodes, applications, policies and users by their index in the header's tables ([`NodePlace`] and
//! others), and to instances by their id. A trace with the detail [`Detail::Summary`] has counts instead: the writer
//! sums up handovers and client requests, and cycles are recorded by [`TraceWriter::count_cycle`].
//!
//! **Invariant:** the same records produce the same bytes, even across [saving](TraceWriter::saved) and
//! [resuming](TraceWriter::resumed) a writer. **Invariant:** writing copies no data: records borrow, their lists are
//! iterators, and lines are assembled in one buffer. **Invariant:** a failed write is [kept](TraceWriter::failure) and
//! nothing is written after it, so no trace has a gap.
//!
//! A live node writes parts of a trace: the lines of [`live`]. [`join`](join::join) merges the parts of many nodes into
//! one trace.
//!
//! Not here: the runs themselves (`simulator`, `live`), files, and reading (`audit`, which shares no code with this).

mod header;
mod place;
mod record;
mod sleep;

mod writer;

pub mod join;
pub mod live;

mod calls;
mod clients;
mod cycle;
mod evaluation;
mod owner;
mod summing;
mod update;

mod histogram;
pub mod json;
mod latencies;
mod saved;

pub use cycle::Cycle;
pub use header::{Header, HeaderApplication, HeaderCall, HeaderLive, HeaderNode, HeaderPolicy, HeaderUser, Version};
pub use place::{AcceptancePlace, ApplicationPlace, CallPlace, NodePlace, PolicyPlace, UserPlace};
pub use record::{
    Cause, Decided, Deployed, Detail, Evaluation, Judged, OwnerAct, OwnerActKind, Regret, RequestsSeen, Sent,
    SentCalls, Solution, Target, Worth,
};
pub use summing::Counts;
pub use writer::TraceWriter;
