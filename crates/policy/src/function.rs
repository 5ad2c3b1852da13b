//! Policies that are functions of the host rather than logic programs, for example in Python.
//!
//! The text of such a policy names the function and defines no operations:
//!
//! ```prolog
//! :- decided_outside(near_users).
//! ```
//!
//! The trace of a run contains this text, so a reader of the trace knows that the decisions cannot be reproduced from
//! the trace alone.
//!
//! **Contract:** a function must be deterministic: it returns the same result for the same facts, on any thread.
//! Decisions are cached while the facts do not change.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use mario_domain::{AgentOperation, Id, SELF};
use mario_prolog::{Explanation, LoadError, Loaded, Problem, TreeKind};

use crate::decide::{Decision, Ending, InvalidProposal, Proposal, ProposalFault, Solution, SolutionLimit};
use crate::knowledge_base::{Constant, KnowledgeBase};
use crate::policy::Policy;

/// The name of the directive, which has one argument.
pub(crate) const DIRECTIVE: &str = "decided_outside";

/// A policy that is a function.
pub trait PolicyFunction: Send + Sync {
    /// Returns the proposals of the agent of `instance`, in order of priority, or the reason for a failure.
    fn decide(&self, facts: &KnowledgeBase, instance: Constant) -> Result<Vec<FunctionProposal>, String>;

    /// Whether [`preview`](PolicyFunction::preview) should be called, because the function decides for several agents
    /// together.
    fn wants_preview(&self) -> bool {
        false
    }

    /// Receives the facts of an agent before its decision, if [`wants_preview`](PolicyFunction::wants_preview) returns
    /// true. If several agents decide at the same time, `preview` is called for each of them before `decide` is called
    /// for the first.
    fn preview(&self, _facts: &KnowledgeBase, _instance: Constant) {}
}

/// A proposal as the function returned it, not yet validated.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FunctionProposal {
    /// The name of an operation.
    pub operation: String,
    /// A node, `self`, or the flavour of an adapt.
    pub target: Id,
}

/// Policy functions by the names that policy texts use.
#[derive(Clone, Default)]
pub struct PolicyFunctions(BTreeMap<String, Arc<dyn PolicyFunction>>);

impl PolicyFunctions {
    /// Adds a function. Replaces the function that already has this name.
    pub fn insert(&mut self, name: &str, function: Arc<dyn PolicyFunction>) {
        self.0.insert(name.to_owned(), function);
    }

    /// The function with this name; `None` if it is unknown.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn PolicyFunction>> {
        self.0.get(name)
    }
}

impl fmt::Debug for PolicyFunctions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.0.keys()).finish()
    }
}

/// The name of the function that a text declares; the last one if it declares several, `None` if it declares none. An
/// error if the argument is not a name.
pub(crate) fn declared(loaded: &Loaded) -> Result<Option<Arc<str>>, LoadError> {
    let mut found = None;
    for declaration in &loaded.declarations {
        let Some((DIRECTIVE, [name])) = declaration.tree.callable() else { continue };
        let TreeKind::Atom(name) = &name.kind else {
            let message = "a policy names the function that decides for it".to_owned();
            let problem =
                Problem::error(&declaration.place, message, Some("write `:- decided_outside(name).`".to_owned()));
            return Err(LoadError { errors: vec![problem], warnings: loaded.warnings.clone() });
        };
        found = Some(Arc::from(name.as_str()));
    }
    Ok(found)
}

/// Calls the function of a policy. The decision fails if the policy has no function yet or the function returns an
/// error.
pub(crate) fn decide(
    policy: &Policy,
    name: &str,
    facts: &KnowledgeBase,
    instance: Constant,
    limit: SolutionLimit,
) -> Decision {
    let decided = match policy.function() {
        Some(function) => function.decide(facts, instance),
        None => Err(format!("it is decided by the function `{name}`, which is not here")),
    };
    let looked_back = !policy.remembers().is_nothing();
    match decided {
        Ok(mut proposals) => {
            if limit == SolutionLimit::First {
                proposals.truncate(1);
            }
            let solutions = proposals.iter().map(|proposal| solution(facts, instance, proposal)).collect();
            Decision {
                solutions,
                ending: Ending::Complete,
                inferences: 0,
                looked_back,
                read_age: policy.remembers().reads_age,
            }
        }
        Err(message) => {
            let explanation = Explanation { message, term: format!("{DIRECTIVE}({name})"), hint: None };
            Decision {
                solutions: Vec::new(),
                ending: Ending::Exception(explanation),
                inferences: 0,
                looked_back,
                read_age: policy.remembers().reads_age,
            }
        }
    }
}

/// Validates a proposal of a function. Its clause index is 0, because there are no clauses.
fn solution(facts: &KnowledgeBase, instance: Constant, written: &FunctionProposal) -> Solution {
    let fault = |fault| {
        let arguments = [written.operation.clone(), facts.text(instance), written.target.to_string()];
        Solution::Invalid(InvalidProposal { fault, arguments, clause: 0 })
    };
    let Some(operation) = AgentOperation::ALL.into_iter().find(|known| known.as_str() == written.operation) else {
        return fault(ProposalFault::UnknownOperation);
    };
    // An id is compared as text, so that `7` denotes the node 7 both as a string and as a number. Unknown node names
    // are not interned, because symbols are never freed.
    let text = written.target.to_string();
    let is_written = |constant: &Constant| facts.text(*constant) == text;
    let here = facts.nodes().map(|own| own.node).chain([facts.constant(SELF)]).find(is_written);
    if !operation.has_target() && here.is_none() {
        return fault(ProposalFault::UndeploysElsewhere);
    }
    let neighbours = facts.nodes().flat_map(|own| own.neighbours.iter().filter_map(|node| facts.to_id(*node)));
    let near = || neighbours.map(|node| facts.id(&node)).chain(facts.requests().map(|row| row[1])).find(is_written);
    let target = if operation.asks_for_flavour() { Some(facts.id(&written.target)) } else { here.or_else(near) };
    let Some(target) = target else { return fault(ProposalFault::UnknownTarget) };
    Solution::Proposal(Proposal { operation, instance, target, clause: 0 })
}
