//! Client requests that reached instances which slept.

use mario_domain::InstanceId;

use super::record::Verdict;
use super::summed::RuleName;

/// See [`Record::Woken`](super::Record::Woken).
#[derive(Clone, PartialEq, Debug)]
pub struct Woken {
    /// When.
    pub time: f64,
    /// Which instance.
    pub instance: InstanceId,
    /// What its manager said.
    pub verdict: Verdict,
}

/// See [`Record::Wakings`](super::Record::Wakings).
#[derive(Clone, PartialEq, Debug)]
pub struct Wakings {
    /// When.
    pub time: f64,
    /// Of which application.
    pub application: u32,
    /// The rule that spoke against it; `None` if it was accepted.
    pub refused_by: Option<RuleName>,
}
