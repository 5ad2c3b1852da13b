//! The integration tests of the policy language.

mod answers;
mod conformity;
