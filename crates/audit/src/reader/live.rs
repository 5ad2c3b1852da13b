//! The additional content of traces of live nodes.

use mario_domain::{AgentOperation, Capacity, Hardware, InstanceId};
use serde::{Deserialize, Serialize};

use super::places::Places;
use super::record::Reason;

/// The part of a header that only traces of live nodes have.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TracedLive {
    /// Time 0 of the trace, in milliseconds since the Unix epoch.
    pub began_ms: u64,
    /// Nodes that other nodes mention, but that have no records of their own.
    #[serde(default)]
    pub silent: Vec<u32>,
    /// Nodes with their own acceptance policy.
    #[serde(default)]
    pub acceptances: Vec<u32>,
    /// Nodes whose facts changed during the trace, so that the facts of the header do not always apply.
    #[serde(default)]
    pub facts_changed: Vec<u32>,
    /// For each application, how many of the first facts of the header belong to its description. Empty if each
    /// application has one description, and in traces of older versions.
    #[serde(default)]
    pub application_facts: Vec<usize>,
}

/// See [`TraceRecord::Live`](super::TraceRecord::Live).
#[derive(Clone, PartialEq, Debug)]
pub struct Live {
    /// The time of the event.
    pub time: f64,
    /// The node.
    pub node: u32,
    /// The number of the record in its journal, from 1; `None` for events that are not in the journal.
    pub number: Option<u64>,
    /// The event.
    pub event: LiveEvent,
}

/// An event on a live node. Transfers, copies and journals are identified by strings.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LiveEvent {
    /// The daemon started.
    Boot {
        /// Its journal.
        journal: String,
        /// How often the journal was opened before.
        boot: u32,
        /// The hardware of the node.
        capacity: Capacity,
    },
    /// The whole state of the node: the ledger of its journal, its reservations, and the transfers that it prepares.
    State(Box<NodeState>),
    /// The node became the owner of an instance.
    Own {
        /// The instance and its copy.
        #[serde(flatten)]
        owned: OwnedState,
        /// How the node came to own it.
        cause: Cause,
    },
    /// An instance is handed over and kept in custody until the target has answered.
    Custody {
        /// The instance.
        instance: InstanceId,
        /// Its epoch here.
        epoch: u32,
        /// The transfer.
        transfer: String,
        /// The target.
        target: u32,
        /// Whether its copy keeps running until the target has answered.
        is_running: bool,
    },
    /// An operator ended an instance in custody.
    CustodyEnded {
        /// The instance.
        instance: InstanceId,
    },
    /// A new instance is offered to a target.
    Offer(OfferState),
    /// The target has confirmed that it took the instance, or an operator declared the target of an offer lost.
    Taken {
        /// The transfer.
        transfer: String,
    },
    /// The target has declined an offer, or an instance that an operator ended in custody; in the second case, the
    /// target may also have been declared lost.
    NotTaken {
        /// The transfer.
        transfer: String,
    },
    /// An instance ended here.
    Undeployed {
        /// The instance.
        instance: InstanceId,
    },
    /// A stopping copy has stopped.
    Stopped {
        /// The copy.
        workload: String,
    },
    /// The source of an accepted transfer will not ask about it again.
    Forgotten {
        /// The transfer.
        transfer: String,
    },
    /// An operator pinned or unpinned an instance.
    Pinned {
        /// The instance.
        instance: InstanceId,
        /// Whether it is pinned.
        is_pinned: bool,
    },
    /// An operator made an instance an anchor, or ended that.
    Anchored {
        /// The instance.
        instance: InstanceId,
        /// Whether it is an anchor.
        is_anchor: bool,
    },
    /// An operator ends an instance that the node owns; [`LiveEvent::Undeployed`] follows.
    Undeploying {
        /// The instance.
        instance: InstanceId,
    },
    /// An operator updated an instance to another description of its application, or restored the previous one.
    Updated {
        /// The instance.
        instance: InstanceId,
        /// The index of the new description of its application.
        application: u32,
        /// The hardware that it needs in its flavour while awake.
        needed: Hardware,
        /// The index of its flavour.
        #[serde(default)]
        flavour: u32,
    },
    /// An instance runs in another flavour.
    Adapted {
        /// The instance.
        instance: InstanceId,
        /// The index of the flavour in its application.
        flavour: u32,
    },
    /// An instance fell asleep.
    Slept {
        /// The instance.
        instance: InstanceId,
    },
    /// An instance woke.
    Woke {
        /// The instance.
        instance: InstanceId,
    },
    /// A client request reached a sleeping instance, and the manager of its node did not let the instance wake.
    WakeRefused {
        /// The instance.
        instance: InstanceId,
        /// The reason of the inhibition.
        inhibition: Reason,
    },
    /// A copy has been restarted with less hardware, or has stopped for a sleep.
    Shrunk {
        /// The copy.
        workload: String,
    },
    /// An operator started or ended draining the node.
    Drained {
        /// Whether it is draining.
        is_draining: bool,
    },
    /// An operator declared that the neighbour with this journal will never return.
    Lost {
        /// The journal.
        journal: String,
    },
    /// A neighbour showed that the node's journal is an old copy.
    Outdated {
        /// The neighbour.
        by: u32,
        /// How it shows, in words.
        evidence: String,
    },
    /// A neighbour introduced itself.
    Peer {
        /// The neighbour.
        node: u32,
        /// Its journal.
        journal: String,
    },
    /// A request to migrate or replicate is sent to a target.
    Prepare {
        /// The transfer.
        transfer: String,
        /// The instance that is to migrate or replicate.
        instance: InstanceId,
        /// Migrate or replicate.
        operation: AgentOperation,
        /// The target.
        target: u32,
    },
    /// A transfer that was being prepared was aborted.
    #[serde(rename = "gave-up")]
    Aborted {
        /// The transfer.
        transfer: String,
    },
    /// Hardware is reserved for an instance that may arrive.
    Reserved(ReservedState),
    /// A reservation was dropped.
    Released {
        /// The transfer.
        transfer: String,
        /// Whether a copy was started for it. The hardware of the copy then counts until [`LiveEvent::Freed`].
        is_started: bool,
    },
    /// The copy of a dropped reservation has stopped.
    Freed {
        /// The copy.
        workload: String,
    },
    /// The reachable neighbours have changed, or the facts of one became known.
    Neighbours {
        /// The reachable neighbours, in the order in which agents see them.
        up: Vec<u32>,
        /// The reachable neighbours whose facts are known.
        told: Vec<u32>,
    },
    /// An operator started or ended draining the node, which older versions did not record in the journal.
    Draining {
        /// Whether it is draining.
        is_draining: bool,
    },
}

/// How a node came to own an instance.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Cause {
    /// An operator deployed it.
    Deployed,
    /// It arrived from a neighbour, by a migrate or a replicate.
    Taken {
        /// The transfer.
        transfer: String,
        /// The neighbour.
        from: u32,
    },
    /// It is a replica made by an agent on the same node.
    Replicated {
        /// The instance of the replicating agent.
        parent: InstanceId,
    },
    /// It was handed over, and the target declined it.
    NotTaken {
        /// The transfer.
        transfer: String,
    },
    /// It continues, under a fresh id, an instance that was handed over to a lost node.
    Adopted {
        /// The transfer.
        transfer: String,
    },
}

/// The whole state of a node.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeState {
    /// The number of records in its journal.
    pub records: u64,
    /// Whether this state follows from the records in the trace; `false` if earlier records are missing.
    pub follows: bool,
    /// The instances that it owns.
    pub owned: Vec<OwnedState>,
    /// Instances in custody, whose targets have not answered yet.
    pub custody: Vec<CustodyState>,
    /// Offers that were not answered yet.
    pub offers: Vec<OfferState>,
    /// Stopping copies, and their hardware.
    pub draining: Vec<(String, Hardware)>,
    /// Shrinking copies, and their surplus hardware.
    #[serde(default)]
    pub shrinking: Vec<(String, Hardware)>,
    /// Transfers that it accepted, and about which their sources may still ask.
    pub taken: Vec<String>,
    /// Its reservations.
    pub reserved: Vec<ReservedState>,
    /// Copies of dropped reservations, and their hardware.
    pub released: Vec<(String, Hardware)>,
    /// Transfers that it prepares, each with the instance that is to migrate or replicate.
    pub preparing: Vec<(String, InstanceId)>,
}

/// An instance that a node owns.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub struct OwnedState {
    /// The instance.
    pub instance: InstanceId,
    /// The epoch: 1 for the first owner, and one more for each further one.
    pub epoch: u32,
    /// The index of its application.
    pub application: u32,
    /// The hardware that it needs in its current flavour, or while asleep.
    pub needed: Hardware,
    /// The id of its copy, the workload that runs the instance.
    pub workload: String,
    /// The index of its flavour.
    #[serde(default)]
    pub flavour: u32,
    /// Whether it is asleep.
    #[serde(default)]
    pub is_asleep: bool,
    /// Whether it is an anchor.
    #[serde(default)]
    pub is_anchor: bool,
}

/// An instance in custody: handed over, and kept until the target has answered.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub struct CustodyState {
    /// The instance, as recorded before the transfer.
    #[serde(flatten)]
    pub owned: OwnedState,
    /// The transfer.
    pub transfer: String,
    /// The target.
    pub target: u32,
    /// Whether its copy is running.
    pub is_running: bool,
    /// Whether an operator has ended it since it was handed over.
    pub is_ended: bool,
}

/// An offer of a replica to the target of a replicate.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OfferState {
    /// The transfer.
    pub transfer: String,
    /// The new instance.
    pub instance: InstanceId,
    /// The instance of the replicating agent.
    pub parent: InstanceId,
    /// The target.
    pub target: u32,
}

/// A reservation for an instance.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReservedState {
    /// The transfer.
    pub transfer: String,
    /// The instance that may arrive.
    pub instance: InstanceId,
    /// The index of its application.
    pub application: u32,
    /// The reserved hardware.
    pub needed: Hardware,
    /// The id of its copy, which may be started before or after the instance arrives.
    pub workload: String,
}

/// A rule that inhibits requests only on live nodes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LiveRule {
    /// The word for the rule in a trace.
    pub word: &'static str,
    /// Further details, for people.
    pub detail: Option<String>,
}

impl LiveRule {
    /// The words of all these rules.
    pub const WORDS: [&'static str; 10] = [
        "pinned",
        "budget",
        "open-grant",
        "busy",
        "recovering",
        "unconfirmed",
        "unanswered",
        "not-started",
        "oversized",
        "descriptor",
    ];

    /// The rule with this word; `None` if the word is unknown.
    pub(super) fn with_word(word: &str, detail: Option<String>) -> Option<LiveRule> {
        LiveRule::WORDS.into_iter().find(|known| *known == word).map(|word| LiveRule { word, detail })
    }

    /// The rule in words.
    pub(super) const fn text(&self) -> &'static str {
        match self.word.as_bytes() {
            b"pinned" => "an operator pinned the instance",
            b"budget" => "its replications are used up",
            b"open-grant" => "it waits to hear how its last replication to this target ended",
            b"busy" => "it has too many transfers open",
            b"recovering" => "it has just restarted",
            b"unconfirmed" => "it has restarted, and no neighbour has confirmed its journal yet",
            b"unanswered" => "it did not take the instance in time",
            b"not-started" => "the copy did not start",
            b"oversized" => "the agent's memory is too large",
            _ => "it cannot use the description of the application",
        }
    }
}

impl Live {
    /// Checks the indices of nodes and applications in the event.
    pub(super) fn places<'a>(&self, places: Places<'a>) -> Places<'a> {
        let places = places.node(self.node);
        match &self.event {
            LiveEvent::State(state) => {
                let custody = state.custody.iter();
                let owned = state.owned.iter().chain(custody.clone().map(|custody| &custody.owned));
                let reserved = state.reserved.iter().map(|reserved| reserved.application);
                let applications = owned.map(|owned| owned.application).chain(reserved);
                let places = applications.fold(places, Places::application);
                let offered = state.offers.iter().map(|offer| offer.target);
                custody.map(|custody| custody.target).chain(offered).fold(places, Places::node)
            }
            LiveEvent::Own { owned, cause } => {
                let places = places.application(owned.application);
                match cause {
                    Cause::Taken { from, .. } => places.node(*from),
                    _ => places,
                }
            }
            LiveEvent::Reserved(reserved) => places.application(reserved.application),
            LiveEvent::Updated { application, .. } => places.application(*application),
            LiveEvent::Custody { target, .. } | LiveEvent::Prepare { target, .. } => places.node(*target),
            LiveEvent::Offer(offer) => places.node(offer.target),
            LiveEvent::Peer { node, .. } | LiveEvent::Outdated { by: node, .. } => places.node(*node),
            LiveEvent::Neighbours { up, told } => up.iter().chain(told).copied().fold(places, Places::node),
            _ => places,
        }
    }
}
