//! The choices of strategies: one section for each.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::range::{EvaluationNumber, Evaluations};

/// Who manages.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ManagementSettings {
    /// Who says what is to be done with instances. With all but `agents`, no agent proposes anything, whatever its policy.
    pub strategy: ManagementStrategy,
}

/// Who says what is to be done with instances.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ManagementStrategy {
    /// The agents of instances, each by its policy.
    #[default]
    Agents,
    /// No agent: each arriving user is given an instance at the access point, or as near as there is room.
    EdgeFirstFit,
    /// A central planner that sees everything and searches for a good placement at each activation of the managers.
    CentralGreedy,
    /// The same with an optimal placement; for small worlds only.
    CentralExact,
}

impl ManagementStrategy {
    /// All strategies, each with its word.
    pub(crate) const WORDS: [(&'static str, ManagementStrategy); 4] = [
        ("agents", ManagementStrategy::Agents),
        ("edge-first-fit", ManagementStrategy::EdgeFirstFit),
        ("central-greedy", ManagementStrategy::CentralGreedy),
        ("central-exact", ManagementStrategy::CentralExact),
    ];
}

/// What agents see of their clients' requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ObservationSettings {
    /// How the `requests/4` facts of an agent are made.
    pub strategy: ObservationStrategy,
}

/// How the `requests/4` facts of an agent are made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ObservationStrategy {
    /// From the client requests that reached the instance in its last evaluation period.
    #[default]
    Arrivals,
    /// From the entries of the routing table, as the prototype does.
    RouteEntries,
}

/// Which instance a client request goes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RoutingSettings {
    /// How the instance is chosen.
    pub strategy: RoutingStrategy,
    /// What is near; `least-used` counts hops whatever is written here.
    pub metric: RoutingMetric,
}

/// How the instance that a client request goes to is chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RoutingStrategy {
    /// The nearest; equals take turns.
    #[default]
    Nearest,
    /// Of the nearest, the least used one, kept until the placement changes, as in the prototype.
    LeastUsed,
}

/// What is near.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RoutingMetric {
    /// Few hops.
    #[default]
    Hops,
    /// Little latency.
    Latency,
}

/// How requests to manage are judged.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ArbitrationSettings {
    /// Who judges, and when what is accepted is enacted.
    pub strategy: ArbitrationStrategy,
}

/// Who judges, and when what is accepted is enacted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ArbitrationStrategy {
    /// The managers of all nodes concerned; what is accepted is enacted together.
    #[default]
    Managers,
    /// One operator, last come first served, each enacted at once, as in the prototype.
    Sequential,
}

/// How long agents remember what was inhibited.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MemorySettings {
    /// How agents forget.
    pub strategy: MemoryStrategy,
    /// For how many of its last evaluations an agent remembers, under `sliding`. Unless given, 1 for a policy that asks
    /// what was inhibited, and 0 for others.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Evaluations>")]
    pub cycles: Option<u32>,
    /// After this many evaluations everything is forgotten, under `periodic`.
    #[schemars(with = "EvaluationNumber")]
    pub every: u32,
}

/// How agents forget.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MemoryStrategy {
    /// One evaluation after the other.
    #[default]
    Sliding,
    /// Everything at once, periodically, as in the prototype.
    Periodic,
}

/// Which numbers instances get.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NumberingSettings {
    /// What the counter counts.
    pub strategy: NumberingStrategy,
}

/// What the counter of instances counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NumberingStrategy {
    /// Instances alone: 1, 2, 3 and so on.
    #[default]
    Counted,
    /// Instances, agents, users and what else the prototype counts with the same counter.
    Shared,
}

impl Default for MemorySettings {
    fn default() -> MemorySettings {
        MemorySettings { strategy: MemoryStrategy::default(), cycles: None, every: 5 }
    }
}
