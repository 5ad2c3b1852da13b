//! What goes wrong, and right again.

use mario_domain::NodeId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::range::TierNumber;
use super::{Period, Time, WrittenId, read_by_kind};

/// A disturbance, or its end.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ChurnSettings {
    /// A node goes down at once, with all that ran on it.
    Crash(NodeDown),
    /// A node goes as announced.
    Leave(NodeLeave),
    /// A node comes up, empty. A node whose first event this is is absent until then.
    Join(NodeJoin),
    /// A link carries nothing.
    LinkDown(LinkDown),
    /// A link carries messages again.
    LinkUp(LinkUp),
}

read_by_kind!(required ChurnSettings {
    "crash" => Crash(NodeDown),
    "leave" => Leave(NodeLeave),
    "join" => Join(NodeJoin),
    "link-down" => LinkDown(LinkDown),
    "link-up" => LinkUp(LinkUp),
});

/// A node is gone at once.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeDown {
    /// When.
    pub time: Time,
    /// Which node.
    #[schemars(with = "WrittenId")]
    pub node: NodeId,
    /// After how long it comes back; without it, it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repair: Option<Period>,
}

/// A node goes as announced.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeLeave {
    /// When it goes.
    pub time: Time,
    /// Which node.
    #[schemars(with = "WrittenId")]
    pub node: NodeId,
    /// For how long before that its manager accepts nothing any more.
    #[serde(default = "no_time")]
    pub notice: Time,
}

/// A node comes, or comes back.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeJoin {
    /// When.
    pub time: Time,
    /// Which node.
    #[schemars(with = "WrittenId")]
    pub node: NodeId,
}

/// A link carries nothing.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkDown {
    /// When.
    pub time: Time,
    /// The two nodes that it links.
    #[schemars(with = "[WrittenId; 2]")]
    pub link: [NodeId; 2],
    /// After how long it carries messages again; without it, it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repair: Option<Period>,
}

/// A link carries messages again.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkUp {
    /// When.
    pub time: Time,
    /// The two nodes that it links.
    #[schemars(with = "[WrittenId; 2]")]
    pub link: [NodeId; 2],
}

/// Nodes that crash and come back at random, drawn from the seed. The whiles are distributed exponentially.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FailureSettings {
    /// The mean time that a node works before it crashes.
    pub mean_time_between: Period,
    /// The mean time before it comes back; without it, it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_repair: Option<Period>,
    /// Of which tiers nodes crash, 0 is the cloud; of all but that unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<TierNumber>>")]
    pub tiers: Option<Vec<u16>>,
    /// From when on nodes crash.
    #[serde(default = "no_time")]
    pub start: Time,
}

/// When an operator redeploys an application that users want and that has no instance left.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RedeploySettings {
    /// After how long an application is deployed again that users want and that has no instance left; never unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<Time>,
}

fn no_time() -> Time {
    Time::of(0.0)
}
