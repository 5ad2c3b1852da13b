//! Explains the proposals of an agent, and why it does not propose other operations.
//!
//! Start at [`Explainer::explain`]. First, the policy decides as usual. Then a meta-interpreter runs the same policy to
//! find the proof of each proposal and, for each operation that is not proposed, the goals that failed. The interpreter
//! is the Prolog program `interpreter.pl`, which is loaded together with the policy. It reads the policy's clauses, and
//! calls the goals that it cannot interpret.
//!
//! For each clause of an operation that is not proposed, [`search`] looks for small changes of facts that would make
//! the clause fire. Every change is verified by evaluating the policy again before it is shown.
//!
//! An explanation has a budget of inferences for all that it evaluates. What the budget cuts short is marked.

mod change;
mod edit;
mod lines;
mod reads;
mod search;
mod situation;
mod step;

use mario_domain::{AgentOperation, Concerned};
use mario_prolog::{Allowance, Argument, Budget, Engine, Loaded, Machine, Outcome, Relations, Resolver, Value};
use serde::Serialize;

use crate::decide::{Decider, Decision, Ending, Solution, SolutionLimit};
use crate::knowledge_base::{Constant, KnowledgeBase};
use crate::policy::{Policy, PolicyError, PolicySettings};
use reads::{Reads, Recorder};
use search::Miss;

pub use change::{Change, FactChange};
pub use lines::{Line, LineRole};
pub use step::{ClauseText, Comparison, ProofStep, ProofStepKind};

const INTERPRETER: &str = concat!(include_str!("explain/interpreter.pl"), include_str!("explain/text.pl"));

/// The inference budget of an explanation, as a multiple of the budget of a decision.
const BUDGET_FACTOR: u64 = 4;

/// The memory that the interpreter may use for one query. A proof that needs more is not shown.
const INTERPRETER_BYTES: usize = 64 << 20;

/// Predicates by which one clause of a policy can affect another one. If a policy has none of them, a clause can be
/// evaluated alone.
const STATEFUL: [&str; 7] = ["assert", "asserta", "assertz", "retract", "retractall", "b_setval", "nb_setval"];

/// A decision with its reasons.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ExplainedDecision {
    /// The instance whose agent decided.
    pub instance: String,
    /// The solutions of the policy in order of priority, each with its proof.
    pub proposals: Vec<Proof>,
    /// The operations that are not proposed. Adapt, sleep and wake are listed only if the head of a clause names them.
    /// Empty if `ending` is not [`Ending::Complete`], and after [`Explainer::prove`].
    pub missed: Vec<MissedOperation>,
    /// Why the search for solutions did not complete; `None` if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// How the search for solutions ended; `error` is its description for users, unless it completed.
    #[serde(skip)]
    pub ending: Ending,
}

/// A solution of the policy and its proof.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Proof {
    /// The operation as the policy wrote it: the name of an [`AgentOperation`], unless there is a `fault`.
    pub operation: String,
    /// The instance.
    pub instance: String,
    /// The target: a node, `self`, or the flavour of an adapt.
    pub target: String,
    /// What is wrong with the solution, if it is not an operation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<&'static str>,
    /// The clause that produced it.
    pub clause: ClauseText,
    /// The goals of the clause and their proofs; `None` if the interpreter exhausted its budget or did not find the
    /// same solution.
    pub steps: Option<Vec<ProofStep>>,
}

/// An operation that is not proposed.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct MissedOperation {
    /// The name of the operation, such as `migrate`.
    pub operation: &'static str,
    /// The clauses whose heads match the instance and name the operation; for undeploy, migrate and replicate, also
    /// those with a variable as the operation. Empty if the policy has no such clause.
    pub clauses: Vec<MissedClause>,
}

/// A clause that did not propose the operation.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct MissedClause {
    /// The clause.
    pub clause: ClauseText,
    /// The goals at which it failed, with their values. Empty if the interpreter found no explanation within its
    /// budget.
    pub steps: Vec<ProofStep>,
    /// Changes of facts that would make the clause fire, each verified; the smallest first. Empty if the search found
    /// none.
    pub changes: Vec<Change>,
    /// Whether the budget of the explanation ran out before the steps were known and the search was complete.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
}

/// Explains the decisions of one policy.
pub struct Explainer {
    policy: Policy,
    loaded: Loaded,
    machine: Machine,
    decider: Decider,
    /// The budget of one query of the interpreter.
    budget: Budget,
    /// The inferences of one explanation, and those that are left of the current one.
    inferences: u64,
    left: u64,
    allowance: Option<Allowance>,
    /// Whether a clause of the policy can be evaluated without the others.
    is_stateless: bool,
}

impl ExplainedDecision {
    /// Whether the budget cut a part of the explanation short.
    pub fn is_cut(&self) -> bool {
        self.proposals.iter().any(|proof| proof.steps.is_none())
            || self.missed.iter().flat_map(|missed| &missed.clauses).any(|miss| miss.is_cut)
    }
}

impl Explainer {
    /// Compiles a policy for explanations; the arguments are those of [`Policy::load`].
    pub fn load(
        engine: &Engine,
        name: &str,
        text: &str,
        resolver: Option<Box<dyn Resolver>>,
        settings: PolicySettings,
    ) -> Result<Explainer, PolicyError> {
        Explainer::load_with(engine, name, text, resolver, settings, None)
    }

    /// Like [`Explainer::load`], for untrusted text: the allowance limits the inferences of its directives and of all
    /// explanations together. Once the allowance is exhausted, explanations are incomplete.
    pub fn load_within(
        engine: &Engine,
        name: &str,
        text: &str,
        resolver: Option<Box<dyn Resolver>>,
        settings: PolicySettings,
        allowance: &Allowance,
    ) -> Result<Explainer, PolicyError> {
        let mut explainer = Explainer::load_with(engine, name, text, resolver, settings, Some(allowance))?;
        explainer.set_allowance(Some(allowance.clone()));
        Ok(explainer)
    }

    /// Sets a limit on inferences that the following explanations share with all other holders of the allowance; `None`
    /// removes the limit. Once the allowance is exhausted, explanations are incomplete.
    pub fn set_allowance(&mut self, allowance: Option<Allowance>) {
        self.machine.set_allowance(allowance.clone());
        self.decider.set_allowance(allowance.clone());
        self.allowance = allowance;
    }

    fn load_with(
        engine: &Engine,
        name: &str,
        text: &str,
        resolver: Option<Box<dyn Resolver>>,
        settings: PolicySettings,
        allowance: Option<&Allowance>,
    ) -> Result<Explainer, PolicyError> {
        let companion = Some(("interpreter.pl", INTERPRETER));
        let (policy, loaded) = Policy::load_with(engine, companion, name, text, resolver, settings, allowance)?;
        let budget = settings.budget;
        let inferences = budget.inferences.saturating_mul(BUDGET_FACTOR);
        let heap_bytes = budget.heap_bytes.min(INTERPRETER_BYTES);
        let is_stateless = !STATEFUL.iter().any(|name| policy.program().mentions(name));
        Ok(Explainer {
            policy,
            loaded,
            machine: Machine::new(engine),
            decider: Decider::new(engine),
            budget: Budget { heap_bytes, ..budget },
            inferences,
            left: inferences,
            allowance: None,
            is_stateless,
        })
    }

    /// The policy that is explained.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Returns the proposals of the agent of `instance` with their proofs, and the operations that are not proposed.
    pub fn explain(&mut self, facts: &KnowledgeBase, instance: Constant) -> ExplainedDecision {
        self.explain_within(facts, instance, self.inferences).0
    }

    /// Like [`Explainer::explain`], with at most about this many inferences beyond those of the decision itself, instead
    /// of a multiple of the budget of a decision. What is cut short is marked. Also returns the inferences used.
    pub fn explain_within(
        &mut self,
        facts: &KnowledgeBase,
        instance: Constant,
        inferences: u64,
    ) -> (ExplainedDecision, u64) {
        self.left = inferences;
        let (mut explained, decision) = self.decide(facts, instance);
        if decision.ending == Ending::Complete {
            explained.missed = self.missed(facts, instance, &decision.solutions);
        }
        (explained, decision.inferences + (inferences - self.left))
    }

    /// Like [`Explainer::explain`], but without the missed operations, which take longer than the proofs.
    pub fn prove(&mut self, facts: &KnowledgeBase, instance: Constant) -> ExplainedDecision {
        self.left = self.inferences;
        self.decide(facts, instance).0
    }

    fn decide(&mut self, facts: &KnowledgeBase, instance: Constant) -> (ExplainedDecision, Decision) {
        let decision = self.decider.decide(&self.policy, facts, instance, SolutionLimit::All).clone();
        let proposals = self.within(self.left / 2, |own| own.proofs(facts, instance, &decision));
        let error = (decision.ending != Ending::Complete).then(|| decision.ending.to_string());
        let ending = decision.ending.clone();
        (ExplainedDecision { instance: facts.text(instance), proposals, missed: Vec::new(), error, ending }, decision)
    }

    /// Whether the explanation must end, because its budget or the allowance is used up.
    fn is_spent(&self) -> bool {
        self.left == 0 || self.allowance.as_ref().is_some_and(Allowance::is_spent)
    }

    /// Deducts inferences from the budget of the explanation.
    fn charge(&mut self, inferences: usize) {
        self.left = self.left.saturating_sub(inferences as u64);
    }

    /// Calls `act` with at most this part of the budget that is left.
    fn within<R>(&mut self, part: u64, act: impl FnOnce(&mut Explainer) -> R) -> R {
        let reserved = self.left.saturating_sub(part);
        self.left -= reserved;
        let result = act(self);
        self.left += reserved;
        result
    }

    /// The budget of the next query: no more than what is left.
    fn query_budget(&self, budget: &Budget) -> Budget {
        Budget { inferences: budget.inferences.min(self.left), ..*budget }
    }

    /// The solutions of the decision, each with its proof. A proof is omitted if the interpreter finds a different
    /// solution at its position, and all proofs are omitted if the numbers of solutions differ. So an explanation never
    /// contradicts the decision.
    fn proofs(&mut self, facts: &KnowledgeBase, instance: Constant, decision: &Decision) -> Vec<Proof> {
        let solutions = &decision.solutions;
        let is_complete = decision.ending == Ending::Complete;
        let mut steps = Vec::new();
        if !solutions.is_empty() {
            self.each_answer(facts, instance, |texts, clause, found| {
                steps.push((texts, clause, found));
                is_complete || steps.len() < solutions.len()
            });
        }
        if steps.len() != solutions.len() {
            steps.clear();
        }
        let mut steps = steps.into_iter();
        let proof = |solution: &Solution| {
            let [operation, instance, target] = solution.texts(self.policy.symbols());
            let found = steps.next().filter(|(texts, clause, _)| {
                *clause == solution.clause()
                    && (matches!(solution, Solution::Invalid(_)) || *texts == [&*operation, &*target])
            });
            let fault = match solution {
                Solution::Proposal(_) => None,
                Solution::Invalid(invalid) => Some(invalid.fault.description()),
            };
            let clause = self.clause_text("operation", 3, solution.clause());
            Proof { operation, instance, target, fault, clause, steps: found.and_then(|(_, _, steps)| steps) }
        };
        solutions.iter().map(proof).collect()
    }

    /// Calls `receive` for each solution that the interpreter finds, until `receive` returns false. `receive` gets the
    /// operation and the target, the zero-based index of the clause, and the proof.
    fn each_answer(
        &mut self,
        facts: &KnowledgeBase,
        instance: Constant,
        mut receive: impl FnMut([String; 2], usize, Option<Vec<ProofStep>>) -> bool,
    ) {
        let name = self.policy.symbols().internal("$why");
        let unknown = Argument::Unknown;
        let arguments = [Argument::Value(instance), unknown, unknown, unknown, unknown];
        let budget = self.query_budget(&self.budget);
        let mut query = self.machine.ask(self.policy.program(), name, &arguments, facts, &budget);
        while query.next_answer() == Outcome::Answer {
            let texts = [1, 2].map(|index| query.argument_words(index));
            let Some(Value::Integer(clause)) = query.argument(3) else { break };
            let steps = query.argument_tree(4).map(|tree| step::steps(&tree, &self.loaded));
            if !receive(texts, clause as usize, steps) {
                break;
            }
        }
        let inferences = query.inferences();
        self.charge(inferences as usize);
    }

    fn missed(&mut self, facts: &KnowledgeBase, instance: Constant, solutions: &[Solution]) -> Vec<MissedOperation> {
        let heads = self.heads(facts, instance);
        let proposed = |operation: AgentOperation| {
            // A solution with an invalid target counts as proposed: its proof says what is wrong.
            let is_it = |solution: &Solution| match solution {
                Solution::Proposal(it) => it.operation == operation,
                Solution::Invalid(it) => it.arguments[0] == operation.as_str(),
            };
            solutions.iter().any(is_it)
        };
        let mut missed = Vec::new();
        for operation in AgentOperation::ALL.into_iter().filter(|&operation| !proposed(operation)) {
            // A clause whose head has a variable as its operation counts as a clause of undeploy, migrate and
            // replicate, but not of adapt, sleep and wake.
            let own = |(_, head): &&(usize, Option<String>)| {
                head.as_deref().map_or(is_common(operation), |head| head == operation.as_str())
            };
            let clauses: Vec<usize> = heads.iter().filter(own).map(|(clause, _)| *clause).collect();
            // Adapt, sleep and wake are listed only if the head of a clause names them.
            if !clauses.is_empty() || is_common(operation) {
                missed.push((operation, clauses));
            }
        }
        self.misses(facts, instance, &missed)
    }

    /// Explains why these clauses do not propose these operations. The reasons of all of them come before the first
    /// search for changes, which may take all of its share of the budget.
    fn misses(
        &mut self,
        facts: &KnowledgeBase,
        instance: Constant,
        missed: &[(AgentOperation, Vec<usize>)],
    ) -> Vec<MissedOperation> {
        let mut count = missed.iter().map(|(_, clauses)| clauses.len() as u64).sum::<u64>();
        let mut explained: Vec<MissedOperation> = Vec::new();
        for (operation, clauses) in missed {
            let clauses = clauses.iter().map(|&clause| {
                let share = self.left / (count + 1);
                count -= 1;
                let steps = self.within(share, |own| own.failure(facts, instance, *operation, clause));
                let clause = self.clause_text("operation", 3, clause);
                MissedClause { clause, is_cut: steps.is_none(), steps: steps.unwrap_or_default(), changes: Vec::new() }
            });
            explained.push(MissedOperation { operation: operation.as_str(), clauses: clauses.collect() });
        }
        let mut count = missed.iter().map(|(_, clauses)| clauses.len() as u64).sum::<u64>();
        for (missed, (operation, clauses)) in explained.iter_mut().zip(missed) {
            for (miss, &clause) in missed.clauses.iter_mut().zip(clauses) {
                let (share, operation) = (self.left.div_ceil(count), *operation);
                count -= 1;
                let clause = Miss { facts, instance, operation, clause };
                let steps = std::mem::take(&mut miss.steps);
                let (changes, is_spent) =
                    self.within(share, |own| (search::changes(own, clause, &steps), own.is_spent()));
                (miss.steps, miss.changes) = (steps, changes);
                miss.is_cut |= is_spent;
            }
        }
        explained
    }

    /// The zero-based indices of the clauses of `operation/3` whose head matches the instance, each with the operation
    /// in its head, or `None` if that is a variable.
    fn heads(&mut self, facts: &KnowledgeBase, instance: Constant) -> Vec<(usize, Option<String>)> {
        let name = self.policy.symbols().internal("$why_head");
        let arguments = [Argument::Value(instance), Argument::Unknown, Argument::Unknown];
        // Not limited by what is left: without the heads, an explanation would deny that there are such clauses.
        let mut query = self.machine.ask(self.policy.program(), name, &arguments, facts, &self.budget);
        let mut heads = Vec::new();
        while query.next_answer() == Outcome::Answer {
            if let (Some(Value::Integer(clause)), Some(Value::Atom(word))) = (query.argument(1), query.argument(2)) {
                let operation = query.atom_name(word);
                heads.push((clause as usize, (operation != "any").then(|| operation.to_owned())));
            }
        }
        let inferences = query.inferences();
        self.charge(inferences as usize);
        heads
    }

    /// The goals at which a clause fails to propose an operation; `None` if the budget ran out first.
    fn failure(
        &mut self,
        facts: &KnowledgeBase,
        instance: Constant,
        operation: AgentOperation,
        clause: usize,
    ) -> Option<Vec<ProofStep>> {
        let symbols = self.policy.symbols();
        let name = symbols.internal("$why_not");
        let operation = Value::Atom(symbols.intern(operation.as_str()));
        let arguments = [Value::Integer(clause as i64), operation, instance].map(Argument::Value);
        let arguments = [arguments[0], arguments[1], arguments[2], Argument::Unknown];
        let budget = self.query_budget(&self.budget);
        let mut query = self.machine.ask(self.policy.program(), name, &arguments, facts, &budget);
        let steps = match query.next_answer() {
            Outcome::Answer => query.argument_tree(3).map(|tree| step::steps(&tree, &self.loaded)),
            Outcome::Exhausted(_) => None,
            Outcome::NoMore | Outcome::Exception(_) | Outcome::Halted(_) => Some(Vec::new()),
        };
        let inferences = query.inferences();
        self.charge(inferences as usize);
        steps
    }

    /// Whether the clause, evaluated without the others, proposes the operation. Always true if the clauses of the
    /// policy can affect one another.
    fn may_propose(&mut self, miss: &Miss<'_>, facts: &KnowledgeBase) -> bool {
        if !self.is_stateless || self.policy.outside().is_some() {
            return true;
        }
        let (found, inferences) = self.clause_proposes(miss, facts, Some(miss.clause));
        self.charge(inferences as usize);
        found
    }

    /// The facts whose change may make the policy propose the operation of `miss`: those that its clause reads. If the
    /// clause alone already proposes it, so that an earlier clause prevents it, or if the clauses can affect one another:
    /// those that the whole policy reads.
    fn reads(&mut self, miss: &Miss<'_>, facts: &KnowledgeBase) -> Reads {
        if self.policy.outside().is_some() {
            return Reads::everything();
        }
        if self.is_stateless {
            let recorder = Recorder::new(facts);
            let (found, inferences) = self.clause_proposes(miss, &recorder, Some(miss.clause));
            self.charge(inferences as usize);
            if !found {
                return recorder.finish();
            }
        }
        let recorder = Recorder::new(facts);
        let (_, inferences) = self.clause_proposes(miss, &recorder, None);
        self.charge(inferences as usize);
        recorder.finish()
    }

    /// Evaluates one clause, or all of them, until the operation of `miss` is proposed. Also returns the inferences.
    fn clause_proposes(&mut self, miss: &Miss<'_>, facts: &dyn Relations, clause: Option<usize>) -> (bool, u64) {
        let words = &self.policy.words;
        let number = clause.map_or(Argument::Unknown, |clause| Argument::Value(Value::Integer(clause as i64)));
        let arguments = [Argument::Unknown, Argument::Value(miss.instance), Argument::Unknown, number];
        let budget = self.query_budget(&self.policy.settings().budget);
        let mut query = self.machine.ask(self.policy.program(), words.numbered_operation, &arguments, facts, &budget);
        let wanted = words.operations.iter().find(|(_, operation)| *operation == miss.operation).map(|(atom, _)| *atom);
        let mut found = false;
        // All answers are read in order to observe a whole evaluation.
        while query.next_answer() == Outcome::Answer {
            if clause.is_some() && query.argument(0) == wanted.map(Value::Atom) {
                found = true;
                break;
            }
        }
        (found, query.inferences())
    }

    fn clause_text(&self, name: &str, arity: usize, clause: usize) -> ClauseText {
        step::clause_text(&self.loaded, name, arity, clause)
    }
}

/// Whether the operation, if it is not proposed, is listed even if no clause names it: those that concern every
/// application are.
const fn is_common(operation: AgentOperation) -> bool {
    matches!(operation.concerned(), Concerned::Every)
}
