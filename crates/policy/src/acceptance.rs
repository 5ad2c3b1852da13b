//! The policy of a node's manager: which requests it accepts.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use mario_domain::{
    Application, ApplicationId, Capacity, Fact, Hardware, HardwareKind, Id, Inhibition, Instance, InstanceId, Node,
    NodeId, OperationName, Request, Rule, Verdict,
};
use mario_prolog::{
    Allowance, Argument, Atom, Budget, Engine, LoadError, Machine, Outcome, Place, Problem, Program, Query, Relation,
    Relations, Resolver, Symbols, Table, Value,
};

use crate::knowledge_base::{Constant, KnowledgeBase};
use crate::vocabulary::{FIRST_FACTS, NEEDS};

/// What a request that leads nowhere, or comes from nowhere, has in place of a node.
const NONE: &str = "none";

/// What the id of a promised instance that has no id yet begins with; a number from 1 follows.
const PROMISED: &str = "promised_";

/// The facts that a node's manager may see, with their numbers of arguments.
pub const MANAGER_FACTS: [(&str, usize); 10] = [
    ("service", 4),
    ("node", 2),
    ("node", 3),
    ("serviceInstance", 3),
    ("fact", 3),
    ("owner", 2),
    ("capacity", 2),
    ("needs", 3),
    ("free", 3),
    ("capacity", 3),
];

/// How many of them have always been there. A text may define those that came later by itself, and then sees its own.
const FIRST_MANAGER_FACTS: usize = 7;

/// What a node's manager may see: its own node, what runs there, and what is known about applications.
#[derive(Clone, Debug)]
pub struct ManagerView {
    node: NodeId,
    free: Capacity,
    facts: KnowledgeBase,
    owners: Table,
    capacities: Table,
    capacities_by_kind: Table,
    /// The number of promised instances without an id.
    promised_count: u32,
}

impl ManagerView {
    /// The view of the manager of `node`, of which this much is free.
    pub fn new(symbols: &Arc<Symbols>, node: &Node, free: Capacity) -> ManagerView {
        let mut view = ManagerView {
            node: node.id().clone(),
            free,
            facts: KnowledgeBase::new(symbols),
            owners: Table::new(2),
            capacities: Table::new(2),
            capacities_by_kind: Table::new(3),
            promised_count: 0,
        };
        view.set_node(node, free);
        view
    }

    /// A view of facts that are there already, the node's own among them.
    pub(crate) fn from_facts(
        mut facts: KnowledgeBase,
        node: &Node,
        free: Capacity,
        known_owners: &[[Constant; 2]],
    ) -> ManagerView {
        let (mut owners, mut capacities) = (Table::new(2), Table::new(2));
        capacities.push(&[facts.id(node.id().id()), facts.capacity(node.capacity())]);
        for row in known_owners {
            owners.push(row);
        }
        let id = facts.id(node.id().id());
        if facts.free().len() == 0 {
            facts.push_free(id, free, node.capacity());
        }
        let mut capacities_by_kind = Table::new(3);
        push_capacity(&mut capacities_by_kind, &facts, id, node.capacity());
        let node = node.id().clone();
        ManagerView { node, free, facts, owners, capacities, capacities_by_kind, promised_count: 0 }
    }

    /// Makes this the view of the manager of another node, or of the same at another moment. Applications and extra facts
    /// stay; what runs on the node and what is promised to come is to be added again.
    pub fn set_node(&mut self, node: &Node, free: Capacity) {
        self.facts.clear_situation();
        self.promised_count = 0;
        self.capacities.clear();
        self.capacities_by_kind.clear();
        self.node.clone_from(node.id());
        self.free = free;
        let id = self.facts.id(node.id().id());
        self.facts.push_free(id, free, node.capacity());
        push_capacity(&mut self.capacities_by_kind, &self.facts, id, node.capacity());
        let (free, capacity) = (self.facts.capacity(free), self.facts.capacity(node.capacity()));
        let symbols = Arc::clone(self.facts.symbols());
        let neighbours = node.neighbours().iter().map(|neighbour| constant(&symbols, neighbour.id()));
        self.facts.push_node(id, free, neighbours);
        self.capacities.push(&[id, capacity]);
    }

    /// Adds an application, and its owner if that is known.
    pub fn push_application(&mut self, application: &Application) {
        self.facts.push_application(application);
        if let Some(owner) = &application.owner {
            let row = [self.facts.id(application.id.id()), self.facts.id(owner.id())];
            self.owners.push(&row);
        }
    }

    /// Adds an instance that runs on the node, or one that migrates to it in this cycle.
    pub fn push_instance(&mut self, instance: &Instance) {
        self.push_row(instance.id.id(), &instance.application);
    }

    /// Adds an instance that was promised in this cycle and has no id yet: a replica, or what an operator deploys.
    ///
    /// It is called `promised_1`, `promised_2` and so on, in the order of the promises. Each has a name of its own, so that a
    /// policy that collects instances with `setof/3` counts as many as one that uses `findall/3`. The id that it will get is
    /// not used: ids are given when a cycle is enacted, and a manager of a live node could not know them before.
    pub fn push_promised(&mut self, application: &ApplicationId) {
        self.promised_count += 1;
        let id = Id::name(&format!("{PROMISED}{}", self.promised_count)).expect("it has characters");
        self.push_row(&id, application);
    }

    fn push_row(&mut self, id: &Id, application: &ApplicationId) {
        let (id, application) = (self.facts.id(id), self.facts.id(application.id()));
        let node = self.facts.id(self.node.id());
        self.facts.push_instance(id, application, node);
    }

    /// Adds an extra fact.
    pub fn push_fact(&mut self, fact: &Fact) {
        self.facts.push_domain_fact(fact);
    }

    /// The hardware that is free.
    pub fn free(&self) -> Capacity {
        self.free
    }
}

/// Adds `capacity(Node, Kind, Amount)` for each kind that a node names.
fn push_capacity(table: &mut Table, facts: &KnowledgeBase, node: Constant, capacity: Capacity) {
    for kind in HardwareKind::ALL {
        let is_named = match capacity {
            Capacity::Bounded(hardware) => kind == HardwareKind::Units || hardware.of(kind) > 0,
            Capacity::Unbounded => true,
        };
        if is_named {
            table.push(&[node, facts.constant(kind.as_str()), facts.amount(capacity, kind)]);
        }
    }
}

fn constant(symbols: &Symbols, id: &Id) -> Constant {
    match id {
        Id::Number(number) => Value::Integer(*number),
        Id::Name(name) => Value::Atom(symbols.intern(name.as_str())),
    }
}

impl Relations for ManagerView {
    fn relation(&self, position: usize) -> Option<&dyn Relation> {
        self.table(position).map(|table| table as &dyn Relation)
    }

    fn table(&self, position: usize) -> Option<&Table> {
        // The positions are those of `MANAGER_FACTS`; what comes first is as in a knowledge base, where the extra facts
        // are the last of the first.
        match position {
            0..=3 => self.facts.table(position),
            4 => self.facts.table(FIRST_FACTS - 1),
            5 => Some(&self.owners),
            6 => Some(&self.capacities),
            7 | 8 => self.facts.table(position + NEEDS - 7),
            9 => Some(&self.capacities_by_kind),
            _ => None,
        }
    }
}

/// A compiled acceptance policy. Immutable: share it among any number of nodes and threads.
#[derive(Clone)]
pub struct Acceptance {
    name: Arc<str>,
    program: Arc<Program>,
    budget: Budget,
    accepts: bool,
    rejects: bool,
    /// Where accept/1 and reject/2 begin, if the text has clauses of them.
    places: [Option<Place>; 2],
    warnings: Arc<[Problem]>,
    words: Words,
}

/// That an acceptance policy gave no valid answer. The request is then inhibited.
#[derive(Clone, Debug)]
pub struct AcceptanceFailure {
    /// What happened, as [`Rule::AcceptanceFailed`] tells it.
    pub cause: String,
    /// What happened, in words.
    pub message: String,
    /// Where the predicate that was asked begins.
    pub place: Option<Place>,
    /// The predicate that was called and that nobody defines, as `name/arity`, if that is what happened.
    pub unknown: Option<String>,
    /// What may help.
    pub hint: Option<String>,
}

/// What an acceptance policy is asked for.
#[derive(Clone, Copy)]
enum Goal {
    Accept,
    Reject,
}

#[derive(Clone, Copy)]
struct Words {
    accept: Atom,
    reject: Atom,
    request: Atom,
    none: Atom,
    /// In the order of [`OperationName::ALL`].
    operations: [Atom; OperationName::ALL.len()],
}

/// Why a text is not an acceptance policy.
#[derive(Clone, Debug)]
pub enum AcceptanceError {
    /// It is not a program that could be run.
    Load {
        /// The name of the policy.
        name: String,
        /// What is wrong with the text.
        problems: LoadError,
    },
    /// One of its directives calls `halt`, so that what follows is not read.
    Halted {
        /// The name of the policy.
        name: String,
    },
    /// It says neither what it accepts nor what it rejects.
    NoRule {
        /// The name of the policy.
        name: String,
    },
}

impl Acceptance {
    /// Compiles an acceptance policy. `resolver` finds the files that it loads; without one, it must be complete.
    pub fn load(
        engine: &Engine,
        name: &str,
        text: &str,
        resolver: Option<Box<dyn Resolver>>,
        budget: Budget,
    ) -> Result<Acceptance, AcceptanceError> {
        Acceptance::load_with(engine, name, text, resolver, budget, None)
    }

    /// The same for a text that nobody vouches for: its directives take from the allowance.
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
        let (first, later) = MANAGER_FACTS.split_at(FIRST_MANAGER_FACTS);
        for (predicate, arity) in first {
            loader.relation(predicate, *arity);
        }
        for (predicate, arity) in later {
            loader.default_relation(predicate, *arity);
        }
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
        let (accepts, rejects) = (defines("accept", 1), defines("reject", 2));
        if !accepts && !rejects {
            return Err(AcceptanceError::NoRule { name: name.to_owned() });
        }
        let symbols = engine.symbols();
        // An exception does not say in which clause it was raised, so the place is known where there is one only.
        let places = [("accept", 1), ("reject", 2)].map(|(name, arity)| match loaded.places(name, arity) {
            [only] => Some(only.clone()),
            _ => None,
        });
        Ok(Acceptance {
            name: name.into(),
            program: loaded.program,
            budget,
            accepts,
            rejects,
            places,
            warnings: loaded.warnings.into(),
            words: Words {
                accept: symbols.intern("accept"),
                reject: symbols.intern("reject"),
                request: symbols.intern("request"),
                none: symbols.intern(NONE),
                operations: OperationName::ALL.map(|name| symbols.intern(name.as_str())),
            },
        })
    }

    /// What it was called when it was loaded.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The compiled program.
    pub(crate) fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// What one answer may cost.
    pub(crate) fn budget(&self) -> &Budget {
        &self.budget
    }

    /// What looked wrong when it was loaded.
    pub fn warnings(&self) -> &[Problem] {
        &self.warnings
    }

    /// What the manager says to a request that concerns its node. `needed` is what one instance of the application needs.
    ///
    /// Total: a text that fails to answer inhibits, and no text overrules the hardware that there is.
    pub fn judge(&self, machine: &mut Machine, view: &ManagerView, request: &Request, needed: Hardware) -> Verdict {
        self.ask(machine, view, request, needed).unwrap_or_else(|failure| failure.inhibition(&view.node))
    }

    /// The same, where a text that fails to answer is an error.
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
        if self.rejects {
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
                    let reason = match query.argument(1) {
                        Some(Value::Atom(atom)) => query.atom_name(atom).to_owned(),
                        _ => query.argument_text(1),
                    };
                    return inhibited(Rule::Acceptance { reason });
                }
                other => return Err(self.no_answer(Goal::Reject, other, &mut query)),
            }
        }
        if !self.accepts {
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

    /// The arguments of `request(Operation, Instance, Application, From, To)`.
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
    /// A failure that is in no place of a text.
    pub fn new(cause: impl Into<String>) -> AcceptanceFailure {
        let cause = cause.into();
        AcceptanceFailure { message: cause.clone(), cause, place: None, unknown: None, hint: None }
    }

    fn hint(mut self, hint: &str) -> AcceptanceFailure {
        self.hint = Some(hint.to_owned());
        self
    }

    /// The verdict of a manager whose policy failed: it never accepts.
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
                write!(formatter, "acceptance policy `{name}` has no clause of accept/1 or reject/2")
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
