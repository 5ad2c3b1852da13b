//! Reconstructs the knowledge base of an agent from a recorded evaluation.

use mario_domain::{Capacity, Fact, Id, InstanceId, Quantity, RANDOM};
use mario_policy::{Constant, KnowledgeBase};
use mario_prolog::{Engine, Value};
use mario_trace::reader::{FactsAndDecision, Header, Neighbour, RequestFact, Target};
use rustc_hash::{FxHashMap, FxHashSet};

use super::histories::VisibleHistory;

/// Builds knowledge bases of recorded evaluations, reusing the same memory.
pub(crate) struct Knowledge {
    /// The facts that every agent knows, and those of the last reconstructed evaluation.
    facts: KnowledgeBase,
    extra: ExtraFacts,
    /// Whether `facts` has the random number that was drawn for the last evaluation.
    has_drawn: bool,
}

/// The state of an agent when it decided.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Situation<'a> {
    /// The index of its application.
    pub(crate) application: u32,
    /// Its instance.
    pub(crate) instance: &'a InstanceId,
    /// The node of the instance.
    pub(crate) node: u32,
    /// The free hardware of that node.
    pub(crate) free: Capacity,
    /// The index of the instance's flavour.
    pub(crate) flavour: u32,
    /// Whether the instance is asleep.
    pub(crate) is_asleep: bool,
    /// The other recorded facts that the agent saw, and its recorded decision.
    pub(crate) seen: &'a FactsAndDecision,
    /// Its visible history.
    pub(crate) visible_history: &'a VisibleHistory,
}

impl Knowledge {
    /// Starts with the facts of a header that every agent knows. `engine` must be the one that compiled the policies.
    pub(crate) fn new(header: &Header, engine: &Engine) -> Knowledge {
        let mut facts = KnowledgeBase::new(engine.symbols());
        for application in &header.applications {
            facts.push_application(&application.descriptor());
        }
        let extra = ExtraFacts::new(header);
        for fact in extra.general() {
            facts.push_domain_fact(fact);
        }
        Knowledge { facts, extra, has_drawn: false }
    }

    /// Builds the knowledge base of an agent, and replaces the last one. Returns it with the constant that denotes the
    /// agent's instance. `reaches` returns whether the first node reached the second at the time.
    pub(crate) fn of(
        &mut self,
        header: &Header,
        situation: &Situation<'_>,
        reaches: impl Fn(u32, u32) -> bool,
    ) -> (&KnowledgeBase, Constant) {
        let facts = &mut self.facts;
        facts.clear_situation();
        let id = |facts: &KnowledgeBase, node: u32| facts.id(header.nodes[node as usize].id.id());
        let own = id(facts, situation.node);
        let reached = header.nodes[situation.node as usize].neighbours.iter();
        let reached: Vec<u32> = reached.copied().filter(|neighbour| reaches(situation.node, *neighbour)).collect();
        let neighbours: Vec<Constant> = reached.iter().map(|neighbour| id(facts, *neighbour)).collect();
        let free = facts.capacity(situation.free);
        facts.push_node(own, free, neighbours);
        facts.push_free(own, situation.free, header.nodes[situation.node as usize].capacity);
        if self.extra.has_nodes() || self.has_drawn {
            facts.clear_facts();
            let near = std::iter::once(situation.node).chain(reached);
            let about_nodes = near.flat_map(|node| self.extra.of_node(node));
            for fact in self.extra.general().iter().chain(about_nodes) {
                facts.push_domain_fact(fact);
            }
        }
        let instance = facts.id(situation.instance.id());
        self.has_drawn = situation.seen.random.is_some();
        if let Some(drawn) = situation.seen.random {
            let key = facts.constant(RANDOM);
            facts.push_fact(instance, key, Value::Integer(i64::from(drawn)));
        }
        let application = facts.id(header.applications[situation.application as usize].id.id());
        facts.push_instance(instance, application, own);
        let flavours = &header.applications[situation.application as usize].flavours;
        if let Some(flavour) = flavours.get(situation.flavour as usize) {
            let flavour = facts.id(flavour.id.id());
            facts.push_running(instance, flavour);
        }
        if situation.is_asleep {
            facts.push_asleep(instance);
        }
        let requests = |facts: &KnowledgeBase, fact: &RequestFact| {
            let neighbour = match fact.neighbour {
                Neighbour::Own => facts.constant(mario_domain::SELF),
                Neighbour::Node(node) => id(facts, node),
            };
            [neighbour, number(fact.rate), number(fact.latency)]
        };
        let target = |facts: &KnowledgeBase, target: &Target| match target {
            Target::Own => facts.constant(mario_domain::SELF),
            Target::Node(node) => id(facts, *node),
            Target::Unknown(id) | Target::Flavour(id) => facts.id(id),
        };
        for fact in &situation.seen.requests {
            let [neighbour, rate, latency] = requests(facts, fact);
            facts.push_requests(instance, neighbour, rate, latency);
        }
        for proposal in &situation.seen.inhibited {
            let (operation, target) = (facts.constant(proposal.operation.as_str()), target(facts, &proposal.target));
            facts.push_inhibited(operation, instance, target);
        }
        for (ago, earlier) in (1..).zip(&situation.visible_history.earlier) {
            for fact in earlier.iter() {
                let fact = requests(facts, fact);
                facts.push_earlier(ago, instance, fact);
            }
        }
        for (ago, proposal) in &situation.visible_history.done {
            let (operation, target) = (facts.constant(proposal.operation.as_str()), target(facts, &proposal.target));
            facts.push_done(counted(*ago), instance, operation, target);
        }
        if let Some(age) = situation.visible_history.age {
            facts.push_age(instance, counted(age));
        }
        if let Some(leave) = situation.visible_history.leave {
            facts.push_leave(instance, counted(leave));
        }
        (&self.facts, instance)
    }
}

/// A number of evaluations as an argument of a fact, at most `u32::MAX`.
fn counted(evaluations: u64) -> u32 {
    u32::try_from(evaluations).unwrap_or(u32::MAX)
}

fn number(quantity: Quantity) -> Constant {
    match quantity.as_whole() {
        Some(whole) => Value::Integer(i64::from(whole)),
        None => Value::Float(quantity.value()),
    }
}

/// The extra facts of a header. A fact whose subject is the id of a node, and not also that of an application, is about
/// that node; all agents and managers know all other facts.
struct ExtraFacts {
    /// Known to all agents and managers.
    general: Vec<Fact>,
    /// By the node that they are about. Known to its manager, and to agents on it and on nodes that reach it.
    of_node: FxHashMap<u32, Vec<Fact>>,
}

impl ExtraFacts {
    fn new(header: &Header) -> ExtraFacts {
        let applications: FxHashSet<&Id> = header.applications.iter().map(|application| application.id.id()).collect();
        let nodes: FxHashMap<&Id, u32> = header.nodes.iter().map(|node| node.id.id()).zip(0..).collect();
        let mut facts = ExtraFacts { general: Vec::new(), of_node: FxHashMap::default() };
        for fact in &header.facts {
            match nodes.get(&fact.subject) {
                Some(node) if !applications.contains(&fact.subject) => {
                    facts.of_node.entry(*node).or_default().push(fact.clone());
                }
                _ => facts.general.push(fact.clone()),
            }
        }
        facts
    }

    /// The facts known to all agents and managers.
    fn general(&self) -> &[Fact] {
        &self.general
    }

    /// The facts about a node. Known to its manager, and to agents on it and on nodes that reach it.
    fn of_node(&self, node: u32) -> &[Fact] {
        self.of_node.get(&node).map_or(&[], Vec::as_slice)
    }

    /// Whether there are any facts about single nodes.
    fn has_nodes(&self) -> bool {
        !self.of_node.is_empty()
    }
}
