//! Agents that wait for the managers, with what is known of them already.

use mario_domain::Hardware;
use serde::{Deserialize, Serialize};

use crate::population::agent::Agent;
use crate::population::colony::Colony;
use crate::population::index::{AgentIndex, LinksVersion};
use crate::population::label::Full;
use crate::population::rooms::NOTHING;

/// An agent that has evaluated since the last cycle. Nearly all that becomes of such agents can be told from this alone: an agent
/// of a large colony, once it is let go, would have to be fetched from far away.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) enum Waiting {
    /// It proposes nothing.
    Nop(AgentIndex),
    /// It asks for a place on a node in its reach. If that is full, it is refused.
    Place(Full),
    /// It asks for something else.
    Other(AgentIndex),
}

const _: () = assert!(size_of::<Waiting>() == 16, "four of them in a line of a cache");

impl Waiting {
    pub(crate) fn agent(self) -> AgentIndex {
        match self {
            Waiting::Nop(agent) | Waiting::Other(agent) => agent,
            Waiting::Place(full) => full.agent(),
        }
    }

    fn new(index: AgentIndex, agent: &Agent, links: LinksVersion, needed: Hardware, is_let_go: bool) -> Waiting {
        match agent.proposal() {
            None => Waiting::Nop(index),
            Some(wish) if agent.reached == Some(links) && !needed.fits(NOTHING) => {
                let full = Full::at(index, agent.node, &wish).filter(|full| is_let_go || full.to() == agent.node);
                full.map_or(Waiting::Other(index), Waiting::Place)
            }
            Some(_) => Waiting::Other(index),
        }
    }
}

impl Colony {
    /// An agent that has just evaluated waits for the managers, if it does not yet.
    pub(crate) fn wait(&mut self, index: AgentIndex) {
        let agent = self.agent(index);
        let needed = self.applications[agent.application.position()].hardware;
        let waiting = Waiting::new(index, agent, self.links_version, needed, self.lets_go(agent.node));
        let agent = &mut self.agents[index.position()];
        match self.waiting.get_mut(agent.waits_at as usize) {
            Some(known) if known.agent() == index => *known = waiting,
            _ => {
                agent.waits_at = self.waiting.len() as u32;
                self.waiting.push(waiting);
            }
        }
    }

    /// Agents that are gone wait no longer.
    pub(crate) fn leave_living(&mut self) {
        let agents = &mut self.agents;
        self.waiting.retain(|waiting| agents[waiting.agent().position()].is_alive());
        for (position, waiting) in (0..).zip(&self.waiting) {
            agents[waiting.agent().position()].waits_at = position;
        }
    }

    /// Links are others now: what is in reach is to be found out.
    pub(crate) fn doubt_reach(&mut self) {
        for waiting in &mut self.waiting {
            if let Waiting::Place(full) = *waiting {
                *waiting = Waiting::Other(full.agent());
            }
        }
    }
}
