//! What happened: the lines of a trace after the first.

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

/// One event. Nodes, applications, policies and users are indices into the tables of the header.
#[derive(Clone, PartialEq, Debug)]
pub enum Record {
    /// An instance was there when the run began.
    Deployed(Deployed),
    /// A user's connection moved.
    Handover(Handover),
    /// An agent evaluated its policy.
    Evaluation(Evaluation),
    /// The managers judged what was pending.
    Cycle(Cycle),
    /// A node went down, with what ran on it.
    NodeDown(NodeDown),
    /// A node announced that it will leave; it accepts nothing new.
    NodeLeaving(NodeEvent),
    /// A node came, or came back.
    NodeUp(NodeEvent),
    /// A link went.
    LinkDown(LinkEvent),
    /// A link came back.
    LinkUp(LinkEvent),
    /// The agents of an application got another policy.
    Update(Update),
    /// The placement was compared with the best.
    Regret(Regret),
    /// What clients saw.
    Responses(Responses),
    /// How much the instances of an application were used in the whole run.
    Usage(Usage),
    /// What a user saw in the whole run.
    Client(Client),
    /// What the users of an application saw in the whole run, in a trace of counts.
    Clients(Clients),
    /// How often users moved at a time, in a trace of counts.
    Handovers(Handovers),
    /// What became of the agents in a cycle, in a trace of counts.
    Counts(Counted),
    /// Instances went with their nodes, in a trace of counts.
    Gone(Gone),
    /// The owner of a node acted on an instance there.
    Owner(Owner),
    /// The same in a trace of counts.
    Owners(Owners),
    /// A client request reached a sleeping instance, and its manager decided whether it may wake.
    Woken(Woken),
    /// The same in a trace of counts.
    Wakings(Wakings),
    /// What the clients of an application saw in the whole run, exactly.
    Latency(Latency),
    /// How far client requests travelled in the whole run.
    Traffic(Traffic),
    /// What became of the requests of a call in the whole run.
    Calls(Calls),
    /// Something happened on a live node.
    Live(Live),
    /// The run is complete.
    End(End),
}

/// See [`Record::Deployed`].
#[derive(Clone, PartialEq, Debug)]
pub struct Deployed {
    /// When.
    pub time: f64,
    /// Which instance.
    pub instance: InstanceId,
    /// Of which application.
    pub application: u32,
    /// Where.
    pub node: u32,
    /// The policy of its agent.
    pub policy: u32,
}

/// See [`Record::Handover`].
#[derive(Clone, PartialEq, Debug)]
pub struct Handover {
    /// When.
    pub time: f64,
    /// Whose connection.
    pub user: u32,
    /// From which access point; `None` when the user arrives.
    pub from: Option<u32>,
    /// To which access point; `None` when the user leaves.
    pub to: Option<u32>,
}

/// See [`Record::Evaluation`].
#[derive(Clone, PartialEq, Debug)]
pub struct Evaluation {
    /// When.
    pub time: f64,
    /// The instance whose agent it is.
    pub instance: InstanceId,
    /// The node that it was on.
    pub node: u32,
    /// The free hardware that it saw.
    pub free: Capacity,
    /// What else it saw and what it decided; `None` for the same as at its last evaluation.
    pub seen: Option<Seen>,
}

/// What an agent saw and its decision.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Seen {
    /// The client requests.
    pub requests: Vec<RequestFact>,
    /// What it remembers as inhibited.
    pub inhibited: Vec<Wish>,
    /// The solutions of its policy, in order.
    pub solutions: Vec<Solution>,
    /// Why the policy reached no decision; `None` when it did.
    pub ending: Option<String>,
    /// The number drawn for it, if its policy uses randomness.
    pub random: Option<u32>,
}

/// Client requests as an agent sees them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RequestFact {
    /// The last hop.
    pub neighbour: Neighbour,
    /// How many.
    pub rate: Quantity,
    /// How late.
    pub latency: Quantity,
}

/// Where client requests come through.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Neighbour {
    /// From clients on the same node.
    Own,
    /// Through this node.
    Node(u32),
}

/// An operation of an agent and its target.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wish {
    /// Which operation.
    pub operation: AgentOperation,
    /// Where to, as the policy wrote it.
    pub target: Target,
}

/// Where an operation leads to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Target {
    /// `self`.
    Own,
    /// This node.
    Node(u32),
    /// A name that no node has.
    Unknown(Id),
    /// A flavour.
    Flavour(Id),
}

/// One solution of a policy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Solution {
    /// An operation.
    Proposal {
        /// What is proposed.
        wish: Wish,
        /// The clause that proposes it, from 0.
        clause: u64,
    },
    /// Something else.
    Invalid {
        /// What is wrong with it.
        why: String,
        /// The clause that gave it, from 0.
        clause: u64,
    },
}

/// See [`Record::Cycle`].
#[derive(Clone, PartialEq, Debug)]
pub struct Cycle {
    /// When.
    pub time: f64,
    /// What was judged, in the order judged.
    pub outcomes: Vec<Outcome>,
}

/// The outcome of one agent, or of one operator's deployment, in a cycle.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome {
    /// The agent proposed nothing.
    Nop(InstanceId),
    /// The agent proposed something.
    Judged {
        /// The instance of the agent.
        instance: InstanceId,
        /// What it proposed.
        wish: Wish,
        /// What the managers said.
        verdict: Verdict,
    },
    /// An operator wanted an instance.
    Deploy {
        /// Where.
        node: u32,
        /// Of which application.
        application: u32,
        /// The policy of the new agent; `None` when there is none.
        policy: Option<u32>,
        /// What the manager said.
        verdict: Verdict,
    },
}

/// What the managers said.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Yes; the id of the instance that appeared, if one did.
    Accepted(Option<InstanceId>),
    /// No.
    Inhibited(Reason),
}

/// Why something was inhibited.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reason {
    /// The id of the node whose manager inhibited it.
    pub node: Id,
    /// The rule that it named.
    pub rule: Rule,
}

/// How a node went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// It was not there when the run began.
    Absent,
    /// Without a word.
    Crash,
    /// As announced.
    Leave,
}

/// See [`Record::NodeDown`].
#[derive(Clone, PartialEq, Debug)]
pub struct NodeDown {
    /// When.
    pub time: f64,
    /// Which node.
    pub node: u32,
    /// How.
    pub cause: Cause,
    /// What ran on it.
    pub instances: Vec<InstanceId>,
}

/// Something that happened to a node.
#[derive(Clone, PartialEq, Debug)]
pub struct NodeEvent {
    /// When.
    pub time: f64,
    /// Which node.
    pub node: u32,
}

/// Something that happened to a link.
#[derive(Clone, PartialEq, Debug)]
pub struct LinkEvent {
    /// When.
    pub time: f64,
    /// Its two ends.
    pub nodes: [u32; 2],
}

/// See [`Record::Responses`].
#[derive(Clone, PartialEq, Debug)]
pub struct Responses {
    /// When.
    pub time: f64,
    /// Of which application.
    pub application: u32,
    /// Client requests served since the last such record of it.
    pub served: u64,
    /// Client requests lost since then.
    pub lost: u64,
    /// The sum of the response times.
    pub sum: f64,
    /// How many took how long: `k` and a count for response times in [2^(k/4), 2^((k+1)/4)); no `k` for 0.
    pub histogram: Vec<(Option<i64>, u64)>,
}

/// See [`Record::End`].
#[derive(Clone, PartialEq, Debug)]
pub struct End {
    /// When.
    pub time: f64,
    /// What was counted.
    pub totals: Totals,
}

/// What a run counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Totals {
    /// Evaluations of policies.
    pub evaluations: u64,
    /// Accepted operations.
    pub operations: u64,
    /// Inhibited ones.
    pub inhibited: u64,
    /// Handovers.
    pub handovers: u64,
    /// Client requests served.
    pub served: u64,
    /// Client requests lost.
    pub lost: u64,
    /// Instances that are left.
    pub instances: u64,
}

impl Record {
    /// When it happened.
    pub fn time(&self) -> f64 {
        match self {
            Record::Deployed(Deployed { time, .. })
            | Record::Handover(Handover { time, .. })
            | Record::Evaluation(Evaluation { time, .. })
            | Record::Cycle(Cycle { time, .. })
            | Record::NodeDown(NodeDown { time, .. })
            | Record::NodeLeaving(NodeEvent { time, .. })
            | Record::NodeUp(NodeEvent { time, .. })
            | Record::LinkDown(LinkEvent { time, .. })
            | Record::LinkUp(LinkEvent { time, .. })
            | Record::Update(Update { time, .. })
            | Record::Regret(Regret { time, .. })
            | Record::Responses(Responses { time, .. })
            | Record::Usage(Usage { time, .. })
            | Record::Client(Client { time, .. })
            | Record::Clients(Clients { time, .. })
            | Record::Handovers(Handovers { time, .. })
            | Record::Counts(Counted { time, .. })
            | Record::Gone(Gone { time, .. })
            | Record::Owner(Owner { time, .. })
            | Record::Owners(Owners { time, .. })
            | Record::Woken(Woken { time, .. })
            | Record::Wakings(Wakings { time, .. })
            | Record::Latency(Latency { time, .. })
            | Record::Traffic(Traffic { time, .. })
            | Record::Calls(Calls { time, .. })
            | Record::Live(Live { time, .. })
            | Record::End(End { time, .. }) => *time,
        }
    }

    /// An index that the header does not have, if any.
    pub(super) fn fault(&self, header: &Header) -> Option<String> {
        let places = Places { header, fault: None };
        match self {
            Record::Deployed(record) => {
                places.node(record.node).application(record.application).policy(record.policy).fault
            }
            Record::Handover(record) => {
                let places = places.user(record.user);
                record.from.iter().chain(&record.to).fold(places, |places, node| places.node(*node)).fault
            }
            Record::Evaluation(record) => {
                let places = places.node(record.node);
                match &record.seen {
                    Some(seen) => places.seen(seen).fault,
                    None => places.fault,
                }
            }
            Record::Cycle(record) => record.outcomes.iter().fold(places, Places::outcome).fault,
            Record::NodeDown(NodeDown { node, .. })
            | Record::NodeLeaving(NodeEvent { node, .. })
            | Record::NodeUp(NodeEvent { node, .. })
            | Record::Owner(Owner { node, .. }) => places.node(*node).fault,
            Record::Owners(record) => {
                record.rows.iter().fold(places, |places, row| places.application(row.application)).fault
            }
            Record::LinkDown(record) | Record::LinkUp(record) => {
                places.node(record.nodes[0]).node(record.nodes[1]).fault
            }
            Record::Update(record) => places.application(record.application).policy(record.policy).fault,
            Record::Responses(record) => places.application(record.application).fault,
            Record::Latency(record) => places.application(record.application).fault,
            Record::Client(record) => places.user(record.user).fault,
            Record::Usage(_)
            | Record::Clients(_)
            | Record::Wakings(_)
            | Record::Handovers(_)
            | Record::Counts(_)
            | Record::Gone(_) => summed::applications(self).into_iter().fold(places, Places::application).fault,
            Record::Calls(record) => places.call(record.call).fault,
            Record::Live(record) => record.places(places).fault,
            Record::Woken(_) | Record::Regret(_) | Record::Traffic(_) | Record::End(_) => None,
        }
    }
}
