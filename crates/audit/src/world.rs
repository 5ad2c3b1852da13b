//! The state of a simulated run, replayed from the records of a trace.

use std::collections::BTreeSet;

use mario_domain::{Capacity, Hardware, InstanceId};
use rustc_hash::FxHashMap;

use crate::reader::{FactsAndDecision, Header, Proposal, Target};

/// The nodes, instances and users of a simulated run after the records so far.
pub(crate) struct World {
    pub(crate) nodes: Vec<Node>,
    /// The access point of each user; `None` if not connected.
    pub(crate) users: Vec<Option<u32>>,
    /// Whether each user was ever connected.
    pub(crate) were_connected: Vec<bool>,
    agents: Vec<Agent>,
    /// The state of every instance id that was ever used.
    standings: FxHashMap<InstanceId, Standing>,
    /// Free slots in `agents`.
    vacant: Vec<u32>,
    /// Links that are down, as pairs of nodes with the smaller index first.
    broken_links: BTreeSet<(u32, u32)>,
    alive: u64,
    /// For each application, the number of existing instances.
    pub(crate) alive_of: Vec<u64>,
}

/// The state of an instance id.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Standing {
    /// The instance exists, and this is its agent.
    There(AgentPlace),
    /// The instance disappeared at this line of the trace.
    Gone(u64),
}

/// The index of an agent in [`World`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct AgentPlace(u32);

pub(crate) struct Node {
    pub(crate) capacity: Capacity,
    pub(crate) used: Hardware,
    /// The hardware reserved in the current cycle.
    pub(crate) promised: Hardware,
    /// The accepted instances that have not arrived yet, in the order of the verdicts.
    pub(crate) arrivals: Vec<Arrival>,
    /// The hardware that the operations of the current cycle free.
    pub(crate) freed: Hardware,
    pub(crate) is_up: bool,
    pub(crate) is_leaving: bool,
    /// Whether it gave notice of leaving, or was ever down: a notice given while down is not recorded.
    pub(crate) has_given_notice: bool,
    /// A version number that changes whenever the set of reachable neighbours changes.
    pub(crate) neighbourhood: u32,
    /// The agents on the node, in the order of arrival.
    pub(crate) agents: Vec<AgentPlace>,
    /// The neighbours in the header, sorted for binary search.
    neighbours: Box<[u32]>,
}

/// An instance that was accepted in the current cycle and is not on its node yet.
pub(crate) struct Arrival {
    pub(crate) application: u32,
    /// The id of a migrating instance; `None` for a new instance, whose id managers do not see.
    pub(crate) instance: Option<InstanceId>,
    /// The index of the flavour that it will have.
    pub(crate) flavour: u32,
    pub(crate) is_asleep: bool,
}

pub(crate) struct Agent {
    pub(crate) instance: InstanceId,
    pub(crate) application: u32,
    pub(crate) policy: u32,
    pub(crate) node: u32,
    /// The index of its instance's flavour.
    pub(crate) flavour: u32,
    pub(crate) is_asleep: bool,
    /// Whether its instance is an anchor.
    pub(crate) is_anchor: bool,
    /// Whether the manager of its node has refused, since the agent's last evaluation, to wake its instance for a
    /// client request.
    pub(crate) is_wake_refused: bool,
    /// The hardware that its instance holds.
    pub(crate) held: Hardware,
    /// The time at which it appeared.
    pub(crate) born: f64,
    /// The number of evaluations.
    pub(crate) evaluations: u64,
    /// The time of the last evaluation.
    pub(crate) last_evaluation: Option<f64>,
    /// The facts and the decision of the last evaluation.
    pub(crate) last_seen: Option<FactsAndDecision>,
    /// The state at the last decision: node, free hardware, version of the neighbourhood, flavour, and whether the
    /// instance was asleep. `None` before the first decision under its current policy, or if decisions are not
    /// recomputed.
    pub(crate) decided_at: Option<(u32, Capacity, u32, u32, bool)>,
    /// The nodes that it has left since its last evaluation.
    pub(crate) left: Vec<u32>,
    /// The inhibited operations that the agent remembers, each with the number of evaluations that the agent had made
    /// when the operation was inhibited.
    pub(crate) remembered: Vec<(u64, Proposal)>,
    pub(crate) pending: Pending,
    /// The cycle in which it was judged last, from 1; 0 if never.
    pub(crate) judged: u64,
    /// The announced eviction of its instance, if any.
    pub(crate) notice: Option<EvictionNotice>,
}

/// The flavour, wakefulness and hardware of an instance.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InstanceState {
    /// The index of its flavour.
    pub(crate) flavour: u32,
    pub(crate) is_asleep: bool,
    /// The hardware that it holds.
    pub(crate) held: Hardware,
}

/// The announced eviction of an instance.
pub(crate) struct EvictionNotice {
    /// The number of evaluations that its agent has left.
    pub(crate) left: u64,
    pub(crate) reason: String,
}

/// The result of an agent's last evaluation, until it is judged.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Pending {
    /// The agent has not evaluated since it was last judged.
    Nothing,
    /// The policy proposed no operation.
    Nop,
    /// The policy proposed this.
    Proposal(Proposal),
}

impl World {
    pub(crate) fn new(header: &Header) -> World {
        let node = |node: &crate::reader::TracedNode| {
            let mut neighbours = node.neighbours.clone();
            neighbours.sort_unstable();
            Node {
                capacity: node.capacity,
                used: Hardware::NONE,
                promised: Hardware::NONE,
                arrivals: Vec::new(),
                freed: Hardware::NONE,
                is_up: true,
                is_leaving: false,
                has_given_notice: false,
                neighbourhood: 0,
                agents: Vec::new(),
                neighbours: neighbours.into(),
            }
        };
        World {
            nodes: header.nodes.iter().map(node).collect(),
            users: vec![None; header.users.len()],
            were_connected: vec![false; header.users.len()],
            agents: Vec::new(),
            standings: FxHashMap::default(),
            vacant: Vec::new(),
            broken_links: BTreeSet::new(),
            alive: 0,
            alive_of: vec![0; header.applications.len()],
        }
    }

    pub(crate) fn node(&self, place: u32) -> &Node {
        &self.nodes[place as usize]
    }

    pub(crate) fn node_mut(&mut self, place: u32) -> &mut Node {
        &mut self.nodes[place as usize]
    }

    pub(crate) fn agent(&self, place: AgentPlace) -> &Agent {
        &self.agents[place.0 as usize]
    }

    pub(crate) fn agent_mut(&mut self, place: AgentPlace) -> &mut Agent {
        &mut self.agents[place.0 as usize]
    }

    /// The number of instances.
    pub(crate) fn alive(&self) -> u64 {
        self.alive
    }

    /// All instances, node by node.
    pub(crate) fn all_alive(&self) -> impl Iterator<Item = &Agent> {
        self.nodes.iter().flat_map(|node| &node.agents).map(|place| self.agent(*place))
    }

    pub(crate) fn standing(&self, instance: &InstanceId) -> Option<Standing> {
        self.standings.get(instance).copied()
    }

    /// Adds an instance with a fresh id.
    pub(crate) fn appear(
        &mut self,
        instance: &InstanceId,
        application: u32,
        policy: u32,
        node: u32,
        state: InstanceState,
        born: f64,
    ) -> AgentPlace {
        let agent = Agent {
            instance: instance.clone(),
            application,
            policy,
            node,
            flavour: state.flavour,
            is_asleep: state.is_asleep,
            is_anchor: false,
            is_wake_refused: false,
            held: state.held,
            born,
            evaluations: 0,
            last_evaluation: None,
            last_seen: None,
            decided_at: None,
            left: Vec::new(),
            remembered: Vec::new(),
            pending: Pending::Nothing,
            judged: 0,
            notice: None,
        };
        let place = match self.vacant.pop() {
            Some(place) => {
                self.agents[place as usize] = agent;
                AgentPlace(place)
            }
            None => {
                self.agents.push(agent);
                AgentPlace((self.agents.len() - 1) as u32)
            }
        };
        self.standings.insert(instance.clone(), Standing::There(place));
        self.settle(place, node);
        self.alive += 1;
        self.alive_of[application as usize] += 1;
        place
    }

    /// Removes an instance that disappears at this line of the trace.
    pub(crate) fn go(&mut self, place: AgentPlace, line: u64) {
        self.unsettle(place);
        let agent = self.agent(place);
        let (instance, application) = (agent.instance.clone(), agent.application as usize);
        self.standings.insert(instance, Standing::Gone(line));
        self.vacant.push(place.0);
        self.alive -= 1;
        self.alive_of[application] -= 1;
    }

    /// Moves an instance to another node. An announced eviction no longer applies there.
    pub(crate) fn travel(&mut self, place: AgentPlace, to: u32) {
        self.unsettle(place);
        let agent = self.agent_mut(place);
        let from = agent.node;
        agent.left.push(from);
        agent.node = to;
        agent.notice = None;
        // The manager of the new node has not been asked yet.
        agent.is_wake_refused = false;
        self.settle(place, to);
    }

    /// Changes the policy of an application's agents, and clears the inhibitions that they remember and the state at
    /// their last decision.
    pub(crate) fn update(&mut self, application: u32, policy: u32) {
        for agent in self.agents.iter_mut().filter(|agent| agent.application == application) {
            agent.policy = policy;
            agent.remembered.clear();
            agent.decided_at = None;
        }
    }

    /// Changes the flavour, wakefulness and hardware of an instance.
    pub(crate) fn change(&mut self, place: AgentPlace, InstanceState { flavour, is_asleep, held }: InstanceState) {
        let agent = self.agent_mut(place);
        (agent.flavour, agent.is_asleep) = (flavour, is_asleep);
        let before = std::mem::replace(&mut agent.held, held);
        let node = agent.node;
        let node = self.node_mut(node);
        node.used = node.used.saturating_sub(before).saturating_add(held);
    }

    fn settle(&mut self, place: AgentPlace, node: u32) {
        let held = self.agent(place).held;
        let node = self.node_mut(node);
        node.used = node.used.saturating_add(held);
        node.agents.push(place);
    }

    fn unsettle(&mut self, place: AgentPlace) {
        let agent = self.agent(place);
        let (node, held) = (agent.node, agent.held);
        let node = self.node_mut(node);
        node.used = node.used.saturating_sub(held);
        if let Some(position) = node.agents.iter().position(|present| *present == place) {
            node.agents.remove(position);
        }
    }

    /// For each node, the lowest index in its connected component over working links. A node that is down is a
    /// component of its own.
    pub(crate) fn parts(&self) -> Vec<u32> {
        const UNKNOWN: u32 = u32::MAX;
        let mut parts = vec![UNKNOWN; self.nodes.len()];
        let mut waiting = Vec::new();
        for place in 0..self.nodes.len() as u32 {
            if parts[place as usize] != UNKNOWN {
                continue;
            }
            parts[place as usize] = place;
            waiting.push(place);
            while let Some(node) = waiting.pop() {
                for neighbour in &self.node(node).neighbours {
                    let is_reached = self.node(node).is_up && self.reaches(node, *neighbour);
                    if is_reached && parts[*neighbour as usize] == UNKNOWN {
                        parts[*neighbour as usize] = place;
                        waiting.push(*neighbour);
                    }
                }
            }
        }
        parts
    }

    /// Whether the header has a link between two nodes.
    pub(crate) fn are_linked(&self, from: u32, to: u32) -> bool {
        self.node(from).neighbours.binary_search(&to).is_ok()
    }

    /// Whether `to` is up and is linked to `from` by a link that is up.
    pub(crate) fn reaches(&self, from: u32, to: u32) -> bool {
        self.are_linked(from, to) && self.node(to).is_up && !self.broken_links.contains(&ordered(from, to))
    }

    pub(crate) fn is_broken(&self, [one, other]: [u32; 2]) -> bool {
        self.broken_links.contains(&ordered(one, other))
    }

    pub(crate) fn set_link(&mut self, [one, other]: [u32; 2], is_up: bool) {
        if is_up {
            self.broken_links.remove(&ordered(one, other));
        } else {
            self.broken_links.insert(ordered(one, other));
        }
        self.node_mut(one).neighbourhood += 1;
        self.node_mut(other).neighbourhood += 1;
    }

    pub(crate) fn set_up(&mut self, place: u32, is_up: bool) {
        let node = self.node_mut(place);
        node.is_up = is_up;
        node.is_leaving = false;
        node.has_given_notice = true;
        for neighbour in node.neighbours.clone() {
            self.node_mut(neighbour).neighbourhood += 1;
        }
    }
}

fn ordered(one: u32, other: u32) -> (u32, u32) {
    (one.min(other), one.max(other))
}

impl Node {
    /// The hardware that no instance uses.
    pub(crate) fn free(&self) -> Capacity {
        self.left_of(self.used)
    }

    /// The hardware that is neither used nor reserved in the current cycle.
    pub(crate) fn unpromised(&self) -> Capacity {
        self.left_of(self.used.saturating_add(self.promised))
    }

    fn left_of(&self, taken: Hardware) -> Capacity {
        match self.capacity {
            Capacity::Unbounded => Capacity::Unbounded,
            Capacity::Bounded(all) => Capacity::Bounded(all.saturating_sub(taken)),
        }
    }
}

impl Target {
    /// The node that a target denotes for an instance on `own`; `None` for an unknown name and for a flavour.
    pub(crate) fn resolve(&self, own: u32) -> Option<u32> {
        match self {
            Target::Own => Some(own),
            Target::Node(node) => Some(*node),
            Target::Unknown(_) | Target::Flavour(_) => None,
        }
    }
}
