//! The messages between routers.

use std::sync::Arc;

use mario_domain::ApplicationId;
use serde::{Deserialize, Serialize};

use super::names::Names;

/// A message between the routers of two neighbours. Messages may be lost, duplicated or late, but never arrive in a
/// later session.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum RoutingMessage {
    /// The routes that the sender announces to the receiver: all of them, or only changes.
    Update(Update),
    /// The sender, or a node whose request it forwards, needs a newer sequence of an application, to use a label or to
    /// announce a larger metric.
    Request(SequenceRequest),
    /// The sender has missed updates and needs all routes again.
    Repeat,
}

/// Routes that a node announces to a neighbour.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Update {
    /// Counts the updates of a session from 1. An update without routes that is not a table repeats the number of the
    /// last update, so that the receiver detects whether it lost that one.
    pub number: u64,
    /// Whether these are all routes that the sender announces to the receiver, or the first part of them. If so,
    /// earlier announcements are void.
    pub is_table: bool,
    /// The routes.
    pub routes: Vec<RouteAnnouncement>,
}

/// The announcement of a route to an application.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct RouteAnnouncement {
    /// The application.
    pub application: ApplicationId,
    /// Its label; `None` for a withdrawal.
    pub label: Option<RouteLabel>,
    /// The names under which clients reach it; `None` if the sender does not know them or has already sent them, and
    /// for a withdrawal.
    pub names: Option<Arc<Names>>,
}

/// A node asks for a label with a newer sequence.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct SequenceRequest {
    /// The application.
    pub application: ApplicationId,
    /// The minimum sequence that the asking node needs.
    pub sequence: u64,
    /// How many more nodes may forward the request.
    pub hops_left: u8,
}

/// How new a route is, and how far away its instance is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct RouteLabel {
    /// The sequence number. Only nodes that host instances of the application increase it.
    pub sequence: u64,
    /// The sum of the costs of the links to the instance, in microseconds, plus 2^30 if the instance is about to end.
    pub metric: u32,
}

impl RouteLabel {
    /// Whether this label is better than another: newer, or equally new and nearer.
    pub fn is_better_than(self, other: RouteLabel) -> bool {
        self.sequence > other.sequence || self.sequence == other.sequence && self.metric < other.metric
    }
}
