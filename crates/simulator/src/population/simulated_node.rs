//! The nodes of a population: each has its manager, its neighbours and its agents.

use std::sync::Arc;

use mario_colony::rules::HardwareChange;
use mario_colony::{Availability, Manager};
use mario_domain::{Capacity, Hardware, NodeId};
use mario_policy::Acceptance;
use mario_scenario::{ApplicationIndex, NodeIndex};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::population::agent::Body;
use crate::population::index::AgentIndex;

/// A node of the population.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SimulatedNode {
    manager: Manager<AcceptedOperation>,
    /// Up to six neighbours are stored inline.
    neighbours: SmallVec<[NodeIndex; 6]>,
    agents: SmallVec<[AgentIndex; 2]>,
    /// Not stored in checkpoints, because it is part of the scenario.
    #[serde(skip)]
    pub(crate) acceptance: Option<Arc<Acceptance>>,
}

/// An operation for which a manager has reserved hardware in this cycle: accepted, and not enacted yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct AcceptedOperation {
    /// The application of the instance.
    pub application: ApplicationIndex,
    /// The agent that migrates, or whose instance will hold more hardware on its node; `None` for a replica and for a
    /// deploy, whose agents are created when the operation is enacted.
    pub agent: Option<AgentIndex>,
    /// The flavour and wakefulness of the instance; for an adapt or a wake, those before the operation.
    pub body: Body,
}

impl SimulatedNode {
    /// An empty node that is up. While it is up and has no acceptance policy, it accepts every request that fits.
    pub fn new(
        id: NodeId,
        capacity: Capacity,
        neighbours: impl IntoIterator<Item = NodeIndex>,
        acceptance: Option<Arc<Acceptance>>,
    ) -> SimulatedNode {
        SimulatedNode {
            manager: Manager::new(id, capacity),
            neighbours: neighbours.into_iter().collect(),
            agents: SmallVec::new(),
            acceptance,
        }
    }

    /// Its id.
    pub fn id(&self) -> &NodeId {
        self.manager.node()
    }

    /// Its manager.
    pub fn manager(&self) -> &Manager<AcceptedOperation> {
        &self.manager
    }

    pub(crate) fn manager_mut(&mut self) -> &mut Manager<AcceptedOperation> {
        &mut self.manager
    }

    /// The nodes connected to it by a working link.
    pub fn neighbours(&self) -> &[NodeIndex] {
        &self.neighbours
    }

    /// The agents on it, in the order of their arrival.
    pub fn agents(&self) -> &[AgentIndex] {
        &self.agents
    }

    /// Its acceptance policy, if any.
    pub fn acceptance(&self) -> Option<&Arc<Acceptance>> {
        self.acceptance.as_ref()
    }

    /// Whether agents on this node may target a node: a neighbour, or the node itself if `may_be_own`.
    pub(crate) fn reaches(&self, own: NodeIndex, target: NodeIndex, may_be_own: bool) -> bool {
        if target == own { may_be_own } else { self.neighbours.contains(&target) }
    }

    /// Adds an accepted instance. Returns whether the free hardware, which agents on this node see, has changed.
    /// Unbounded hardware does not change.
    pub(crate) fn arrives(&mut self, agent: AgentIndex, needed: Hardware) -> bool {
        let before = self.manager.free();
        self.manager.take(needed).expect("only what fits is accepted");
        self.agents.push(agent);
        self.manager.free() != before
    }

    /// Removes an instance. Returns whether the free hardware has changed.
    pub(crate) fn departs(&mut self, agent: AgentIndex, needed: Hardware) -> bool {
        let Some(position) = self.agents.iter().position(|present| *present == agent) else { return false };
        self.agents.remove(position);
        let before = self.manager.free();
        self.manager.give_back(needed).expect("what was taken fits back");
        self.manager.free() != before
    }

    /// Changes the hardware that an instance holds on this node. Returns whether the free hardware has changed.
    pub(crate) fn changes(&mut self, change: HardwareChange) -> bool {
        let before = self.manager.free();
        self.manager.take(change.taken).expect("only what fits is accepted");
        self.manager.give_back(change.freed).expect("what was taken fits back");
        self.manager.free() != before
    }

    /// Sets the neighbours. Returns whether they have changed.
    pub(crate) fn set_neighbours(&mut self, neighbours: &[NodeIndex]) -> bool {
        let are_others = *self.neighbours != *neighbours;
        if are_others {
            self.neighbours.clear();
            self.neighbours.extend_from_slice(neighbours);
        }
        are_others
    }

    /// Whether this and another value can describe the same node at different times: they have the same id and
    /// capacity.
    pub(crate) fn is_same(&self, other: &SimulatedNode) -> bool {
        self.id() == other.id() && self.manager.capacity() == other.manager.capacity()
    }

    /// Whether its free hardware is consistent with the needs of its agents, and nothing is reserved.
    pub(crate) fn is_consistent(&self, needed: impl Fn(&AgentIndex) -> Hardware) -> bool {
        let free = self.agents.iter().try_fold(self.manager.capacity(), |free, agent| free.take(needed(agent)));
        free == Some(self.manager.free()) && self.manager.reservations().is_empty()
    }

    /// Takes the node down, and frees its hardware. Returns the agents that were on it.
    pub(crate) fn take_down(&mut self) -> Vec<AgentIndex> {
        self.manager.set_availability(Availability::Down);
        self.manager.clear();
        std::mem::take(&mut self.agents).into_vec()
    }
}
