//! What a testbed knows about its colony, and nodes do not. It is shown by the dashboard beside the answers of nodes.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a testbed knows about its colony.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct TestbedData {
    /// The title of the page.
    pub title: Option<String>,
    /// Facts that are shown under the title.
    #[serde(default)]
    pub facts: BTreeMap<String, String>,
    /// The nodes by id.
    #[serde(default)]
    pub nodes: BTreeMap<String, TestbedNode>,
    /// The applications by id.
    #[serde(default)]
    pub applications: BTreeMap<String, TestbedApplication>,
    /// The faults that the testbed injects.
    #[serde(default)]
    pub faults: Vec<String>,
    /// How the run ended; null before it does.
    pub outcome: Option<String>,
}

/// A node of a testbed.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct TestbedNode {
    /// Its tier; 0 is the top.
    pub tier: Option<usize>,
    /// The name of its tier.
    pub tier_name: Option<String>,
    /// The users at it, if it is an access point.
    pub users: Option<u64>,
}

/// An application, as measured at the clients of a testbed.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct TestbedApplication {
    /// Client requests per second.
    pub requests_per_s: Option<f64>,
    /// Requests that failed.
    pub failed: Option<u64>,
    /// The share of the latest requests that were answered late.
    pub late_share: Option<f64>,
    /// The median of the latest response times.
    pub p50_ms: Option<f64>,
    /// The 95th percentile of the latest response times.
    pub p95_ms: Option<f64>,
    /// The 99th percentile of the latest response times.
    pub p99_ms: Option<f64>,
}
