//! Verdicts on waking sleeping instances for client requests.

use mario_domain::InstanceId;

use super::record::Verdict;
use super::summed::RuleName;

/// See [`TraceRecord::Woken`](super::TraceRecord::Woken).
#[derive(Clone, PartialEq, Debug)]
pub struct Woken {
    /// The time of the event.
    pub time: f64,
    /// The instance.
    pub instance: InstanceId,
    /// The verdict of its manager.
    pub verdict: Verdict,
}

/// See [`TraceRecord::Wakings`](super::TraceRecord::Wakings).
#[derive(Clone, PartialEq, Debug)]
pub struct Wakings {
    /// The time of the event.
    pub time: f64,
    /// The application.
    pub application: u32,
    /// The rule that inhibited the wake; `None` if it was accepted.
    pub refused_by: Option<RuleName>,
}
