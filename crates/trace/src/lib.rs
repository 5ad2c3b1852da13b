//! The writer of traces, for simulated and for live nodes.
//!
//! Start at [`TraceWriter`]: it starts with a [`Header`], takes records as plain data in order, and
//! [ends](TraceWriter::finish) with the results of the run. `docs/trace.md` is the format.
//!
//! Records name nodes, applications, policies and users by their place in the header's tables ([`NodePlace`] and others), and
//! instances by their id. A trace with the detail [`Detail::Summary`] counts instead: the writer sums up moves of users and client
//! requests by itself, and cycles come in by [`TraceWriter::count_cycle`].
//!
//! **Invariant:** the same records produce the same bytes, even across [saving](TraceWriter::saved) and
//! [resuming](TraceWriter::resumed) a writer.
//! **Invariant:** nothing is copied to be written: records borrow, their lists come in as iterators, and lines are put together in
//! one buffer.
//! **Invariant:** a failed write is [kept](TraceWriter::failure) and nothing is written after it, so no trace has a gap.
//!
//! A live node writes parts of a trace: the lines of [`live`]. [`join`](join::join) makes one trace of the parts of many nodes.
//!
//! Not here: what happens (`simulator`, or a live node), files, and reading (`audit`, which shares no code with this).

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
