//! The additional content of traces of live nodes.

use mario_domain::{AgentOperation, Capacity, Hardware, InstanceId};
use serde::{Deserialize, Serialize};

use super::places::Places;
use super::record::Reason;

/// What the header of live nodes says beside.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TracedLive {
    /// The time 0 of the trace, in milliseconds since 1970.
    pub began_ms: u64,
    /// Nodes that are named and have no records.
    #[serde(default)]
    pub silent: Vec<u32>,
    /// Nodes with an acceptance policy of their own.
    #[serde(default)]
    pub acceptances: Vec<u32>,
    /// Nodes whose facts changed while the trace was written.
    #[serde(default)]
    pub facts_changed: Vec<u32>,
}

/// See [`Record::Live`](super::Record::Live).
#[derive(Clone, PartialEq, Debug)]
pub struct Live {
    /// When.
    pub time: f64,
    /// On which node.
    pub node: u32,
    /// The number of the record in its journal, from 1; `None` for what is not in the journal.
    pub number: Option<u64>,
    /// What.
    pub happened: Happened,
}

/// An event on a live node. Transfers, copies and journals are identified by name.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Happened {
    /// The daemon started.
    Boot {
        /// Its journal.
        journal: String,
        /// How often that was opened before.
        boot: u32,
        /// The hardware of the node.
        capacity: Capacity,
    },
    /// Everything that the node has.
    State(Box<NodeState>),
    /// An instance is the node's.
    Own {
        /// The instance and its copy.
        #[serde(flatten)]
        owned: OwnedState,
        /// How it became so.
        cause: Cause,
    },
    /// An instance is handed over and kept in custody until the target has answered.
    Custody {
        /// The instance.
        instance: InstanceId,
        /// Its epoch here.
        epoch: u32,
        /// By which transfer.
        transfer: String,
        /// To whom.
        target: u32,
        /// Whether its copy runs on meanwhile.
        is_running: bool,
    },
    /// An operator ended an instance that is handed over.
    CustodyEnded {
        /// The instance.
        instance: InstanceId,
    },
    /// A new instance is offered to a target.
    Offer(OfferState),
    /// The target has said that it took what was handed over or offered.
    Taken {
        /// Which transfer.
        transfer: String,
    },
    /// The target has said that it will never take it.
    NotTaken {
        /// Which transfer.
        transfer: String,
    },
    /// An instance ended here.
    Undeployed {
        /// The instance.
        instance: InstanceId,
    },
    /// A copy that was to stop has stopped.
    Stopped {
        /// The copy.
        workload: String,
    },
    /// The source needs no more answers.
    Forgotten {
        /// Which transfer.
        transfer: String,
    },
    /// An operator pinned an instance, or let it go.
    Pinned {
        /// The instance.
        instance: InstanceId,
        /// Whether it is pinned now.
        is_pinned: bool,
    },
    /// An operator updated an instance to another description of its application.
    Updated {
        /// The instance.
        instance: InstanceId,
        /// The place of its application, as it is described now.
        application: u32,
        /// What its copy uses, once it runs like that.
        needed: Hardware,
        /// The place of the flavour that it runs in.
        #[serde(default)]
        flavour: u32,
    },
    /// An instance runs in another flavour.
    Adapted {
        /// The instance.
        instance: InstanceId,
        /// The place of the flavour in its application.
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
    /// A client request reached a sleeping instance, and its manager did not let it wake.
    WakeRefused {
        /// The instance.
        instance: InstanceId,
        /// Why not.
        inhibition: Reason,
    },
    /// A copy that was to run in a smaller flavour does, or one that was to stop for a sleep has stopped.
    Shrunk {
        /// The copy.
        workload: String,
    },
    /// An operator declared that a journal will never come back.
    Lost {
        /// Which journal.
        journal: String,
    },
    /// A neighbour introduced itself.
    Peer {
        /// The neighbour.
        node: u32,
        /// Its journal.
        journal: String,
    },
    /// An agent's proposal is sent to a target.
    Prepare {
        /// By which transfer.
        transfer: String,
        /// The instance whose agent asks.
        instance: InstanceId,
        /// Migrate or replicate.
        operation: AgentOperation,
        /// Whom.
        target: u32,
    },
    /// A transfer that was being prepared was aborted.
    GaveUp {
        /// Which transfer.
        transfer: String,
    },
    /// Hardware is reserved for an instance that may come.
    Reserved(ReservedState),
    /// A reservation ended.
    Released {
        /// Which transfer.
        transfer: String,
        /// Whether a copy was started for it, which counts until it is freed.
        is_started: bool,
    },
    /// The copy of a dropped reservation has stopped.
    Freed {
        /// The copy.
        workload: String,
    },
    /// The reachable neighbours have changed, or the facts of one became known.
    Neighbours {
        /// Those that are reached, in the order in which agents see them.
        up: Vec<u32>,
        /// Those of them whose facts are known.
        told: Vec<u32>,
    },
    /// An operator drains the node, or lets it accept instances again.
    Draining {
        /// Whether it is drained now.
        is_draining: bool,
    },
}

/// How an instance became a node's.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Cause {
    /// An operator deployed it.
    Deployed,
    /// A neighbour handed it over.
    Taken {
        /// By which transfer.
        transfer: String,
        /// Who.
        from: u32,
    },
    /// An agent on the node replicated onto it.
    Replicated {
        /// That agent's instance.
        parent: InstanceId,
    },
    /// It was handed over, and the target will never take it.
    NotTaken {
        /// Which transfer.
        transfer: String,
    },
    /// It is the copy of one that was handed over to a node that is lost.
    Adopted {
        /// Which transfer.
        transfer: String,
    },
}

/// Everything that a node has.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeState {
    /// How many records its journal has.
    pub records: u64,
    /// Whether the trace has everything that led to it.
    pub follows: bool,
    /// What it owns.
    pub owned: Vec<OwnedState>,
    /// Instances in custody, not answered yet.
    pub custody: Vec<CustodyState>,
    /// Grants, not answered yet.
    pub offers: Vec<OfferState>,
    /// Stopping copies, and their hardware.
    pub draining: Vec<(String, Hardware)>,
    /// Shrinking copies, and their surplus hardware.
    #[serde(default)]
    pub shrinking: Vec<(String, Hardware)>,
    /// Transfers that it took and whose sources may still ask.
    pub taken: Vec<String>,
    /// Places that it keeps.
    pub reserved: Vec<ReservedState>,
    /// Copies of dropped reservations, and their hardware.
    pub released: Vec<(String, Hardware)>,
    /// Transfers that it prepares, and the instances whose agents asked.
    pub preparing: Vec<(String, InstanceId)>,
}

/// An instance that is a node's.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub struct OwnedState {
    /// The instance.
    pub instance: InstanceId,
    /// Counts its owners, from 1.
    pub epoch: u32,
    /// The place of its application.
    pub application: u32,
    /// What its copy uses.
    pub needed: Hardware,
    /// Its copy.
    pub workload: String,
    /// The place of the flavour that it runs in.
    #[serde(default)]
    pub flavour: u32,
    /// Whether it sleeps.
    #[serde(default)]
    pub is_asleep: bool,
}

/// An instance that was handed over.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub struct CustodyState {
    /// The instance as it was.
    #[serde(flatten)]
    pub owned: OwnedState,
    /// By which transfer.
    pub transfer: String,
    /// To whom.
    pub target: u32,
    /// Whether its copy runs.
    pub is_running: bool,
    /// Whether an operator ended it meanwhile.
    pub is_ended: bool,
}

/// A new instance that was offered.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OfferState {
    /// By which transfer.
    pub transfer: String,
    /// The new instance.
    pub instance: InstanceId,
    /// The instance whose agent replicates.
    pub parent: InstanceId,
    /// To whom.
    pub target: u32,
}

/// A place that is kept.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReservedState {
    /// By which transfer.
    pub transfer: String,
    /// The instance that may come.
    pub instance: InstanceId,
    /// The place of its application.
    pub application: u32,
    /// What is set aside.
    pub needed: Hardware,
    /// The copy in it.
    pub workload: String,
}

/// What only live nodes inhibit for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LiveRule {
    /// Its word.
    pub word: &'static str,
    /// What it says beside, for people.
    pub detail: Option<String>,
}

impl LiveRule {
    /// The words of all of them.
    pub const WORDS: [&'static str; 9] = [
        "pinned",
        "budget",
        "open-grant",
        "busy",
        "recovering",
        "unanswered",
        "not-started",
        "oversized",
        "descriptor",
    ];

    /// The rule with a word.
    pub(super) fn with_word(word: &str, detail: Option<String>) -> Option<LiveRule> {
        LiveRule::WORDS.into_iter().find(|known| *known == word).map(|word| LiveRule { word, detail })
    }

    /// It in words.
    pub(super) const fn text(&self) -> &'static str {
        match self.word.as_bytes() {
            b"pinned" => "an operator pinned the instance",
            b"budget" => "its replications are used up",
            b"open-grant" => "it waits to hear how its last replication to this target ended",
            b"busy" => "it has too many transfers open",
            b"recovering" => "it has just restarted",
            b"unanswered" => "it did not take the instance in time",
            b"not-started" => "the copy did not start",
            b"oversized" => "the agent's memory is too large",
            _ => "it cannot use the description of the application",
        }
    }
}

impl Live {
    /// Which places of the header it names.
    pub(super) fn places<'a>(&self, places: Places<'a>) -> Places<'a> {
        let places = places.node(self.node);
        match &self.happened {
            Happened::State(state) => {
                let custody = state.custody.iter();
                let owned = state.owned.iter().chain(custody.clone().map(|custody| &custody.owned));
                let reserved = state.reserved.iter().map(|reserved| reserved.application);
                let applications = owned.map(|owned| owned.application).chain(reserved);
                let places = applications.fold(places, Places::application);
                let offered = state.offers.iter().map(|offer| offer.target);
                custody.map(|custody| custody.target).chain(offered).fold(places, Places::node)
            }
            Happened::Own { owned, cause } => {
                let places = places.application(owned.application);
                match cause {
                    Cause::Taken { from, .. } => places.node(*from),
                    _ => places,
                }
            }
            Happened::Reserved(reserved) => places.application(reserved.application),
            Happened::Updated { application, .. } => places.application(*application),
            Happened::Custody { target, .. } | Happened::Prepare { target, .. } => places.node(*target),
            Happened::Offer(offer) => places.node(offer.target),
            Happened::Peer { node, .. } => places.node(*node),
            Happened::Neighbours { up, told } => up.iter().chain(told).copied().fold(places, Places::node),
            _ => places,
        }
    }
}
