//! One decision: evaluates the policy of an agent and returns the operations that it proposes.

use std::cell::Cell;
use std::fmt;

use mario_domain::{AgentOperation, FactPredicate, Id, KeyPart, Operation, Target};
use mario_prolog::{
    Allowance, Argument, Engine, Explanation, Machine, Outcome, Query, Relation, Relations, Resource, Symbols, Table,
    Value,
};

use crate::function;
use crate::knowledge_base::{Constant, KnowledgeBase, constant_text};
use crate::policy::Policy;

/// How many solutions to search for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SolutionLimit {
    /// All solutions, in order, including duplicates.
    All,
    /// The first solution, which is the agent's proposal.
    First,
}

/// The result of evaluating a policy.
#[derive(Clone, PartialEq, Debug)]
pub struct Decision {
    /// The solutions in order of priority, including duplicates, and including those found before a failure.
    pub solutions: Vec<Solution>,
    /// How the search for them ended.
    pub ending: Ending,
    /// The number of inferences used; 0 for a policy function.
    pub inferences: u64,
    /// Whether the policy read `earlier/5`, `done/4` or `age/2`. Always false if [`Policy::remembers`] declares no
    /// memory of requests or operations and the policy does not read `age/2`: its agents then have no such facts. For a
    /// policy function: whether it may read them.
    pub looked_back: bool,
    /// Whether the policy read `age/2`. If not, the decision is the same at every age. For a policy function: whether
    /// it may read `age/2`.
    pub read_age: bool,
}

impl Decision {
    /// Whether the decision failed: its first solution is not an operation, or there is no solution and the search did
    /// not complete.
    pub fn has_failed(&self) -> bool {
        match self.solutions.first() {
            Some(solution) => !matches!(solution, Solution::Proposal(_)),
            None => self.ending != Ending::Complete,
        }
    }
}

/// How the search for solutions ended.
#[derive(Clone, PartialEq, Debug)]
pub enum Ending {
    /// The search is complete: there are no more solutions, or only the first was wanted and it was found.
    Complete,
    /// This resource of the budget ran out.
    Exhausted(Resource),
    /// The policy raised an exception that it did not catch, or its function is missing or returned an error.
    Exception(Explanation),
    /// The policy called `halt`.
    Halted,
}

/// One solution of `operation/3`.
#[derive(Clone, PartialEq, Debug)]
pub enum Solution {
    /// An operation that the agent may propose.
    Proposal(Proposal),
    /// A solution that is not an operation.
    Invalid(InvalidProposal),
}

/// An operation that a policy proposes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Proposal {
    /// The operation.
    pub operation: AgentOperation,
    /// The instance whose agent decides.
    pub instance: Constant,
    /// A node or `self`, or the flavour of an adapt, as the policy wrote it.
    pub target: Constant,
    /// The zero-based index of the clause of `operation/3` that produced it, see [`Policy::clauses`]; 0 for a policy
    /// function.
    pub clause: usize,
}

/// A solution of `operation/3` that is not an operation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InvalidProposal {
    /// What is wrong with it.
    pub fault: ProposalFault,
    /// Its three arguments as text.
    pub arguments: [String; 3],
    /// The zero-based index of the clause of `operation/3` that produced it.
    pub clause: usize,
}

/// Why a solution of `operation/3` is not an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProposalFault {
    /// The operation is not one of [`AgentOperation::ALL`].
    UnknownOperation,
    /// The target is a variable.
    UnboundTarget,
    /// The target is neither a name nor an integer, or it is the empty name as the flavour of an adapt.
    NotATarget,
    /// The target is a name that the policy constructed and that occurs in no fact and no text. For a policy function:
    /// the target is none of `self`, the own node, the neighbours and the nodes that client requests come through.
    UnknownTarget,
    /// The target of an operation without a target, such as undeploy, is neither `self` nor the instance's own node.
    UndeploysElsewhere,
}

/// Evaluates policies. Reuses its buffers from one decision to the next; use one decider per thread.
pub struct Decider {
    machine: Machine,
    decision: Decision,
}

const OPERATION: usize = 0;
const INSTANCE: usize = 1;
const TARGET: usize = 2;
const CLAUSE: usize = 3;

impl Decider {
    /// A decider for policies of this engine.
    pub fn new(engine: &Engine) -> Decider {
        let decision = Decision {
            solutions: Vec::new(),
            ending: Ending::Complete,
            inferences: 0,
            looked_back: false,
            read_age: false,
        };
        Decider { machine: Machine::new(engine), decision }
    }

    /// Sets a limit on inferences that the following decisions share with all other holders of the allowance; `None`
    /// removes the limit.
    pub fn set_allowance(&mut self, allowance: Option<Allowance>) {
        self.machine.set_allowance(allowance);
    }

    /// Evaluates `policy` for the agent of `instance`, which sees `facts`. The next call overwrites the result.
    pub fn decide(
        &mut self,
        policy: &Policy,
        facts: &KnowledgeBase,
        instance: Constant,
        limit: SolutionLimit,
    ) -> &Decision {
        if let Some(name) = policy.outside() {
            self.decision = function::decide(policy, name, facts, instance, limit);
            return &self.decision;
        }
        let arguments = [Argument::Unknown, Argument::Value(instance), Argument::Unknown, Argument::Unknown];
        let budget = &policy.settings().budget;
        let watched = Watched { facts, looked_back: Cell::new(false), read_age: Cell::new(false) };
        let relations: &dyn Relations = if policy.remembers().is_nothing() { facts } else { &watched };
        let operation = policy.words.numbered_operation;
        let mut query = self.machine.ask(policy.program(), operation, &arguments, relations, budget);
        let decision = &mut self.decision;
        decision.solutions.clear();
        decision.ending = loop {
            match query.next_answer() {
                Outcome::Answer => decision.solutions.push(solution(&mut query, policy, facts, instance)),
                Outcome::NoMore => break Ending::Complete,
                Outcome::Exhausted(resource) => break Ending::Exhausted(resource),
                Outcome::Exception(exception) => break Ending::Exception(query.explain(&exception)),
                Outcome::Halted(_) => break Ending::Halted,
            }
            if limit == SolutionLimit::First {
                break Ending::Complete;
            }
        };
        decision.inferences = query.inferences();
        (decision.looked_back, decision.read_age) = (watched.looked_back.get(), watched.read_age.get());
        decision
    }
}

/// The facts of an agent. Records whether the policy reads the facts about the past.
struct Watched<'a> {
    facts: &'a KnowledgeBase,
    looked_back: Cell<bool>,
    read_age: Cell<bool>,
}

impl Watched<'_> {
    fn watch(&self, position: usize) {
        let part = FactPredicate::OF_AGENTS.get(position).map(|predicate| predicate.row().in_key);
        if matches!(part, Some(KeyPart::Past | KeyPart::Age)) {
            self.looked_back.set(true);
        }
        if part == Some(KeyPart::Age) {
            self.read_age.set(true);
        }
    }
}

impl Relations for Watched<'_> {
    fn relation(&self, position: usize) -> Option<&dyn Relation> {
        self.watch(position);
        self.facts.relation(position)
    }

    fn table(&self, position: usize) -> Option<&Table> {
        self.watch(position);
        self.facts.table(position)
    }
}

fn solution(query: &mut Query<'_>, policy: &Policy, facts: &KnowledgeBase, instance: Constant) -> Solution {
    let clause = match query.argument(CLAUSE) {
        Some(Value::Integer(position)) => position as usize,
        _ => 0,
    };
    match proposal(query, policy, facts) {
        Ok((operation, target)) => Solution::Proposal(Proposal { operation, instance, target, clause }),
        Err(fault) => {
            let arguments = [OPERATION, INSTANCE, TARGET].map(|index| query.argument_words(index));
            Solution::Invalid(InvalidProposal { fault, arguments, clause })
        }
    }
}

fn proposal(
    query: &Query<'_>,
    policy: &Policy,
    facts: &KnowledgeBase,
) -> Result<(AgentOperation, Constant), ProposalFault> {
    let words = &policy.words;
    let Some(Value::Atom(word)) = query.argument(OPERATION) else { return Err(ProposalFault::UnknownOperation) };
    let known = words.operations.iter().find(|(atom, _)| *atom == word);
    let &(_, operation) = known.ok_or(ProposalFault::UnknownOperation)?;
    if query.is_unbound(TARGET) {
        return Err(ProposalFault::UnboundTarget);
    }
    let target = match query.argument(TARGET) {
        Some(Value::Atom(atom)) if query.is_made_up(atom) => return Err(ProposalFault::UnknownTarget),
        // The target of an adapt is a flavour's id, and the empty name is not a valid id.
        Some(Value::Atom(atom)) if operation.asks_for_flavour() && query.atom_name(atom).is_empty() => {
            return Err(ProposalFault::NotATarget);
        }
        Some(target @ (Value::Atom(_) | Value::Integer(_))) => target,
        _ => return Err(ProposalFault::NotATarget),
    };
    let here = || target == Value::Atom(words.own) || facts.nodes().any(|own| own.node == target);
    if !operation.has_target() && !here() {
        return Err(ProposalFault::UndeploysElsewhere);
    }
    Ok((operation, target))
}

impl Proposal {
    /// The operation, instance and target as text.
    pub fn texts(&self, symbols: &Symbols) -> [String; 3] {
        [self.operation.to_string(), constant_text(symbols, self.instance), constant_text(symbols, self.target)]
    }

    /// The operation as a domain type; `None` if the target is the empty name, which is never a valid id.
    pub fn operation(&self, facts: &KnowledgeBase) -> Option<Operation> {
        if !self.operation.has_target() {
            return Some(self.operation.towards(Target::Own));
        }
        let id: Id = facts.to_id(self.target)?;
        Some(self.operation.towards(self.operation.target(id)))
    }
}

impl Solution {
    /// The operation, instance and target as text.
    pub fn texts(&self, symbols: &Symbols) -> [String; 3] {
        match self {
            Solution::Proposal(proposal) => proposal.texts(symbols),
            Solution::Invalid(invalid) => invalid.arguments.clone(),
        }
    }

    /// The zero-based index of the clause of `operation/3` that produced it.
    pub fn clause(&self) -> usize {
        match self {
            Solution::Proposal(proposal) => proposal.clause,
            Solution::Invalid(invalid) => invalid.clause,
        }
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ending::Complete => formatter.write_str("the policy answered"),
            Ending::Exhausted(resource) => write!(formatter, "the policy ran out of {resource}"),
            Ending::Exception(exception) => {
                write!(formatter, "the policy raised an exception: {}: {}", exception.message, exception.term)
            }
            Ending::Halted => formatter.write_str("the policy called halt"),
        }
    }
}

impl ProposalFault {
    /// A description of the fault for users.
    pub fn description(self) -> &'static str {
        match self {
            ProposalFault::UnknownOperation => "a policy proposes undeploy, migrate, replicate, adapt, sleep or wake",
            ProposalFault::UnboundTarget => "the target is an unbound variable",
            ProposalFault::NotATarget => "a target is a name or an integer",
            ProposalFault::UnknownTarget => "the policy made the name of the target up",
            ProposalFault::UndeploysElsewhere => "an instance can undeploy, sleep or wake itself only, where it is",
        }
    }
}
