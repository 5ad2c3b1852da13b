//! Agents that rest: as long as nothing is new to them, they do in each cycle what they did before, and nobody looks at them.
//!
//! An agent that proposes nothing does nothing, and one that asks for a place on a full node is refused. So as long as its
//! facts stay as they are, and the node stays full, a cycle can count what becomes of it without a look. Whatever could change
//! that *rouses* the agent: something new about its own node, and room on a node in its reach. A shell that lets agents rest
//! wakes them for anything else that they would see. Nobody can rest where nodes and links go and come.

use mario_scenario::{Arbitration, Memory, NodeIndex};
use serde::{Deserialize, Serialize};

use crate::population::agent::{Agent, AgentState};
use crate::population::colony::Colony;
use crate::population::index::{AgentIndex, LinksVersion};
use crate::population::label::Full;
use crate::population::wish::Wish;

/// What agents of one application that rest do in a cycle.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Resting {
    /// How many propose nothing.
    pub idle: u64,
    /// How many ask for a place on a full node, and are refused.
    pub refused: u64,
    /// How many client requests they see, all together.
    pub requests: f64,
}

impl Resting {
    /// One agent that sees so many client requests.
    pub fn one(is_refused: bool, requests: f64) -> Resting {
        Resting { idle: u64::from(!is_refused), refused: u64::from(is_refused), requests }
    }

    /// How many agents.
    pub fn count(&self) -> u64 {
        self.idle + self.refused
    }

    /// With others who rest too.
    pub fn add(&mut self, others: &Resting) {
        self.idle += others.idle;
        self.refused += others.refused;
        self.requests += others.requests;
    }

    /// Without some of them.
    pub fn remove(&mut self, some: &Resting) {
        self.idle -= some.idle;
        self.refused -= some.refused;
        self.requests -= some.requests;
    }
}

impl Colony {
    /// What an agent will do in each cycle in which it sees what it sees now, or the sight with this number of a round, as
    /// long as nobody rouses it; `None` when that is not certain.
    pub fn habit(&self, agent: AgentIndex, sight: Option<u8>) -> Option<Resting> {
        let agent = self.agent(agent);
        let is_settled = agent.is_unchanged && agent.is_blank;
        // Where requests are enacted one by one, there may be room in the middle of a cycle.
        if !is_settled || self.memory != Memory::Sliding || self.arbitration != Arbitration::Managers {
            return None;
        }
        let (wish, reached) = match sight {
            None => (agent.proposal(), agent.reached),
            Some(number) => agent.proposed_to(number)?,
        };
        let rate = agent.rate_in(sight);
        // Only whole numbers come to the same in any order.
        let is_certain = rate.fract() == 0.0 && wish.as_ref().is_none_or(|wish| self.is_refused(agent, wish, reached));
        is_certain.then(|| Resting::one(wish.is_some(), rate))
    }

    /// What was [`Colony::habit`] of an agent when it began to rest, if it was refused or not.
    pub fn former_habit(&self, agent: AgentIndex, sight: Option<u8>, was_refused: bool) -> Resting {
        Resting::one(was_refused, self.agent(agent).rate_in(sight))
    }

    /// Whether an agent that asks for this is refused until somebody rouses it: what is refused is not remembered, and the
    /// node is in reach and full.
    fn is_refused(&self, agent: &Agent, wish: &Wish, reached: Option<LinksVersion>) -> bool {
        let node = Full::node(agent.node, wish);
        self.remembers_nothing
            && reached == Some(self.links_version)
            && node.is_some_and(|node| {
                let is_asked_first = node == agent.node || self.lets_go(agent.node);
                is_asked_first && self.rooms.refuse(node, self.needed(agent.application))
            })
    }

    /// Whoever asked [`Colony::habit`] lets an agent rest.
    pub fn rest(&mut self, agent: AgentIndex) {
        let agent = &mut self.agents[agent.position()];
        self.resting_count += u64::from(agent.state == AgentState::Awake);
        agent.state = AgentState::Resting;
    }

    /// An agent rests no longer, after so many cycles. If it saw a round of sights, the one with this number was the last.
    pub fn wake(&mut self, agent: AgentIndex, cycles: u32, last: Option<u8>) {
        let agent = &mut self.agents[agent.position()];
        if agent.state == AgentState::Resting {
            self.resting_count -= 1;
            agent.state = AgentState::Awake;
        }
        agent.evaluations += cycles;
        if let Some(number) = last {
            agent.saw(number);
        }
    }

    /// Reads a little of what waking an agent needs, and gives it: see [`Colony::glance`].
    pub fn glance_at(&self, agent: AgentIndex) -> u32 {
        self.agent(agent).application.0
    }

    /// The agents that rest, and are to be woken before they evaluate again.
    pub fn take_roused(&mut self, roused: &mut Vec<AgentIndex>) {
        roused.append(&mut self.roused);
    }

    /// Agents of each application have evaluated without a look at them: the next cycle counts them.
    pub fn propose_resting(&mut self, resting: &[Resting]) {
        self.resting.resize(self.applications.len(), Resting::default());
        for (sum, more) in self.resting.iter_mut().zip(resting) {
            sum.add(more);
        }
    }

    pub(crate) fn rouse(&mut self, agent: AgentIndex) {
        if self.agent(agent).state == AgentState::Resting {
            self.roused.push(agent);
        }
    }

    /// Ends a cycle: whoever may have asked in vain for a place on a node that has room now is roused. Nobody asks for a place
    /// further away than one link.
    pub(crate) fn rouse_who_asked(&mut self) {
        let mut opened = std::mem::take(&mut self.opened);
        if self.resting_count > 0 {
            for node in &opened {
                if !self.rooms.is_full(*node) {
                    self.rouse_on(*node);
                    for position in 0..self.node(*node).neighbours().len() {
                        self.rouse_on(self.node(*node).neighbours()[position]);
                    }
                }
            }
        }
        opened.clear();
        self.opened = opened;
    }

    fn rouse_on(&mut self, node: NodeIndex) {
        let Colony { nodes, agents, roused, .. } = self;
        let is_resting = |agent: &&AgentIndex| agents[agent.position()].state == AgentState::Resting;
        roused.extend(nodes[node.position()].agents().iter().filter(is_resting));
    }
}
