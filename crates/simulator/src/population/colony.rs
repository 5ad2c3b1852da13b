//! The state of the transition system: nodes with their managers, and agents with what they know.

use mario_colony::Availability;
use mario_domain::{AgentOperation, Application, Capacity, Fact, Hardware, InstanceId};
use mario_policy::Policy;
use mario_prolog::Engine;
use mario_scenario::{ApplicationIndex, Arbitration, Memory, NodeIndex, PolicyIndex};

use crate::population::agent::{Agent, Neighbour, RequestFact};
use crate::population::index::{AgentIndex, LinksVersion};
use crate::population::label::Full;
use crate::population::names::Names;
use crate::population::numbers::Numbers;
use crate::population::rest::Resting;
use crate::population::rooms::Rooms;
use crate::population::simulated_node::SimulatedNode;
use crate::population::waiting::Waiting;
use crate::population::wish::{Target, Wish};

/// Nodes, their managers, and agents.
///
/// A simulator has all nodes of its world in one colony. A live node has itself and what it knows of its neighbours.
pub struct Colony {
    pub(crate) arbitration: Arbitration,
    pub(crate) memory: Memory,
    /// Which numbers new instances get.
    pub numbers: Numbers,
    pub(crate) applications: Vec<Application>,
    pub(crate) application_facts: Vec<Fact>,
    pub(crate) node_facts: Vec<Vec<Fact>>,
    pub(crate) has_node_facts: bool,
    pub(crate) policies: Vec<Policy>,
    pub(crate) nodes: Vec<SimulatedNode>,
    pub(crate) agents: Vec<Agent>,
    /// The number of each agent's instance, which hardly anybody asks for.
    pub(crate) instances: Vec<i64>,
    /// Who has evaluated since the last cycle, in the order of evaluation.
    pub(crate) waiting: Vec<Waiting>,
    pub(crate) names: Names,
    pub(crate) links_version: LinksVersion,
    /// What is left on each node, kept beside the managers: nearly all that is asked for is refused for want of room.
    pub(crate) rooms: Rooms,
    /// Whether no policy lets its agents remember what was inhibited.
    pub(crate) remembers_nothing: bool,
    /// Whether any node has an acceptance policy of its own.
    pub(crate) has_acceptances: bool,
    /// For each application, what agents proposed since the last cycle at which nobody looked; empty when there are none.
    pub(crate) resting: Vec<Resting>,
    /// How many agents rest.
    pub(crate) resting_count: u64,
    /// Agents that rest, and are to be woken.
    pub(crate) roused: Vec<AgentIndex>,
    /// Nodes that were full and, at some moment of this cycle, are not.
    pub(crate) opened: Vec<NodeIndex>,
}

/// What a colony starts with.
pub struct Founding {
    /// How requests are judged.
    pub arbitration: Arbitration,
    /// How long agents remember.
    pub memory: Memory,
    /// Which numbers instances get.
    pub numbers: Numbers,
    /// What can be run.
    pub applications: Vec<Application>,
    /// What else is known about applications.
    pub application_facts: Vec<Fact>,
    /// The policies of agents.
    pub policies: Vec<Policy>,
    /// The nodes.
    pub nodes: Vec<SimulatedNode>,
    /// What else is known about each node; empty when nothing is known about any.
    pub node_facts: Vec<Vec<Fact>>,
}

/// New data that became available to a node.
#[derive(Clone, Copy, Debug)]
pub enum ContextChange<'a> {
    /// The client requests that an agent sees.
    Requests {
        /// Which agent.
        agent: AgentIndex,
        /// All its facts, in the order in which it sees them.
        facts: &'a [RequestFact],
    },
    /// One of a few sets of client requests that an agent sees in turn, again and again. They are numbered from 0 on, and
    /// come with their facts in the first round, and by number alone from the second on. When something else is seen in
    /// between, numbers begin anew.
    Recurring {
        /// Which agent.
        agent: AgentIndex,
        /// Which of the sets.
        number: u8,
        /// All its facts, in the order in which the agent sees them; in the first round.
        facts: Option<&'a [RequestFact]>,
    },
    /// A number was drawn for an agent whose policy asks for randomness.
    Random {
        /// Which agent.
        agent: AgentIndex,
        /// The number.
        drawn: u32,
    },
    /// The nodes that a node has a working link to.
    Neighbours {
        /// Which node.
        node: NodeIndex,
        /// All its neighbours, in the order in which its agents see them.
        neighbours: &'a [NodeIndex],
    },
    /// A node announces that it will go.
    Leaving(NodeIndex),
    /// A node is gone, and all that was on it.
    Down(NodeIndex),
    /// A node is there, empty.
    Up(NodeIndex),
}

impl Colony {
    /// A colony without agents.
    pub fn new(engine: &Engine, founding: Founding) -> Colony {
        let names = Names::new(
            engine.symbols(),
            founding.nodes.iter().map(|node| node.id().id()),
            founding.applications.iter().map(|application| application.id.id()),
        );
        let has_node_facts = founding.node_facts.iter().any(|facts| !facts.is_empty());
        let forgets = |policy: &Policy| policy.settings().memory == 0;
        let remembers_nothing = founding.memory == Memory::Sliding && founding.policies.iter().all(forgets);
        let rooms = Rooms::new(&founding.nodes);
        let has_acceptances = founding.nodes.iter().any(|node| node.acceptance().is_some());
        Colony {
            arbitration: founding.arbitration,
            memory: founding.memory,
            numbers: founding.numbers,
            applications: founding.applications,
            application_facts: founding.application_facts,
            node_facts: founding.node_facts,
            has_node_facts,
            policies: founding.policies,
            nodes: founding.nodes,
            agents: Vec::new(),
            instances: Vec::new(),
            waiting: Vec::new(),
            names,
            links_version: LinksVersion::FIRST,
            rooms,
            remembers_nothing,
            has_acceptances,
            resting: Vec::new(),
            resting_count: 0,
            roused: Vec::new(),
            opened: Vec::new(),
        }
    }

    /// There will be room for so many agents without moving any of them.
    pub fn reserve(&mut self, agents: usize) {
        self.agents.reserve_exact(agents.saturating_sub(self.agents.len()));
        self.instances.reserve_exact(agents.saturating_sub(self.instances.len()));
    }

    /// One agent, alive or not.
    pub fn agent(&self, agent: AgentIndex) -> &Agent {
        &self.agents[agent.position()]
    }

    /// The id of an agent's instance.
    pub fn instance(&self, agent: AgentIndex) -> InstanceId {
        InstanceId::number(self.instances[agent.position()])
    }

    /// Reads a little of what an agent has seen, and gives it. Where many agents see something else than before, whoever does
    /// this for some of them at once before it tells them has their memory fetched side by side.
    pub fn glance(&self, agent: AgentIndex) -> u32 {
        self.agent(agent).glance()
    }

    /// The same, one step further: what is only found by what [`Colony::glance`] reads.
    pub fn glance_back(&self, agent: AgentIndex) -> u32 {
        self.agent(agent).glance_back()
    }

    /// Reads a little of what an evaluation of an agent needs, and gives it: as [`Colony::glance`], before evaluations.
    pub fn glance_around(&self, agent: AgentIndex) -> u32 {
        let agent = self.agent(agent);
        let node = self.node(agent.node);
        let neighbour = node.neighbours().first().map_or(0, |neighbour| neighbour.0);
        let known = agent.requests().iter().map(|fact| fact.neighbour).chain([Neighbour::Node(agent.node)]);
        let ranks = known.fold(0, |sum, neighbour| sum ^ self.rank(neighbour));
        ranks ^ neighbour ^ u32::from(node.manager().free() == Capacity::Unbounded)
    }

    /// How many agents there have ever been.
    pub fn agent_count(&self) -> usize {
        self.agents.len()
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

    /// How many agents wait for the managers, those with nothing to ask included.
    pub fn waiting_count(&self) -> usize {
        self.waiting.len() + self.resting.iter().map(|resting| resting.count() as usize).sum::<usize>()
    }

    /// The place of a neighbour in the standard order of terms.
    pub fn rank(&self, neighbour: Neighbour) -> u32 {
        self.names.rank(neighbour)
    }

    /// Rule r2: new data becomes available to a node. Gives the agents that are gone by it.
    pub fn r2(&mut self, change: ContextChange<'_>) -> Vec<AgentIndex> {
        match change {
            ContextChange::Requests { agent, facts } => {
                self.agents[agent.position()].sees(facts);
            }
            ContextChange::Recurring { agent, number, facts } => {
                let agent = &mut self.agents[agent.position()];
                match facts {
                    Some(facts) => agent.sees_first(number, facts),
                    None => agent.sees_again(number),
                }
            }
            ContextChange::Random { agent, drawn } => {
                let agent = &mut self.agents[agent.position()];
                agent.details().random = Some(drawn);
                agent.is_blank = false;
                agent.knows_better();
            }
            ContextChange::Neighbours { node, neighbours } => {
                if self.nodes[node.position()].set_neighbours(neighbours) {
                    self.links_version = self.links_version.next();
                    self.doubt_reach();
                    self.node_is_different(node);
                }
            }
            ContextChange::Leaving(node) => self.set_availability(node, Availability::Leaving),
            ContextChange::Up(node) => self.set_availability(node, Availability::Up),
            ContextChange::Down(node) => {
                let gone = self.change_node(node, SimulatedNode::take_down);
                for agent in &gone {
                    self.agents[agent.position()].dies();
                }
                self.leave_living();
                return gone;
            }
        }
        Vec::new()
    }

    /// Whether an agent's facts are those of its last evaluation. A policy is a pure function of them, so its proposal is
    /// the same too.
    pub fn is_unchanged(&self, agent: AgentIndex) -> bool {
        self.agent(agent).is_unchanged
    }

    /// Whether an agent saw before what it sees now, and knew the rest too, so that what it proposes is known. Only the
    /// last few sights are remembered.
    pub fn recalls(&self, agent: AgentIndex) -> bool {
        self.agent(agent).recalls()
    }

    /// Records that an agent proposes what it proposed when it saw the same before; [`Colony::recalls`] tells that it did.
    pub fn propose_as_before(&mut self, index: AgentIndex) {
        self.agents[index.position()].recall();
        self.propose_again(index);
    }

    /// Records what an agent proposes: it waits for the managers now. An undeploy is of its own instance, whatever target
    /// came with it.
    pub fn propose(&mut self, agent: AgentIndex, mut wish: Option<Wish>) {
        if let Some(wish) = &mut wish
            && wish.operation == AgentOperation::Undeploy
        {
            wish.target = Target::Own;
        }
        // Whoever asks for a place on a full node will do so again and again.
        let asked = wish.as_ref().and_then(|wish| Some((wish.operation, Full::node(self.agent(agent).node, wish)?)));
        self.agents[agent.position()].proposes(wish);
        if let Some((operation, node)) = asked.filter(|(_, node)| self.rooms.is_full(*node)) {
            self.is_in_reach(agent, operation, node);
        }
        self.propose_again(agent);
    }

    /// Records that an agent proposes what it proposed last.
    pub fn propose_again(&mut self, index: AgentIndex) {
        let agent = &mut self.agents[index.position()];
        agent.is_unchanged = true;
        if self.remembers_nothing {
            agent.evaluations += 1;
        } else {
            agent.count_evaluation(self.memory, self.policies[agent.policy().position()].settings().memory);
        }
        self.wait(index);
    }

    /// Whether the manager of a node lets its agents aim at whatever is in their reach: it has no acceptance policy.
    pub(crate) fn lets_go(&self, node: NodeIndex) -> bool {
        !self.has_acceptances || self.node(node).acceptance().is_none()
    }

    /// What one instance of an agent's application needs.
    pub(crate) fn needed(&self, application: ApplicationIndex) -> Hardware {
        self.applications[application.position()].hardware
    }

    /// A new agent on a node that has room for it.
    pub(crate) fn create(&mut self, application: ApplicationIndex, policy: PolicyIndex, node: NodeIndex) -> AgentIndex {
        let index = AgentIndex::at(self.agents.len());
        let number = self.numbers.take(self.numbers.per_instance);
        self.instances.push(number);
        self.agents.push(Agent::new(application, policy, node));
        let needed = self.needed(application);
        self.arrives(index, node, needed);
        index
    }

    /// An agent goes, and its instance with it.
    pub(crate) fn remove(&mut self, index: AgentIndex) {
        let agent = &mut self.agents[index.position()];
        agent.dies();
        let (node, application) = (agent.node, agent.application);
        let needed = self.needed(application);
        self.departs(index, node, needed);
    }

    /// An agent moves to a node that has room for it.
    pub(crate) fn relocate(&mut self, index: AgentIndex, to: NodeIndex) {
        let agent = &mut self.agents[index.position()];
        let (from, application) = (agent.node, agent.application);
        agent.moves(to);
        let needed = self.needed(application);
        self.departs(index, from, needed);
        self.arrives(index, to, needed);
    }

    /// Changes a node, and what is kept beside it.
    pub(crate) fn change_node<T>(&mut self, node: NodeIndex, change: impl FnOnce(&mut SimulatedNode) -> T) -> T {
        let changing = &mut self.nodes[node.position()];
        let changed = change(changing);
        if self.rooms.follow(node, changing) {
            self.opened.push(node);
        }
        changed
    }

    fn set_availability(&mut self, node: NodeIndex, availability: Availability) {
        self.change_node(node, |node| node.manager_mut().set_availability(availability));
    }

    fn arrives(&mut self, index: AgentIndex, node: NodeIndex, needed: Hardware) {
        if self.change_node(node, |node| node.arrives(index, needed)) {
            self.node_is_different(node);
        }
    }

    fn departs(&mut self, index: AgentIndex, node: NodeIndex, needed: Hardware) {
        if self.change_node(node, |node| node.departs(index, needed)) {
            self.node_is_different(node);
        }
    }

    /// The agents on a node see something new about it.
    fn node_is_different(&mut self, node: NodeIndex) {
        for position in 0..self.node(node).agents().len() {
            let agent = self.node(node).agents()[position];
            self.rouse(agent);
            self.agents[agent.position()].knows_better();
        }
    }
}
