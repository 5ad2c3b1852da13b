//! One evaluation: builds an agent's knowledge base, and evaluates its policy.

use mario_colony::rules::{History, RememberedOperation, Situation, know, visible};
use mario_domain::{AgentOperation, Capacity, Fact, Wakefulness};
use mario_policy::{Constant, Decider, Decision, KnowledgeBase, Solution, SolutionLimit};
use mario_prolog::{Engine, Value};
use mario_scenario::Memory;

use crate::population::agent::Agent;
use crate::population::index::AgentIndex;
use crate::population::layers::decision_cache::is_plain;
use crate::population::proposal::{Proposal, Target};
use crate::population::state::Population;

/// Evaluates the policies of the agents of one population. Reuses its buffers from one evaluation to the next. Each
/// thread has its own evaluator.
pub struct Evaluator {
    decider: Decider,
    facts: KnowledgeBase,
    /// Whether `facts` includes the random number of the last agent, which the next agent must not see.
    has_drawn: bool,
}

impl Evaluator {
    /// Creates an evaluator for the agents of this population.
    pub fn new(engine: &Engine, population: &Population) -> Evaluator {
        let mut facts = KnowledgeBase::new(engine.symbols());
        for application in &population.applications {
            facts.push_application(application);
        }
        for fact in &population.application_facts {
            facts.push_domain_fact(fact);
        }
        Evaluator { decider: Decider::new(engine), facts, has_drawn: false }
    }

    /// The decision of an agent's policy on its current knowledge. Does not modify the population, so several threads
    /// can call it concurrently.
    pub fn evaluate(&mut self, population: &Population, agent: AgentIndex, limit: SolutionLimit) -> &Decision {
        let instance = self.gather(population, agent);
        self.decider.decide(population.policy(population.agent(agent).policy()), &self.facts, instance, limit)
    }

    /// Passes the facts of the agent's next decision to its policy, if the policy is a function that asks for previews.
    pub fn preview(&mut self, population: &Population, agent: AgentIndex) {
        let policy = population.policy(population.agent(agent).policy());
        if policy.wants_preview() {
            let instance = self.gather(population, agent);
            policy.preview(&self.facts, instance);
        }
    }

    /// The knowledge base of the last evaluation or preview.
    pub fn facts(&self) -> &KnowledgeBase {
        &self.facts
    }

    /// Fills the knowledge base with what an agent knows. Returns the constant that denotes its instance.
    fn gather(&mut self, population: &Population, index: AgentIndex) -> Constant {
        let around = Around { population, index, agent: population.agent(index), had_drawn: self.has_drawn };
        self.has_drawn = around.agent.random().is_some();
        know(&mut self.facts, &around)
    }
}

/// The surroundings of an agent of the population.
struct Around<'a> {
    population: &'a Population,
    index: AgentIndex,
    agent: &'a Agent,
    /// Whether the facts of the previous agent included a random number.
    had_drawn: bool,
}

impl Situation for Around<'_> {
    fn instance(&self) -> Constant {
        Value::Integer(self.population.instances[self.index.position()])
    }

    fn application(&self) -> Constant {
        self.population.names.application(self.agent.application)
    }

    fn node(&self) -> Constant {
        self.population.names.node(self.agent.node)
    }

    fn free(&self) -> Capacity {
        self.population.node(self.agent.node).manager().free()
    }

    fn capacity(&self) -> Option<Capacity> {
        let reads_kinds = self.population.policy(self.agent.policy).reads_kinds();
        reads_kinds.then(|| self.population.node(self.agent.node).manager().capacity())
    }

    fn neighbours(&self) -> impl Iterator<Item = Constant> {
        self.population
            .node(self.agent.node)
            .neighbours()
            .iter()
            .map(|neighbour| self.population.names.node(*neighbour))
    }

    fn requests(&self) -> impl Iterator<Item = (Constant, f64, f64)> {
        let names = &self.population.names;
        self.agent.requests().iter().map(|fact| (names.neighbour(fact.neighbour), fact.rate, fact.latency))
    }

    fn inhibited(&self) -> impl Iterator<Item = (Constant, Constant)> {
        let names = &self.population.names;
        let visible = self.population.visible_memory(self.agent).into_iter();
        visible.map(|remembered| (names.operation(remembered.operation), names.target(&remembered.target)))
    }

    fn earlier(&self) -> impl Iterator<Item = (u32, Constant, f64, f64)> {
        let names = &self.population.names;
        let earlier = self.agent.history().into_iter().flat_map(History::earlier);
        earlier.map(|(ago, fact)| (ago, names.neighbour(fact.neighbour), fact.rate, fact.latency))
    }

    fn done(&self) -> impl Iterator<Item = (u32, Constant, Constant)> {
        let (names, now) = (&self.population.names, self.agent.evaluations + 1);
        let done = self.agent.history().into_iter().flat_map(move |history| history.done_before(now));
        done.map(|(ago, done)| (ago, names.operation(done.operation), names.target(&done.target)))
    }

    fn age(&self) -> Option<u32> {
        let reads_age =
            !self.population.only_counts() && self.population.policy(self.agent.policy).remembers().reads_age;
        reads_age.then(|| self.agent.age())
    }

    fn running(&self) -> Option<Constant> {
        let population = self.population;
        population.body_use.flavours.then(|| population.names.flavour(self.agent.application, self.agent.flavour()))?
    }

    fn wakefulness(&self) -> Wakefulness {
        if self.population.body_use.sleep { self.agent.body().wakefulness } else { Wakefulness::Awake }
    }

    fn leave(&self) -> Option<u32> {
        self.agent.notice().map(|notice| notice.left)
    }

    fn random(&self) -> Option<u32> {
        self.agent.random()
    }

    fn facts(&self) -> Option<impl Iterator<Item = &Fact>> {
        let population = self.population;
        // Facts about applications are the same for all agents, so the knowledge base keeps them. They are replaced
        // only if nodes have facts, too, or to remove the random number of the previous agent.
        (population.has_node_facts || self.had_drawn).then(|| {
            let near = std::iter::once(&self.agent.node).chain(population.node(self.agent.node).neighbours());
            let about_nodes = near.filter_map(|node| population.node_facts.get(node.position())).flatten();
            population.application_facts.iter().chain(about_nodes)
        })
    }
}

impl Population {
    /// Whether the decision of an agent is complete and cheap enough to be shared with others that have the same
    /// knowledge. Does not check that the policy is invariant under renaming.
    pub fn is_plain(&self, agent: AgentIndex, decision: &Decision) -> bool {
        is_plain(self.policy(self.agent(agent).policy()), decision)
    }

    /// The proposal of an agent, given the decision of its policy: the first solution. `None` if there is no solution,
    /// or the first is invalid.
    pub fn proposal(&self, agent: AgentIndex, decision: &Decision) -> Option<Proposal> {
        let Some(Solution::Proposal(proposal)) = decision.solutions.first() else { return None };
        let has_target = proposal.operation.has_target();
        let target = if has_target { self.target(agent, proposal.operation, proposal.target) } else { Target::Own };
        Some(Proposal { operation: proposal.operation, target })
    }

    /// Resolves the target of an operation, as written by an agent's policy.
    pub fn target(&self, agent: AgentIndex, operation: AgentOperation, written: Constant) -> Target {
        if operation.asks_for_flavour() {
            return self.names.find_flavour(written);
        }
        self.names.find(written, self.node(self.agent(agent).node).neighbours())
    }

    /// The memory of an agent, as its facts show it. Sliding memory is in standard order and without duplicates. The
    /// prototype's memory is in the order of the inhibitions, with duplicates.
    pub fn visible_memory<'a>(&self, agent: &'a Agent) -> Vec<&'a RememberedOperation<Target>> {
        match self.memory {
            _ if agent.remembered().is_empty() => Vec::new(),
            Memory::Sliding => visible(agent.remembered(), |target| self.names.target_order(target)),
            Memory::Periodic { .. } => agent.remembered().iter().collect(),
        }
    }
}
