//! The crate from outside.

mod attachment;
mod prototype;
