//! What is run, and what is deployed of it.

use std::collections::BTreeMap;

use mario_domain::{ApplicationId, FactValue, FlavourId, Hardware, NodeId, OwnerId, Quantity};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::range::{Amount, CallCount, Evaluations};
use super::{Time, WrittenHardware, WrittenId};

/// What else is known about something: keys with names or numbers.
pub type Facts = BTreeMap<String, FactValue>;

/// An application.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApplicationSettings {
    /// Which application: a name or a number.
    #[schemars(with = "WrittenId")]
    pub id: ApplicationId,
    /// The group that it belongs to in figures, e.g. `WS`.
    #[serde(default = "no_kind")]
    pub kind: String,
    /// The hardware that one instance needs: units, or a table of kinds such as `{ units = 4, memory_mb = 2048 }`.
    #[serde(default = "one_unit")]
    #[schemars(with = "WrittenHardware")]
    pub hardware: Hardware,
    /// The client requests that one instance handles in one evaluation period. Required, here or in an earlier layer.
    #[schemars(with = "Amount")]
    pub max_rate: Quantity,
    /// The latency that a client request tolerates, in milliseconds. Required, here or in an earlier layer.
    #[schemars(with = "Amount")]
    pub max_latency: Quantity,
    /// Who runs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<WrittenId>")]
    pub owner: Option<OwnerId>,
    /// The policy of its agents: the name of a shipped one or the path of a `.pl` file.
    #[serde(default = "default_policy")]
    pub policy: String,
    /// For how many of its last evaluations an agent of it remembers what was inhibited; `memory.cycles` unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Evaluations>")]
    pub memory: Option<u32>,
    /// How long an instance takes to serve one client request; `network.service_time` unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_time: Option<Time>,
    /// Where it starts, and where its operator deploys it again when no instance is left; the cloud unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<WrittenId>")]
    pub home: Option<NodeId>,
    /// What else is known about it: `fact/3` in a policy.
    #[serde(default, skip_serializing_if = "Facts::is_empty")]
    #[schemars(with = "BTreeMap<String, WrittenId>")]
    pub facts: Facts,
    /// How its instances sleep; unless given, they do not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sleep: Option<SleepSettings>,
    /// The ways to run it, the default first, which has the numbers above. One way only unless given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flavour: Vec<FlavourSettings>,
    /// Whether users use it themselves. Unless given: yes, if no other application calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub users: Option<bool>,
    /// What an instance of it calls, from its node, for each client request that it has served.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub call: Vec<CallSettings>,
}

/// Requests to another application. Calls are made in the order in which they are listed, each when the one before it has been answered; those
/// in parallel that follow each other begin together.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CallSettings {
    /// Which application is called.
    #[schemars(with = "WrittenId")]
    pub application: ApplicationId,
    /// How many requests it gets for each client request that the caller has served.
    #[serde(default = "one_request")]
    #[schemars(with = "CallCount")]
    pub requests: u32,
    /// `sequence`: each request is sent when the one before it has been answered. `parallel`: all are sent at once, together with those of parallel
    /// calls right before and after.
    #[serde(default)]
    pub order: CallOrderWord,
}

/// How the requests of calls follow each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CallOrderWord {
    /// One after another.
    #[default]
    Sequence,
    /// All at once.
    Parallel,
}

/// How the instances of an application sleep.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SleepSettings {
    /// The hardware that a sleeping instance keeps; nothing unless given.
    #[serde(default = "no_hardware")]
    #[schemars(with = "WrittenHardware")]
    pub keeps: Hardware,
    /// How long an instance takes to start when it wakes; it starts at once unless given.
    #[serde(default = "at_once")]
    pub start: Time,
}

/// A way to run an application. What is not given is as in the application itself.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlavourSettings {
    /// Which flavour: a name or a number.
    #[schemars(with = "WrittenId")]
    pub id: FlavourId,
    /// The hardware that one instance needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<WrittenHardware>")]
    pub hardware: Option<Hardware>,
    /// The client requests that one instance handles in one evaluation period.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Amount>")]
    pub max_rate: Option<Quantity>,
    /// The latency that a client request tolerates, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Amount>")]
    pub max_latency: Option<Quantity>,
    /// How good its answers are, in a unit of the owner's own.
    #[serde(default = "full_quality")]
    #[schemars(with = "Amount")]
    pub quality: Quantity,
}

/// What an operator deploys.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeploySettings {
    /// From when on the operator asks for it.
    #[serde(default = "at_once")]
    pub time: Time,
    /// Which application.
    #[schemars(with = "WrittenId")]
    pub application: ApplicationId,
    /// On which node; the application's home unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<WrittenId>")]
    pub node: Option<NodeId>,
    /// The policy of its agent and that agent's replicas; the application's unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
}

fn no_kind() -> String {
    "all".to_owned()
}

fn one_unit() -> Hardware {
    Hardware::units(1)
}

fn no_hardware() -> Hardware {
    Hardware::NONE
}

fn one_request() -> u32 {
    1
}

fn full_quality() -> Quantity {
    Quantity::whole(1)
}

fn default_policy() -> String {
    "workload-and-latency-aware".to_owned()
}

fn at_once() -> Time {
    Time::of(0.0)
}
