//! The policy language: text, terms, compiled program, machine.

mod arithmetic;
mod builtins;
mod collect;
mod compiler;
mod core;
mod database;
mod engine;
mod fault;
mod flags;
mod host;
mod instruction;
mod loader;
mod machine;
mod meter;
mod number;
mod operators;
mod output;
mod program;
mod query;
mod reader;
mod store;
mod stored;
mod symbols;
mod term;
#[cfg(test)]
mod testing;
mod tree;
mod writer;

pub use engine::Engine;
pub use host::{HostCall, HostError, Relation, Relations, Value};
pub use loader::{Directories, LoadError, Loaded, Loader, Place, Problem, Resolver, Severity};
pub use machine::Machine;
pub use meter::{Budget, Resource};
pub use number::Number;
pub use output::Sink;
pub use program::Program;
pub use query::{Argument, Exception, Outcome, Query};
pub use reader::SyntaxError;
pub use stored::StoredTerm;
pub use symbols::{Atom, Symbols};
pub use term::{Functor, Term};
pub use tree::{Tree, TreeKind};
