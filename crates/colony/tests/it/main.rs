//! The crate from outside.

mod judging;
mod operators;
mod pair;
mod recovery;
mod strangers;
mod transfers;
