//! The time series of the dashboard.

use std::collections::{BTreeMap, VecDeque};

use serde::Serialize;
use serde_json::{Value, json};

/// How many points are kept: ten minutes, at one a second.
const POINTS_MAX: usize = 600;
/// The maximum number of applications in a point.
const APPLICATIONS_MAX: usize = 64;

/// An application at one time.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct ApplicationNow {
    pub(super) instances: usize,
    pub(super) requests_per_s: Option<f64>,
    /// Response times that a testbed measured at clients.
    pub(super) responses: Value,
}

/// All applications at one time, as the page draws them.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct Point {
    time_ms: u64,
    applications: BTreeMap<String, ApplicationSample>,
}

/// The quantities of an application that are drawn over time.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct ApplicationSample {
    instances: usize,
    requests_per_s: Option<f64>,
    p95_ms: Option<f64>,
}

/// Points, oldest first.
#[derive(Debug, Default)]
pub(super) struct History {
    points: VecDeque<Point>,
}

impl History {
    /// Adds a point, and returns it.
    pub(super) fn sample(&mut self, now_ms: u64, applications: BTreeMap<String, ApplicationNow>) -> Value {
        let sample = |(application, now): (String, ApplicationNow)| {
            let requests_per_s = rounded(now.requests_per_s);
            let p95_ms = rounded(now.responses["p95_ms"].as_f64());
            (application, ApplicationSample { instances: now.instances, requests_per_s, p95_ms })
        };
        let applications = applications.into_iter().take(APPLICATIONS_MAX).map(sample).collect();
        let point = Point { time_ms: now_ms, applications };
        if self.points.len() == POINTS_MAX {
            self.points.pop_front();
        }
        let shown = json!(point);
        self.points.push_back(point);
        shown
    }

    pub(super) fn shown(&self) -> Value {
        json!(self.points)
    }
}

/// Rounds to a tenth, to save bytes.
fn rounded(value: Option<f64>) -> Option<f64> {
    value.map(|value| (value * 10.0).round() / 10.0)
}
