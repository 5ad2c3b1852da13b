//! Runs a world, cycle by cycle, by the rules of management.

use std::rc::Rc;

use mario_colony::Manager;
use mario_colony::rules::{
    Concern, EvictionNotice, HardwareChange, History, RememberedOperation, adapt, expire, judge, remember, sleep,
    visible, wake,
};
use mario_domain::{AgentOperation, FlavourIndex, Hardware, Inhibition, Rule, Target, Verdict, Wakefulness};
use mario_policy::MemoryDeclaration;

use super::decider::{CachedDecider, Proposed};
use super::known::{Known, ReceivedRequests};
use super::names::LastHop;
use super::world::{LINK_LATENCY, RATE, World};

/// An instance and its agent.
#[derive(Clone, Debug)]
pub(super) struct Agent {
    /// Ids start at 1.
    pub(super) id: usize,
    pub(super) node: usize,
    /// Nodes that it left, oldest first.
    left: Vec<usize>,
    pub(super) body: Body,
    /// The number of its evaluations.
    evaluations: u32,
    /// Its inhibited operations.
    memory: Vec<RememberedOperation<Target>>,
    history: History<ReceivedRequests, Target>,
    /// The announcement of its eviction.
    notice: Option<EvictionNotice>,
}

/// The flavour and wakefulness of an instance.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Body {
    pub(super) flavour: FlavourIndex,
    pub(super) wakefulness: Wakefulness,
}

/// The evaluation of one agent in one cycle.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) cycle: u32,
    pub(super) instance: usize,
    pub(super) node: usize,
    pub(super) received: Vec<ReceivedRequests>,
    pub(super) proposed: Rc<Proposed>,
    /// `None` if there was no proposal to judge.
    pub(super) verdict: Option<Verdict>,
    /// Whether the instance returned to a node that it had left.
    pub(super) returned: bool,
}

/// The state of a running world.
pub(super) struct Run<'w> {
    world: &'w World<'w>,
    /// The manager of each node. A reservation is identified by the index of the agent that asked.
    managers: Vec<Manager<usize>>,
    pub(super) agents: Vec<Agent>,
    next_id: usize,
    cycle: u32,
    /// Whether the notice of an instance has ended in any cycle so far.
    pub(super) evicted: bool,
    /// The last cycle in which client requests woke an instance; `None` if they woke none.
    pub(super) woken: Option<u32>,
}

/// An accepted operation: the hardware that it needs on a node.
struct AcceptedOperation {
    node: usize,
    needed: Hardware,
}

impl<'w> Run<'w> {
    pub(super) fn new(world: &'w World<'w>) -> Run<'w> {
        let nodes = 0..world.shape.nodes();
        let mut run = Run {
            world,
            managers: nodes.map(|node| Manager::new(world.names.node(node).clone(), world.capacity())).collect(),
            agents: Vec::new(),
            next_id: 1,
            cycle: 0,
            evicted: false,
            woken: None,
        };
        for (index, &node) in world.instances.iter().enumerate() {
            let is_asleep = world.begins_asleep && index == 0;
            let wakefulness = if is_asleep { Wakefulness::Asleep } else { Wakefulness::Awake };
            run.create(node, Body { wakefulness, ..Body::default() });
            // The story says who was given notice, but not why.
            let notice = world.notice.filter(|_| index == 0);
            run.agents[index].notice = notice.map(|left| EvictionNotice { left, reason: String::new() });
        }
        run
    }

    /// The nodes of all instances, sorted. Sleeping instances are distinguished from awake ones.
    pub(super) fn placement(&self) -> Vec<usize> {
        // To tell a sleeping instance from an awake one, the number of nodes is added to the index of its node.
        let asleep = |agent: &Agent| if agent.is_asleep() { self.world.shape.nodes() } else { 0 };
        let mut nodes: Vec<usize> = self.agents.iter().map(|agent| agent.node + asleep(agent)).collect();
        nodes.sort_unstable();
        nodes
    }

    /// The free hardware of each node.
    #[cfg(test)]
    pub(super) fn free(&self) -> Vec<mario_domain::Capacity> {
        self.managers.iter().map(Manager::free).collect()
    }

    /// Runs one management cycle. Client requests first wake sleeping instances. Then all agents propose from the same
    /// state, the managers judge the proposals in the order of the instances' ids, and the accepted ones are enacted.
    /// Hardware that they free is available in the next cycle. Finally, instances whose notice has ended are evicted.
    pub(super) fn cycle(&mut self, decider: &mut CachedDecider<'_>) -> Vec<Step> {
        self.cycle += 1;
        let received = self.received();
        self.wake_by_requests(&received);
        let received = received.into_iter().enumerate();
        let mut steps: Vec<Step> = received.map(|(index, received)| self.evaluate(index, received, decider)).collect();
        for (index, step) in steps.iter_mut().enumerate() {
            let Proposed::Operation { operation, target, .. } = &*step.proposed else { continue };
            step.verdict = Some(match self.judge(index, *operation, target) {
                Ok(AcceptedOperation { node, needed }) => {
                    self.managers[node].reserve(index, needed);
                    Verdict::Accepted
                }
                Err(inhibition) => Verdict::Inhibited(inhibition),
            });
        }
        self.managers.iter_mut().for_each(Manager::release_all);
        self.enact(&mut steps, decider.remembers());
        steps
    }

    /// Wakes the sleeping instances that receive client requests, if their managers accept it.
    fn wake_by_requests(&mut self, received: &[Vec<ReceivedRequests>]) {
        for (index, received) in received.iter().enumerate() {
            let is_needed = self.agents[index].is_asleep() && !received.is_empty();
            if is_needed && self.judge(index, AgentOperation::Wake, &Target::Own).is_ok() {
                self.change(index, AgentOperation::Wake, &Target::Own);
                self.woken = Some(self.cycle);
            }
        }
    }

    /// The evaluation of one agent, which has received these requests since the last one.
    fn evaluate(&mut self, index: usize, received: Vec<ReceivedRequests>, decider: &mut CachedDecider<'_>) -> Step {
        let known = self.known(index, &received, decider.remembers());
        let proposed = decider.ask(self.world, known);
        let agent = &mut self.agents[index];
        agent.evaluations += 1;
        let next = agent.evaluations + 1;
        expire(&mut agent.memory, self.world.memory, next);
        if let Some(notice) = &mut agent.notice {
            notice.evaluated();
        }
        agent.history.evaluated(decider.remembers(), &received, next);
        let (cycle, instance, node) = (self.cycle, agent.id, agent.node);
        Step { cycle, instance, node, received, proposed, verdict: None, returned: false }
    }

    fn known(&self, index: usize, received: &[ReceivedRequests], remembers: MemoryDeclaration) -> Known {
        let (world, agent) = (self.world, &self.agents[index]);
        let inhibited = visible(&agent.memory, Target::id).into_iter();
        let done = agent.history.done_before(agent.evaluations + 1);
        Known {
            instance: agent.id,
            node: agent.node,
            neighbours: world.shape.neighbours[agent.node].clone(),
            nodes: world.shape.nodes(),
            free: self.managers[agent.node].free(),
            limits: world.limits,
            gpus: world.gpus,
            spread: world.spread,
            flavour: agent.body.flavour,
            wakefulness: agent.body.wakefulness,
            received: received.to_vec(),
            inhibited: inhibited.map(|one| (one.operation, one.target.clone())).collect(),
            earlier: History { requests: agent.history.requests.clone(), ..History::default() },
            done: done.map(|(ago, done)| (ago, done.operation, done.target.clone())).collect(),
            age: remembers.reads_age.then(|| agent.evaluations - agent.history.arrived),
            leave: agent.notice.as_ref().map(|notice| notice.left),
        }
    }

    /// The verdict of the managers concerned on an operation: first that of the instance's own node, then that of the
    /// target.
    fn judge(&self, index: usize, operation: AgentOperation, target: &Target) -> Result<AcceptedOperation, Inhibition> {
        let agent = &self.agents[index];
        let (own, own_id) = (agent.node, self.world.names.node(agent.node));
        if !operation.asks_for_place() {
            let arrives = match self.own_change(agent, operation, target) {
                None => None,
                Some(Ok((_, change))) => change.arrives(),
                Some(Err(rule)) => return Err(Inhibition { node: own_id.clone(), rule }),
            };
            self.ask_manager(own, Concern { arrives, ..Concern::default() })?;
            return Ok(AcceptedOperation { node: own, needed: arrives.unwrap_or(Hardware::NONE) });
        }
        let needed = self.held(agent);
        let target_id = target.resolve(own_id).unwrap_or(own_id);
        let reached = self.world.names.find(target_id).filter(|node| match operation {
            AgentOperation::Replicate if *node == own => true,
            _ => self.world.shape.neighbours[own].contains(node),
        });
        let node = reached.unwrap_or(own);
        let out_of_reach = reached.is_none().then_some(target_id);
        let arrives = (node == own).then_some(needed);
        self.ask_manager(own, Concern { out_of_reach, arrives, ..Concern::default() })?;
        if node != own {
            self.ask_manager(node, Concern { arrives: Some(needed), ..Concern::default() })?;
        }
        Ok(AcceptedOperation { node, needed })
    }

    /// The verdict of one manager. Nodes of small worlds have no acceptance policies.
    fn ask_manager(&self, node: usize, concern: Concern<'_>) -> Result<(), Inhibition> {
        let verdict: Result<(), Rule> = judge(&self.managers[node], concern, || Ok(()));
        verdict.map_err(|rule| Inhibition { node: self.world.names.node(node).clone(), rule })
    }

    /// The flavour and wakefulness of an instance after an adapt, a sleep or a wake, and the change of its hardware;
    /// `None` for other operations. The error is the rule that inhibits the operation.
    fn own_change(
        &self,
        agent: &Agent,
        operation: AgentOperation,
        target: &Target,
    ) -> Option<Result<(Body, HardwareChange), Rule>> {
        let (application, held, body) = (&self.world.application, self.held(agent), agent.body);
        let Body { flavour, wakefulness } = body;
        Some(match operation {
            AgentOperation::Undeploy | AgentOperation::Migrate | AgentOperation::Replicate => return None,
            AgentOperation::Adapt => adapt(application, (flavour, wakefulness), held, &target.id().into())
                .map(|(flavour, change)| (Body { flavour, ..body }, change)),
            AgentOperation::Sleep => sleep(application, wakefulness, held)
                .map(|change| (Body { wakefulness: Wakefulness::Asleep, ..body }, change)),
            AgentOperation::Wake => wake(application, flavour, wakefulness, held)
                .map(|change| (Body { wakefulness: Wakefulness::Awake, ..body }, change)),
        })
    }

    /// The hardware that an instance holds on its node.
    fn held(&self, agent: &Agent) -> Hardware {
        self.world.application.held_in(agent.body.flavour, agent.body.wakefulness)
    }

    /// Enacts the accepted proposals together, lets agents remember the others, and evicts instances.
    fn enact(&mut self, steps: &mut [Step], remembers: MemoryDeclaration) {
        let mut gone = Vec::new();
        let mut born = Vec::new();
        for (index, step) in steps.iter_mut().enumerate() {
            let Proposed::Operation { operation, target, .. } = &*step.proposed else { continue };
            let agent = &mut self.agents[index];
            let (own, body) = (agent.node, agent.body);
            let proposal =
                RememberedOperation { evaluation: agent.evaluations, operation: *operation, target: target.clone() };
            if step.verdict != Some(Verdict::Accepted) {
                remember(&mut agent.memory, self.world.memory, proposal);
                continue;
            }
            agent.history.accepted(remembers, proposal);
            let own_id = self.world.names.node(own);
            let to = target.resolve(own_id).and_then(|id| self.world.names.find(id)).unwrap_or(own);
            match operation {
                AgentOperation::Undeploy => gone.push(index),
                AgentOperation::Migrate => {
                    self.relocate(index, to);
                    step.returned = self.agents[index].left.contains(&to);
                }
                AgentOperation::Replicate => born.push((to, body)),
                AgentOperation::Adapt | AgentOperation::Sleep | AgentOperation::Wake => {
                    self.change(index, *operation, target);
                }
            }
        }
        let is_due = |agent: &Agent| agent.notice.as_ref().is_some_and(EvictionNotice::is_due);
        self.evicted |= self.agents.iter().any(is_due);
        for (to, body) in born {
            self.create(to, body);
        }
        let leaves = |(index, agent): (usize, &Agent)| (gone.contains(&index) || is_due(agent)).then_some(index);
        let leaving: Vec<usize> = self.agents.iter().enumerate().filter_map(leaves).collect();
        for index in leaving.into_iter().rev() {
            let agent = self.agents.remove(index);
            let held = self.held(&agent);
            self.managers[agent.node].give_back(held).expect("what was taken fits back");
        }
    }

    /// Creates an instance on a node that has room for it.
    fn create(&mut self, node: usize, body: Body) {
        let agent = Agent {
            id: self.next_id,
            node,
            left: Vec::new(),
            body,
            evaluations: 0,
            memory: Vec::new(),
            history: History::default(),
            notice: None,
        };
        self.next_id += 1;
        let held = self.held(&agent);
        self.managers[node].take(held).expect("only what fits is accepted");
        self.agents.push(agent);
    }

    /// Moves an instance to a node that has room for it. Its age restarts at 0, and a notice ends.
    fn relocate(&mut self, index: usize, to: usize) {
        let held = self.held(&self.agents[index]);
        let agent = &mut self.agents[index];
        self.managers[agent.node].give_back(held).expect("what was taken fits back");
        self.managers[to].take(held).expect("only what fits is accepted");
        agent.left.push(agent.node);
        agent.node = to;
        agent.history.arrived = agent.evaluations;
        agent.notice = None;
    }

    /// Enacts an accepted adapt, sleep or wake.
    fn change(&mut self, index: usize, operation: AgentOperation, target: &Target) {
        let Some(Ok((body, change))) = self.own_change(&self.agents[index], operation, target) else { return };
        let agent = &mut self.agents[index];
        self.managers[agent.node].take(change.taken).expect("only what fits is accepted");
        self.managers[agent.node].give_back(change.freed).expect("what was taken fits back");
        agent.body = body;
    }

    /// The requests that each instance receives in one cycle, in standard order. Every client sends to the instances
    /// with the fewest hops, in round robin if there are several. Sleeping instances count, too.
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
                let hop = if from == at { LastHop::Own } else { LastHop::Node(shape.last_hop(from, at)) };
                let latency = nearest as u32 * LINK_LATENCY;
                let facts = &mut received[index];
                match facts.iter_mut().find(|fact| fact.hop == hop && fact.latency == latency) {
                    Some(fact) => fact.rate += 1,
                    None => facts.push(ReceivedRequests { hop, rate: 1, latency }),
                }
            }
        }
        for facts in &mut received {
            facts.sort_by_key(|fact| (self.world.names.rank(fact.hop), fact.rate, fact.latency));
        }
        received
    }
}

impl Agent {
    fn is_asleep(&self) -> bool {
        self.body.wakefulness.is_asleep()
    }
}
