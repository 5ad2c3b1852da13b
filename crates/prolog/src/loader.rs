//! Loads text into a program.
//!
//! A [`Loader`] reads sources clause by clause, executes directives as it reads them, and links the result into a
//! [`Program`]. After an error it continues, so that it reports up to [`ERRORS_MAX`] errors, each with its place.

mod defining;
mod directives;
mod libraries;
mod limits;
mod link;
mod problem;
mod problems;
mod report;
mod resolver;
mod rules;

pub(crate) use libraries::is_library;
pub use limits::{ERRORS_MAX, INCLUDE_BYTES_MAX, INCLUDE_COUNT_MAX, INCLUDE_DEPTH_MAX, WARNINGS_MAX};
pub use problem::{LoadError, Place, Problem, Severity, Topic};
pub use resolver::{Directories, Resolver};

use crate::allowance::Allowance;
use crate::compiler::Neck;
use crate::database::{DynamicPredicate, End};
use crate::engine::Engine;
use crate::host::{HostCall, HostError};
use crate::instruction::PredicateId;
use crate::interrupt::Interrupt;
use crate::machine::Machine;
use crate::meter::Budget;
use crate::output::Sink;
use crate::program::index::Key;
use crate::program::{Definition, Origin, Predicate, Program};
use crate::reader::{FullStop, Reader, Syntax};
use crate::store::{Store, View};
use crate::stored::{Attributes, StoredTerm};
use crate::symbols::{Atoms, Scope, atoms};
use crate::term::{Functor, Term};
use crate::tree::Tree;
use limits::Spent;
use problems::Problems;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;
use std::sync::Arc;

/// One source text.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) name: String,
    pub(crate) text: String,
}

/// A clause and its place in the source.
pub(super) struct SourceClause {
    term: Arc<StoredTerm>,
    source: usize,
    span: Range<usize>,
}

/// The clauses and declarations of one predicate.
#[derive(Default)]
struct Definitions {
    clauses: Vec<SourceClause>,
    /// The source of the first clause.
    source: usize,
    discontiguous: bool,
}

/// The result of loading.
pub struct Loaded {
    /// The program.
    pub program: Arc<Program>,
    /// Problems that do not prevent running.
    pub warnings: Vec<Problem>,
    /// The exit status, if a directive called `halt/0,1`: the text after that directive was not read.
    pub halted: Option<i32>,
    /// The terms read after [`Loader::keep_trees`] was called, in reading order; empty if it was not.
    pub trees: Vec<SourceTree>,
    /// The directives that [`Loader::declaration`] left to the host, in reading order.
    pub declarations: Vec<SourceTree>,
    places: FxHashMap<Functor, Vec<Place>>,
}

/// A clause or directive as it was read, and its place in the source.
#[derive(Clone, Debug)]
pub struct SourceTree {
    /// The term. Its spans refer to the text of `place`. In [`Loaded::declarations`], it is the directive without `:-`,
    /// and its spans are empty.
    pub tree: Tree,
    /// The place of the whole clause or directive, without the full stop.
    pub place: Place,
}

impl Loaded {
    /// The places of the clauses of a predicate, in order. Clauses that another source replaced, and those before a
    /// directive that changed the predicate when it ran, are not included.
    pub fn places(&self, name: &str, arity: usize) -> &[Place] {
        let functor = self.program.symbols.find(name).map(|name| Functor::new(name, arity));
        functor.and_then(|functor| self.places.get(&functor)).map_or(&[], Vec::as_slice)
    }
}

/// Builds a program from sources.
pub struct Loader {
    engine: Engine,
    origin: Origin,
    /// The library with the host's predicates and relations, and the current flags and operators. It does not contain
    /// the clauses of the text.
    base: Program,
    definitions: FxHashMap<Functor, Definitions>,
    order: Vec<Functor>,
    dynamic: FxHashMap<Functor, Arc<DynamicPredicate>>,
    dynamic_order: Vec<Functor>,
    sources: Vec<Arc<Source>>,
    loaded_names: FxHashSet<String>,
    /// The sources with a module header.
    modules: FxHashSet<usize>,
    initialization: Vec<(StoredTerm, usize, Range<usize>)>,
    problems: Problems,
    resolver: Option<Box<dyn Resolver>>,
    sink: Option<Box<dyn Sink>>,
    budget: Budget,
    spent: Spent,
    interrupt: Option<Interrupt>,
    allowance: Option<Allowance>,
    halted: Option<i32>,
    /// Whether loading has stopped because a limit was exceeded or a directive was interrupted.
    is_stopped: bool,
    store: Store,
    atoms: Atoms,
    linked: Option<Arc<Program>>,
    machine: Option<Machine>,
    last_predicate: Option<Functor>,
    places: FxHashMap<Functor, Vec<Place>>,
    /// Predicates whose clauses are numbered, each with its twin: see [`Loader::number_clauses`].
    numbered: Vec<(Functor, Functor)>,
    /// The terms that were read, for hosts that analyse a text; `None` if they are not kept.
    trees: Option<Vec<SourceTree>>,
    declared: Vec<Functor>,
    declarations: Vec<SourceTree>,
}

impl Loader {
    pub(crate) fn new(engine: &Engine) -> Loader {
        Loader::with_origin(engine, Origin::User)
    }

    /// A loader whose predicates are library predicates.
    pub(crate) fn for_library(engine: &Engine) -> Loader {
        Loader::with_origin(engine, Origin::Library)
    }

    fn with_origin(engine: &Engine, origin: Origin) -> Loader {
        let mut store = Store::default();
        store.meter.start(&match origin {
            Origin::User => limits::loading_budget(&Budget::default()),
            Origin::Library | Origin::System => Budget::UNLIMITED,
        });
        Loader {
            engine: engine.clone(),
            origin,
            base: Program::clone(engine.library()),
            definitions: FxHashMap::default(),
            order: Vec::new(),
            dynamic: FxHashMap::default(),
            dynamic_order: Vec::new(),
            sources: Vec::new(),
            loaded_names: FxHashSet::default(),
            modules: FxHashSet::default(),
            initialization: Vec::new(),
            problems: Problems::default(),
            resolver: None,
            sink: None,
            budget: Budget::default(),
            spent: Spent::default(),
            interrupt: None,
            allowance: None,
            halted: None,
            is_stopped: false,
            store,
            atoms: Atoms::new(
                Arc::clone(engine.symbols()),
                if origin == Origin::Library { Scope::Library } else { Scope::Shared },
            ),
            linked: None,
            machine: None,
            last_predicate: None,
            places: FxHashMap::default(),
            numbered: Vec::new(),
            trees: None,
            declared: Vec::new(),
            declarations: Vec::new(),
        }
    }

    /// Sets the resolver, which finds the files that the directives `consult/1`, `ensure_loaded/1`, `use_module/1,2`,
    /// `include/1` and `[File, ...]` name. Without one, loading a file is an error.
    pub fn resolver(&mut self, resolver: impl Resolver + 'static) -> &mut Loader {
        self.resolver = Some(Box::new(resolver));
        self
    }

    /// Sets the sink for the output of directives. By default, the output is dropped.
    pub fn sink(&mut self, sink: impl Sink + 'static) -> &mut Loader {
        self.sink = Some(Box::new(sink));
        self
    }

    /// Sets the budget of directives. The limits on inferences and output apply to all directives together, the other
    /// limits to each directive. The default is [`Budget::default`].
    ///
    /// Reading and compiling the clauses is charged, too: to a budget of the same inferences and memory, but at least
    /// 10 million inferences and 64 MiB.
    pub fn budget(&mut self, budget: Budget) -> &mut Loader {
        self.budget = budget;
        self.store.meter.start(&limits::loading_budget(&budget));
        self
    }

    /// Sets a limit on inferences that loading shares with every other user of the allowance: reading and compiling the
    /// clauses, and running directives.
    pub fn allowance(&mut self, allowance: Allowance) -> &mut Loader {
        self.store.meter.allowance = Some(allowance.clone());
        self.allowance = Some(allowance);
        self
    }

    /// Lets the host stop loading from another thread.
    pub fn interrupt(&mut self, interrupt: Interrupt) -> &mut Loader {
        self.store.meter.host_interrupt = Some(interrupt.clone());
        self.interrupt = Some(interrupt);
        self
    }

    /// Declares facts that the host supplies with each query; returns their index among the relations of the program.
    pub fn relation(&mut self, name: &str, arity: usize) -> usize {
        let functor = Functor::new(self.atoms.intern(name), arity);
        let position = self.base.relations.len();
        self.base.relations.push(functor);
        self.define(functor, Definition::Relation(position as u16));
        position
    }

    /// Adds a deterministic predicate written in Rust.
    pub fn predicate(
        &mut self,
        name: &str,
        arity: usize,
        code: impl Fn(&mut HostCall<'_>) -> Result<bool, HostError> + Send + Sync + 'static,
    ) -> &mut Loader {
        let functor = Functor::new(self.atoms.intern(name), arity);
        self.define(functor, Definition::Host(Arc::new(code)));
        self
    }

    /// Creates a predicate `twin` of arity `arity + 1`, which has the same answers as `name/arity` in the same order.
    /// Its last argument is the zero-based position of the clause that produced the answer. The twin of a dynamic
    /// predicate does not see changes that a query makes. If the name of the twin starts with `$`, it is that of a
    /// helper predicate, which no text can call.
    pub fn number_clauses(&mut self, name: &str, arity: usize, twin: &str) -> &mut Loader {
        let functor = Functor::new(self.atoms.intern(name), arity);
        let twin = Functor::new(self.atoms.internal(twin), arity + 1);
        self.numbered.push((functor, twin));
        self.linked = None;
        self
    }

    /// Also keeps the terms read from now on as trees; see [`Loaded::trees`]. A term that is too deep to traverse is
    /// left out.
    pub fn keep_trees(&mut self) -> &mut Loader {
        self.trees.get_or_insert_default();
        self
    }

    fn define(&mut self, functor: Functor, definition: Definition) {
        let id = self.base.predicates.len() as PredicateId;
        self.base.predicates.push(Predicate { functor, definition, origin: Origin::System, sources: Vec::new() });
        self.base.lookup.insert(functor, id);
        self.linked = None;
    }

    /// Loads a text. Problems are collected; see [`Loader::finish`].
    pub fn load(&mut self, name: &str, text: &str) -> &mut Loader {
        self.loaded_names.insert(name.to_owned());
        let source = self.add_source(name, text);
        self.read_source(source);
        self.run_initialization();
        self
    }

    /// Loads a text of the host in which names that start with `$` are those of helper predicates: the host's own and
    /// those of the library. No other text can call or define them.
    // For `policy`, which explains decisions with a text of its own.
    #[doc(hidden)]
    pub fn load_companion(&mut self, name: &str, text: &str) -> &mut Loader {
        let scope = self.atoms.set_scope(Scope::Library);
        self.load(name, text);
        self.atoms.set_scope(scope);
        self
    }

    /// Returns the program, or the errors found while loading it.
    pub fn finish(mut self) -> Result<Loaded, LoadError> {
        let program = self.link();
        let (errors, warnings) = self.problems.into_parts();
        if errors.is_empty() {
            let trees = self.trees.unwrap_or_default();
            let Loader { halted, declarations, places, .. } = self;
            Ok(Loaded { program, warnings, halted, trees, declarations, places })
        } else {
            Err(LoadError { errors, warnings })
        }
    }

    fn add_source(&mut self, name: &str, text: &str) -> usize {
        self.sources.push(Arc::new(Source { name: name.to_owned(), text: text.to_owned() }));
        self.sources.len() - 1
    }

    fn read_source(&mut self, source: usize) {
        let text = Arc::clone(&self.sources[source]);
        let mut reader = Reader::new(&text.text, FullStop::Required);
        self.charge_text(text.text.len());
        self.check_charges(source, &(0..0));
        self.last_predicate = None;
        while !self.is_over() {
            self.store.reset();
            let mut syntax =
                Syntax { atoms: &mut self.atoms, operators: &self.base.operators, flags: &self.base.flags };
            match reader.next(&mut self.store, &mut syntax) {
                Ok(None) => break,
                Ok(Some(read)) => {
                    if self.is_end_of_file(read.term) {
                        break;
                    }
                    self.warn_singletons(source, &read);
                    if let Some(trees) = &mut self.trees
                        && let Some(tree) = Tree::of(&mut self.store, &self.atoms, &read)
                    {
                        let place = Place::new(&self.sources[source], read.span.clone());
                        trees.push(SourceTree { tree, place });
                    }
                    let span = read.span.clone();
                    self.clause_or_directive(source, read.term, read.span);
                    self.check_charges(source, &span);
                }
                Err(error) => {
                    let problem = Problem::syntax(&self.sources[source], error);
                    self.add_problem(problem);
                }
            }
        }
    }

    fn is_end_of_file(&self, term: Term) -> bool {
        self.store.deref(term) == Term::atom(atoms::END_OF_FILE)
    }

    fn clause_or_directive(&mut self, source: usize, term: Term, span: Range<usize>) {
        match self.store.view(term) {
            View::Compound(functor, arguments) if functor.arity() == 1 && functor.name() == atoms::NECK => {
                let directive = self.store.argument(arguments, 0);
                self.directive(source, directive, span);
            }
            View::Compound(functor, arguments) if functor.arity() == 1 && functor.name() == atoms::QUERY => {
                let directive = self.store.argument(arguments, 0);
                self.directive(source, directive, span);
            }
            View::Compound(functor, _) if functor == Functor::new(atoms::DCG_ARROW, 2) => {
                self.grammar_rule(source, term, span);
            }
            View::Compound(functor, arguments) if functor == Functor::new(atoms::NECK, 2) => {
                let (head, body) = (self.store.argument(arguments, 0), self.store.argument(arguments, 1));
                self.add_clause(source, head, Neck::Clause, body, span);
            }
            View::Compound(functor, arguments) if functor == Functor::new(atoms::RULE, 2) => {
                let (head, body) = (self.store.argument(arguments, 0), self.store.argument(arguments, 1));
                self.rule(source, head, body, span);
            }
            _ => self.add_clause(source, term, Neck::Clause, Term::atom(atoms::TRUE), span),
        }
    }

    /// Translates a grammar rule with the library's translator, and adds the resulting clause.
    fn grammar_rule(&mut self, source: usize, rule: Term, span: Range<usize>) {
        let Some(stored) = self.store.copy_out(rule, Attributes::Drop) else { return };
        match self.translate(&stored) {
            Ok(clause) => {
                let clause = self.store.paste(&clause);
                self.clause_or_directive(source, clause, span);
            }
            Err(message) => self.error(source, span, message, None),
        }
    }

    fn add_clause(&mut self, source: usize, head: Term, neck: Neck, body: Term, span: Range<usize>) {
        let mut head = self.store.deref(head);
        if let View::Compound(functor, arguments) = self.store.view(head)
            && functor == Functor::new(atoms::COLON, 2)
        {
            head = self.store.argument(arguments, 1);
        }
        let functor = match self.store.view(head) {
            View::Atom(name) => Functor::new(name, 0),
            View::Compound(functor, _) => functor,
            View::List(_) => Functor::new(atoms::DOT, 2),
            _ => {
                let hint = "a clause head is an atom, or an atom with arguments";
                self.error(source, span, "a clause cannot start with this".to_owned(), Some(hint));
                return;
            }
        };
        if !self.may_define(source, functor, &span) {
            return;
        }
        let body = crate::compiler::body_of(&mut self.store, body).unwrap_or(body);
        if !self.may_mix(source, functor, neck, &span) {
            return;
        }
        let clause = self.store.structure(neck.functor().name(), &[head, body]);
        let key = match crate::compiler::head_arguments(&self.store, head).first() {
            Some(&first) => Key::of(&self.store, first),
            None => Key::Any,
        };
        let Some(stored) = self.store.copy_out(clause, Attributes::Drop) else { return };
        self.charge_clause(stored.cells().len());
        self.linked = None;
        let place = Place::new(&self.sources[source], span.clone());
        if let Some(dynamic) = self.dynamic.get_mut(&functor) {
            Arc::make_mut(dynamic).add(End::Last, Arc::new(stored), key, 0);
            self.places.entry(functor).or_default().push(place);
            return;
        }
        self.warn_order(source, functor, &span);
        self.places.entry(functor).or_default().push(place);
        let order = &mut self.order;
        let definitions = self.definitions.entry(functor).or_insert_with(|| {
            order.push(functor);
            Definitions { source, ..Definitions::default() }
        });
        definitions.clauses.push(SourceClause { term: Arc::new(stored), source, span });
        self.last_predicate = Some(functor);
    }
}

/// `name/arity`, without quotes.
pub(crate) fn indicator(atoms: &Atoms, functor: Functor) -> String {
    format!("{}/{}", atoms.name(functor.name()), functor.arity())
}
