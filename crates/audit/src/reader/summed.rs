//! Records that sum a whole run up.

/// See [`Record::Usage`](super::Record::Usage).
#[derive(Clone, PartialEq, Debug)]
pub struct Usage {
    /// When.
    pub time: f64,
    /// Of which application.
    pub application: u32,
    /// How often its agents evaluated.
    pub evaluations: u64,
    /// The sum over these evaluations of the rate seen over what an instance handles.
    pub sum: f64,
}

/// See [`Record::Client`](super::Record::Client).
#[derive(Clone, PartialEq, Debug)]
pub struct Client {
    /// When.
    pub time: f64,
    /// Which user.
    pub user: u32,
    /// Client requests served.
    pub served: u64,
    /// Client requests lost.
    pub lost: u64,
    /// The sum of the response times.
    pub sum: f64,
}
