//! The decisions of agents in small worlds.

use mario_domain::{AgentOperation, Capacity, FactPredicate, HardwareKind};
use mario_policy::{
    Constant, Decider, Ending, KnowledgeBase, MemoryDeclaration, Policy, ProposalFault, Solution, SolutionLimit,
};
use mario_prolog::{Engine, Value};
use rustc_hash::FxHashMap;

use super::world::{Gpus, HARDWARE, Spread, World, handled_in, needed_in, node_name};

/// Client requests of one latency that reach an instance through one neighbour, or from its own node (`self`). The
/// derived order is the standard order of terms.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct ReceivedRequests {
    pub(super) neighbour: String,
    pub(super) rate: i64,
    pub(super) latency: i64,
}

/// The memory of an agent, and its eviction notice.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Past {
    /// Inhibited operations and their targets.
    pub(super) inhibited: Vec<(AgentOperation, String)>,
    /// Requests of earlier evaluations, the latest first.
    pub(super) earlier: Vec<Vec<ReceivedRequests>>,
    /// Its accepted operations, the latest first: how many evaluations ago, operation and target.
    pub(super) done: Vec<(u32, AgentOperation, String)>,
    pub(super) age: Option<u32>,
    /// The number of evaluations left before its announced eviction; `None` if none was announced.
    pub(super) leave: Option<u32>,
}

/// The result of an agent's evaluation.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Proposed {
    Nothing,
    Operation {
        operation: AgentOperation,
        target: Target,
        word: String,
        clause: usize,
    },
    /// A solution that is not an operation.
    Invalid {
        fault: ProposalFault,
        arguments: [String; 3],
        clause: usize,
    },
    /// The policy failed.
    Failed(Ending),
}

/// The target of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Target {
    Own,
    Node(usize),
    /// A number, or a name that no node of the world has, such as that of a flavour.
    Nowhere,
}

impl Target {
    /// The index of the target node for an agent on `node`; `None` if no node has the name.
    pub(super) fn resolved(self, node: usize) -> Option<usize> {
        match self {
            Target::Own => Some(node),
            Target::Node(node) => Some(node),
            Target::Nowhere => None,
        }
    }
}

/// The state of an instance, and the free hardware of its node.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct InstanceState {
    pub(super) instance: usize,
    pub(super) node: usize,
    pub(super) free: i64,
    /// The index of its flavour.
    pub(super) flavour: usize,
    pub(super) is_asleep: bool,
}

/// Everything that a decision depends on and that differs between worlds; the key of the cache.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Situation {
    state: InstanceState,
    neighbours: Vec<usize>,
    limits: [i64; 2],
    spread: u8,
    gpus: Gpus,
    /// The units of hardware of each node if there are GPUs, because the number of free GPUs depends on them; otherwise
    /// 0.
    capacity: i64,
    nodes: usize,
    received: Vec<ReceivedRequests>,
    past: Past,
}

/// Evaluates the policy for all agents. Decisions are cached by situation.
pub(super) struct CachedDecider<'p> {
    policy: &'p Policy,
    decider: Decider,
    facts: KnowledgeBase,
    known: FxHashMap<Situation, Proposed>,
    /// The largest number of inferences that a decision took.
    pub(super) inferences_max: u64,
    /// The total number of inferences of all decisions.
    pub(super) inferences: u64,
    /// For each clause of `operation/3`, whether it ever produced the first solution.
    pub(super) clauses_used: Vec<bool>,
}

impl<'p> CachedDecider<'p> {
    pub(super) fn new(engine: &Engine, policy: &'p Policy) -> CachedDecider<'p> {
        CachedDecider {
            policy,
            decider: Decider::new(engine),
            facts: KnowledgeBase::new(policy.symbols()),
            known: FxHashMap::default(),
            inferences_max: 0,
            inferences: 0,
            clauses_used: vec![false; policy.clauses().len()],
        }
    }

    /// How far back the policy looks.
    pub(super) fn remembers(&self) -> MemoryDeclaration {
        self.policy.remembers()
    }

    /// The number of different situations in which the policy was evaluated.
    pub(super) fn decisions(&self) -> usize {
        self.known.len()
    }

    /// The result of the evaluation of one agent, from the cache if the policy was evaluated in the same situation
    /// before.
    pub(super) fn ask(
        &mut self,
        world: &World<'_>,
        state: InstanceState,
        received: &[ReceivedRequests],
        past: Past,
    ) -> Proposed {
        let situation = Situation {
            state,
            neighbours: world.shape.neighbours[state.node].clone(),
            limits: [world.application.max_rate, world.application.max_latency],
            spread: world.spread as u8,
            gpus: world.gpus,
            capacity: if world.gpus == Gpus::One { world.capacity } else { 0 },
            nodes: world.shape.nodes(),
            received: received.to_vec(),
            past,
        };
        if let Some(proposed) = self.known.get(&situation) {
            return proposed.clone();
        }
        let proposed = self.decide(world, &situation);
        self.known.insert(situation, proposed.clone());
        proposed
    }

    fn decide(&mut self, world: &World<'_>, situation: &Situation) -> Proposed {
        let instance = self.fill_facts(world, situation);
        let decision = self.decider.decide(self.policy, &self.facts, instance, SolutionLimit::First);
        self.inferences_max = self.inferences_max.max(decision.inferences);
        self.inferences += decision.inferences;
        if decision.ending != Ending::Complete {
            return Proposed::Failed(decision.ending.clone());
        }
        let Some(first) = decision.solutions.first() else { return Proposed::Nothing };
        if let Some(used) = self.clauses_used.get_mut(first.clause()) {
            *used = true;
        }
        match first {
            Solution::Invalid(invalid) => {
                Proposed::Invalid { fault: invalid.fault, arguments: invalid.arguments.clone(), clause: invalid.clause }
            }
            Solution::Proposal(proposal) => {
                let word = self.facts.text(proposal.target);
                let is_name = matches!(proposal.target, Value::Atom(_));
                let node = (0..situation.nodes).find(|node| is_name && node_name(*node) == word);
                let target = match node {
                    Some(node) => Target::Node(node),
                    None if is_name && word == mario_domain::SELF => Target::Own,
                    None => Target::Nowhere,
                };
                Proposed::Operation { operation: proposal.operation, target, word, clause: proposal.clause }
            }
        }
    }

    /// Replaces the facts by those of the situation. Returns the constant for its instance.
    fn fill_facts(&mut self, world: &World<'_>, situation: &Situation) -> Constant {
        let facts = &mut self.facts;
        facts.clear();
        let application = facts.constant("app");
        let [max_rate, max_latency] = situation.limits.map(Value::Integer);
        facts.push_service(application, Value::Integer(HARDWARE), max_rate, max_latency);
        facts.push(
            FactPredicate::Needs,
            &[application, facts.constant(HardwareKind::Units.as_str()), Value::Integer(HARDWARE)],
        );
        let node = facts.constant(&node_name(situation.state.node));
        let neighbours: Vec<Constant> =
            situation.neighbours.iter().map(|neighbour| facts.constant(&node_name(*neighbour))).collect();
        facts.push_node(node, Value::Integer(situation.state.free), neighbours);
        let instance = facts.constant(&format!("i{}", situation.state.instance));
        facts.push_instance(instance, application, node);
        for received in &situation.received {
            let neighbour = facts.constant(&received.neighbour);
            facts.push_requests(instance, neighbour, Value::Integer(received.rate), Value::Integer(received.latency));
        }
        for (operation, target) in &situation.past.inhibited {
            let (operation, target) = (facts.constant(operation.as_str()), facts.constant(target));
            facts.push_inhibited(operation, instance, target);
        }
        if situation.state.is_asleep {
            facts.push_asleep(instance);
        }
        self.push_past(instance, &situation.past);
        self.push_flavours(world, situation, application, instance);
        let room = |units: i64| Capacity::units(units.max(0) as u64);
        self.facts.push_free(node, room(situation.state.free), room(world.capacity));
        if world.gpus == Gpus::One {
            let gpu = self.facts.constant(HardwareKind::Gpu.as_str());
            self.facts.push(FactPredicate::Needs, &[application, gpu, Value::Integer(1)]);
            self.facts.push(FactPredicate::Free, &[node, gpu, Value::Integer(world.free_gpus(situation.state.free))]);
        }
        if world.spread != Spread::None {
            self.push_extra(world, application, instance);
        }
        instance
    }

    fn push_flavours(&mut self, world: &World<'_>, situation: &Situation, application: Constant, instance: Constant) {
        let facts = &mut self.facts;
        let [max_rate, max_latency] = situation.limits;
        for (flavour, name) in world.flavours.iter().enumerate() {
            let word = facts.id(name.id());
            let quality = needed_in(flavour) + 1;
            let numbers =
                [needed_in(flavour), handled_in(flavour) * max_rate, max_latency, quality].map(Value::Integer);
            facts.push(FactPredicate::Flavour, &[&[application, word][..], &numbers[..]].concat());
            if flavour == situation.state.flavour {
                facts.push_running(instance, word);
            }
        }
    }

    fn push_past(&mut self, instance: Constant, past: &Past) {
        let facts = &mut self.facts;
        for (ago, received) in (1..).zip(&past.earlier) {
            for received in received {
                let neighbour = facts.constant(&received.neighbour);
                let row = [neighbour, Value::Integer(received.rate), Value::Integer(received.latency)];
                facts.push_earlier(ago, instance, row);
            }
        }
        for (ago, operation, target) in &past.done {
            let (operation, target) = (facts.constant(operation.as_str()), facts.constant(target));
            facts.push_done(*ago, instance, operation, target);
        }
        if let Some(age) = past.age {
            facts.push_age(instance, age);
        }
        if let Some(evaluations) = past.leave {
            facts.push_leave(instance, evaluations);
        }
    }

    fn push_extra(&mut self, world: &World<'_>, application: Constant, instance: Constant) {
        let facts = &mut self.facts;
        for fact in world.extra {
            let key = facts.id(&fact.key);
            if let Some(value) = world.extra_value(fact, None) {
                let value = facts.id(value);
                facts.push_fact(application, key, value);
                facts.push_fact(instance, key, value);
            }
            for node in 0..world.shape.nodes() {
                if let Some(value) = world.extra_value(fact, Some(node)) {
                    let (subject, value) = (facts.constant(&node_name(node)), facts.id(value));
                    facts.push_fact(subject, key, value);
                }
            }
        }
    }
}
