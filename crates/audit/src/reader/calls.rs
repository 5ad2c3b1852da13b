//! Calls between applications, and their results.

use serde::{Deserialize, Serialize};

/// A call in a header: requests that instances of one application send to another for each request that they serve.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TracedCall {
    /// The index of the calling application.
    pub caller: u32,
    /// The stage in which the caller sends the requests, from 0. A stage starts when the previous one has been
    /// answered.
    pub stage: u32,
    /// The order of the requests of the stage.
    pub order: CallOrder,
    /// The index of the called application.
    pub application: u32,
    /// The number of requests that are sent for each request that the caller serves.
    pub requests: u64,
}

/// The order of the requests of a stage.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CallOrder {
    /// Each is sent when the previous one has been answered. Such a stage has only one call.
    Sequence,
    /// All are sent at once, including those of the other calls of the stage.
    Parallel,
}

/// How client requests were simulated.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TrafficKind {
    /// As individual messages.
    Messages,
    /// As rates.
    Rates,
}

/// See [`TraceRecord::Calls`](super::TraceRecord::Calls).
#[derive(Clone, PartialEq, Debug)]
pub struct Calls {
    /// The end of the run.
    pub time: f64,
    /// The index of the call in the header.
    pub call: u32,
    /// Requests sent, including those still in transit at the end.
    pub sent: u64,
    /// Requests served.
    pub served: u64,
    /// Requests lost.
    pub lost: u64,
    /// The sum of the response times of served requests.
    pub sum: f64,
}
