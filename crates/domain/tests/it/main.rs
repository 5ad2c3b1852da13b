//! Tests that what is generated for other languages is that of the tables of this crate.

mod operations;
