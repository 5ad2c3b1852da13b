//! Writes traces of simulated runs, joins the parts that live nodes write into one trace, and reads and applies traces.
//!
//! Start at [`TraceWriter`] to write, and at [`reader::TraceReader`] and [`State::apply`] to read.
//!
//! A [`TraceWriter`] is created with a [`Header`], takes records as plain data in order, and
//! [ends](TraceWriter::finish) with the results of the run. `docs/trace.md` describes the format.
//!
//! ```
//! use mario_domain::{Capacity, Duration, Hardware, InstanceId, NodeId, Quantity, Time};
//! use mario_domain::{Application, ApplicationId};
//! use mario_trace::{ApplicationRef, Detail, Header, HeaderApplication, HeaderNode, HeaderPolicy, NodeRef};
//! use mario_trace::{PolicyRef, TraceWriter, Version};
//!
//! # let application = Application {
//! #     id: ApplicationId::name("video")?,
//! #     owner: None,
//! #     hardware: Hardware::units(2),
//! #     max_rate: Quantity::whole(10),
//! #     max_latency: Quantity::whole(5),
//! #     flavours: Vec::new(),
//! #     sleep: None,
//! # };
//! # let (node, files) = (NodeId::name("n1")?, [("stay.pl".to_owned(), "operation(_, _, _) :- fail.".to_owned())]);
//! let header = Header {
//!     version: Version::Second,
//!     scenario: "one node",
//!     seed: 7,
//!     duration: Duration::of(100.0),
//! #     step: Duration::of(50.0),
//! #     evaluation_period: Duration::of(10.0),
//! #     decision_budget: None,
//! #     detail: Detail::Full,
//! #     observation: "arrivals",
//! #     routing: "nearest",
//! #     arbitration: "managers",
//! #     memory: "sliding",
//! #     forgets_every: None,
//! #     notice: None,
//! #     applications: vec![HeaderApplication { application: &application, kind: "WS", policy: PolicyRef(0), is_anchor: false }],
//! #     calls: Vec::new(),
//! #     traffic: None,
//! #     tiers: &[],
//! #     measures: false,
//! #     models: None,
//! #     live: None,
//! #     nodes: vec![HeaderNode {
//! #         id: &node,
//! #         capacity: Capacity::units(4),
//! #         tier: 0,
//! #         neighbours: Vec::new(),
//! #         position: None,
//! #         is_access_point: true,
//! #         acceptance: None,
//! #     }],
//! #     facts: Vec::new(),
//! #     policies: vec![HeaderPolicy { name: "stay", memory: 0, files: &files }],
//! #     acceptances: Vec::new(),
//! #     users: Vec::new(),
//!     // … the tables of applications, nodes, policies and users
//! };
//! let mut writer = TraceWriter::new(Vec::new(), &header);
//! writer.deployed(Time::at(0.0), &InstanceId::number(1), ApplicationRef(0), NodeRef(0), PolicyRef(0));
//! let trace = String::from_utf8(writer.finish(Time::at(100.0))?)?;
//! assert_eq!(trace.lines().nth(1), Some(r#"["deployed",0,1,0,0,0]"#));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Records refer to nodes, applications, policies and users by their index in the header's tables ([`NodeRef`] and
//! others), and to instances by their id. A trace with [`Detail::Summary`] has counts instead: the writer sums up
//! handovers and client requests, and [`TraceWriter::count_cycle`] records cycles.
//!
//! **Invariant:** the same records produce the same bytes, even if the writer is [saved](TraceWriter::saved) and
//! [resumed](TraceWriter::resumed) in between.
//!
//! **Invariant:** it depends on no population, scenario or file, so that a live node writes the same traces. The auditor
//! uses neither its writer nor its reader, so that it shares no code with them.
//!
//! **Invariant:** only [`State`] knows what a record does to the placement. A caller that needs the placement takes its
//! changes.
//!
//! **Invariant:** every line is assembled in one reused buffer.
//!
//! **Invariant:** after a failed write, nothing more is written, and the [error is kept](TraceWriter::failure), so that
//! no trace has a gap.
//!
//! A live node writes parts of a trace, whose lines are defined in [`live`]. [`join`](join::join) merges the parts of
//! many nodes into one trace.
//!
//! Not here: the runs themselves (`mario_simulator`, `mario_live`), opening files, figures and tables
//! (`mario_experiments`), and whether a trace is right (`mario_audit`, which shares no code with this crate).
//!
//! This crate is internal to mario: its interface changes without notice.

mod arrays;
mod header;
mod record;
mod reference;
mod sleep;

mod writer;

pub mod join;
pub mod live;

#[deny(clippy::wildcard_enum_match_arm)]
pub mod reader;
#[deny(clippy::wildcard_enum_match_arm)]
mod state;

mod calls;
mod clients;
mod cycle;
mod evaluation;
mod owner;
mod summing;
mod update;

mod histogram;
// For `mario_simulator`, which formats the numbers in its tables as in the trace.
#[doc(hidden)]
pub mod json;
mod latencies;
mod saved;

pub use cycle::Cycle;
pub use header::{Header, HeaderApplication, HeaderCall, HeaderLive, HeaderNode, HeaderPolicy, HeaderUser, Version};
pub use record::{
    CallResults, Cause, Detail, Element, Evaluation, FactsAndDecision, Neighbour, OperationTarget, Outcome, OwnerAct,
    OwnerActKind, PlacementValue, Proposal, Regret, RequestFact, Solution, Target, UserResults, Verdict,
};
pub use reference::{AcceptanceRef, ApplicationRef, CallRef, InstanceRef, NodeRef, PolicyRef, UserRef};
pub use state::{Actor, Body, Change, Instance, InstanceEnd, Origin, State};
pub use summing::Counts;
pub use writer::TraceWriter;
