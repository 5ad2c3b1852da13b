//! Parking: agents whose outcome is predictable are counted in aggregate instead of being visited in each cycle.
//!
//! An agent that proposes nothing does nothing, and the request of an agent to migrate or replicate to a full node is
//! inhibited. So while the agent's facts stay the same and that node stays full, its outcome is known. The population
//! schedules an agent to be unparked when its own node or its instance changes, or when a full node in reach has free
//! hardware again. The simulation unparks it when its client requests change otherwise than in a recurring pattern. No
//! agent is parked in scenarios in which nodes or links go up or down, agents switch to another policy, a planner
//! manages, or a policy uses randomness.

use mario_scenario::{Arbitration, Memory, NodeIndex};
use serde::{Deserialize, Serialize};

use super::pending::PlaceRequest;
use crate::population::agent::{Activity, Agent};
use crate::population::index::{AgentIndex, LinksVersion};
use crate::population::proposal::Proposal;
use crate::population::state::{PastUse, Population};
use crate::whole_number::is_whole;

/// The outcomes of the parked agents of one application in a cycle.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct ParkedCounts {
    /// The number of agents that propose nothing.
    pub idle: u64,
    /// The number of agents whose requests to migrate or replicate to a full node are inhibited.
    pub inhibited: u64,
    /// The total rate of the client requests that these agents see.
    pub requests: f64,
}

impl ParkedCounts {
    /// The counts of one agent that sees this rate of client requests.
    pub fn one(is_inhibited: bool, requests: f64) -> ParkedCounts {
        ParkedCounts { idle: u64::from(!is_inhibited), inhibited: u64::from(is_inhibited), requests }
    }

    /// The number of agents.
    pub fn count(&self) -> u64 {
        self.idle + self.inhibited
    }

    /// Adds the counts of other agents.
    pub fn add(&mut self, others: &ParkedCounts) {
        self.idle += others.idle;
        self.inhibited += others.inhibited;
        self.requests += others.requests;
    }

    /// Removes the counts of some of the agents.
    pub fn remove(&mut self, some: &ParkedCounts) {
        self.idle -= some.idle;
        self.inhibited -= some.inhibited;
        self.requests -= some.requests;
    }
}

impl Population {
    /// Returns the outcome that an agent will have in every cycle while its facts stay the same and, if its proposal is
    /// inhibited, while the target stays full. With `snapshot`, the outcome while it sees this snapshot of its
    /// recurring traffic. `None` if the outcome cannot be predicted.
    pub fn steady_outcome(&self, agent: AgentIndex, snapshot: Option<u8>) -> Option<ParkedCounts> {
        let agent = self.agent(agent);
        let is_settled = agent.is_blank && agent.is_settled();
        // If operations are enacted one by one, a node may have free hardware in the middle of a cycle.
        if !is_settled || self.memory != Memory::Sliding || self.arbitration != Arbitration::Managers {
            return None;
        }
        let (proposal, reached) = match snapshot {
            None => (agent.proposal(), agent.reached),
            // The history of an agent that looks back changes whenever its requests change.
            Some(number) if agent.history().is_some() && !agent.sees(number) => return None,
            Some(number) => agent.cached_proposal(number)?,
        };
        let rate = agent.rate_in(snapshot);
        // Only sums of whole numbers are independent of the order of summation.
        let is_certain =
            is_whole(rate) && proposal.is_none_or(|proposal| self.stays_inhibited(agent, proposal, reached));
        is_certain.then(|| ParkedCounts::one(proposal.is_some(), rate))
    }

    /// Returns the [`Population::steady_outcome`] that an agent had when it was parked.
    pub fn former_outcome(&self, agent: AgentIndex, snapshot: Option<u8>, was_inhibited: bool) -> ParkedCounts {
        ParkedCounts::one(was_inhibited, self.agent(agent).rate_in(snapshot))
    }

    /// Whether a proposal stays inhibited until the agent is unparked: inhibitions are not remembered, the target is
    /// reachable and full, and no acceptance policy of the own node is asked first.
    fn stays_inhibited(&self, agent: &Agent, proposal: &Proposal, reached: Option<LinksVersion>) -> bool {
        self.remembers_nothing
            && reached == Some(self.links_version)
            && PlaceRequest::node(agent.node, proposal).is_some_and(|node| {
                let is_judged_there_first = node == agent.node || !self.has_acceptance(agent.node);
                is_judged_there_first && self.full_nodes.inhibits(node, self.needed(agent.application))
            })
    }

    /// Parks an agent that has a [`Population::steady_outcome`].
    pub fn park(&mut self, agent: AgentIndex) {
        let agent = &mut self.agents[agent.position()];
        self.parked_count += u64::from(agent.activity == Activity::Awake);
        agent.activity = Activity::Parked;
    }

    /// Unparks an agent, and adds the `cycles` evaluations that it had while it was parked. `last` is the snapshot of
    /// its recurring traffic that it saw last while parked; `None` if it saw none, or if its traffic does not vary.
    pub fn unpark(&mut self, agent: AgentIndex, cycles: u32, last: Option<u8>) {
        let agent = &mut self.agents[agent.position()];
        if agent.activity == Activity::Parked {
            self.parked_count -= 1;
            agent.activity = Activity::Awake;
        }
        agent.evaluations += cycles;
        if let Some(number) = last {
            agent.observed_while_parked(number);
        }
        if self.past == PastUse::Used {
            agent.look_back_often(self.policies[agent.policy.position()].remembers(), cycles);
        }
    }

    /// Prefetches the agent for [`Population::unpark`]. Call it for a batch first, so that the cache misses overlap.
    /// The return value only keeps the read from being optimised away.
    pub fn prefetch_parked(&self, agent: AgentIndex) -> u32 {
        self.agent(agent).application.0
    }

    /// Moves the agents that must be unparked before they evaluate again to the end of `to_unpark`.
    pub fn take_to_unpark(&mut self, to_unpark: &mut Vec<AgentIndex>) {
        to_unpark.append(&mut self.to_unpark);
    }

    /// Adds the outcomes of parked agents to the next cycle.
    pub fn propose_parked(&mut self, parked: &[ParkedCounts]) {
        self.parked.resize(self.applications.len(), ParkedCounts::default());
        for (sum, more) in self.parked.iter_mut().zip(parked) {
            sum.add(more);
        }
    }

    /// Schedules an agent to be unparked before it evaluates again, if it is parked.
    pub(crate) fn unpark_later(&mut self, agent: AgentIndex) {
        if self.agent(agent).activity == Activity::Parked {
            self.to_unpark.push(agent);
        }
    }

    /// Schedules the unparking of agents that may have been inhibited by a node that now has free hardware: those on
    /// that node and on its neighbours. Called at the end of a cycle, and after the actions of owners.
    pub(crate) fn unpark_around_freed_nodes(&mut self) {
        let mut freed = std::mem::take(&mut self.freed);
        if self.parked_count > 0 {
            for node in freed.iter().filter(|node| !self.full_nodes.contains(**node)) {
                let Population { nodes, agents, to_unpark, .. } = self;
                let is_parked = |agent: &&AgentIndex| agents[agent.position()].activity == Activity::Parked;
                let around = std::iter::once(node).chain(nodes[node.position()].neighbours());
                for near in around.copied().map(NodeIndex::position) {
                    to_unpark.extend(nodes[near].agents().iter().filter(is_parked));
                }
            }
        }
        freed.clear();
        self.freed = freed;
    }
}
