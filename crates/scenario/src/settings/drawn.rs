//! Random applications.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::range::{ApplicationCount, Units, WholeAmount};
use super::{Positive, Time};

/// Random applications, drawn from the seed, in addition to the listed ones. Each belongs to one sort of the `mix`,
/// chosen in proportion to the weights. Each of its numbers is an integer between the two bounds of its sort,
/// inclusive.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DrawnApplications {
    /// The number of applications.
    #[schemars(with = "ApplicationCount")]
    pub count: u32,
    /// The prefix of their ids; a number from 1 on follows.
    pub prefix: String,
    /// The policy of their agents, unless their sort has its own: the name of a shipped one or the path of a `.pl`
    /// file.
    pub policy: String,
    /// The sorts of applications: each `{ kind = "WS", weight = 1, hardware = [1, 2], max_rate = [5, 20], max_latency =
    /// [10, 30] }`, and optionally `service_time = [0.01, 0.05]`, any time between the two, and `policy`. The default
    /// `weight` is 1, the default `hardware` is `[1, 1]`.
    pub mix: Vec<SortSettings>,
}

/// A sort of applications, from which random applications are drawn.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SortSettings {
    /// The group of these applications in figures.
    pub kind: String,
    /// The number of applications of this sort, relative to the other sorts.
    #[serde(default = "one")]
    pub weight: Positive,
    /// The hardware that one instance needs.
    #[serde(default = "one_unit")]
    #[schemars(with = "[Units; 2]")]
    pub hardware: [u32; 2],
    /// The client requests that one instance handles per evaluation period.
    #[schemars(with = "[WholeAmount; 2]")]
    pub max_rate: [u32; 2],
    /// The latency that a client request tolerates, in milliseconds.
    #[schemars(with = "[WholeAmount; 2]")]
    pub max_latency: [u32; 2],
    /// The time that an instance takes to serve one client request: any time between the two. Default:
    /// `network.service_time`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_time: Option<[Time; 2]>,
    /// The policy of their agents.
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
