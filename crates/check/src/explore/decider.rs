//! The decisions of agents in small worlds, cached by what the agents know.

use std::rc::Rc;

use mario_colony::rules::know;
use mario_domain::{AgentOperation, NodeId, Target};
use mario_policy::{
    Constant, Decider, Ending, KnowledgeBase, MemoryDeclaration, Policy, ProposalFault, Solution, SolutionLimit,
};
use mario_prolog::Engine;
use rustc_hash::FxHashMap;

use super::known::{Around, Known};
use super::world::World;

/// The result of an agent's evaluation.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Proposed {
    Nothing,
    Operation {
        operation: AgentOperation,
        target: Target,
        /// The target as the policy wrote it, for users.
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

/// Evaluates the policy for all agents. Decisions are cached by what the agents know.
pub(super) struct CachedDecider<'p> {
    policy: &'p Policy,
    decider: Decider,
    facts: KnowledgeBase,
    /// Has no facts; interns names while `facts` is borrowed mutably.
    names: KnowledgeBase,
    cached: FxHashMap<Known, Rc<Proposed>>,
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
            names: KnowledgeBase::new(policy.symbols()),
            cached: FxHashMap::default(),
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
        self.cached.len()
    }

    /// The result of the evaluation of one agent, from the cache if an agent that knew the same was evaluated before.
    pub(super) fn ask(&mut self, world: &World<'_>, known: Known) -> Rc<Proposed> {
        if let Some(proposed) = self.cached.get(&known) {
            return Rc::clone(proposed);
        }
        let proposed = Rc::new(self.decide(world, &known));
        self.cached.insert(known, Rc::clone(&proposed));
        proposed
    }

    fn decide(&mut self, world: &World<'_>, known: &Known) -> Proposed {
        let instance = self.fill_facts(world, known);
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
                let target = if proposal.operation.has_target() {
                    // The empty name is not an id. The number 0 denotes no node either.
                    let id = self.facts.to_id(proposal.target);
                    id.map_or(Target::Node(NodeId::number(0)), |id| proposal.operation.target(id))
                } else {
                    Target::Own
                };
                Proposed::Operation { operation: proposal.operation, target, word, clause: proposal.clause }
            }
        }
    }

    /// Replaces the facts by those that the agent knows. Returns the constant for its instance.
    fn fill_facts(&mut self, world: &World<'_>, known: &Known) -> Constant {
        self.facts.clear();
        self.facts.push_application(&world.application);
        let facts = world.facts_near(known.node);
        let reads_kinds = self.policy.reads_kinds();
        know(&mut self.facts, &Around { known, world, names: &self.names, reads_kinds, facts })
    }
}
