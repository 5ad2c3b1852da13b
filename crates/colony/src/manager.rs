//! Node managers: what they have, what they have promised, and what they say to a request.

use std::sync::Arc;

use mario_domain::{Capacity, Hardware, Inhibition, NodeId, Request, Rule, Verdict};
use mario_policy::{Acceptance, ManagerView};
use mario_prolog::{Engine, Machine};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::index::{AgentIndex, NodeIndex};
use crate::rooms::NOTHING;

/// The manager of one node.
///
/// It judges requests one after another, in the order in which they are put to it, and counts what it has promised: two
/// requests for the last free unit are never both accepted. Room that an undeploy or a migrate will free is not counted
/// before [`Manager::settle`].
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
    /// Founded with the node, so it is not saved with what changes.
    #[serde(skip)]
    pub(crate) acceptance: Option<Arc<Acceptance>>,
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

/// What a manager with its own acceptance policy needs to ask it. One for each thread.
pub struct Judge {
    pub(crate) machine: Machine,
    pub(crate) view: Option<ManagerView>,
}

impl Judge {
    /// For acceptance policies of this engine.
    pub fn new(engine: &Engine) -> Judge {
        Judge { machine: Machine::new(engine), view: None }
    }
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
            acceptance,
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
        self.acceptance.as_ref()
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

    /// What its own acceptance policy says, if it has one. `prepare` gives the view of this manager.
    pub(crate) fn consents(
        &self,
        judge: &mut Judge,
        request: &Request,
        needed: Hardware,
        prepare: impl FnOnce(&mut Option<ManagerView>),
    ) -> Verdict {
        let Some(acceptance) = &self.acceptance else { return Verdict::Accepted };
        prepare(&mut judge.view);
        match &judge.view {
            Some(view) => acceptance.judge(&mut judge.machine, view, request, needed),
            None => Verdict::Accepted,
        }
    }

    /// Sets hardware aside for something that was accepted and is not here yet.
    pub fn promise(&mut self, needed: Hardware) {
        self.promised = self.promised.checked_add(needed).unwrap_or(self.promised);
    }

    /// Ends a cycle: what was promised has come, or never will.
    pub fn settle(&mut self) {
        self.promised = Hardware::NONE;
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
        self.promised = Hardware::NONE;
        std::mem::take(&mut self.agents).into_vec()
    }
}
