//! Nodes and links that go down or come up, and the redeployment of applications.

use mario_domain::NodeId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::range::TierNumber;
use super::{Period, Time, WrittenId, read_by_kind};

/// A node or link goes down or comes up.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ChurnSettings {
    /// A node goes down at once, with everything on it.
    Crash(NodeDown),
    /// A node announces that it will leave, and later goes down with everything on it.
    Leave(NodeLeave),
    /// A node comes up, empty. A node whose first event is a join is absent until then.
    Join(NodeJoin),
    /// A link goes down.
    LinkDown(LinkDown),
    /// A link comes up.
    LinkUp(LinkUp),
}

read_by_kind!(required ChurnSettings {
    "crash" => Crash(NodeDown),
    "leave" => Leave(NodeLeave),
    "join" => Join(NodeJoin),
    "link-down" => LinkDown(LinkDown),
    "link-up" => LinkUp(LinkUp),
});

/// A node goes down at once.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeDown {
    /// The time of the event.
    pub time: Time,
    /// The node.
    #[schemars(with = "WrittenId")]
    pub node: NodeId,
    /// The time until the node comes back. Without it, the node stays down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repair: Option<Period>,
}

/// A node announces that it will leave, and later goes down with everything on it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeLeave {
    /// The time when the node goes down.
    pub time: Time,
    /// The node.
    #[schemars(with = "WrittenId")]
    pub node: NodeId,
    /// The time from the announcement until the node goes down. Meanwhile, its manager accepts no instances.
    #[serde(default = "no_time")]
    pub notice: Time,
}

/// A node comes up, for the first time or again.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeJoin {
    /// The time of the event.
    pub time: Time,
    /// The node.
    #[schemars(with = "WrittenId")]
    pub node: NodeId,
}

/// A link goes down.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkDown {
    /// The time of the event.
    pub time: Time,
    /// The two nodes of the link.
    #[schemars(with = "[WrittenId; 2]")]
    pub link: [NodeId; 2],
    /// The time until the link comes back. Without it, the link stays down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repair: Option<Period>,
}

/// A link comes up.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkUp {
    /// The time of the event.
    pub time: Time,
    /// The two nodes of the link.
    #[schemars(with = "[WrittenId; 2]")]
    pub link: [NodeId; 2],
}

/// Random crashes and repairs of nodes, drawn from the seed. The times are exponentially distributed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FailureSettings {
    /// The mean time that a node is up before it crashes.
    pub mean_time_between: Period,
    /// The mean time until a crashed node comes back. Without it, crashed nodes stay down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_repair: Option<Period>,
    /// The tiers whose nodes crash. Default: all except 0, the tier of the cloud.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<TierNumber>>")]
    pub tiers: Option<Vec<u16>>,
    /// The time before which no node crashes.
    #[serde(default = "no_time")]
    pub start: Time,
}

/// Whether and when operators redeploy an application that users need and that has no instance left.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RedeploySettings {
    /// The delay after which an operator requests a new instance on the home of an application that users need and that
    /// has no instance left. Without it, no application is redeployed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<Time>,
}

fn no_time() -> Time {
    Time::of(0.0)
}
