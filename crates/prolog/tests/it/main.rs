//! The integration tests of the policy language.

mod conformity;
