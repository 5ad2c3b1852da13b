//! The counts of each user and of each application.

use mario_domain::Duration;
use serde::{Deserialize, Serialize};

/// The results of a user's client requests.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Responses {
    pub(super) count: u64,
    pub(super) sum: Duration,
    pub(super) lost: u64,
}

/// How much of their capacity the instances of an application used.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Usage {
    pub(super) evaluations: u64,
    pub(super) requests: f64,
    /// The part that was used by instances in flavours other than the default.
    pub(super) used_in_flavours: f64,
}
