//! Tests of what experiments leave, as a whole.

mod report;
