//! Changes of policies during a run.

/// The agents of an application switch to another policy, with an empty memory.
#[derive(Clone, PartialEq, Debug)]
pub struct Update {
    /// The time of the event.
    pub time: f64,
    /// The application of the agents.
    pub application: u32,
    /// The new policy.
    pub policy: u32,
}
