//! Changes of policies during a run.

/// A change of policy: the agents of an application start with an empty memory under it.
#[derive(Clone, PartialEq, Debug)]
pub struct Update {
    /// The time of the event.
    pub time: f64,
    /// The application of the agents.
    pub application: u32,
    /// The new policy.
    pub policy: u32,
}
