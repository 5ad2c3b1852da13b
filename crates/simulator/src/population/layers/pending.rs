//! The queue of requests for the next cycle. An entry has all the data needed to inhibit a request for a full node.

use mario_domain::{AgentOperation, Hardware};
use mario_scenario::NodeIndex;
use serde::{Deserialize, Serialize};

use super::full_nodes::NO_HARDWARE;
use crate::population::agent::Agent;
use crate::population::index::{AgentIndex, LinksVersion};
use crate::population::label::CycleLabel;
use crate::population::proposal::{CompactVerdict, Judged, Proposal, Target};
use crate::population::state::Population;

/// The request of an agent that has evaluated since the last cycle. Most outcomes follow from it alone, without
/// fetching the agent.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) enum PendingRequest {
    /// The agent proposes nothing.
    Nop(AgentIndex),
    /// The agent proposes to migrate or replicate to a node that is known to be reachable, the instance holds as much
    /// hardware as a new one, and no acceptance policy is asked before the free hardware of that node is checked. So
    /// the request is inhibited if that node is full at the time of judging.
    Place(PlaceRequest),
    /// Any other proposal, e.g. to migrate to a node that is not known to be reachable. The agent has to be fetched.
    Other(AgentIndex),
}

const _: () = assert!(size_of::<PendingRequest>() == 16, "four in a cache line");

/// The short form of a migrate or replicate, in 16 bytes.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct PlaceRequest {
    agent: AgentIndex,
    from: NodeIndex,
    /// Equal to `from` if the policy wrote `self`.
    to: NodeIndex,
    operation: AgentOperation,
}

impl PlaceRequest {
    /// The short form of a proposal of an agent on `from`, if it has one.
    fn new(agent: AgentIndex, from: NodeIndex, proposal: &Proposal) -> Option<PlaceRequest> {
        PlaceRequest::node(from, proposal).map(|to| PlaceRequest { agent, from, to, operation: proposal.operation })
    }

    /// The node on which a proposal needs hardware; `None` if the proposal has no short form.
    pub(crate) fn node(from: NodeIndex, proposal: &Proposal) -> Option<NodeIndex> {
        match proposal.target {
            _ if !proposal.operation.asks_for_place() => None,
            Target::Own => Some(from),
            // In the short form, the own node means that the policy wrote `self`. If it wrote the name of the node, the
            // proposal has no short form.
            Target::Node(node) if node != from => Some(node),
            Target::Node(_) | Target::Unknown(_) | Target::Flavour(_) => None,
        }
    }

    /// The short form of a request that was inhibited because its target is full; `None` if it was not, or if it has no
    /// short form.
    pub(crate) fn of_inhibited(judged: &Judged) -> Option<PlaceRequest> {
        let Judged { agent, proposal, from, verdict, created: None } = judged else { return None };
        let request = PlaceRequest::new(*agent, *from, proposal)?;
        let is_full =
            matches!(verdict, CompactVerdict::NoRoom { node, free } if *node == request.to && *free == NO_HARDWARE);
        is_full.then_some(request)
    }

    pub(crate) fn agent(self) -> AgentIndex {
        self.agent
    }

    pub(crate) fn proposal(self) -> Proposal {
        let target = if self.to == self.from { Target::Own } else { Target::Node(self.to) };
        Proposal { operation: self.operation, target }
    }

    /// The long form of the request, inhibited because its target is full.
    pub(crate) fn inhibited(self) -> Judged {
        let verdict = CompactVerdict::NoRoom { node: self.to, free: NO_HARDWARE };
        Judged { agent: self.agent, proposal: self.proposal(), from: self.from, verdict, created: None }
    }
}

impl PendingRequest {
    pub(crate) fn agent(self) -> AgentIndex {
        match self {
            PendingRequest::Nop(agent) | PendingRequest::Other(agent) => agent,
            PendingRequest::Place(request) => request.agent,
        }
    }

    /// `is_accepted_by_own` says that the agent's own node has no acceptance policy. Such a policy would have to be
    /// asked first.
    fn new(
        index: AgentIndex,
        agent: &Agent,
        links: LinksVersion,
        needed: Hardware,
        is_accepted_by_own: bool,
    ) -> PendingRequest {
        let Some(proposal) = agent.proposal() else { return PendingRequest::Nop(index) };
        let is_settled = agent.reached == Some(links) && !needed.fits(NO_HARDWARE);
        let place = PlaceRequest::new(index, agent.node, proposal).filter(|_| is_settled);
        let place = place.filter(|place| is_accepted_by_own || place.to == agent.node);
        place.map_or(PendingRequest::Other(index), PendingRequest::Place)
    }
}

impl Population {
    /// Queues the request of an agent that has just evaluated. Replaces the agent's request that is still in the
    /// queue, if any.
    pub(crate) fn enqueue(&mut self, index: AgentIndex) {
        let agent = self.agent(index);
        // If the instance does not hold the usual hardware of its application, its request has no short form: with
        // `Hardware::NONE`, `PendingRequest::new` never returns `Place`.
        let needed = self.needed(agent.application);
        let is_usual = agent.is_blank || self.held(agent) == needed;
        let needed = if is_usual { needed } else { Hardware::NONE };
        let is_accepted_by_own = !self.has_acceptance(agent.node);
        let pending = PendingRequest::new(index, agent, self.links_version, needed, is_accepted_by_own);
        let agent = &mut self.agents[index.position()];
        match self.pending.get_mut(agent.pending_at as usize) {
            Some(known) if known.agent() == index => *known = pending,
            _ => {
                agent.pending_at = self.pending.len() as u32;
                self.pending.push(pending);
            }
        }
    }

    /// Returns the agent at a position of the queue and its proposal. If the agent proposes nothing, or the entry is a
    /// `Place` on a full node, returns `None` and adds the outcome to the label.
    pub(crate) fn dequeue(&self, position: usize, label: &mut CycleLabel) -> Option<(AgentIndex, Proposal)> {
        if let PendingRequest::Place(request) = self.pending[position]
            && self.full_nodes.contains(request.to)
        {
            label.push_inhibited(request);
            return None;
        }
        self.proposal_at(position, label)
    }

    /// Returns the agent at a position of the queue and its proposal. If the agent proposes nothing, returns `None` and
    /// adds a nop to the label.
    pub(crate) fn proposal_at(&self, position: usize, label: &mut CycleLabel) -> Option<(AgentIndex, Proposal)> {
        let index = self.pending[position].agent();
        if matches!(self.pending[position], PendingRequest::Nop(_)) {
            label.push_nop(index);
            return None;
        }
        self.agent(index).proposal().map(|proposal| (index, proposal.clone()))
    }

    /// Removes the requests of agents that no longer exist.
    pub(crate) fn drop_requests_of_gone(&mut self) {
        let agents = &mut self.agents;
        self.pending.retain(|pending| agents[pending.agent().position()].is_alive());
        for (position, pending) in (0..).zip(&self.pending) {
            agents[pending.agent().position()].pending_at = position;
        }
    }

    /// Invalidates the reachability cached in the queue, because links have changed.
    pub(crate) fn recheck_reach(&mut self) {
        for pending in &mut self.pending {
            if let PendingRequest::Place(request) = *pending {
                *pending = PendingRequest::Other(request.agent);
            }
        }
    }
}
