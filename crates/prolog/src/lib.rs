//! The policy language: text, terms, compiled program, machine.

mod arithmetic;
mod builtins;
mod core;
mod fault;
mod flags;
mod meter;
mod number;
mod operators;
mod output;
mod reader;
mod store;
mod stored;
mod symbols;
mod term;
#[cfg(test)]
mod testing;
mod writer;
