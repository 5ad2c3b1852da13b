//! What is counted for each user and each application.

use mario_domain::Duration;
use serde::{Deserialize, Serialize};

/// What became of the client requests of a user.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Responses {
    pub(super) count: u64,
    pub(super) sum: Duration,
    pub(super) lost: u64,
}

/// How much the instances of an application were used.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Usage {
    pub(super) evaluations: u64,
    pub(super) requests: f64,
    /// How much of what they handle was used by instances that ran in other flavours than the default.
    pub(super) used_in_flavours: f64,
}
