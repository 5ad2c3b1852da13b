//! The records of a trace: all lines after the header.

use super::calls::Calls;
use super::live::Live;
use super::measured::{Latency, Traffic};
use super::owners::{Owner, Owners};
use super::places::Places;
use super::regret::Regret;
use super::rule::Rule;
use super::sleep::{Wakings, Woken};
use super::summed::{self, Client, Clients, Counted, Gone, Handovers, Usage};
use super::update::Update;
use mario_domain::{AgentOperation, Capacity, Id, InstanceId, Quantity};

use super::header::Header;

/// One line after the header. Nodes, applications, policies and users are indices into the tables of the header.
#[derive(Clone, PartialEq, Debug)]
pub enum TraceRecord {
    /// An instance of the initial deployment, at the start of the run.
    Deployed(Deployed),
    /// A user's connection moved.
    Handover(Handover),
    /// An agent evaluated its policy.
    Evaluation(Evaluation),
    /// The managers judged the pending proposals.
    Cycle(Cycle),
    /// A node went down, with everything on it, or is absent at the start of the run.
    NodeDown(NodeDown),
    /// A node announced that it will leave; it accepts no more instances.
    NodeLeaving(NodeEvent),
    /// A node came up, for the first time or again.
    NodeUp(NodeEvent),
    /// A link went down.
    LinkDown(LinkEvent),
    /// A link came up.
    LinkUp(LinkEvent),
    /// The policy of an application's agents changed.
    Update(Update),
    /// The placement was compared with the best one.
    Regret(Regret),
    /// The results of an application's client requests since the last such record of the application.
    Responses(Responses),
    /// The usage of an application's instances in the whole run.
    Usage(Usage),
    /// The results of a user's client requests in the whole run.
    Client(Client),
    /// The results of all users of an application in the whole run, in a trace of counts.
    Clients(Clients),
    /// The number of handovers at a time, in a trace of counts.
    Handovers(Handovers),
    /// The outcomes of a cycle, in a trace of counts.
    Counts(Counted),
    /// Instances were lost with their nodes, in a trace of counts.
    Gone(Gone),
    /// The owner of a node acted on instances there.
    Owner(Owner),
    /// Like `Owner`, in a trace of counts.
    Owners(Owners),
    /// A client request reached a sleeping instance, and the manager of its node judged whether the instance may wake.
    Woken(Woken),
    /// Like `Woken`, in a trace of counts.
    Wakings(Wakings),
    /// An application's late requests in the whole run, and a fine histogram of its response times.
    Latency(Latency),
    /// The number of links that client requests passed in the whole run.
    Traffic(Traffic),
    /// The results of one call of the header in the whole run.
    Calls(Calls),
    /// An event on a live node.
    Live(Live),
    /// The run is complete. The last record.
    End(End),
}

/// See [`TraceRecord::Deployed`].
#[derive(Clone, PartialEq, Debug)]
pub struct Deployed {
    /// The time of the event.
    pub time: f64,
    /// The instance.
    pub instance: InstanceId,
    /// The application.
    pub application: u32,
    /// The node.
    pub node: u32,
    /// The policy of its agent.
    pub policy: u32,
}

/// See [`TraceRecord::Handover`].
#[derive(Clone, PartialEq, Debug)]
pub struct Handover {
    /// The time of the event.
    pub time: f64,
    /// The user.
    pub user: u32,
    /// The previous access point; `None` if the user was not connected.
    pub from: Option<u32>,
    /// The new access point; `None` if the user is no longer connected.
    pub to: Option<u32>,
}

/// See [`TraceRecord::Evaluation`].
#[derive(Clone, PartialEq, Debug)]
pub struct Evaluation {
    /// The time of the event.
    pub time: f64,
    /// The instance of the agent.
    pub instance: InstanceId,
    /// The node of the instance.
    pub node: u32,
    /// The free hardware that the agent saw.
    pub free: Capacity,
    /// The other facts that it saw, and its decision; `None` if both are the same as at its last evaluation.
    pub seen: Option<FactsAndDecision>,
}

/// The facts and the decision of an agent.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct FactsAndDecision {
    /// The client requests.
    pub requests: Vec<RequestFact>,
    /// The inhibited operations that it remembers.
    pub inhibited: Vec<Proposal>,
    /// The solutions of its policy, in order; on a live node, only the first.
    pub solutions: Vec<Solution>,
    /// Why the evaluation ended early, such as an exhausted budget; `None` if it was complete.
    pub ending: Option<String>,
    /// The random number drawn for it, if its policy uses randomness.
    pub random: Option<u32>,
}

/// Client requests as an agent sees them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RequestFact {
    /// The last hop.
    pub neighbour: Neighbour,
    /// The number of requests in the last evaluation period.
    pub rate: Quantity,
    /// The latency of their path.
    pub latency: Quantity,
}

/// The last hop of client requests.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Neighbour {
    /// Clients on the same node.
    Own,
    /// This node.
    Node(u32),
}

/// An operation of an agent and its target.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Proposal {
    /// The operation.
    pub operation: AgentOperation,
    /// The target as written by the policy; `Own` if the operation has none. In a cycle of sequential arbitration,
    /// `self` is resolved to the node.
    pub target: Target,
}

/// The target of an operation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Target {
    /// `self`.
    Own,
    /// This node.
    Node(u32),
    /// A name that denotes no node or, in an adapt, is not a valid id of a flavour.
    Unknown(Id),
    /// A flavour.
    Flavour(Id),
}

/// One solution of a policy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Solution {
    /// An operation.
    Proposal {
        /// The proposal.
        proposal: Proposal,
        /// The index of the clause of `operation/3` that proposed it, from 0.
        clause: u64,
    },
    /// A solution that is not a valid operation.
    Invalid {
        /// The error.
        why: String,
        /// The index of the clause of `operation/3` that it comes from, from 0.
        clause: u64,
    },
}

/// See [`TraceRecord::Cycle`].
#[derive(Clone, PartialEq, Debug)]
pub struct Cycle {
    /// The time of the event.
    pub time: f64,
    /// The outcomes, in the order of judging.
    pub outcomes: Vec<Outcome>,
}

/// The outcome of one agent, or of one operator's deployment, in a cycle.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome {
    /// The agent proposed nothing.
    Nop(InstanceId),
    /// The proposal of the agent was judged.
    Judged {
        /// The instance of the agent.
        instance: InstanceId,
        /// The proposal.
        proposal: Proposal,
        /// The verdict of the managers.
        verdict: Verdict,
    },
    /// The deployment of an operator was judged.
    Deploy {
        /// The node.
        node: u32,
        /// The application.
        application: u32,
        /// The policy of the new agent; `None` if the deployment was inhibited.
        policy: Option<u32>,
        /// The verdict of the manager.
        verdict: Verdict,
    },
}

/// The verdict of managers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Accepted, with the id of the created instance, if any.
    Accepted(Option<InstanceId>),
    /// Inhibited.
    Inhibited(Reason),
}

/// Why a request was inhibited.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reason {
    /// The id of the node whose manager inhibited it.
    pub node: Id,
    /// The rule.
    pub rule: Rule,
}

/// Why a node is down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// It was absent at the start of the run.
    Absent,
    /// It crashed.
    Crash,
    /// It left as announced.
    Leave,
}

/// See [`TraceRecord::NodeDown`].
#[derive(Clone, PartialEq, Debug)]
pub struct NodeDown {
    /// The time of the event.
    pub time: f64,
    /// The node.
    pub node: u32,
    /// The cause.
    pub cause: Cause,
    /// The instances that were on it and are lost.
    pub instances: Vec<InstanceId>,
}

/// An event of a node.
#[derive(Clone, PartialEq, Debug)]
pub struct NodeEvent {
    /// The time of the event.
    pub time: f64,
    /// The node.
    pub node: u32,
}

/// An event of a link.
#[derive(Clone, PartialEq, Debug)]
pub struct LinkEvent {
    /// The time of the event.
    pub time: f64,
    /// Its two ends.
    pub nodes: [u32; 2],
}

/// See [`TraceRecord::Responses`].
#[derive(Clone, PartialEq, Debug)]
pub struct Responses {
    /// The time of the record: a step of mobility, or the end of the run.
    pub time: f64,
    /// The application.
    pub application: u32,
    /// Client requests served since the last such record of the application.
    pub served: u64,
    /// Client requests lost since the last such record of the application.
    pub lost: u64,
    /// The sum of the response times of the requests in `served`; if traffic is simulated as rates, with corrections of
    /// earlier records.
    pub sum: f64,
    /// The histogram of the response times in `sum`: pairs of `k` and the number of response times in
    /// [2^(k/4), 2^((k+1)/4)), with `None` instead of `k` for response times of 0.
    pub histogram: Vec<(Option<i64>, u64)>,
}

/// See [`TraceRecord::End`].
#[derive(Clone, PartialEq, Debug)]
pub struct End {
    /// The end of the run.
    pub time: f64,
    /// The totals.
    pub totals: Totals,
}

/// The totals of a run, including evaluations that are not recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Totals {
    /// Evaluations of agents.
    pub evaluations: u64,
    /// Accepted operations.
    pub operations: u64,
    /// Inhibited operations.
    pub inhibited: u64,
    /// Handovers.
    pub handovers: u64,
    /// Client requests served.
    pub served: u64,
    /// Client requests lost.
    pub lost: u64,
    /// Instances at the end.
    pub instances: u64,
}

impl TraceRecord {
    /// The time of the record.
    pub fn time(&self) -> f64 {
        match self {
            TraceRecord::Deployed(Deployed { time, .. })
            | TraceRecord::Handover(Handover { time, .. })
            | TraceRecord::Evaluation(Evaluation { time, .. })
            | TraceRecord::Cycle(Cycle { time, .. })
            | TraceRecord::NodeDown(NodeDown { time, .. })
            | TraceRecord::NodeLeaving(NodeEvent { time, .. })
            | TraceRecord::NodeUp(NodeEvent { time, .. })
            | TraceRecord::LinkDown(LinkEvent { time, .. })
            | TraceRecord::LinkUp(LinkEvent { time, .. })
            | TraceRecord::Update(Update { time, .. })
            | TraceRecord::Regret(Regret { time, .. })
            | TraceRecord::Responses(Responses { time, .. })
            | TraceRecord::Usage(Usage { time, .. })
            | TraceRecord::Client(Client { time, .. })
            | TraceRecord::Clients(Clients { time, .. })
            | TraceRecord::Handovers(Handovers { time, .. })
            | TraceRecord::Counts(Counted { time, .. })
            | TraceRecord::Gone(Gone { time, .. })
            | TraceRecord::Owner(Owner { time, .. })
            | TraceRecord::Owners(Owners { time, .. })
            | TraceRecord::Woken(Woken { time, .. })
            | TraceRecord::Wakings(Wakings { time, .. })
            | TraceRecord::Latency(Latency { time, .. })
            | TraceRecord::Traffic(Traffic { time, .. })
            | TraceRecord::Calls(Calls { time, .. })
            | TraceRecord::Live(Live { time, .. })
            | TraceRecord::End(End { time, .. }) => *time,
        }
    }

    /// The first index of the record that is out of range, in words; `None` if there is none.
    pub(super) fn fault(&self, header: &Header) -> Option<String> {
        let places = Places { header, fault: None };
        match self {
            TraceRecord::Deployed(record) => {
                places.node(record.node).application(record.application).policy(record.policy).fault
            }
            TraceRecord::Handover(record) => {
                let places = places.user(record.user);
                record.from.iter().chain(&record.to).fold(places, |places, node| places.node(*node)).fault
            }
            TraceRecord::Evaluation(record) => {
                let places = places.node(record.node);
                match &record.seen {
                    Some(seen) => places.seen(seen).fault,
                    None => places.fault,
                }
            }
            TraceRecord::Cycle(record) => record.outcomes.iter().fold(places, Places::outcome).fault,
            TraceRecord::NodeDown(NodeDown { node, .. })
            | TraceRecord::NodeLeaving(NodeEvent { node, .. })
            | TraceRecord::NodeUp(NodeEvent { node, .. })
            | TraceRecord::Owner(Owner { node, .. }) => places.node(*node).fault,
            TraceRecord::Owners(record) => {
                record.rows.iter().fold(places, |places, row| places.application(row.application)).fault
            }
            TraceRecord::LinkDown(record) | TraceRecord::LinkUp(record) => {
                places.node(record.nodes[0]).node(record.nodes[1]).fault
            }
            TraceRecord::Update(record) => places.application(record.application).policy(record.policy).fault,
            TraceRecord::Responses(record) => places.application(record.application).fault,
            TraceRecord::Latency(record) => places.application(record.application).fault,
            TraceRecord::Client(record) => places.user(record.user).fault,
            TraceRecord::Usage(_)
            | TraceRecord::Clients(_)
            | TraceRecord::Wakings(_)
            | TraceRecord::Handovers(_)
            | TraceRecord::Counts(_)
            | TraceRecord::Gone(_) => summed::applications(self).into_iter().fold(places, Places::application).fault,
            TraceRecord::Calls(record) => places.call(record.call).fault,
            TraceRecord::Live(record) => record.places(places).fault,
            TraceRecord::Woken(_) | TraceRecord::Regret(_) | TraceRecord::Traffic(_) | TraceRecord::End(_) => None,
        }
    }
}
