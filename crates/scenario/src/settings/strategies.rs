//! The sections of a scenario that select strategies.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::range::{EvaluationNumber, Evaluations};

/// Which component decides on operations.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ManagementSettings {
    /// Which component decides on operations. Unless it is `agents`, no agent proposes anything, whatever its policy.
    pub strategy: ManagementStrategy,
}

/// Which component decides on operations.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ManagementStrategy {
    /// The agents decide, each by its policy.
    #[default]
    Agents,
    /// First fit: each arriving user gets an instance as close to the access point as hardware allows.
    EdgeFirstFit,
    /// A central planner with global knowledge, which searches for a good placement at each activation of the managers.
    CentralGreedy,
    /// A central planner with global knowledge, which finds an optimal placement at each activation of the managers;
    /// only for small worlds.
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

/// What agents observe of the client requests to their instances.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ObservationSettings {
    /// The source of the `requests/4` facts of an agent.
    pub strategy: ObservationStrategy,
}

/// The source of the `requests/4` facts of an agent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ObservationStrategy {
    /// The client requests that reached the instance since the last evaluation of its agent.
    #[default]
    Arrivals,
    /// The entries of the routing table, as in the prototype.
    RouteEntries,
}

/// How the instance for a client request is chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RoutingSettings {
    /// Which instance serves a client request.
    pub strategy: RoutingStrategy,
    /// The metric of distances. Ignored with `least-used`, which always counts hops.
    pub metric: RoutingMetric,
}

/// How the instance for a client request is chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RoutingStrategy {
    /// The nearest instance; round robin on a tie.
    #[default]
    Nearest,
    /// The least used of the nearest instances, kept until the placement changes, as in the prototype.
    LeastUsed,
}

/// The metric of distances.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RoutingMetric {
    /// The number of hops.
    #[default]
    Hops,
    /// The latency.
    Latency,
}

/// How proposals are judged.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ArbitrationSettings {
    /// Who judges proposals, and when accepted operations are enacted. Ignored if a central planner decides.
    pub strategy: ArbitrationStrategy,
}

/// Who judges, and when accepted operations are enacted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ArbitrationStrategy {
    /// The managers of all nodes concerned; accepted operations are enacted together.
    #[default]
    Managers,
    /// One operator, from the last proposal to the first; each accepted operation is enacted before the next proposal
    /// is judged, as in the prototype.
    Sequential,
}

/// How long agents remember inhibitions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MemorySettings {
    /// How agents forget inhibitions.
    pub strategy: MemoryStrategy,
    /// The number of evaluations for which an agent remembers an inhibition, with `sliding`. Default: the number that
    /// the policy declares, or else 1 if the policy reads inhibitions, and 0 if not.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Evaluations>")]
    pub cycles: Option<u32>,
    /// The number of evaluations after which the memory is cleared, with `periodic`.
    #[schemars(with = "EvaluationNumber")]
    pub every: u32,
}

/// How agents forget inhibitions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MemoryStrategy {
    /// Each inhibition after a number of evaluations.
    #[default]
    Sliding,
    /// Everything at once, periodically, as in the prototype.
    Periodic,
}

/// How instances are numbered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NumberingSettings {
    /// What the instance counter counts.
    pub strategy: NumberingStrategy,
}

/// What the instance counter counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NumberingStrategy {
    /// Only instances: 1, 2, 3 and so on.
    #[default]
    Counted,
    /// Instances, agents, users and everything else that the prototype numbers with the same counter.
    Shared,
}

impl Default for MemorySettings {
    fn default() -> MemorySettings {
        MemorySettings { strategy: MemoryStrategy::default(), cycles: None, every: 5 }
    }
}
