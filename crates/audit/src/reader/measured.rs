//! The records of optional measures, `latency` and `traffic`, at the end of a trace.

/// See [`TraceRecord::Latency`](super::TraceRecord::Latency).
#[derive(Clone, PartialEq, Debug)]
pub struct Latency {
    /// The end of the run.
    pub time: f64,
    /// The application.
    pub application: u32,
    /// The number of served client requests that took longer than the application's maximum latency.
    pub late: u64,
    /// The longest response time.
    pub max: f64,
    /// Pairs of a bucket and its number of response times; [`Latency::bound`] returns the lower bound of a bucket.
    /// `None` is for response times of 0.
    pub histogram: Vec<(Option<i64>, u64)>,
}

/// See [`TraceRecord::Traffic`](super::TraceRecord::Traffic).
#[derive(Clone, PartialEq, Debug)]
pub struct Traffic {
    /// The end of the run.
    pub time: f64,
    /// The number of links that client requests passed.
    pub hops: u64,
}

impl Latency {
    /// The lower bound of a bucket: 2^e (1 + j/64) for the bucket 64 e + j, with j from 0 to 63.
    pub fn bound(bucket: i64) -> f64 {
        let power = i32::try_from(bucket.div_euclid(64)).unwrap_or(i32::MAX);
        2_f64.powi(power) * (1.0 + bucket.rem_euclid(64) as f64 / 64.0)
    }
}
