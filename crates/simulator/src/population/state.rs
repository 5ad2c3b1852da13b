//! The state of the population, and rule r2.

use mario_colony::Availability;
use mario_colony::rules::HardwareChange;
use mario_domain::{Application, Capacity, Fact, Hardware, InstanceId};
use mario_policy::Policy;
use mario_prolog::Engine;
use mario_scenario::{ApplicationIndex, Arbitration, Memory, NodeIndex, PolicyIndex};

use crate::population::agent::{Agent, Body, Neighbour, RequestFact};
use crate::population::index::{AgentIndex, LinksVersion};
use crate::population::layers::full_nodes::FullNodes;
use crate::population::layers::parking::ParkedCounts;
use crate::population::layers::pending::{PendingRequest, PlaceRequest};
use crate::population::layers::proposal_cache::Basis;
use crate::population::names::Names;
use crate::population::numbers::InstanceNumbers;
use crate::population::owners::Owners;
use crate::population::proposal::{Proposal, Target};
use crate::population::simulated_node::SimulatedNode;

/// All nodes and agents of a simulated world.
pub struct Population {
    pub(crate) arbitration: Arbitration,
    pub(crate) memory: Memory,
    /// Assigns the numbers of new instances.
    pub numbers: InstanceNumbers,
    pub(crate) applications: Vec<Application>,
    pub(crate) application_facts: Vec<Fact>,
    pub(crate) node_facts: Vec<Vec<Fact>>,
    pub(crate) has_node_facts: bool,
    /// For each application, whether deployed instances are anchors; empty if none are.
    pub(crate) anchors: Vec<bool>,
    pub(crate) policies: Vec<Policy>,
    pub(crate) names: Names,
    pub(crate) nodes: Vec<SimulatedNode>,
    pub(crate) agents: Vec<Agent>,
    /// For each agent, the number that identifies its instance. Stored separately from the agents, because it is rarely
    /// read.
    pub(crate) instances: Vec<i64>,
    /// The requests of the agents that have evaluated since the last cycle, in the order of their first evaluations.
    pub(crate) pending: Vec<PendingRequest>,
    /// Changes whenever the neighbours of a node change.
    pub(crate) links_version: LinksVersion,
    /// Whether any node has an acceptance policy.
    pub(crate) has_acceptances: bool,
    /// The nodes whose owners may evict or shrink instances.
    pub(crate) owners: Owners,

    // The remaining fields serve optimisations, mainly those in `layers`.
    pub(crate) full_nodes: FullNodes,
    /// Whether no agent can remember inhibitions.
    pub(crate) remembers_nothing: bool,
    /// Whether evaluations change more than their count and the memory of inhibitions.
    pub(crate) past: PastUse,
    /// Whether instances can have flavours or sleep.
    pub(crate) body_use: BodyUse,
    /// For each application, the outcomes of parked agents to be added to the next cycle; empty if none were counted
    /// since the last cycle.
    pub(crate) parked: Vec<ParkedCounts>,
    pub(crate) parked_count: u64,
    /// Parked agents that must be unparked.
    pub(crate) to_unpark: Vec<AgentIndex>,
    /// Nodes that stopped being full since the last call of `unpark_around_freed_nodes`. They may be full again.
    pub(crate) freed: Vec<NodeIndex>,
}

/// Whether an evaluation changes anything besides its count and the memory of inhibitions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PastUse {
    /// No policy looks back, no owner may evict or shrink instances, and no application can sleep.
    Unused,
    /// A policy looks back, an owner may evict or shrink instances, or an application can sleep.
    Used,
}

/// Whether instances can have a [`Body`] other than the default.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct BodyUse {
    /// Whether some application has flavours.
    pub(crate) flavours: bool,
    /// Whether some application can sleep.
    pub(crate) sleep: bool,
}

/// The initial configuration of a population.
pub struct PopulationConfig {
    /// How proposals are judged, and in which order.
    pub arbitration: Arbitration,
    /// The rule by which agents forget.
    pub memory: Memory,
    /// The number of evaluations that an agent has left after its eviction is announced.
    pub notice: u32,
    /// The numbering of instances.
    pub numbers: InstanceNumbers,
    /// The applications.
    pub applications: Vec<Application>,
    /// Extra facts about applications.
    pub application_facts: Vec<Fact>,
    /// For each application, whether the instances that operators deploy are anchors. May be left empty if none are.
    pub anchors: Vec<bool>,
    /// The policies of agents.
    pub policies: Vec<Policy>,
    /// The nodes.
    pub nodes: Vec<SimulatedNode>,
    /// Extra facts about each node, in the order of `nodes`. May be left empty if no node has any.
    pub node_facts: Vec<Vec<Fact>>,
}

/// The input of rule r2: a change from outside the population, in what an agent observes or in the state of a node.
#[derive(Clone, Copy, Debug)]
pub enum ContextChange<'a> {
    /// An agent now sees these client requests.
    Requests {
        /// The agent.
        agent: AgentIndex,
        /// All its `requests/4` facts, in the order in which it sees them.
        facts: &'a [RequestFact],
    },
    /// A random number was drawn for the next evaluation of an agent whose policy uses randomness.
    Random {
        /// The agent.
        agent: AgentIndex,
        /// The number.
        drawn: u32,
    },
    /// A node now has working links to these nodes.
    Neighbours {
        /// The node.
        node: NodeIndex,
        /// All its neighbours, in the order in which its agents see them.
        neighbours: &'a [NodeIndex],
    },
    /// A node announces its departure.
    Leaving(NodeIndex),
    /// A node goes down, and all instances on it are removed.
    Down(NodeIndex),
    /// A node comes up, without instances.
    Up(NodeIndex),
}

impl Population {
    /// A population without agents.
    pub fn new(engine: &Engine, config: PopulationConfig) -> Population {
        let names = Names::new(engine.symbols(), config.nodes.iter().map(|node| node.id().id()), &config.applications);
        let forgets = |policy: &Policy| policy.settings().memory == 0;
        let remembers_nothing = config.memory == Memory::Sliding && config.policies.iter().all(forgets);
        let looks_back = config.policies.iter().any(|policy| !policy.remembers().is_nothing());
        let owners = Owners::of(&config.nodes, config.arbitration, config.notice);
        let body_use = BodyUse {
            flavours: config.applications.iter().any(|application| !application.flavours.is_empty()),
            sleep: config.applications.iter().any(|application| application.sleep.is_some()),
        };
        Population {
            has_node_facts: config.node_facts.iter().any(|facts| !facts.is_empty()),
            has_acceptances: config.nodes.iter().any(|node| node.acceptance().is_some()),
            remembers_nothing,
            past: if looks_back || !owners.nodes.is_empty() || body_use.sleep {
                PastUse::Used
            } else {
                PastUse::Unused
            },
            body_use,
            owners,
            full_nodes: FullNodes::new(&config.nodes),
            arbitration: config.arbitration,
            memory: config.memory,
            numbers: config.numbers,
            applications: config.applications,
            application_facts: config.application_facts,
            anchors: config.anchors,
            node_facts: config.node_facts,
            policies: config.policies,
            names,
            nodes: config.nodes,
            agents: Vec::new(),
            instances: Vec::new(),
            pending: Vec::new(),
            links_version: LinksVersion::FIRST,
            parked: Vec::new(),
            parked_count: 0,
            to_unpark: Vec::new(),
            freed: Vec::new(),
        }
    }

    /// Reserves memory for `agents` agents.
    pub fn reserve(&mut self, agents: usize) {
        self.agents.reserve_exact(agents.saturating_sub(self.agents.len()));
        self.instances.reserve_exact(agents.saturating_sub(self.instances.len()));
    }

    /// One agent, alive or not.
    pub fn agent(&self, agent: AgentIndex) -> &Agent {
        &self.agents[agent.position()]
    }

    /// The number of agents that have ever existed.
    pub fn agent_count(&self) -> usize {
        self.agents.len()
    }

    /// The id of an agent's instance.
    pub fn instance(&self, agent: AgentIndex) -> InstanceId {
        InstanceId::number(self.instances[agent.position()])
    }

    /// One node.
    pub fn node(&self, node: NodeIndex) -> &SimulatedNode {
        &self.nodes[node.position()]
    }

    /// One application.
    pub fn application(&self, application: ApplicationIndex) -> &Application {
        &self.applications[application.position()]
    }

    /// One policy.
    pub fn policy(&self, policy: PolicyIndex) -> &Policy {
        &self.policies[policy.position()]
    }

    /// Whether some policy is a function that asks to see the facts of all agents of a batch before it decides for the
    /// first of them.
    pub fn wants_preview(&self) -> bool {
        self.policies.iter().any(Policy::wants_preview)
    }

    /// The number of agents that have evaluated since the last cycle, including parked ones and those that propose
    /// nothing.
    pub fn pending_count(&self) -> usize {
        self.pending.len() + self.parked.iter().map(|parked| parked.count() as usize).sum::<usize>()
    }

    /// The position of a neighbour among all node ids and `self`, in the standard order of terms.
    pub fn rank(&self, neighbour: Neighbour) -> u32 {
        self.names.rank(neighbour)
    }

    /// Whether a node has an acceptance policy.
    pub(crate) fn has_acceptance(&self, node: NodeIndex) -> bool {
        self.has_acceptances && self.node(node).acceptance().is_some()
    }

    /// The hardware that an agent's instance holds on its node.
    #[inline]
    pub(crate) fn held(&self, agent: &Agent) -> Hardware {
        let application = &self.applications[agent.application.position()];
        if agent.is_blank { application.hardware } else { held_by(application, agent.body()) }
    }

    /// The hardware of a new instance of an application: awake, in the default flavour.
    pub(crate) fn needed(&self, application: ApplicationIndex) -> Hardware {
        self.applications[application.position()].hardware
    }

    /// Rule r2: applies a change of the context. Returns the agents that the change removes.
    pub fn r2(&mut self, change: ContextChange<'_>) -> Vec<AgentIndex> {
        match change {
            ContextChange::Requests { agent, facts } => self.agents[agent.position()].observe(facts),
            ContextChange::Random { agent, drawn } => self.agents[agent.position()].set_random(drawn),
            ContextChange::Neighbours { node, neighbours } => {
                if self.nodes[node.position()].set_neighbours(neighbours) {
                    self.links_version = self.links_version.next();
                    self.recheck_reach();
                    self.node_changed(node);
                }
            }
            ContextChange::Leaving(node) => self.set_availability(node, Availability::Leaving),
            ContextChange::Up(node) => self.set_availability(node, Availability::Up),
            ContextChange::Down(node) => {
                let gone = self.change_node(node, SimulatedNode::take_down);
                for agent in &gone {
                    self.agents[agent.position()].end();
                }
                self.drop_requests_of_gone();
                return gone;
            }
        }
        Vec::new()
    }

    /// Counts an evaluation of an agent, sets its proposal (`None` if it proposes nothing), and queues it for the next
    /// cycle. The target is ignored if the operation takes none. `basis` says whether the proposal depends on the
    /// agent's past.
    pub fn propose(&mut self, agent: AgentIndex, mut proposal: Option<Proposal>, basis: Basis) {
        if let Some(proposal) = &mut proposal
            && !proposal.operation.has_target()
        {
            proposal.target = Target::Own;
        }
        // A proposal for a full node is likely to be repeated, so whether the agent may target that node is computed
        // now and cached.
        let place = proposal.as_ref().and_then(|proposal| {
            let node = PlaceRequest::node(self.agent(agent).node, proposal)?;
            Some((proposal.operation, node)).filter(|_| self.full_nodes.contains(node))
        });
        self.agents[agent.position()].set_proposal(proposal, basis);
        if let Some((operation, node)) = place {
            self.is_in_reach(agent, operation, node);
        }
        self.repeat_proposal(agent);
    }

    /// Counts an evaluation of an agent, and queues its last proposal for the next cycle.
    pub fn repeat_proposal(&mut self, index: AgentIndex) {
        let only_counts = self.only_counts();
        let agent = &mut self.agents[index.position()];
        agent.is_unchanged = true;
        if only_counts {
            agent.evaluations += 1;
        } else {
            let policy = &self.policies[agent.policy.position()];
            agent.count_evaluation(self.memory, policy.settings().memory);
            if !policy.remembers().is_nothing() {
                agent.look_back(policy.remembers());
            }
        }
        self.enqueue(index);
    }

    /// Whether an evaluation changes nothing but its count.
    pub(crate) fn only_counts(&self) -> bool {
        self.remembers_nothing && self.past == PastUse::Unused
    }

    /// Creates an agent on a node that has room for it.
    pub(crate) fn create(
        &mut self,
        application: ApplicationIndex,
        policy: PolicyIndex,
        node: NodeIndex,
        body: Body,
    ) -> AgentIndex {
        let index = AgentIndex::at(self.agents.len());
        let number = self.numbers.take(self.numbers.per_instance);
        self.instances.push(number);
        let mut agent = Agent::new(application, policy, node);
        if body != Body::default() {
            agent.set_body(body);
        }
        let needed = self.held(&agent);
        self.agents.push(agent);
        self.arrives(index, node, needed);
        index
    }

    /// Removes an agent and its instance.
    pub(crate) fn remove(&mut self, index: AgentIndex) {
        let agent = self.agent(index);
        let (node, needed) = (agent.node, self.held(agent));
        self.agents[index.position()].end();
        self.departs(index, node, needed);
    }

    /// Moves an agent to a node that has room for it.
    pub(crate) fn relocate(&mut self, index: AgentIndex, to: NodeIndex) {
        let agent = self.agent(index);
        let (from, needed) = (agent.node, self.held(agent));
        self.agents[index.position()].set_node(to);
        self.departs(index, from, needed);
        self.arrives(index, to, needed);
    }

    /// Changes a node, and updates the table of full nodes. A node that is no longer full is added to `freed`.
    pub(crate) fn change_node<T>(&mut self, node: NodeIndex, change: impl FnOnce(&mut SimulatedNode) -> T) -> T {
        let changing = &mut self.nodes[node.position()];
        let changed = change(changing);
        if self.full_nodes.update(node, changing) {
            self.freed.push(node);
        }
        changed
    }

    fn set_availability(&mut self, node: NodeIndex, availability: Availability) {
        self.change_node(node, |node| node.manager_mut().set_availability(availability));
    }

    fn arrives(&mut self, index: AgentIndex, node: NodeIndex, needed: Hardware) {
        if self.change_node(node, |node| node.arrives(index, needed)) {
            self.node_changed(node);
        }
    }

    fn departs(&mut self, index: AgentIndex, node: NodeIndex, needed: Hardware) {
        if self.change_node(node, |node| node.departs(index, needed)) {
            self.node_changed(node);
        }
    }

    /// Changes the hardware that an agent's instance holds on its node.
    pub(crate) fn change_held(&mut self, index: AgentIndex, change: HardwareChange) {
        let node = self.agent(index).node;
        if self.change_node(node, |node| node.changes(change)) {
            self.node_changed(node);
        }
    }

    /// Invalidates the cached proposals of the agents on a node that has changed, and schedules the unparking of those
    /// that are parked.
    fn node_changed(&mut self, node: NodeIndex) {
        for position in 0..self.node(node).agents().len() {
            let agent = self.node(node).agents()[position];
            self.unpark_later(agent);
            self.agents[agent.position()].invalidate_cached_proposals();
        }
    }

    /// Prefetches an agent's node, and the ranks of the neighbours in its facts. Call it for a batch of agents before
    /// they evaluate, so that the cache misses overlap. The return value only keeps the read from being optimised away.
    pub fn prefetch_surroundings(&self, agent: AgentIndex) -> u32 {
        let agent = self.agent(agent);
        let node = self.node(agent.node);
        let neighbour = node.neighbours().first().map_or(0, |neighbour| neighbour.0);
        let known = agent.requests().iter().map(|fact| fact.neighbour).chain([Neighbour::Node(agent.node)]);
        let ranks = known.fold(0, |sum, neighbour| sum ^ self.rank(neighbour));
        ranks ^ neighbour ^ u32::from(node.manager().free() == Capacity::Unbounded)
    }
}

/// The hardware of an instance with this flavour and wakefulness.
fn held_by(application: &Application, body: Body) -> Hardware {
    application.held_in(body.flavour, body.wakefulness)
}
