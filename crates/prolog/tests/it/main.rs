//! The integration tests of the policy language.

mod conformity;
mod differential;
mod engine;
mod host;
mod random;
