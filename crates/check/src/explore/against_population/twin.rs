//! The same world as a population of the simulator.

use std::sync::Arc;

use mario_domain::{AgentOperation, Capacity, FlavourIndex, Operation, Verdict, Wakefulness};
use mario_policy::{Acceptance, Policy, PolicySettings, SolutionLimit};
use mario_prolog::Engine;
use mario_scenario::{ApplicationIndex, Arbitration, Memory, NodeIndex, PolicyIndex};
use mario_simulator::population::{
    AcceptanceContext, AgentIndex, Basis, ContextChange, CycleLabel, Deployment, Evaluator, InstanceNumbers, Neighbour,
    Outcome, OwnerActKind, Population, PopulationConfig, Proposal, RequestFact, SimulatedNode, Target,
};

use crate::explore::names::LastHop;
use crate::explore::run::Step;
use crate::explore::world::World;

/// An instance: its id, its node, its flavour, and whether it is awake.
pub(super) type Placed = (usize, usize, FlavourIndex, Wakefulness);

/// What became of the proposal of one agent.
pub(super) struct Judged {
    pub(super) proposed: Option<Operation>,
    pub(super) verdict: Option<Verdict>,
}

/// A population, and what drives it.
pub(super) struct Twin {
    population: Population,
    evaluator: Evaluator,
    context: AcceptanceContext,
    label: CycleLabel,
    nodes: usize,
    /// The number of instances that were evicted in the last cycle.
    pub(super) evicted: u32,
    announced: u32,
}

const APPLICATION: ApplicationIndex = ApplicationIndex(0);
/// The agents begin with a policy that proposes nothing.
const STILL: PolicyIndex = PolicyIndex(0);
const TESTED: PolicyIndex = PolicyIndex(1);
/// The owner of the first instance's node, if the instance is given notice.
const OWNER: &str = "evict(1, because).\n";

impl Twin {
    /// The population at the start of a world: the first instance may sleep, and may have been given notice.
    pub(super) fn new(engine: &Engine, policy: Policy, world: &World<'_>) -> Twin {
        let settings = PolicySettings::default();
        let still = "operation(undeploy, _, self) :- fail.\n";
        let still = Policy::load(engine, "still.pl", still, None, settings).expect("a policy");
        let owner = Acceptance::load(engine, "owner.pl", OWNER, None, settings.budget).expect("an acceptance policy");
        let owner = Arc::new(owner);
        let nodes = 0..world.shape.nodes();
        let node = |node: usize| {
            let neighbours = world.shape.neighbours[node].iter().map(|neighbour| NodeIndex::at(*neighbour));
            let evicts = world.notice.is_some() && world.instances[0] == node;
            let acceptance = evicts.then(|| Arc::clone(&owner));
            SimulatedNode::new(world.names.node(node).clone(), world.capacity(), neighbours, acceptance)
        };
        let config = PopulationConfig {
            arbitration: Arbitration::Managers,
            memory: Memory::Sliding,
            notice: world.notice.unwrap_or(1),
            numbers: InstanceNumbers::COUNTED,
            applications: vec![world.application.clone()],
            application_facts: world.facts_about(None),
            anchors: Vec::new(),
            policies: vec![still, policy],
            nodes: nodes.clone().map(node).collect(),
            node_facts: nodes.map(|node| world.facts_about(Some(node))).collect(),
        };
        let population = Population::new(engine, config);
        let mut twin = Twin {
            evaluator: Evaluator::new(engine, &population),
            population,
            context: AcceptanceContext::new(engine),
            label: CycleLabel::new(),
            nodes: world.shape.nodes(),
            evicted: 0,
            announced: 0,
        };
        twin.begin(world);
        twin
    }

    fn begin(&mut self, world: &World<'_>) {
        let deploy = |node: &usize| Deployment { application: APPLICATION, node: NodeIndex::at(*node), policy: STILL };
        let deployments: Vec<Deployment> = world.instances.iter().map(deploy).collect();
        self.population.r1(&deployments, &mut self.context, &mut self.label);
        if world.begins_asleep {
            let sleep = Proposal { operation: AgentOperation::Sleep, target: Target::Own };
            self.population.propose(AgentIndex(0), Some(sleep), Basis::Present);
            self.population.r1(&[], &mut self.context, &mut self.label);
        }
        self.population.set_policy(APPLICATION, TESTED);
        self.let_owners_act();
    }

    fn let_owners_act(&mut self) {
        let acts = self.population.initiative(&mut self.context);
        let kinds: Vec<OwnerActKind> = acts.iter().flat_map(|acts| &acts.acts).map(|act| act.kind).collect();
        let count = |is_it: fn(&OwnerActKind) -> bool| kinds.iter().filter(|kind| is_it(kind)).count() as u32;
        self.evicted = count(|kind| matches!(kind, OwnerActKind::Evicted));
        self.announced += count(|kind| matches!(kind, OwnerActKind::Announced(_)));
    }

    /// Runs one cycle, in which the agents receive the same client requests as in these steps of the explorer. Returns
    /// what became of each agent's proposal, in the same order.
    pub(super) fn cycle(&mut self, world: &World<'_>, steps: &[Step]) -> Vec<Judged> {
        let agents: Vec<AgentIndex> = self.alive().collect();
        for (&agent, step) in agents.iter().zip(steps) {
            let facts: Vec<RequestFact> = step
                .received
                .iter()
                .map(|received| RequestFact {
                    neighbour: match received.hop {
                        LastHop::Own => Neighbour::Own,
                        LastHop::Node(node) => Neighbour::Node(NodeIndex::at(node)),
                    },
                    rate: f64::from(received.rate),
                    latency: f64::from(received.latency),
                })
                .collect();
            self.population.r2(ContextChange::Requests { agent, facts: &facts });
            if let Some(drawn) = world.drawn {
                self.population.r2(ContextChange::Random { agent, drawn });
            }
            if self.population.agent(agent).is_asleep() && !facts.is_empty() {
                self.population.wake_by_request(agent, &mut self.context);
            }
        }
        for &agent in &agents {
            let decision = self.evaluator.evaluate(&self.population, agent, SolutionLimit::First);
            let (proposal, basis) = (self.population.proposal(agent, decision), Basis::of(decision));
            self.population.propose(agent, proposal, basis);
        }
        self.population.r1(&[], &mut self.context, &mut self.label);
        let judged = self.label.iter().map(|outcome| self.judged(&outcome)).collect();
        self.let_owners_act();
        judged
    }

    fn judged(&self, outcome: &Outcome) -> Judged {
        match outcome {
            Outcome::Judged(judged) => Judged {
                proposed: Some(self.population.request(judged.agent, &judged.proposal).operation().clone()),
                verdict: Some(self.population.verdict(&judged.verdict, APPLICATION)),
            },
            Outcome::Nop(_) | Outcome::Deployed(_) => Judged { proposed: None, verdict: None },
        }
    }

    fn alive(&self) -> impl Iterator<Item = AgentIndex> {
        let agents = (0..self.population.agent_count()).map(AgentIndex::at);
        agents.filter(|agent| self.population.agent(*agent).is_alive())
    }

    /// All instances, in the order of their creation.
    pub(super) fn placement(&self) -> Vec<Placed> {
        let placed = |index: AgentIndex| {
            let agent = self.population.agent(index);
            let body = agent.body();
            (index.position() + 1, agent.node().position(), body.flavour, body.wakefulness)
        };
        self.alive().map(placed).collect()
    }

    /// The free hardware of each node.
    pub(super) fn free(&self) -> Vec<Capacity> {
        (0..self.nodes).map(|node| self.population.node(NodeIndex::at(node)).manager().free()).collect()
    }

    /// Whether the first instance returned to its owner, who gave it notice again. In small worlds, there is one notice.
    pub(super) fn is_announced_again(&self) -> bool {
        self.announced > 1
    }
}
