//! A resolved scenario: everything that a run depends on, as plain data.

use mario_domain::{Application, Duration, Fact, Models, Time};
use mario_policy::PolicyText;
use serde::{Deserialize, Serialize};

use crate::calls::Stage;
use crate::index::{ApplicationIndex, NodeIndex, PolicyIndex};
use crate::mobility::Attachments;
use crate::topology::Topology;

/// Everything that a run depends on. Files have been read, randomness has been drawn, and names have been looked up.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Scenario {
    /// The name of the scenario.
    pub name: String,
    /// The seed of everything random.
    pub seed: u64,
    /// The duration of the run. Its end is exclusive: events at that time do not happen.
    pub duration: Duration,
    /// Nodes and links.
    pub topology: Topology,
    /// The applications.
    pub applications: Vec<ApplicationPlan>,
    /// The policies of agents.
    pub policies: Vec<PolicyText>,
    /// The policies of node managers.
    pub acceptances: Vec<PolicyText>,
    /// For each node, the index of its manager's own policy in `acceptances`; `None` accepts every request that fits.
    pub acceptance_of: Vec<Option<u32>>,
    /// The deployments of operators, in chronological order.
    pub deploys: Vec<Deploy>,
    /// The policy changes during the run, in chronological order.
    pub updates: Vec<Update>,
    /// The recorded past that the run resumes from, if it has one.
    pub past: Option<Past>,
    /// The movements of users.
    pub attachments: Attachments,
    /// The application and workload of each user of `attachments`.
    pub users: Vec<UserPlan>,
    /// The time between two steps of `attachments`.
    pub step: Duration,
    /// The timing of evaluations.
    pub agents: AgentTiming,
    /// The time between two activations of the managers; the first is at 0.
    pub management_period: Duration,
    /// The number of evaluations that an agent still has after the owner of its node announces the eviction of its
    /// instance.
    pub notice: u32,
    /// The network settings.
    pub network: Network,
    /// The observation strategy.
    pub observation: Observation,
    /// The routing strategy.
    pub routing: Routing,
    /// The management strategy.
    pub management: Management,
    /// The arbitration strategy.
    pub arbitration: Arbitration,
    /// The memory strategy.
    pub memory: Memory,
    /// The numbering of instances.
    pub numbering: Numbering,
    /// The disturbances, in chronological order.
    pub disturbances: Vec<Disturbance>,
    /// The delay before the operator redeploys an application that users want and that has no instance left. With
    /// `None`, it is never redeployed.
    pub redeploy_delay: Option<Duration>,
    /// Optional measures.
    pub measures: Measures,
}

impl Scenario {
    /// The end of the run.
    pub fn end(&self) -> Time {
        Time::ZERO + self.duration
    }

    /// Whether the instances of any application can sleep.
    pub fn has_sleep(&self) -> bool {
        self.applications.iter().any(|plan| plan.application.sleep.is_some())
    }

    /// Whether the trace records optional measures: they are configured, or any application calls another.
    pub fn is_measured(&self) -> bool {
        self.measures.are_any() || self.has_calls()
    }

    /// Whether any application has flavours.
    pub fn has_flavours(&self) -> bool {
        self.applications.iter().any(|plan| !plan.application.flavours.is_empty())
    }
}

/// Optional measures.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Measures {
    /// Whether the trace records late requests and response times of each application.
    pub applications: bool,
    /// The models of energy, money and carbon, if configured.
    pub models: Option<Models>,
}

impl Measures {
    /// Whether any measure is configured.
    pub fn are_any(&self) -> bool {
        self.applications || self.models.is_some()
    }
}

/// An application in a scenario.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ApplicationPlan {
    /// Its descriptor.
    pub application: Application,
    /// The group of the application in figures, e.g. `WS`.
    pub kind: String,
    /// The policy of its agents.
    pub policy: PolicyIndex,
    /// The time that an instance takes to serve one client request.
    pub service_time: Duration,
    /// Further facts about it.
    pub facts: Vec<Fact>,
    /// The node on which its operator redeploys it when no instance is left.
    pub home: NodeIndex,
    /// The calls for each client request that it serves, stage by stage.
    pub stages: Vec<Stage>,
}

/// A deployment by an operator.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Deploy {
    /// The time from which the operator proposes it.
    pub time: Time,
    /// The application.
    pub application: ApplicationIndex,
    /// The node.
    pub node: NodeIndex,
    /// The policy of the agent of the deployed instance, and of that agent's replicas.
    pub policy: PolicyIndex,
}

/// A change of the policy of an application's agents. They start with an empty memory under the new policy.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Update {
    /// The time; the change comes before all other events of that time.
    pub time: Time,
    /// The application whose agents change.
    pub application: ApplicationIndex,
    /// The new policy.
    pub policy: PolicyIndex,
}

/// The recorded past of a run, which the run must reproduce until `time`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Past {
    /// The end of the recorded past.
    pub time: Time,
    /// The number of records that a trace with full detail has before `time`, without its header; `None` if unknown.
    pub records: Option<u64>,
    /// The CRC-32 of these records; `None` if unknown.
    pub checksum: Option<u32>,
}

/// The application and workload of a user.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct UserPlan {
    /// The application.
    pub application: ApplicationIndex,
    /// The send times.
    pub workload: Workload,
}

/// When a user sends client requests, starting from the user's arrival.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub enum Workload {
    /// One request every `period`, the first of them `phase` after the arrival.
    Periodic {
        /// The time between two requests; positive.
        period: Duration,
        /// The time from the arrival to the first request.
        phase: Duration,
    },
    /// Requests as a Poisson process.
    Poisson {
        /// The mean time between two requests; positive.
        mean_period: Duration,
    },
    /// Alternating on and off periods of random length.
    OnOff {
        /// The time between two requests while on; positive.
        period: Duration,
        /// The mean length of an on period; positive.
        mean_on: Duration,
        /// The mean length of an off period; positive.
        mean_off: Duration,
    },
}

/// The timing and budget of evaluations.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct AgentTiming {
    /// The time at which the agents of all instances that are deployed by then start.
    pub start: Time,
    /// The time between two evaluations of an agent, and between its start and its first evaluation.
    pub period: Duration,
    /// The budget of one decision, in inferences; with `None`, the default of policies applies.
    pub budget: Option<u64>,
}

/// The network settings.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Network {
    /// The size of a client request, in the units of the links' bandwidth.
    pub message_size: f64,
    /// How long a message occupies a link.
    pub occupancy: Occupancy,
    /// Whether messages are simulated individually.
    pub fidelity: Fidelity,
}

/// Whether messages are simulated individually.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Fidelity {
    /// Individually.
    Messages,
    /// As rates.
    Flow,
}

/// How long a message occupies a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Occupancy {
    /// Until it has arrived: a link carries one message at a time.
    Latency,
    /// Until it has been sent: its size over the bandwidth of the link.
    Transmission,
}

/// The management strategy.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Management {
    /// The agents decide, each by its policy.
    Agents,
    /// First fit: each arriving user gets an instance as close to the access point as hardware allows.
    EdgeFirstFit,
    /// A central planner with global knowledge, which searches for the best placement at each activation of the
    /// managers.
    Central(Search),
}

impl Management {
    /// The name of the strategy.
    pub fn as_str(self) -> &'static str {
        match self {
            Management::Agents => "agents",
            Management::EdgeFirstFit => "edge-first-fit",
            Management::Central(Search::Greedy) => "central-greedy",
            Management::Central(Search::Exact) => "central-exact",
        }
    }

    /// The search of a central planner; `None` for other strategies.
    pub fn search(self) -> Option<Search> {
        match self {
            Management::Agents | Management::EdgeFirstFit => None,
            Management::Central(search) => Some(search),
        }
    }
}

/// The search for the best placement.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Search {
    /// Adds the instances that improve the placement most, then exchanges instances while that improves it. The result
    /// may not be optimal.
    Greedy,
    /// Searches exhaustively. The result is optimal.
    Exact,
}

impl Search {
    /// The name of the search.
    pub const fn as_str(self) -> &'static str {
        match self {
            Search::Greedy => "greedy",
            Search::Exact => "exact",
        }
    }
}

/// The arbitration strategy: how proposals are judged.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Arbitration {
    /// By the managers of all nodes concerned; accepted operations are enacted together.
    Managers,
    /// Prototype behaviour: requests are judged in reverse order of arrival and enacted one by one, by free hardware and
    /// by the acceptance policies of nodes that have one. An instance that migrates gets a new id and loses its memory.
    Sequential,
    /// By the plan of a planner that sees the whole infrastructure.
    Central,
}

/// The memory strategy: how agents forget inhibitions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Memory {
    /// Each inhibition is forgotten after the number of evaluations that the policy sets.
    Sliding,
    /// Prototype behaviour: the memory is cleared every `every` evaluations, regardless of the policy.
    Periodic {
        /// The number of evaluations; positive.
        every: u32,
    },
}

/// The observation strategy: the `requests/4` facts of agents.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Observation {
    /// The requests that reached the instance in its last evaluation period, one fact for each last hop and latency, in
    /// standard order.
    Arrivals,
    /// Prototype behaviour: one fact for each entry of the routing table.
    RouteEntries,
}

/// The routing strategy: the instance that serves a client request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Routing {
    /// The nearest instance by this metric; round robin on a tie.
    Nearest(Metric),
    /// Prototype behaviour: of the instances with the fewest hops, the one that was chosen least often since the
    /// routing table was last cleared. A user at an access point keeps the chosen instance until the table is cleared
    /// again.
    LeastUsed,
}

/// The metric of distances.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Metric {
    /// The number of hops.
    Hops,
    /// The latency.
    Latency,
}

impl Metric {
    /// The length of a link with this latency.
    pub fn length(self, latency: Duration) -> f64 {
        match self {
            Metric::Hops => 1.0,
            Metric::Latency => latency.units(),
        }
    }
}

/// The numbering of instances.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Numbering {
    /// Only instances are counted: 1, 2, 3 and so on.
    Counted,
    /// Prototype behaviour: one counter numbers instances, agents, users and all other objects.
    Shared,
}

/// A disturbance, or its end, at a point in time.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Disturbance {
    /// When it happens.
    pub time: Time,
    /// The event.
    pub event: DisturbanceEvent,
}

/// A failure, or the end of one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum DisturbanceEvent {
    /// A node goes down, with everything on it.
    Crash(NodeIndex),
    /// A node leaves as announced: its manager has accepted nothing since the notice.
    Leave(NodeIndex),
    /// A node announces that it will leave.
    Notice(NodeIndex),
    /// A node comes up, empty. A node whose first event is a join is absent until then.
    Join(NodeIndex),
    /// A link goes down.
    LinkDown(NodeIndex, NodeIndex),
    /// A link comes up.
    LinkUp(NodeIndex, NodeIndex),
}
