//! Acceptance policies: which requests a node's manager accepts, and which instances the node's owner evicts or
//! shrinks.

mod initiative;
mod view;

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use mario_domain::{
    FactPredicate, Hardware, Id, Inhibition, InstanceId, NodeId, OperationName, Request, Rule, Verdict,
};
use mario_prolog::{
    Allowance, Argument, Atom, Budget, Engine, LoadError, Machine, Outcome, Place, Problem, Program, Query, Resolver,
    Value,
};

use crate::knowledge_base::{Constant, declare_facts};
pub use initiative::{Eviction, Initiative, Shrink};
pub use view::ManagerView;

/// The placeholder for a missing instance or node in a request. A deploy has no instance and no `From`; an undeploy has
/// no `To`.
const NONE: &str = "none";

/// A compiled acceptance policy. Immutable: share it among any number of nodes and threads.
#[derive(Clone)]
pub struct Acceptance {
    name: Arc<str>,
    program: Arc<Program>,
    budget: Budget,
    /// For each of [`MANAGER_GOALS`], whether the policy defines it.
    defined: [bool; MANAGER_GOALS.len()],
    /// The place of the only clause of each of [`MANAGER_GOALS`]; `None` if there is not exactly one.
    places: [Option<Place>; MANAGER_GOALS.len()],
    warnings: Arc<[Problem]>,
    words: Words,
}

/// The failure of an acceptance policy to return a valid answer. If it was judging a request, the request is inhibited.
#[derive(Clone, Debug)]
pub struct AcceptanceFailure {
    /// The cause, as in [`Rule::AcceptanceFailed`].
    pub cause: String,
    /// The message for users.
    pub message: String,
    /// The clause of the goal that failed; `None` unless the goal has exactly one clause.
    pub place: Option<Place>,
    /// The undefined predicate that was called, as `name/arity`; `None` if the cause is another one.
    pub unknown: Option<String>,
    /// A hint that may help.
    pub hint: Option<String>,
}

/// The goals of an acceptance policy: names and arities, in the order of [`Goal`].
pub(crate) const MANAGER_GOALS: [(&str, usize); 4] = [("accept", 1), ("reject", 2), ("evict", 2), ("shrink", 3)];

/// A goal of an acceptance policy.
#[derive(Clone, Copy)]
enum Goal {
    Accept,
    Reject,
    Evict,
    Shrink,
}

impl Goal {
    /// The goal as `name/arity`.
    fn predicate(self) -> String {
        let (name, arity) = MANAGER_GOALS[self as usize];
        format!("{name}/{arity}")
    }
}

#[derive(Clone, Copy)]
struct Words {
    accept: Atom,
    reject: Atom,
    evict: Atom,
    shrink: Atom,
    request: Atom,
    none: Atom,
    /// The names of the operations, in the order of [`OperationName::ALL`].
    operations: [Atom; OperationName::ALL.len()],
}

/// Why a text is not an acceptance policy.
#[derive(Clone, Debug)]
pub enum AcceptanceError {
    /// The text cannot be loaded.
    Load {
        /// The name of the policy.
        name: String,
        /// What is wrong with the text.
        problems: LoadError,
    },
    /// A directive calls `halt`, so the rest of the text was not read.
    Halted {
        /// The name of the policy.
        name: String,
    },
    /// The text defines none of `accept/1`, `reject/2`, `evict/2` and `shrink/3`.
    NoRule {
        /// The name of the policy.
        name: String,
    },
}

impl Acceptance {
    /// Compiles an acceptance policy. `resolver` finds the files that the text loads; without a resolver, the text
    /// cannot load files.
    pub fn load(
        engine: &Engine,
        name: &str,
        text: &str,
        resolver: Option<Box<dyn Resolver>>,
        budget: Budget,
    ) -> Result<Acceptance, AcceptanceError> {
        Acceptance::load_with(engine, name, text, resolver, budget, None)
    }

    /// Like [`Acceptance::load`], for untrusted text: the allowance limits the inferences of its directives.
    pub fn load_within(
        engine: &Engine,
        name: &str,
        text: &str,
        resolver: Option<Box<dyn Resolver>>,
        budget: Budget,
        allowance: &Allowance,
    ) -> Result<Acceptance, AcceptanceError> {
        Acceptance::load_with(engine, name, text, resolver, budget, Some(allowance))
    }

    fn load_with(
        engine: &Engine,
        name: &str,
        text: &str,
        resolver: Option<Box<dyn Resolver>>,
        budget: Budget,
        allowance: Option<&Allowance>,
    ) -> Result<Acceptance, AcceptanceError> {
        let mut loader = engine.loader();
        if let Some(allowance) = allowance {
            loader.allowance(allowance.clone());
        }
        declare_facts(&mut loader, &FactPredicate::OF_MANAGERS);
        if let Some(resolver) = resolver {
            loader.resolver(resolver);
        }
        loader.load(name, text);
        let loaded = loader.finish().map_err(|problems| AcceptanceError::Load { name: name.to_owned(), problems })?;
        if loaded.halted.is_some() {
            return Err(AcceptanceError::Halted { name: name.to_owned() });
        }
        let defines = |predicate, arity| {
            let places: &[Place] = loaded.places(predicate, arity);
            !places.is_empty() || loaded.program.defines(predicate, arity)
        };
        let defined = MANAGER_GOALS.map(|(name, arity)| defines(name, arity));
        if !defined.contains(&true) {
            return Err(AcceptanceError::NoRule { name: name.to_owned() });
        }
        let symbols = engine.symbols();
        // An exception does not name its clause, so the place is known only if there is a single clause.
        let places = MANAGER_GOALS.map(|(name, arity)| match loaded.places(name, arity) {
            [only] => Some(only.clone()),
            _ => None,
        });
        Ok(Acceptance {
            name: name.into(),
            program: loaded.program,
            budget,
            defined,
            places,
            warnings: loaded.warnings.into(),
            words: Words {
                accept: symbols.intern("accept"),
                reject: symbols.intern("reject"),
                evict: symbols.intern("evict"),
                shrink: symbols.intern("shrink"),
                request: symbols.intern("request"),
                none: symbols.intern(NONE),
                operations: OperationName::ALL.map(|name| symbols.intern(name.as_str())),
            },
        })
    }

    /// The name under which the policy was loaded.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the policy defines a goal.
    fn defines(&self, goal: Goal) -> bool {
        self.defined[goal as usize]
    }

    /// The compiled program.
    pub(crate) fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// The budget of one query.
    pub(crate) fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Warnings of the loader.
    pub fn warnings(&self) -> &[Problem] {
        &self.warnings
    }

    /// The verdict of the manager on a request that concerns its node. `needed` is the hardware that the request would
    /// take from the node's free hardware.
    ///
    /// If the policy fails, the request is inhibited. If the request takes effect on this node and `needed` exceeds the
    /// free hardware, the request is inhibited before the policy is queried.
    pub fn judge(&self, machine: &mut Machine, view: &ManagerView, request: &Request, needed: Hardware) -> Verdict {
        self.ask(machine, view, request, needed).unwrap_or_else(|failure| failure.inhibition(&view.node))
    }

    /// Like [`Acceptance::judge`], but returns an error if the policy fails.
    pub fn ask(
        &self,
        machine: &mut Machine,
        view: &ManagerView,
        request: &Request,
        needed: Hardware,
    ) -> Result<Verdict, AcceptanceFailure> {
        let inhibited = |rule| Ok(Verdict::Inhibited(Inhibition { node: view.node.clone(), rule }));
        if request.to() == Some(&view.node) && !needed.fits(view.free) {
            return inhibited(Rule::Capacity { needed, free: view.free });
        }
        let arguments = self.request_arguments(view, request);
        let term = Argument::Value(Value::Compound(self.words.request, &arguments));
        if self.defines(Goal::Reject) {
            let goal = [term, Argument::Unknown];
            let mut query = machine.ask(&self.program, self.words.reject, &goal, view, &self.budget);
            match query.next_answer() {
                Outcome::NoMore => {}
                Outcome::Answer if query.is_unbound(1) => {
                    return Err(self
                        .failure(Goal::Reject, "it rejected without a reason")
                        .hint("give reject/2 a second argument that says why, such as `too_many`"));
                }
                Outcome::Answer => {
                    let reason = query.argument_words(1);
                    return inhibited(Rule::Acceptance { reason });
                }
                other => return Err(self.no_answer(Goal::Reject, other, &mut query)),
            }
        }
        if !self.defines(Goal::Accept) {
            return Ok(Verdict::Accepted);
        }
        let mut query = machine.ask(&self.program, self.words.accept, &[term], view, &self.budget);
        match query.next_answer() {
            Outcome::Answer => Ok(Verdict::Accepted),
            Outcome::NoMore => inhibited(Rule::Acceptance { reason: "no clause of accept/1 holds".to_owned() }),
            other => Err(self.no_answer(Goal::Accept, other, &mut query)),
        }
    }

    fn failure(&self, goal: Goal, cause: impl Into<String>) -> AcceptanceFailure {
        AcceptanceFailure { place: self.places[goal as usize].clone(), ..AcceptanceFailure::new(cause) }
    }

    fn no_answer(&self, goal: Goal, outcome: Outcome, query: &mut Query<'_>) -> AcceptanceFailure {
        match outcome {
            Outcome::Exhausted(resource) => {
                self.failure(goal, format!("it ran out of {resource}")).hint("does it loop?")
            }
            Outcome::Exception(exception) => {
                let explanation = query.explain(&exception);
                let unknown = explanation.term.strip_prefix("error(existence_error(procedure, ");
                let unknown = unknown.and_then(|rest| Some(rest[..rest.find("), ")?].to_owned()));
                AcceptanceFailure {
                    message: explanation.message,
                    unknown,
                    hint: explanation.hint,
                    ..self.failure(goal, format!("it raised {}", exception.text))
                }
            }
            Outcome::Halted(_) => self.failure(goal, "it called halt").hint("let it fail instead"),
            Outcome::Answer | Outcome::NoMore => self.failure(goal, "it answered"),
        }
    }

    /// The arguments of `request(Operation, Instance, Application, From, To)`; missing ones are `none`.
    fn request_arguments(&self, view: &ManagerView, request: &Request) -> [Constant; 5] {
        let none = Value::Atom(self.words.none);
        let id = |id: Option<&Id>| id.map_or(none, |id| view.facts.id(id));
        [
            Value::Atom(self.words.operations[request.operation().name() as usize]),
            id(request.instance().map(InstanceId::id)),
            view.facts.id(request.application().id()),
            id(request.from().map(NodeId::id)),
            id(request.to().map(NodeId::id)),
        ]
    }
}

impl AcceptanceFailure {
    /// A failure without a source location.
    pub fn new(cause: impl Into<String>) -> AcceptanceFailure {
        let cause = cause.into();
        AcceptanceFailure { message: cause.clone(), cause, place: None, unknown: None, hint: None }
    }

    fn hint(mut self, hint: &str) -> AcceptanceFailure {
        self.hint = Some(hint.to_owned());
        self
    }

    /// The verdict of a manager whose policy failed: always an inhibition.
    pub fn inhibition(&self, node: &NodeId) -> Verdict {
        let rule = Rule::AcceptanceFailed { cause: self.cause.clone() };
        Verdict::Inhibited(Inhibition { node: node.clone(), rule })
    }
}

impl fmt::Debug for Acceptance {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Acceptance").field("name", &self.name).finish_non_exhaustive()
    }
}

impl fmt::Display for AcceptanceError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AcceptanceError::Load { name, .. } => write!(formatter, "cannot load acceptance policy `{name}`"),
            AcceptanceError::Halted { name } => {
                write!(formatter, "acceptance policy `{name}` calls halt while it is loaded")
            }
            AcceptanceError::NoRule { name } => {
                write!(formatter, "acceptance policy `{name}` has no clause of accept/1, reject/2, evict/2 or shrink/3")
            }
        }
    }
}

impl Error for AcceptanceError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            AcceptanceError::Load { problems, .. } => Some(problems),
            AcceptanceError::Halted { .. } | AcceptanceError::NoRule { .. } => None,
        }
    }
}
