//! The crate from outside.

mod attachment;
mod prototype;
mod wandering;
