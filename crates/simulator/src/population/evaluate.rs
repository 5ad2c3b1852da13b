//! One evaluation: an agent's knowledge base put together, and its policy asked.

use mario_domain::{AgentOperation, Id};
use mario_policy::{Constant, Decider, Decision, KnowledgeBase, Solution, Wanted};
use mario_prolog::{Engine, Value};
use mario_scenario::Memory;

use crate::population::agent::{Agent, Remembered};
use crate::population::colony::Colony;
use crate::population::decisions::is_plain;
use crate::population::index::AgentIndex;
use crate::population::names::number;
use crate::population::wish::{Target, Wish};

/// Memory for evaluating agents of one colony: one for each thread, used again and again.
pub struct Evaluator {
    decider: Decider,
    facts: KnowledgeBase,
    /// Whether the facts hold what was drawn for one agent alone.
    has_drawn: bool,
}

/// The key of the fact that holds what was drawn for an agent.
const RANDOM: &str = "random";

impl Evaluator {
    /// Memory for the agents of this colony.
    pub fn new(engine: &Engine, colony: &Colony) -> Evaluator {
        let mut facts = KnowledgeBase::new(engine.symbols());
        for application in &colony.applications {
            facts.push_application(application);
        }
        for fact in &colony.application_facts {
            facts.push_domain_fact(fact);
        }
        Evaluator { decider: Decider::new(engine), facts, has_drawn: false }
    }

    /// What the policy of an agent says to what the agent knows now. Changes nothing: any number of threads can do this at
    /// the same time.
    pub fn evaluate(&mut self, colony: &Colony, agent: AgentIndex, wanted: Wanted) -> &Decision {
        let instance = self.learn(colony, agent);
        self.decider.decide(colony.policy(colony.agent(agent).policy()), &self.facts, instance, wanted)
    }

    /// What the agent whose policy was asked last knew.
    pub fn facts(&self) -> &KnowledgeBase {
        &self.facts
    }

    /// Puts together what an agent knows.
    fn learn(&mut self, colony: &Colony, index: AgentIndex) -> Constant {
        let agent = colony.agent(index);
        let names = &colony.names;
        let facts = &mut self.facts;
        facts.clear_situation();
        let manager = colony.manager(agent.node);
        let (node, free) = (names.node(agent.node), facts.capacity(manager.free()));
        facts.push_node(node, free, manager.neighbours().iter().map(|neighbour| names.node(*neighbour)));
        let instance = Value::Integer(colony.instances[index.position()]);
        facts.push_instance(instance, names.application(agent.application), node);
        for fact in agent.requests() {
            facts.push_requests(instance, names.neighbour(fact.neighbour), number(fact.rate), number(fact.latency));
        }
        if !agent.remembered().is_empty() {
            for remembered in colony.visible_memory(agent) {
                let (operation, target) = (names.operation(remembered.operation), names.target(&remembered.target));
                facts.push_inhibited(operation, instance, target);
            }
        }
        if colony.has_node_facts || self.has_drawn {
            self.has_drawn = false;
            facts.clear_facts();
            let near = std::iter::once(&agent.node).chain(manager.neighbours());
            let about_nodes = near.filter_map(|node| colony.node_facts.get(node.position())).flatten();
            for fact in colony.application_facts.iter().chain(about_nodes) {
                facts.push_domain_fact(fact);
            }
        }
        if let Some(drawn) = agent.random() {
            let key = facts.constant(RANDOM);
            facts.push_fact(instance, key, Value::Integer(i64::from(drawn)));
            self.has_drawn = true;
        }
        instance
    }
}

impl Colony {
    /// Whether what its policy says to an agent can be told to others who know the same.
    pub fn is_plain(&self, agent: AgentIndex, decision: &Decision) -> bool {
        is_plain(self.policy(self.agent(agent).policy()), decision)
    }

    /// What an agent asks for, given what its policy says: the first solution, if that is an operation.
    pub fn wish(&self, agent: AgentIndex, decision: &Decision) -> Option<Wish> {
        let Some(Solution::Proposal(proposal)) = decision.solutions.first() else { return None };
        let target = match proposal.operation {
            AgentOperation::Undeploy => Target::Own,
            _ => self.target(agent, proposal.target),
        };
        Some(Wish { operation: proposal.operation, target })
    }

    /// What a target that the policy of an agent wrote means.
    pub fn target(&self, agent: AgentIndex, written: Constant) -> Target {
        self.names.find(written, self.manager(self.agent(agent).node).neighbours())
    }

    /// What an agent remembers, as its facts show it. With sliding memory, in standard order and without repeats; in the
    /// order of the refusals, repeats included, with the prototype's.
    pub fn visible_memory<'a>(&self, agent: &'a Agent) -> Vec<&'a Remembered> {
        let mut visible: Vec<&Remembered> = agent.remembered().iter().collect();
        if self.memory == Memory::Sliding {
            let order = |remembered: &&Remembered| -> (&'static str, Id) {
                (remembered.operation.as_str(), self.names.target_order(&remembered.target))
            };
            visible.sort_by_key(order);
            visible.dedup_by(|one, other| one.operation == other.operation && one.target == other.target);
        }
        visible
    }
}
