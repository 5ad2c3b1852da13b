//! How a shadow policy differs from the policy in use.

use mario_domain::{ApplicationId, InstanceId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::words::AnyId;

/// How a shadow policy differs from the policy in use.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Shadow {
    /// The application.
    #[schemars(with = "AnyId")]
    pub application: ApplicationId,
    /// The version of the description of the shadow.
    #[serde(default)]
    pub version: u64,
    /// Since when it shadows, in milliseconds since 1970.
    #[serde(default)]
    pub since_ms: u64,
    /// How often it was evaluated.
    #[serde(default)]
    pub evaluations: u64,
    /// How often it proposed the same.
    #[serde(default)]
    pub same: u64,
    /// How often it proposed something else.
    #[serde(default)]
    pub differ: u64,
    /// How often it had no valid answer.
    #[serde(default)]
    pub failed: u64,
    /// What the two proposed when they differed.
    #[serde(default)]
    pub differences: Vec<Difference>,
    /// The last decisions in which they differed, oldest first.
    #[serde(default)]
    pub last: Vec<DifferentDecision>,
}

/// A pair of different proposals. The targets are left out; if only they differ, `shadow` ends with `elsewhere`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// The proposal of the policy in use.
    pub policy: String,
    /// The proposal of the shadow.
    pub shadow: String,
    /// How often the pair occurred.
    pub count: u64,
}

/// A decision in which a shadow differed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DifferentDecision {
    /// When, in milliseconds since 1970.
    #[serde(default)]
    pub time_ms: u64,
    /// The instance of the agent.
    #[schemars(with = "AnyId")]
    pub instance: InstanceId,
    /// The proposal of the policy in use.
    pub policy: String,
    /// The proposal of the shadow.
    pub shadow: String,
}
