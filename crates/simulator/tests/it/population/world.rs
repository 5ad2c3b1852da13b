//! A small population that is driven by hand.

use std::sync::{Arc, OnceLock};

use mario_domain::{AgentOperation, Capacity, Hardware, Inhibition, NodeId, Rule, Verdict};
use mario_policy::{Acceptance, Policy, PolicySettings, SolutionLimit};
use mario_prolog::Engine;
use mario_scenario::{ApplicationIndex, Arbitration, Memory, NodeIndex, PolicyIndex};
use mario_simulator::population::{
    AcceptanceContext, AgentIndex, Basis, CycleLabel, Deployed, Deployment, Evaluator, InstanceNumbers, Outcome,
    Population, PopulationConfig, Proposal, SimulatedNode, Target,
};

use crate::world::{self, STILL, application};

/// The configuration of a population. [`Plan::line`] has the defaults.
pub struct Plan {
    pub arbitration: Arbitration,
    pub memory: Memory,
    pub capacities: Vec<Capacity>,
    pub links: Vec<(u32, u32)>,
    /// The hardware that an instance of each application needs.
    pub applications: Vec<u64>,
    /// The text of each policy, and the length of its memory.
    pub policies: Vec<(&'static str, u32)>,
    /// The nodes that have an acceptance policy, each with its text.
    pub acceptances: Vec<(u32, &'static str)>,
}

/// A population with everything needed to drive it.
pub struct World {
    pub population: Population,
    pub evaluator: Evaluator,
    pub judge: AcceptanceContext,
    pub label: CycleLabel,
    nodes: usize,
}

pub fn engine() -> &'static Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(Engine::new)
}

pub fn units(units: &[u64]) -> Vec<Capacity> {
    units.iter().map(|units| Capacity::units(*units)).collect()
}

pub fn node_id(node: u32) -> NodeId {
    world::node_id(node as usize)
}

impl Plan {
    /// A line of nodes with these units, one application that needs one unit, and a policy that proposes nothing.
    pub fn line(capacities: &[u64]) -> Plan {
        Plan {
            arbitration: Arbitration::Managers,
            memory: Memory::Sliding,
            capacities: units(capacities),
            links: (1..capacities.len() as u32).map(|node| (node - 1, node)).collect(),
            applications: vec![1],
            policies: vec![(STILL, 0)],
            acceptances: Vec::new(),
        }
    }

    pub fn policy(mut self, text: &'static str, memory: u32) -> Plan {
        self.policies = vec![(text, memory)];
        self
    }

    pub fn accepting(mut self, node: u32, text: &'static str) -> Plan {
        self.acceptances.push((node, text));
        self
    }

    pub fn build(self) -> World {
        let engine = engine();
        let nodes = self.capacities.iter().zip(0..).map(|(capacity, node)| {
            let linked = |(one, other): &(u32, u32)| match (*one == node, *other == node) {
                (true, _) => Some(NodeIndex(*other)),
                (_, true) => Some(NodeIndex(*one)),
                _ => None,
            };
            let mut neighbours: Vec<NodeIndex> = self.links.iter().filter_map(linked).collect();
            neighbours.sort_unstable();
            let text = self.acceptances.iter().find(|(of, _)| *of == node).map(|(_, text)| *text);
            let acceptance = text.map(|text| {
                let budget = PolicySettings::default().budget;
                Arc::new(Acceptance::load(engine, "acceptance", text, None, budget).expect("an acceptance policy"))
            });
            SimulatedNode::new(node_id(node), *capacity, neighbours, acceptance)
        });
        let applications = self.applications.iter().zip(1..).map(|(units, number)| application(number, *units));
        let policies = self.policies.iter().map(|(text, memory)| {
            let settings = PolicySettings { memory: *memory, ..PolicySettings::default() };
            Policy::load(engine, "policy", text, None, settings).expect("a policy")
        });
        let founding = PopulationConfig {
            arbitration: self.arbitration,
            notice: 3,
            memory: self.memory,
            numbers: InstanceNumbers::COUNTED,
            applications: applications.collect(),
            application_facts: Vec::new(),
            anchors: Vec::new(),
            policies: policies.collect(),
            nodes: nodes.collect(),
            node_facts: Vec::new(),
        };
        let population = Population::new(engine, founding);
        let evaluator = Evaluator::new(engine, &population);
        World {
            population,
            evaluator,
            judge: AcceptanceContext::new(engine),
            label: CycleLabel::new(),
            nodes: self.capacities.len(),
        }
    }
}

impl World {
    /// Runs a cycle that deploys the first application on these nodes. Panics unless all deploys are accepted.
    pub fn deploy(&mut self, nodes: &[u32]) -> Vec<AgentIndex> {
        let deployments: Vec<Deployment> = nodes.iter().map(|node| deployment(*node)).collect();
        self.cycle(&deployments);
        let created = self.label.iter().filter_map(|outcome| match outcome {
            Outcome::Deployed(Deployed { created, .. }) => Some(created.expect("there is room for it")),
            _ => None,
        });
        created.collect()
    }

    pub fn cycle(&mut self, deployments: &[Deployment]) {
        self.population.r1(deployments, &mut self.judge, &mut self.label);
    }

    /// Makes an agent propose this operation, regardless of its policy.
    pub fn propose(&mut self, agent: AgentIndex, operation: AgentOperation, target: Target) {
        self.population.propose(agent, Some(Proposal { operation, target }), Basis::Past);
    }

    /// Evaluates the policy of an agent, and queues its proposal for the next cycle. Returns the proposal; `None` for a
    /// nop.
    pub fn evaluate(&mut self, agent: AgentIndex) -> Option<Proposal> {
        let decision = self.evaluator.evaluate(&self.population, agent, SolutionLimit::All);
        let proposal = self.population.proposal(agent, decision);
        self.population.propose(agent, proposal.clone(), Basis::Past);
        proposal
    }

    /// The outcomes of the last cycle.
    pub fn outcomes(&self) -> Vec<Outcome> {
        self.label.iter().collect()
    }

    /// The verdicts of the last cycle, in the order of judging; `None` for a nop.
    pub fn verdicts(&self) -> Vec<Option<Verdict>> {
        let verdict = |outcome: &Outcome| match outcome {
            Outcome::Nop(_) => None,
            Outcome::Judged(judged) => {
                Some(self.population.verdict(&judged.verdict, self.population.agent(judged.agent).application()))
            }
            Outcome::Deployed(Deployed { deployment, verdict, .. }) => {
                Some(self.population.verdict(verdict, deployment.application))
            }
        };
        self.outcomes().iter().map(verdict).collect()
    }

    /// The only verdict of the last cycle.
    pub fn verdict(&self) -> Verdict {
        let [Some(verdict)] = &self.verdicts()[..] else { panic!("{:?}", self.label) };
        verdict.clone()
    }

    pub fn free(&self, node: u32) -> Capacity {
        self.population.node(NodeIndex(node)).manager().free()
    }

    /// The agents on each node.
    pub fn placement(&self) -> Vec<Vec<u32>> {
        let on = |node: usize| self.population.node(NodeIndex::at(node)).agents().iter().map(|agent| agent.0).collect();
        (0..self.nodes).map(on).collect()
    }

    /// The memory of an agent: evaluation, operation and target of each entry.
    pub fn remembered(&self, agent: AgentIndex) -> Vec<(u32, AgentOperation, Target)> {
        let remembered = self.population.agent(agent).remembered().iter();
        remembered.map(|known| (known.evaluation, known.operation, known.target.clone())).collect()
    }
}

pub fn deployment(node: u32) -> Deployment {
    Deployment { application: ApplicationIndex(0), node: NodeIndex(node), policy: PolicyIndex(0) }
}

pub fn node(node: u32) -> Target {
    Target::Node(NodeIndex(node))
}

/// An inhibition by the manager of node `by`, with this rule.
pub fn inhibited(by: u32, rule: Rule) -> Verdict {
    Verdict::Inhibited(Inhibition { node: node_id(by), rule })
}

/// An inhibition of a request for one unit by the manager of node `by`, which is full.
pub fn full(by: u32) -> Verdict {
    inhibited(by, Rule::Capacity { needed: Hardware::units(1), free: Capacity::units(0) })
}
