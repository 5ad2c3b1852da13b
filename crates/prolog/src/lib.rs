//! An embedded, sandboxed, deterministic Prolog: the policy language of mario.
//!
//! An [`Engine`] holds the data that all programs share: atoms, builtins and library. Its [`Loader`] turns text into a
//! [`Program`], which is immutable and `Send + Sync`, so that any number of threads can query it. A [`Machine`] is the
//! memory in which queries run; keep one for each thread and reuse it.
//!
//! ```
//! use mario_prolog::{Budget, Detail, Engine, Machine, Outcome};
//!
//! let engine = Engine::new();
//! let mut loader = engine.loader();
//! loader.load("family.pl", "parent(ann, bob). parent(bob, cid). parent(bob, dora).
//!                           grandparent(X, Z) :- parent(X, Y), parent(Y, Z).");
//! let program = loader.finish()?.program;
//!
//! let mut machine = Machine::new(&engine);
//! let mut query = machine.query(&program, "grandparent(ann, Who)", &(), &Budget::default())?;
//! let mut answers = Vec::new();
//! while query.next_answer() == Outcome::Answer {
//!     answers.push(query.answer(Detail::Whole).expect("short enough to be written").sentence());
//! }
//! assert_eq!(answers, ["Who = cid.", "Who = dora."]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Query::answer`] returns text for users. A host that needs values queries with [`Machine::ask`], which involves no
//! text, and reads them with [`Query::argument`].
//!
//! # Outcomes and budgets
//!
//! An answer, no more answers, an uncaught exception, an exhausted budget and a call of `halt/0,1` are five different
//! [`Outcome`]s. After each of them, the program is unchanged and the machine is ready for the next query.
//!
//! ```
//! use mario_prolog::{Budget, Engine, Machine, Outcome, Resource};
//!
//! let engine = Engine::new();
//! let mut machine = Machine::new(&engine);
//! let budget = Budget { inferences: 10_000, heap_bytes: 1 << 20, ..Budget::default() };
//! let mut ask = |goal: &str| {
//!     let mut query = machine.query(engine.library(), goal, &(), &budget)?;
//!     let outcome = query.next_answer();
//!     let words = match &outcome {
//!         Outcome::Exception(exception) => query.explain(exception).message,
//!         _ => String::new(),
//!     };
//!     Ok::<_, mario_prolog::SyntaxError>((outcome, words))
//! };
//! assert_eq!(ask("X is 1 + 1")?.0, Outcome::Answer);
//! assert_eq!(ask("1 > 2")?.0, Outcome::NoMore);
//! assert_eq!(ask("X is 1 / 0")?.1, "arithmetic: division by zero, in (/)/2");
//! assert_eq!(ask("repeat, fail")?.0, Outcome::Exhausted(Resource::Inferences));
//! assert_eq!(ask("length(L, 1000000)")?.0, Outcome::Exhausted(Resource::HeapBytes));
//! assert_eq!(ask("halt(3)")?.0, Outcome::Halted(3));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A program cannot catch the exhaustion of its budget, which ends a query at the same inference on every machine. Work
//! is charged by its size: a call is one inference, and so are 6 cells of a large term that is copied, compared or
//! traversed. All memory allocated because of a query is charged to it: see [`Budget::heap_bytes`]. With an
//! [`Interrupt`], the host can stop a query at any time; the outcome is [`Outcome::Exhausted`] with [`Resource::Time`].
//! The point at which it stops is not deterministic.
//!
//! # Facts of the host
//!
//! A program sees a host's own data as facts. They are declared once, supplied with each query, and read in place:
//! nothing is asserted, and a host can use its own index ([`Relation::next_row`]).
//!
//! ```
//! use mario_prolog::{Argument, Atom, Budget, Engine, Machine, Outcome, Relation, Value};
//!
//! struct Prices(Vec<(Atom, i64)>);
//!
//! impl Relation for Prices {
//!     fn len(&self) -> usize {
//!         self.0.len()
//!     }
//!     fn value(&self, row: usize, column: usize) -> Value<'_> {
//!         let (name, price) = self.0[row];
//!         if column == 0 { Value::Atom(name) } else { Value::Integer(price) }
//!     }
//! }
//!
//! let engine = Engine::new();
//! let mut loader = engine.loader();
//! let position = loader.relation("price", 2);
//! assert_eq!(position, 0, "the first among the relations of each query");
//! loader.load("shop.pl", "cheaper(Name, Limit) :- price(Name, Price), Price < Limit.");
//! let program = loader.finish()?.program;
//!
//! let name = |text| engine.symbols().intern(text);
//! let prices = Prices(vec![(name("tea"), 3), (name("cake"), 5), (name("water"), 1)]);
//! let mut machine = Machine::new(&engine);
//! let arguments = [Argument::Unknown, Argument::Value(Value::Integer(4))];
//! let relations = [&prices as &dyn Relation];
//! let mut query = machine.ask(&program, name("cheaper"), &arguments, &relations, &Budget::default());
//! let mut found = Vec::new();
//! while query.next_answer() == Outcome::Answer {
//!     found.extend(query.argument(0));
//! }
//! assert_eq!(found, [Value::Atom(name("tea")), Value::Atom(name("water"))]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Predicates of the host
//!
//! A predicate with at most one answer can be written in Rust. It must be a pure function of its arguments; otherwise
//! answers cannot be cached, replayed and explained.
//!
//! ```
//! use mario_prolog::{Budget, Detail, Engine, HostError, Machine};
//!
//! let engine = Engine::new();
//! let mut loader = engine.loader();
//! loader.predicate("shout", 2, |call| {
//!     let name = call.atom(0).ok_or(HostError::Type("atom", 0))?.to_uppercase();
//!     Ok(call.unify_atom(1, &name))
//! });
//! let program = loader.finish()?.program;
//! let mut machine = Machine::new(&engine);
//! let mut query = machine.query(&program, "shout(hello, X)", &(), &Budget::default())?;
//! query.next_answer();
//! assert_eq!(query.answer(Detail::Whole).expect("short").to_string(), "X = 'HELLO'");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The sandbox
//!
//! A program has access only to what its host provides. Its output goes to a [`Sink`] ([`Machine::set_sink`]), or
//! nowhere. The directives that load files, such as `consult/1` and `include/1`, ask a [`Resolver`]; without one, they
//! are errors. [`Directories`] is a resolver for the files below certain directories; symbolic links and `..` do not
//! lead out of them. There are no predicates for files, network, processes, environment, clocks or ambient randomness.
//! Changes to dynamic predicates, and global variables, last for one query; atoms that a query creates are freed with
//! it. (At a prompt, changes must last longer: see [`Session`].)
//!
//! An error in a text does not stop the loader: [`LoadError`] lists the first [`ERRORS_MAX`] errors, each with its
//! place and often a hint. The cost of loading is bounded for the program as a whole: its directives share the
//! inferences and the output of one [`Budget`]. Included sources are limited to a depth of [`INCLUDE_DEPTH_MAX`], a
//! number of [`INCLUDE_COUNT_MAX`], and a total size of [`INCLUDE_BYTES_MAX`] bytes. Exceeding a limit is an error,
//! reported at the place where it happens.
//!
//! ```
//! use mario_prolog::Engine;
//!
//! let mut loader = Engine::new().loader();
//! loader.load("policy.pl", "migrate(I, N :- latency(I, N, L).\n:- consult(secrets).\n");
//! let errors: Vec<String> = loader.finish().err().expect("it is full of mistakes").errors.iter().map(|e| e.to_string()).collect();
//! assert_eq!(errors, [
//!     "policy.pl:1:14: expected `,` or `)`",
//!     "policy.pl:2:1: cannot load `secrets`: this host gives no access to files",
//! ]);
//! ```
//!
//! # The language
//!
//! The language is ISO Prolog, extended as in SWI-Prolog, so that a policy runs unchanged in `swipl`. Points to note:
//!
//! - Integers are unbounded: they never wrap, and large ones are charged to the memory budget. Floats are IEEE doubles;
//!   overflow and undefined results are errors.
//! - Text in double quotes is a string, in back quotes a list of codes; the flags `double_quotes` and `back_quotes`
//!   change that.
//! - A list is made of `'.'(Head, Tail)` and the atom `[]`, as in ISO. SWI-Prolog uses `'[|]'`, and its `[]` is not an
//!   atom.
//! - The occurs check is off by default. Unification can then create cyclic terms; they are compared, copied and
//!   traversed as in SWI-Prolog.
//! - The goals of coroutines (`dif/2`, `freeze/2`, `when/2`) are suspended until their variables are bound; goals that
//!   are still suspended are shown with the answer.
//! - The libraries lists, apply, pairs, aggregate, assoc, ordsets, option, error, yall, dcg and others are always
//!   loaded; `use_module(library(_))` is accepted. Modules are not separated: all clauses of a program share one
//!   namespace. If two files with module headers define the same predicate, that is an error.
//! - Absent by design: streams opened by a program, tabling, threads, constraint solvers, foreign code, and everything
//!   that the sandbox forbids.
//!
//! Deep recursion and deep terms use the machine's memory, not the native stack.
//!
//! **Invariant:** the same program, facts and budget produce the same answers in the same order on every machine.
//!
//! **Invariant:** no text, goal or program can make the engine panic, or exceed its budget of inferences and memory.
//!
//! **Invariant:** no access to files, clocks, the environment or randomness except through the host.
//!
//! Not here: the meaning of policies (`policy`), rendering of problems (`diagnostics`), the prompt (`cli`).

mod allowance;
mod answer;
mod arithmetic;
mod builtins;
mod collect;
mod compiler;
mod core;
mod database;
mod engine;
mod explain;
mod fault;
mod flags;
mod host;
mod instruction;
mod interrupt;
mod loader;
mod machine;
mod meaning;
mod meter;
mod number;
mod operators;
mod output;
mod program;
mod query;
mod reader;
mod session;
mod store;
mod stored;
mod symbols;
mod table;
mod term;
#[cfg(test)]
mod testing;
mod tree;
mod writer;

pub use allowance::Allowance;
pub use answer::{Answer, Binding, Detail};
pub use engine::Engine;
pub use explain::Explanation;
pub use host::{HostCall, HostError, Relation, Relations, Value};
pub use interrupt::Interrupt;
pub use loader::{
    Directories, ERRORS_MAX, INCLUDE_BYTES_MAX, INCLUDE_COUNT_MAX, INCLUDE_DEPTH_MAX, LoadError, Loaded, Loader, Place,
    Problem, Resolver, Severity, SourceTree, Topic, WARNINGS_MAX,
};
pub use machine::Machine;
#[doc(hidden)]
pub use machine::collect_eagerly;
// For `policy`, which checks what the calls of a policy refer to.
#[doc(hidden)]
pub use meaning::Meaning;
pub use meter::{Budget, Resource};
pub use number::Number;
pub use output::Sink;
pub use program::Program;
pub use query::{Argument, Exception, Outcome, Query};
pub use reader::SyntaxError;
pub use session::{Request, Session};
pub use stored::StoredTerm;
pub use symbols::{Atom, Symbols};
pub use table::Table;
pub use tree::{Tree, TreeKind};
