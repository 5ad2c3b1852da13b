//! Policies that change in the course of a run.

/// The agents of an application follow another policy from now on, with an empty memory.
#[derive(Clone, PartialEq, Debug)]
pub struct Update {
    /// When.
    pub time: f64,
    /// Whose agents.
    pub application: u32,
    /// Which policy.
    pub policy: u32,
}
