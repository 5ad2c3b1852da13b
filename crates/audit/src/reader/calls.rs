//! What applications call, and what became of it.

use serde::{Deserialize, Serialize};

/// A call in a header: requests that instances of one application send to another for each that they have served.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TracedCall {
    /// The application whose instances make it.
    pub caller: u32,
    /// Which of the caller's stages it belongs to, from 0. A stage begins when the one before it has been answered.
    pub stage: u32,
    /// How the requests of the stage follow each other.
    pub order: CallOrder,
    /// The application that is called.
    pub application: u32,
    /// How many requests are sent for each that the caller has served.
    pub requests: u64,
}

/// How the requests of a stage follow each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CallOrder {
    /// Each is sent when the one before it has been answered.
    Sequence,
    /// All are sent at once.
    Parallel,
}

/// How client requests travelled.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TrafficKind {
    /// One by one.
    Messages,
    /// They were counted.
    Rates,
}

/// See [`Record::Calls`](super::Record::Calls).
#[derive(Clone, PartialEq, Debug)]
pub struct Calls {
    /// When.
    pub time: f64,
    /// Which call of the header.
    pub call: u32,
    /// Requests sent.
    pub sent: u64,
    /// Requests served.
    pub served: u64,
    /// Requests lost.
    pub lost: u64,
    /// The sum of the response times of those that were served.
    pub sum: f64,
}
