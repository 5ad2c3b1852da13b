//! The crate from outside.

mod attachment;
mod graphs;
mod prototype;
mod wandering;
