//! The crate from outside.

mod attachment;
