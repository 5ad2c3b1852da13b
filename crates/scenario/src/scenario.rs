//! A resolved scenario: everything that a run depends on, as plain data.

use std::collections::BTreeSet;

use mario_domain::{Application, Duration, Fact, Models, Time};
use mario_policy::PolicyText;
use serde::{Deserialize, Serialize};

use crate::calls::Stage;
use crate::index::{ApplicationIndex, NodeIndex, PolicyIndex};
use crate::mobility::Attachments;
use crate::policies::NEVER_MOVE;
use crate::resolve::TIER;
use crate::topology::Topology;

/// Everything that a run depends on. Files have been read, and names have been looked up.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Scenario {
    /// The name of the scenario.
    pub name: String,
    /// The seed of all random streams.
    pub seed: u64,
    /// The duration of the run. Events at its end do not happen.
    pub duration: Duration,
    /// Nodes and links.
    pub topology: Topology,
    /// The applications.
    pub applications: Vec<ApplicationPlan>,
    /// The policies of agents.
    pub policies: Vec<PolicyText>,
    /// The acceptance policies of nodes.
    pub acceptances: Vec<PolicyText>,
    /// For each node, the index of its acceptance policy in `acceptances`. With `None`, its manager judges by the
    /// built-in rules alone, e.g. whether the node has enough free hardware.
    pub acceptance_of: Vec<Option<u32>>,
    /// The deployments of operators, in chronological order.
    pub deploys: Vec<Deploy>,
    /// The policy changes during the run, in chronological order.
    pub updates: Vec<Update>,
    /// The recorded past that the run resumes from, if it has one.
    pub past: Option<RecordedPast>,
    /// The movements of users.
    pub attachments: Attachments,
    /// The application and workload of each user of `attachments`.
    pub users: Vec<UserPlan>,
    /// The time between two steps of `attachments`.
    pub step: Duration,
    /// The timing of evaluations.
    pub agents: AgentTiming,
    /// The time between two activations of the managers, and from the start to the first. The initial deployments are
    /// judged before the run starts.
    pub management_period: Duration,
    /// The number of evaluations that an agent has left when its node announces the eviction of its instance.
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
    /// The numbering strategy.
    pub numbering: Numbering,
    /// The disturbances, in chronological order.
    pub disturbances: Vec<Disturbance>,
    /// The delay after which an operator redeploys an application that has no instance left, if users who are present
    /// need it, directly or through calls. With `None`, operators redeploy nothing.
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

    /// Whether the results include optional measures: they are configured, or any application calls another.
    pub fn is_measured(&self) -> bool {
        self.measures.are_any() || self.has_calls()
    }

    /// The keys of the extra facts that agents may see: those of nodes and of applications, and `tier`, which every node
    /// has for a policy that reads it.
    pub fn fact_keys(&self) -> BTreeSet<String> {
        let of_nodes = self.topology.nodes().flat_map(|(_, node)| &node.facts);
        let facts = of_nodes.chain(self.applications.iter().flat_map(|plan| &plan.facts));
        facts.map(|fact| fact.key.to_string()).chain([TIER.to_owned()]).collect()
    }

    /// Whether all policies are the shipped one that proposes nothing.
    pub fn is_silent_by_purpose(&self) -> bool {
        self.policies.iter().all(|policy| policy.name == NEVER_MOVE)
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
    /// Its id, owner, hardware, limits, flavours and sleep settings.
    pub application: Application,
    /// The kind of the application, e.g. `WS`. Figures and the assignment of users group applications by kind.
    pub kind: String,
    /// The policy of its agents, unless their [`Deploy`] has another, or an [`Update`] has changed it.
    pub policy: PolicyIndex,
    /// The time that an instance takes to serve one client request or one request of a call, without the calls that it
    /// makes itself.
    pub service_time: Duration,
    /// Further facts about the application, which agents see.
    pub facts: Vec<Fact>,
    /// The node on which operators deploy the application by default, and redeploy it when no instance is left.
    pub home: NodeIndex,
    /// Whether an instance that operators deploy is an anchor, which its agent cannot undeploy.
    pub is_anchor: bool,
    /// The calls that an instance makes for each request that it serves, in stages.
    pub stages: Vec<Stage>,
}

/// A deployment by an operator.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Deploy {
    /// The time at which the operator proposes it.
    pub time: Time,
    /// The application.
    pub application: ApplicationIndex,
    /// The node.
    pub node: NodeIndex,
    /// The policy of the agents of the deployed instance and of its replicas, unless an [`Update`] of the application
    /// has replaced it, before or after the deployment.
    pub policy: PolicyIndex,
}

/// A change of the policy of an application's agents. They start with an empty memory under the new policy.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Update {
    /// The time. The change comes before other events of that time, except the start of the agents and the first
    /// periodic activation of the managers.
    pub time: Time,
    /// The application whose agents change.
    pub application: ApplicationIndex,
    /// The new policy.
    pub policy: PolicyIndex,
}

/// A recorded past, which the run must reproduce until `time`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RecordedPast {
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
    /// When the user sends client requests.
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
    /// Alternating on and off periods with exponentially distributed lengths. Requests are sent while on.
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
    /// The time at which the agents of all instances that are deployed by then start. Agents of later instances start
    /// when their instance is created.
    pub start: Time,
    /// The time between two evaluations of an agent, and between its start and its first evaluation.
    pub period: Duration,
    /// The budget of one decision, in inferences. `None` is the default of crate `mario_policy`.
    pub budget: Option<u64>,
}

/// The network settings.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Network {
    /// The size of a message, which is a client request or a request of a call, in the size units of
    /// [`Link::bandwidth`](crate::Link::bandwidth).
    pub message_size: f64,
    /// How long a message occupies a link.
    pub occupancy: Occupancy,
    /// Whether messages are simulated individually.
    pub fidelity: Fidelity,
}

/// Whether messages are simulated individually.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Fidelity {
    /// Each message is simulated.
    Messages,
    /// Traffic is simulated as rates.
    Flow,
}

/// How long a message occupies a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Occupancy {
    /// Until the message has arrived: a link carries one message at a time.
    Latency,
    /// Until the message has been sent: its size divided by the bandwidth of the link.
    Transmission,
}

/// The management strategy.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Management {
    /// The agents decide, each by its policy.
    Agents,
    /// First fit: for an arriving user, nodes are tried in the order of their distance from the user's access point.
    /// Capacity for the user is set aside on the first node whose instances have enough to spare, or on which a new
    /// instance fits. Instances never move.
    EdgeFirstFit,
    /// At each activation of the managers, a central planner with global knowledge searches for the best placement.
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
    /// Greedy construction, followed by local search. The result may not be optimal.
    Greedy,
    /// Exact search, for small worlds only. The result is optimal.
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
    /// Prototype behaviour: operators' deployments come first, then agents' proposals in reverse order of arrival. Each
    /// is judged by free hardware and by the acceptance policies of nodes that have one, and enacted before the next is
    /// judged. An instance that migrates gets a new id, and its agent loses its memory.
    Sequential,
    /// By free hardware alone: the operations of a central planner are judged and enacted one by one.
    Central,
}

/// The memory strategy: how agents forget inhibitions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Memory {
    /// Each inhibition is forgotten after the number of evaluations in [`PolicyText::memory`].
    Sliding,
    /// Prototype behaviour: all inhibitions are forgotten every `every` evaluations, regardless of the policy.
    Periodic {
        /// The number of evaluations; positive.
        every: u32,
    },
}

/// The observation strategy: the `requests/4` facts of agents.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Observation {
    /// The requests that reached the instance since the last evaluation of its agent: one fact for each last hop and
    /// latency, in standard order.
    Arrivals,
    /// Prototype behaviour: one fact for each entry of the routing table that leads to the instance, if requests came
    /// from its access point.
    RouteEntries,
}

/// The routing strategy: which instance serves a client request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Routing {
    /// The nearest instance by this metric; round robin on a tie.
    Nearest(Metric),
    /// Prototype behaviour: of the instances with the fewest hops, the one that was chosen least often since the
    /// routing table was cleared. The choice for a user at an access point is kept until the table is cleared again.
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
    /// The length of a link with this latency: 1 hop, or the latency in milliseconds.
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
    /// Prototype behaviour: instances, agents, users and other objects share one counter.
    Shared,
}

/// A disturbance: an event, and its time.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Disturbance {
    /// The time.
    pub time: Time,
    /// The event.
    pub event: DisturbanceEvent,
}

/// A node or link goes down or comes up, or a node announces that it will leave.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum DisturbanceEvent {
    /// A node goes down without notice, with everything on it.
    Crash(NodeIndex),
    /// A node goes down as announced, with everything on it.
    Leave(NodeIndex),
    /// A node announces that it will leave. From then on, it accepts no instances.
    Notice(NodeIndex),
    /// A node comes up, empty. A node whose first event is a join is absent until then.
    Join(NodeIndex),
    /// A link goes down.
    LinkDown(NodeIndex, NodeIndex),
    /// A link comes up.
    LinkUp(NodeIndex, NodeIndex),
}
