//! The data of the operators' interface: a type for each answer, request body and event. The node serialises them; the
//! dashboard, the command line and the testbed parse them.
//!
//! Start at [`ENDPOINTS`], the table of requests. `openapi.json` is generated from it and from these types.
//!
//! A node and its reader may be of different versions:
//!
//! - A field that an older node does not send has a default.
//! - A field that a newer node adds is ignored, and [`Received::unknown`] names it.
//! - A [`Word`] of a vocabulary, an [`Event`], a [`Report`] or the state of an [`Instance`] that a newer node adds is
//!   [`Word::Unknown`], [`Happening::Unknown`] and so on, so that a reader can show it as such.
//!
//! **Invariant:** what this version of a node sends has no part that these types do not know.
//!
//! **Invariant:** no I/O.

mod endpoint;
mod endpoints;
mod openapi;

mod received;
mod words;

mod event;
mod report;

mod application;
mod command;
mod explanation;
mod instance;
mod journal;
mod link;
mod route;
mod shadow;
mod status;
mod testbed;

#[cfg(test)]
mod tests;

pub use application::{
    ApplicationDescription, Applications, Fact, FlavourDescription, Hosted, PolicyFiles, SleepDescription,
};
pub use command::{Anchored, Deployed, DrainRequest, Drained, ErrorAnswer, Lost, Pinned, Undeployed, Updated};
pub use endpoint::{Action, Endpoint};
pub use endpoints::ENDPOINTS;
pub use event::{Event, Happening, NodeEvent, UnknownEvent};
pub use explanation::{
    Change, Clause, Comparison, ExplainedDecision, Explanation, ExplanationLine, FactChange, LineRole, MissedClause,
    MissedOperation, Proof, ProofStep,
};
pub use instance::{
    AgentFacts, CopyState, CopyStatus, CustodyState, Instance, InstanceInCustody, Instances, OtherInstance,
    OwnedInstance, OwnedState, RequestRate, RestartStatus,
};
pub use journal::{CustodyStatus, GrantStatus, JournalStatus, Peer, PeerState};
pub use link::{Link, Links};
pub use openapi::{openapi_text, schemas};
pub use received::{Received, Unknown};
pub use report::{JudgedRequest, NodeReport, Report, RequestTarget, Requester, UnknownReport};
pub use route::{Conflict, CopyRoute, Hop, Name, Routes};
pub use shadow::{Difference, DifferentDecision, Shadow};
pub use status::{CertificateStatus, Confirmation, Health, Status};
pub use testbed::{TestbedApplication, TestbedData, TestbedNode};
pub use words::{Capacity, Hardware, Operation, Spelled, Unbounded, Word};
