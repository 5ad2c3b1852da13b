//! Optional measures at the end of a run.

/// See [`Record::Latency`](super::Record::Latency).
#[derive(Clone, PartialEq, Debug)]
pub struct Latency {
    /// The time of the event.
    pub time: f64,
    /// The application.
    pub application: u32,
    /// Client requests that took longer than the application tolerates.
    pub late: u64,
    /// The longest response time.
    pub max: f64,
    /// The number of response times in each bucket; bucket `None` is for a response time of 0.
    pub histogram: Vec<(Option<i64>, u64)>,
}

/// See [`Record::Traffic`](super::Record::Traffic).
#[derive(Clone, PartialEq, Debug)]
pub struct Traffic {
    /// The time of the event.
    pub time: f64,
    /// The number of links that client requests passed.
    pub hops: u64,
}

impl Latency {
    /// The lower bound of a bucket: 2^e (1 + j/64) for the bucket 64 e + j.
    pub fn bound(bucket: i64) -> f64 {
        let power = i32::try_from(bucket.div_euclid(64)).unwrap_or(i32::MAX);
        2_f64.powi(power) * (1.0 + bucket.rem_euclid(64) as f64 / 64.0)
    }
}
