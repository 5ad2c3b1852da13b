//! Node managers: what they have, what they have promised, and what they say to a request.

use std::sync::Arc;

use mario_domain::{Capacity, Hardware, Inhibition, NodeId, Rule, Verdict};
use mario_policy::Acceptance;
use mario_scenario::{ApplicationIndex, NodeIndex};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::population::index::AgentIndex;
use crate::population::rooms::NOTHING;

/// The manager of one node.
///
/// It judges requests one after another, in the order in which they are put to it, and counts what it has promised: two
/// requests for the last free unit are never both accepted. Room that an undeploy or a migrate will free is not counted
/// before [`Manager::settle`]. Its own acceptance policy sees what was promised like what is here already, so that a limit
/// on the number of instances holds within a cycle, too.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Manager {
    node: NodeId,
    capacity: Capacity,
    free: Capacity,
    promised: Hardware,
    state: NodeState,
    /// With the rest, unless they are more than in most infrastructures.
    neighbours: SmallVec<[NodeIndex; 6]>,
    agents: SmallVec<[AgentIndex; 2]>,
    /// Founded with the node, so it is not saved with what changes. Boxed, because most nodes have none.
    #[serde(skip)]
    pub(crate) own_policy: Option<Box<OwnPolicy>>,
}

/// The acceptance policy of a node, with what it is to see of the cycle that is being judged.
#[derive(Clone, Debug)]
pub(crate) struct OwnPolicy {
    acceptance: Arc<Acceptance>,
    /// What was accepted in this cycle and is not here yet, in the order of the verdicts. Empty between cycles.
    promises: Vec<Promise>,
}

/// Something that a manager accepted in this cycle and that is not on its node yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Promise {
    /// The application of the instance.
    pub application: ApplicationIndex,
    /// What the instance needs.
    pub needed: Hardware,
    /// The agent that migrates; `None` for a replica and for a deploy, which get their ids when they are there.
    pub agent: Option<AgentIndex>,
}

/// Whether a node is there.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum NodeState {
    /// It is.
    Up,
    /// It is, but it will go, and takes nothing new.
    Leaving,
    /// It is not.
    Down,
}

/// Whether there is room on a node for something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Room {
    Enough,
    /// This much is left.
    TooLittle(Capacity),
    Leaving,
    Down,
}

impl Manager {
    /// The manager of a node with nothing on it. Without an acceptance policy of its own it accepts whatever fits.
    pub fn new(
        node: NodeId,
        capacity: Capacity,
        neighbours: impl IntoIterator<Item = NodeIndex>,
        acceptance: Option<Arc<Acceptance>>,
    ) -> Manager {
        Manager {
            node,
            capacity,
            free: capacity,
            promised: Hardware::NONE,
            state: NodeState::Up,
            neighbours: neighbours.into_iter().collect(),
            agents: SmallVec::new(),
            own_policy: acceptance.map(|acceptance| Box::new(OwnPolicy { acceptance, promises: Vec::new() })),
        }
    }

    /// Its node.
    pub fn node(&self) -> &NodeId {
        &self.node
    }

    /// All the hardware of the node.
    pub fn capacity(&self) -> Capacity {
        self.capacity
    }

    /// What no instance uses.
    pub fn free(&self) -> Capacity {
        self.free
    }

    /// Whether the node is there.
    pub fn state(&self) -> NodeState {
        self.state
    }

    /// The nodes that it has a working link to.
    pub fn neighbours(&self) -> &[NodeIndex] {
        &self.neighbours
    }

    /// The agents on the node, in the order in which they came.
    pub fn agents(&self) -> &[AgentIndex] {
        &self.agents
    }

    /// Its own acceptance policy.
    pub fn acceptance(&self) -> Option<&Arc<Acceptance>> {
        self.own_policy.as_ref().map(|own| &own.acceptance)
    }

    /// What was accepted in this cycle and is not here yet, in the order of the verdicts; kept where an acceptance policy is
    /// to see it.
    pub(crate) fn promises(&self) -> &[Promise] {
        self.own_policy.as_ref().map_or(&[], |own| &own.promises)
    }

    /// Whether something that needs this much may come here: by the state of the node and by its hardware, less what is
    /// promised.
    pub fn has_room(&self, needed: Hardware) -> Verdict {
        let inhibited = |rule| Verdict::Inhibited(Inhibition { node: self.node.clone(), rule });
        match self.room(needed) {
            Room::Enough => Verdict::Accepted,
            Room::TooLittle(free) => inhibited(Rule::Capacity { needed, free }),
            Room::Leaving => inhibited(Rule::Leaving),
            Room::Down => inhibited(Rule::Down),
        }
    }

    /// The same, without words.
    #[inline]
    pub(crate) fn room(&self, needed: Hardware) -> Room {
        let left = self.unpromised();
        match self.state {
            NodeState::Down => Room::Down,
            NodeState::Leaving => Room::Leaving,
            NodeState::Up if needed.fits(left) => Room::Enough,
            NodeState::Up => Room::TooLittle(left),
        }
    }

    /// Whether the node is there and has nothing left.
    pub(crate) fn is_full(&self) -> bool {
        self.state == NodeState::Up && self.unpromised() == NOTHING
    }

    /// What is neither used nor promised.
    pub(crate) fn unpromised(&self) -> Capacity {
        self.free.take(self.promised).unwrap_or(NOTHING)
    }

    /// Whether agents here may aim at this node: at the own node to replicate only, and at neighbours.
    pub fn reaches(&self, own: NodeIndex, target: NodeIndex, may_be_own: bool) -> bool {
        if target == own { may_be_own } else { self.neighbours.contains(&target) }
    }

    /// Sets hardware aside for something that was accepted and is not here yet.
    pub fn promise(&mut self, promise: Promise) {
        self.promised = self.promised.checked_add(promise.needed).unwrap_or(self.promised);
        if let Some(own) = &mut self.own_policy {
            own.promises.push(promise);
        }
    }

    /// Ends a cycle: what was promised has come, or never will.
    pub fn settle(&mut self) {
        self.promised = Hardware::NONE;
        if let Some(own) = &mut self.own_policy {
            own.promises.clear();
        }
    }

    /// An instance is here now. Whoever calls this has asked [`Manager::has_room`]. Gives whether agents here see a
    /// difference: unbounded hardware is as unbounded as before.
    pub(crate) fn arrives(&mut self, agent: AgentIndex, needed: Hardware) -> bool {
        let left = self.free.take(needed).expect("only what fits is accepted");
        self.agents.push(agent);
        std::mem::replace(&mut self.free, left) != left
    }

    /// An instance is no longer here. Gives whether agents here see a difference.
    pub(crate) fn departs(&mut self, agent: AgentIndex, needed: Hardware) -> bool {
        let Some(position) = self.agents.iter().position(|present| *present == agent) else { return false };
        self.agents.remove(position);
        let left = self.free.give_back(needed).expect("what was taken fits back");
        std::mem::replace(&mut self.free, left) != left
    }

    /// Gives whether these are others than before.
    pub(crate) fn set_neighbours(&mut self, neighbours: &[NodeIndex]) -> bool {
        let are_others = *self.neighbours != *neighbours;
        if are_others {
            self.neighbours.clear();
            self.neighbours.extend_from_slice(neighbours);
        }
        are_others
    }

    /// Whether it is the manager of the same node as another.
    pub(crate) fn is_of(&self, founded: &Manager) -> bool {
        self.node == founded.node && self.capacity == founded.capacity
    }

    /// Whether what is free is what its agents leave, who need this much each.
    pub(crate) fn has_taken(&self, needed: impl Fn(&AgentIndex) -> Hardware) -> bool {
        let free = self.agents.iter().try_fold(self.capacity, |free, agent| free.take(needed(agent)));
        free == Some(self.free)
    }

    pub(crate) fn set_state(&mut self, state: NodeState) {
        self.state = state;
    }

    /// Everything on the node is gone.
    pub(crate) fn empty(&mut self) -> Vec<AgentIndex> {
        self.free = self.capacity;
        self.settle();
        std::mem::take(&mut self.agents).into_vec()
    }
}
