//! A scenario, ready to be run: everything that a run depends on, as plain data.

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
    /// What people call it.
    pub name: String,
    /// The seed that everything random was and will be drawn from.
    pub seed: u64,
    /// How long the run takes. Events at the very end do not happen.
    pub duration: Duration,
    /// Nodes and links.
    pub topology: Topology,
    /// The applications.
    pub applications: Vec<ApplicationPlan>,
    /// The policies of agents.
    pub policies: Vec<PolicyText>,
    /// The policies of node managers.
    pub acceptances: Vec<PolicyText>,
    /// For each node, the index of its manager's own policy in `acceptances`; `None` accepts whatever fits.
    pub acceptance_of: Vec<Option<u32>>,
    /// The deployments of operators, in the order of time.
    pub deploys: Vec<Deploy>,
    /// The policy changes in the course of the run, in the order of time.
    pub updates: Vec<Update>,
    /// The recorded past that the run resumes from, if it has one.
    pub past: Option<Past>,
    /// Where the users are.
    pub attachments: Attachments,
    /// What each user of `attachments` does.
    pub users: Vec<UserPlan>,
    /// The time between two steps of `attachments`.
    pub step: Duration,
    /// When agents evaluate.
    pub agents: AgentTiming,
    /// The time between two activations of the managers; the first is at 0.
    pub management_period: Duration,
    /// How many evaluations an agent has left when the owner of its node announces its eviction.
    pub notice: u32,
    /// How messages travel.
    pub network: Network,
    /// What agents see of their clients' requests.
    pub observation: Observation,
    /// Which instance a client request goes to.
    pub routing: Routing,
    /// Who manages.
    pub management: Management,
    /// How requests to manage are judged.
    pub arbitration: Arbitration,
    /// How long agents remember inhibitions.
    pub memory: Memory,
    /// Which numbers instances get.
    pub numbering: Numbering,
    /// The disturbances, in the order of time.
    pub disturbances: Vec<Disturbance>,
    /// The delay before the operator redeploys an application that users want and that has no instance left; `None` is
    /// never.
    pub redeploy_delay: Option<Duration>,
    /// Optional measures.
    pub measures: Measures,
}

impl Scenario {
    /// When the run ends.
    pub fn end(&self) -> Time {
        Time::ZERO + self.duration
    }

    /// Whether any application sleeps.
    pub fn has_sleep(&self) -> bool {
        self.applications.iter().any(|plan| plan.application.sleep.is_some())
    }

    /// Whether more is measured than the usual figures: asked for, or because applications call others.
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
    /// Whether the trace records for each application which requests were late and how long they took.
    pub applications: bool,
    /// The models of energy, money and carbon; `None` when not configured.
    pub models: Option<Models>,
}

impl Measures {
    /// Whether anything is measured.
    pub fn are_any(&self) -> bool {
        self.applications || self.models.is_some()
    }
}

/// An application in a scenario.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ApplicationPlan {
    /// Its descriptor.
    pub application: Application,
    /// The group that it belongs to in figures, e.g. `WS`.
    pub kind: String,
    /// The policy of its agents.
    pub policy: PolicyIndex,
    /// How long an instance takes to serve one client request.
    pub service_time: Duration,
    /// What else is known about it.
    pub facts: Vec<Fact>,
    /// Where its operator redeploys it when no instance is left.
    pub home: NodeIndex,
    /// What it calls for each client request that it has served, one stage after another.
    pub stages: Vec<Stage>,
}

/// What an operator deploys.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Deploy {
    /// From when on the operator asks for it.
    pub time: Time,
    /// What.
    pub application: ApplicationIndex,
    /// Where.
    pub node: NodeIndex,
    /// The policy of its agent, and of that agent's replicas.
    pub policy: PolicyIndex,
}

/// Agents of an application switch to another policy, and start with an empty memory under it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Update {
    /// When, before all other events of that time.
    pub time: Time,
    /// Whose agents.
    pub application: ApplicationIndex,
    /// Which policy.
    pub policy: PolicyIndex,
}

/// The recorded past of a run: until `time` it must take the recorded course.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Past {
    /// The moment up to which it was recorded.
    pub time: Time,
    /// How many records of a full trace come before it, if that is known.
    pub records: Option<u64>,
    /// The CRC-32 of these records, if that is known.
    pub checksum: Option<u32>,
}

/// What a user does.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct UserPlan {
    /// The application that the user uses.
    pub application: ApplicationIndex,
    /// When the user sends client requests.
    pub workload: Workload,
}

/// When a user sends client requests. Times count from the user's arrival.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub enum Workload {
    /// Every `period`, first after `phase`.
    Periodic {
        /// The time between two requests; positive.
        period: Duration,
        /// The time before the first.
        phase: Duration,
    },
    /// At random, independently of each other.
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

/// When agents evaluate, and what that may cost.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct AgentTiming {
    /// Agents of instances that are deployed before this time exist from this time on.
    pub start: Time,
    /// The time between two evaluations of an agent, and before its first.
    pub period: Duration,
    /// The budget of one decision, in inferences; `None` is the default of policies.
    pub budget: Option<u64>,
}

/// How messages travel.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Network {
    /// The size of a client request, in the units of the links' bandwidth.
    pub message_size: f64,
    /// How long a message occupies a link.
    pub occupancy: Occupancy,
    /// Whether messages are sent individually.
    pub fidelity: Fidelity,
}

/// Whether messages are sent individually.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Fidelity {
    /// They are.
    Messages,
    /// They are counted: traffic is rates.
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

/// Who manages.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Management {
    /// The agents of instances, each by its policy.
    Agents,
    /// No agent: each arriving user is given an instance as near as there is room.
    EdgeFirstFit,
    /// A central planner that sees everything, and searches for the best placement at each activation of the managers.
    Central(Search),
}

impl Management {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Management::Agents => "agents",
            Management::EdgeFirstFit => "edge-first-fit",
            Management::Central(Search::Greedy) => "central-greedy",
            Management::Central(Search::Exact) => "central-exact",
        }
    }

    /// How the planner searches for the best placement; `None` without a planner that searches.
    pub fn search(self) -> Option<Search> {
        match self {
            Management::Agents | Management::EdgeFirstFit => None,
            Management::Central(search) => Some(search),
        }
    }
}

/// How the best placement is searched for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Search {
    /// By adding what helps most, then by exchanging while that helps. There may be better ones.
    Greedy,
    /// By an exhaustive search. There is no better one.
    Exact,
}

impl Search {
    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Search::Greedy => "greedy",
            Search::Exact => "exact",
        }
    }
}

/// How requests to manage are judged.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Arbitration {
    /// By the managers of all nodes concerned; what is accepted is enacted together.
    Managers,
    /// Prototype behaviour: requests are judged in reverse order of arrival and enacted one by one, by free hardware and
    /// by the acceptance policies of nodes that have one. An instance that migrates gets a new id and loses its memory.
    Sequential,
    /// By the plan of a planner that sees the whole infrastructure.
    Central,
}

/// How long agents remember inhibitions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Memory {
    /// For as many of their last evaluations as their policy says.
    Sliding,
    /// Prototype behaviour: the memory is cleared every `every` evaluations, regardless of the policy.
    Periodic {
        /// How many evaluations apart; positive.
        every: u32,
    },
}

/// What agents see of their clients' requests: the `requests/4` facts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Observation {
    /// What reached the instance in its last evaluation period, one fact for each last hop and latency, in standard order.
    Arrivals,
    /// What the prototype shows: one fact for each entry of its routing table.
    RouteEntries,
}

/// Which instance a client request goes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Routing {
    /// The nearest; equals take turns.
    Nearest(Metric),
    /// As in the prototype: the one that was used least when the routing table was last cleared.
    LeastUsed,
}

/// What is near.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Metric {
    /// Few hops.
    Hops,
    /// Little latency.
    Latency,
}

impl Metric {
    /// How long a link with this latency is.
    pub fn length(self, latency: Duration) -> f64 {
        match self {
            Metric::Hops => 1.0,
            Metric::Latency => latency.units(),
        }
    }
}

/// Which numbers instances get.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Numbering {
    /// 1, 2, 3 and so on.
    Counted,
    /// From the one counter that the prototype numbers everything with.
    Shared,
}

/// A disturbance, or its end.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Disturbance {
    /// When.
    pub time: Time,
    /// What.
    pub event: DisturbanceEvent,
}

/// What goes wrong, or right again.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum DisturbanceEvent {
    /// A node goes down, with all that ran on it.
    Crash(NodeIndex),
    /// A node leaves as announced: its manager accepts nothing since the notice.
    Leave(NodeIndex),
    /// A node announces that it will leave.
    Notice(NodeIndex),
    /// A node comes up, empty. One whose first event is this is absent until then.
    Join(NodeIndex),
    /// A link carries nothing.
    LinkDown(NodeIndex, NodeIndex),
    /// A link carries messages again.
    LinkUp(NodeIndex, NodeIndex),
}
