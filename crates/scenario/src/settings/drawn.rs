//! Random applications.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::range::{ApplicationCount, Units, WholeAmount};
use super::{Positive, Time};

/// Random applications, drawn from the seed, in addition to the listed ones. Each belongs to one sort of the `mix`;
/// sorts are interleaved in proportion to their weights. The hardware, rate and latency of an application are integers
/// between the two bounds of its sort, inclusive.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DrawnApplications {
    /// The number of random applications.
    #[schemars(with = "ApplicationCount")]
    pub count: u32,
    /// The prefix of their ids, which end in a number from 1 on.
    pub prefix: String,
    /// The policy of their agents, unless their sort has its own: the name of a shipped one or the path of a `.pl`
    /// file.
    pub policy: String,
    /// The sorts of applications: each `{ kind = "WS", weight = 1, hardware = [1, 2], max_rate = [5, 20], max_latency =
    /// [10, 30] }`, where pairs are the bounds of random numbers. Optional keys are `weight` (default: 1), `hardware`
    /// (default: `[1, 1]`), `policy`, and `service_time`, e.g. `[0.01, 0.05]`.
    pub mix: Vec<SortSettings>,
}

/// A sort of applications, from which random applications are drawn.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SortSettings {
    /// The kind of these applications. Figures and the assignment of users group applications by kind.
    pub kind: String,
    /// The number of applications of this sort, relative to the weights of the other sorts.
    #[serde(default = "one")]
    pub weight: Positive,
    /// The bounds of the hardware units that one instance needs.
    #[serde(default = "one_unit")]
    #[schemars(with = "[Units; 2]")]
    pub hardware: [u32; 2],
    /// The bounds of the number of client requests that one instance handles per evaluation period.
    #[schemars(with = "[WholeAmount; 2]")]
    pub max_rate: [u32; 2],
    /// The bounds of the maximum tolerated latency of a client request, in milliseconds.
    #[schemars(with = "[WholeAmount; 2]")]
    pub max_latency: [u32; 2],
    /// The bounds of the time that an instance takes to serve one client request. Default: `network.service_time`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_time: Option<[Time; 2]>,
    /// The policy of their agents. Default: `applications.policy`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
}

fn one() -> Positive {
    Positive::of(1.0)
}

fn one_unit() -> [u32; 2] {
    [1, 1]
}

impl DrawnApplications {
    /// Whether no applications are drawn.
    pub fn are_none(&self) -> bool {
        self.count == 0
    }
}

impl Default for DrawnApplications {
    fn default() -> DrawnApplications {
        let sort = |kind: &str, hardware, max_rate, max_latency| SortSettings {
            kind: kind.to_owned(),
            weight: one(),
            hardware,
            max_rate,
            max_latency,
            service_time: None,
            policy: None,
        };
        DrawnApplications {
            count: 0,
            prefix: "app".to_owned(),
            policy: "workload-and-latency-aware".to_owned(),
            mix: vec![sort("WS", [1, 2], [5, 20], [10, 30]), sort("LS", [1, 1], [20, 60], [1, 8])],
        }
    }
}
