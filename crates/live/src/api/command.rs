//! Commands of operators, and the answers to them.

use mario_domain::{ApplicationId, InstanceId, NodeId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::words::AnyId;

/// An instance was deployed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Deployed {
    /// The instance.
    #[schemars(with = "AnyId")]
    pub instance: InstanceId,
    /// Its application.
    #[schemars(with = "AnyId")]
    pub application: ApplicationId,
    /// Its node.
    #[schemars(with = "AnyId")]
    pub node: NodeId,
}

/// An instance is being undeployed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Undeployed {
    /// The instance.
    #[schemars(with = "AnyId")]
    pub instance: InstanceId,
}

/// The description of an instance was replaced or restored.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Updated {
    /// The instance.
    #[schemars(with = "AnyId")]
    pub instance: InstanceId,
    /// The version before.
    pub from: Option<u64>,
    /// The version now.
    pub version: Option<u64>,
    /// Whether the instance had another description before.
    #[serde(default = "changed")]
    pub is_changed: bool,
    /// How long the copy may take to finish its requests and to become healthy again.
    pub restart_timeout_ms: Option<u64>,
}

/// Nodes that do not say so change every instance that they are asked to.
const fn changed() -> bool {
    true
}

/// An instance was pinned or unpinned.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Pinned {
    /// The instance.
    #[schemars(with = "AnyId")]
    pub instance: InstanceId,
    /// Whether it is pinned now.
    pub is_pinned: bool,
}

/// An instance was made an anchor, or is none any more.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Anchored {
    /// The instance.
    #[schemars(with = "AnyId")]
    pub instance: InstanceId,
    /// Whether it is an anchor now.
    pub is_anchor: bool,
}

/// Starts or ends draining.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DrainRequest {
    /// Whether the node drains from now on.
    pub is_draining: bool,
}

/// Draining started or ended.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Drained {
    /// Whether the node drains now.
    pub is_draining: bool,
    /// The instances on it.
    #[serde(default)]
    #[schemars(with = "Vec<AnyId>")]
    pub left: Vec<InstanceId>,
}

/// A journal was declared lost.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Lost {
    /// The id of the journal.
    pub lost: String,
}

/// Why a request was rejected.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Error")]
pub struct ErrorAnswer {
    /// What happened.
    pub error: String,
    /// What may help; null if nothing is known.
    pub hint: Option<String>,
}
