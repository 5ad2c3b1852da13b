//! Runs a world, cycle by cycle.

use mario_domain::AgentOperation;
use mario_policy::MemoryDeclaration;

use super::agents::{CachedDecider, InstanceState, Past, Proposed, ReceivedRequests, Target};
use super::world::{Gpus, LINK_LATENCY, RATE, World, needed_in, node_name};

/// An instance and the memory of its agent.
#[derive(Clone, Debug)]
pub(super) struct Agent {
    /// Ids start at 1.
    pub(super) id: usize,
    pub(super) node: usize,
    /// Nodes that it left, oldest first.
    left: Vec<usize>,
    /// Its inhibited operations: cycle, operation and target.
    memory: Vec<(u32, AgentOperation, String)>,
    /// Requests of earlier evaluations, the latest first, of at most as many evaluations as the policy remembers.
    earlier: Vec<Vec<ReceivedRequests>>,
    /// Its accepted operations: cycle, operation and target. Empty unless the policy remembers operations.
    done: Vec<(u32, AgentOperation, String)>,
    /// The cycle in which it arrived on this node; its first evaluation is in the next cycle.
    arrived: u32,
    /// The index of its flavour.
    flavour: usize,
    /// The number of evaluations left before its eviction; `None` if no eviction was announced.
    leave: Option<u32>,
    is_asleep: bool,
}

impl Agent {
    fn new(id: usize, node: usize, arrived: u32, flavour: usize) -> Agent {
        let (left, memory, earlier, done) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Agent { id, node, left, memory, earlier, done, arrived, flavour, leave: None, is_asleep: false }
    }

    /// The units of hardware that the instance occupies: none while it sleeps.
    fn held(&self) -> i64 {
        if self.is_asleep { 0 } else { needed_in(self.flavour) }
    }

    /// What the policy sees of the agent's memory in this cycle. `inhibited` are the inhibited operations that the
    /// agent still remembers.
    fn past(&self, inhibited: Vec<(AgentOperation, String)>, remembers: MemoryDeclaration, cycle: u32) -> Past {
        let done = self.done.iter().rev().map(|(then, operation, word)| (cycle - then, *operation, word.clone()));
        Past {
            inhibited,
            earlier: self.earlier.clone(),
            done: done.filter(|(ago, ..)| *ago <= remembers.operations).collect(),
            age: remembers.reads_age.then(|| cycle - 1 - self.arrived),
            leave: self.leave,
        }
    }

    /// Stores the requests of this evaluation.
    fn store_requests(&mut self, remembers: MemoryDeclaration, received: &[ReceivedRequests]) {
        if remembers.requests > 0 {
            self.earlier.truncate(remembers.requests as usize - 1);
            self.earlier.insert(0, received.to_vec());
        }
    }
}

/// The verdict on a proposal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Verdict {
    Accepted,
    /// The target node, or the own node for an adapt or a wake, has too little free hardware.
    NoRoom,
    /// The target is neither a neighbour nor, for replicate, the instance's own node; or it is an unknown flavour.
    NotATarget,
    /// The instance already runs in the flavour, already sleeps or may not sleep, or is already awake.
    NoChange,
}

/// The evaluation of one agent in one cycle.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) cycle: u32,
    pub(super) instance: usize,
    pub(super) node: usize,
    pub(super) received: Vec<ReceivedRequests>,
    pub(super) proposed: Proposed,
    /// `None` if there was no proposal to judge.
    pub(super) verdict: Option<Verdict>,
    /// Whether the instance returned to a node that it had left.
    pub(super) returned: bool,
}

/// The state of a running world.
pub(super) struct Run<'w> {
    world: &'w World<'w>,
    pub(super) agents: Vec<Agent>,
    next_id: usize,
    cycle: u32,
    /// Whether the owner of a node has evicted an instance in any cycle so far.
    pub(super) evicted: bool,
    /// The last cycle in which client requests woke an instance; `None` if they woke none.
    pub(super) woken: Option<u32>,
}

impl<'w> Run<'w> {
    pub(super) fn new(world: &'w World<'w>) -> Run<'w> {
        let agent = |(index, node): (usize, &usize)| {
            let leave = world.notice.filter(|_| index == 0);
            let is_asleep = world.begins_asleep && index == 0;
            Agent { leave, is_asleep, ..Agent::new(index + 1, *node, 0, 0) }
        };
        Run {
            world,
            agents: world.instances.iter().enumerate().map(agent).collect(),
            next_id: world.instances.len() + 1,
            cycle: 0,
            evicted: false,
            woken: None,
        }
    }

    /// The nodes of all instances, sorted. Sleeping instances are distinguished from awake ones.
    pub(super) fn placement(&self) -> Vec<usize> {
        // To tell a sleeping instance from an awake one, the number of nodes is added to the index of its node.
        let place = |agent: &Agent| agent.node + if agent.is_asleep { self.world.shape.nodes() } else { 0 };
        let mut nodes: Vec<usize> = self.agents.iter().map(place).collect();
        nodes.sort_unstable();
        nodes
    }

    /// Runs one management cycle. Client requests first wake sleeping instances. Then all agents propose from the same
    /// state, the managers judge the proposals in the order of the instances' ids, and the accepted ones are enacted.
    /// Hardware that they free is available in the next cycle. Finally, instances whose notice has ended are evicted.
    pub(super) fn cycle(&mut self, decider: &mut CachedDecider<'_>) -> Vec<Step> {
        self.cycle += 1;
        let remembers = decider.remembers();
        let received = self.received();
        let mut free: Vec<i64> = vec![self.world.capacity; self.world.shape.nodes()];
        for agent in &self.agents {
            free[agent.node] -= agent.held();
        }
        self.wake_by_requests(&received, &mut free);
        let available = free.clone();
        let mut steps = Vec::with_capacity(self.agents.len());
        let mut gone = Vec::new();
        let mut born = Vec::new();
        for (index, received) in received.into_iter().enumerate() {
            let inhibited = self.inhibited(index);
            let agent = &mut self.agents[index];
            let past = agent.past(inhibited, remembers, self.cycle);
            let Agent { id: instance, node, flavour, is_asleep, .. } = *agent;
            let state = InstanceState { instance, node, free: available[node], flavour, is_asleep };
            let proposed = decider.ask(self.world, state, &received, past);
            agent.store_requests(remembers, &received);
            agent.leave = agent.leave.map(|left| left.saturating_sub(1));
            let mut step = Step {
                cycle: self.cycle,
                instance: agent.id,
                node: agent.node,
                received,
                proposed,
                verdict: None,
                returned: false,
            };
            if let Proposed::Operation { operation, target, word, .. } = &step.proposed {
                let verdict = judge(self.world, agent, *operation, *target, word, &mut free);
                if verdict == Verdict::Accepted && remembers.operations > 0 {
                    agent.done.push((self.cycle, *operation, word.clone()));
                }
                match (&verdict, operation, target) {
                    (Verdict::Accepted, AgentOperation::Undeploy, _) => gone.push(agent.id),
                    (Verdict::Accepted, AgentOperation::Migrate, Target::Node(node)) => {
                        agent.left.push(agent.node);
                        agent.node = *node;
                        agent.arrived = self.cycle;
                        agent.leave = None;
                        step.returned = agent.left.contains(node);
                    }
                    (Verdict::Accepted, AgentOperation::Replicate, target) => {
                        born.push((target.resolved(agent.node), agent.flavour, agent.is_asleep));
                    }
                    (Verdict::Accepted, AgentOperation::Adapt, _) => {
                        agent.flavour =
                            self.world.flavours.iter().position(|name| name.to_string() == *word).unwrap_or(0);
                    }
                    (Verdict::Accepted, AgentOperation::Sleep, _) => agent.is_asleep = true,
                    (Verdict::Accepted, AgentOperation::Wake, _) => agent.is_asleep = false,
                    (Verdict::Accepted, AgentOperation::Migrate, Target::Own | Target::Nowhere) => {}
                    (Verdict::NoRoom | Verdict::NotATarget | Verdict::NoChange, ..) => {
                        agent.memory.push((self.cycle, *operation, word.clone()));
                    }
                }
                step.verdict = Some(verdict);
            }
            steps.push(step);
        }
        self.evicted |= self.agents.iter().any(|agent| agent.leave == Some(0));
        self.agents.retain(|agent| !gone.contains(&agent.id) && agent.leave != Some(0));
        for (node, flavour, is_asleep) in born {
            let Some(node) = node else { continue };
            self.agents.push(Agent { is_asleep, ..Agent::new(self.next_id, node, self.cycle, flavour) });
            self.next_id += 1;
        }
        steps
    }

    /// Wakes the sleeping instances that receive client requests, if their node has enough free units. Updates `free`.
    fn wake_by_requests(&mut self, received: &[Vec<ReceivedRequests>], free: &mut [i64]) {
        for (agent, received) in self.agents.iter_mut().zip(received) {
            let needed = needed_in(agent.flavour);
            if agent.is_asleep && !received.is_empty() && free[agent.node] >= needed {
                free[agent.node] -= needed;
                agent.is_asleep = false;
                self.woken = Some(self.cycle);
            }
        }
    }

    /// The inhibited operations that an agent still remembers, in the standard order of terms, without duplicates.
    /// Deletes older ones from its memory.
    fn inhibited(&mut self, index: usize) -> Vec<(AgentOperation, String)> {
        let (now, memory) = (self.cycle, self.world.memory);
        let agent = &mut self.agents[index];
        agent.memory.retain(|(cycle, ..)| cycle + memory >= now);
        let mut remembered: Vec<_> =
            agent.memory.iter().map(|(_, operation, target)| (*operation, target.clone())).collect();
        remembered.sort_by(|one, other| (one.0.as_str(), &one.1).cmp(&(other.0.as_str(), &other.1)));
        remembered.dedup();
        remembered
    }

    /// The requests that each instance receives in one cycle. Every client sends to the instances with the fewest hops,
    /// in round robin if there are several. Sleeping instances count, too.
    fn received(&self) -> Vec<Vec<ReceivedRequests>> {
        let mut received: Vec<Vec<ReceivedRequests>> = vec![Vec::new(); self.agents.len()];
        let shape = self.world.shape;
        for (client, &from) in self.world.clients.iter().enumerate() {
            let Some(nearest) = self.agents.iter().map(|agent| shape.hops[from][agent.node]).min() else { continue };
            let near: Vec<usize> =
                (0..self.agents.len()).filter(|index| shape.hops[from][self.agents[*index].node] == nearest).collect();
            for request in 0..RATE as usize {
                let index = near[(client + request) % near.len()];
                let at = self.agents[index].node;
                let neighbour = if from == at { "self".to_owned() } else { node_name(shape.last_hop(from, at)) };
                let latency = nearest as i64 * LINK_LATENCY;
                let facts = &mut received[index];
                match facts.iter_mut().find(|fact| fact.neighbour == neighbour && fact.latency == latency) {
                    Some(fact) => fact.rate += 1,
                    None => facts.push(ReceivedRequests { neighbour, rate: 1, latency }),
                }
            }
        }
        for facts in &mut received {
            facts.sort();
        }
        received
    }
}

fn judge(
    world: &World<'_>,
    agent: &Agent,
    operation: AgentOperation,
    target: Target,
    word: &str,
    free: &mut [i64],
) -> Verdict {
    let (node, needed) = (agent.node, agent.held());
    let (to, needed) = match (operation, target.resolved(node)) {
        (AgentOperation::Adapt, _) => match world.flavours.iter().position(|name| name.to_string() == word) {
            None => return Verdict::NotATarget,
            Some(flavour) if flavour == agent.flavour => return Verdict::NoChange,
            Some(_) if agent.is_asleep => return Verdict::Accepted,
            // Hardware that a shrinking adapt frees is available in the next cycle.
            Some(flavour) => (node, (needed_in(flavour) - needed).max(0)),
        },
        (AgentOperation::Sleep, _) if !world.can_sleep || agent.is_asleep => return Verdict::NoChange,
        (AgentOperation::Wake, _) if !agent.is_asleep => return Verdict::NoChange,
        (AgentOperation::Wake, _) => (node, needed_in(agent.flavour)),
        (operation, _) if !operation.asks_for_place() => return Verdict::Accepted,
        (AgentOperation::Replicate, Some(to)) if to == node => (to, needed),
        (_, Some(to)) if world.shape.neighbours[node].contains(&to) => (to, needed),
        _ => return Verdict::NotATarget,
    };
    // An instance that adapts keeps its GPU, so no free one is needed.
    let has_gpu = world.gpus == Gpus::NotAsked || operation == AgentOperation::Adapt || world.free_gpus(free[to]) > 0;
    if free[to] < needed || !has_gpu {
        return Verdict::NoRoom;
    }
    free[to] -= needed;
    Verdict::Accepted
}
