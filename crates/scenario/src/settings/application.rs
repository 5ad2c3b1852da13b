//! Applications and their deployments.

use std::collections::BTreeMap;

use mario_domain::{ApplicationId, FactValue, FlavourId, Hardware, NodeId, OwnerId, Quantity};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::range::{Amount, CallCount, Evaluations};
use super::{Time, WrittenHardware, WrittenId};

/// Further facts about a node or an application: keys, each with a name or a number as its value.
pub type Facts = BTreeMap<String, FactValue>;

/// An application.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApplicationSettings {
    /// The id of the application: a name or a number.
    #[schemars(with = "WrittenId")]
    pub id: ApplicationId,
    /// The kind of the application, e.g. `WS`. Figures and the assignment of users group applications by kind. `all`
    /// is no kind: the figures of such an application are only in those of all applications.
    #[serde(default = "no_kind")]
    pub kind: String,
    /// The hardware that one instance needs: units, or a table of kinds such as `{ units = 4, memory_mb = 2048 }`.
    #[serde(default = "one_unit")]
    #[schemars(with = "WrittenHardware")]
    pub hardware: Hardware,
    /// The number of client requests that one instance handles per evaluation period, `agents.period`, or a rate such
    /// as `"100/s"`. Required, here or in an earlier layer.
    #[schemars(with = "Amount", extend("x-quantity" = "request-rate"))]
    pub max_rate: Quantity,
    /// The maximum tolerated latency of a client request, in milliseconds, or with a unit such as `"5 ms"`. Required,
    /// here or in an earlier layer.
    #[schemars(with = "Amount", extend("x-quantity" = "milliseconds"))]
    pub max_latency: Quantity,
    /// The owner of the application: `owner(Application, Owner)` in an acceptance policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<WrittenId>")]
    pub owner: Option<OwnerId>,
    /// The policy of its agents: the name of a shipped one or the path of a `.pl` file.
    #[serde(default = "default_policy")]
    pub policy: String,
    /// The number of evaluations for which an agent remembers an inhibition, with the memory strategy `sliding`.
    /// Default: `memory.cycles`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Evaluations>")]
    pub memory: Option<u32>,
    /// The time that an instance takes to serve one client request. Default: `network.service_time`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_time: Option<Time>,
    /// The node on which operators deploy it by default, and redeploy it when no instance is left. Default: the cloud.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<WrittenId>")]
    pub home: Option<NodeId>,
    /// Whether an instance that operators deploy is an anchor: its agent cannot undeploy it. It stays one when it
    /// migrates; replicas are none. By default, it is no anchor, unlike on live nodes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub anchor: bool,
    /// Further facts about the application: `fact/3` in a policy.
    #[serde(default, skip_serializing_if = "Facts::is_empty")]
    #[schemars(with = "BTreeMap<String, WrittenId>")]
    pub facts: Facts,
    /// How its instances sleep. By default, they cannot sleep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sleep: Option<SleepSettings>,
    /// The flavours: different ways to run it. The first is the default flavour, with the `hardware`, `max_rate` and
    /// `max_latency` of the application. By default, there are no flavours.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flavour: Vec<FlavourSettings>,
    /// Whether users are assigned to it. By default, they are if no other application calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub users: Option<bool>,
    /// The calls that an instance makes, from its node, for each client request that it serves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub call: Vec<CallSettings>,
}

/// Requests to another application. Calls are made in the listed order, each when the previous one has been answered;
/// consecutive parallel calls start together.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CallSettings {
    /// The called application.
    #[schemars(with = "WrittenId")]
    pub application: ApplicationId,
    /// The number of requests for each client request that the caller serves.
    #[serde(default = "one_request")]
    #[schemars(with = "CallCount")]
    pub requests: u32,
    /// `sequence`: each request is sent when the previous one has been answered. `parallel`: all requests are sent at
    /// once, together with the requests of adjacent parallel calls.
    #[serde(default)]
    pub order: CallOrderWord,
}

/// The order in which the requests of calls are sent.
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
    /// The hardware that a sleeping instance keeps. Default: none.
    #[serde(default = "no_hardware")]
    #[schemars(with = "WrittenHardware")]
    pub keeps: Hardware,
    /// The time that an instance takes to start when it wakes. Default: 0.
    #[serde(default = "at_once")]
    pub start: Time,
}

/// A way to run an application. If `hardware`, `max_rate` or `max_latency` is omitted, the value of the application
/// applies.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlavourSettings {
    /// The id of the flavour: a name or a number.
    #[schemars(with = "WrittenId")]
    pub id: FlavourId,
    /// The hardware that one instance needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<WrittenHardware>")]
    pub hardware: Option<Hardware>,
    /// The number of client requests that one instance handles per evaluation period, or a rate such as `"100/s"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Amount>", extend("x-quantity" = "request-rate"))]
    pub max_rate: Option<Quantity>,
    /// The maximum tolerated latency of a client request, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Amount>", extend("x-quantity" = "milliseconds"))]
    pub max_latency: Option<Quantity>,
    /// The quality of its answers, in a unit chosen by the owner. Default: 1.
    #[serde(default = "full_quality")]
    #[schemars(with = "Amount")]
    pub quality: Quantity,
}

/// A deployment by an operator.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeploySettings {
    /// The time at which the operator requests the deployment. The managers judge it at their next activation; at time
    /// 0, before the run starts.
    #[serde(default = "at_once")]
    pub time: Time,
    /// The application.
    #[schemars(with = "WrittenId")]
    pub application: ApplicationId,
    /// The node. Default: the application's home.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<WrittenId>")]
    pub node: Option<NodeId>,
    /// The policy of the agents of the deployed instance and of its replicas. Default: the application's policy.
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
