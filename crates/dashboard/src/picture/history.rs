//! The time series of the dashboard.

use std::collections::{BTreeMap, VecDeque};

use serde_json::{Value, json};

/// How many points are kept: ten minutes, at one a second.
const POINTS_MAX: usize = 600;
/// How many applications a point has at most.
const APPLICATIONS_MAX: usize = 64;

/// An application at one time.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct ApplicationNow {
    pub(super) instances: usize,
    pub(super) requests_per_s: Option<f64>,
    /// Response times that a testbed measured at clients.
    pub(super) responses: Value,
}

/// Points, oldest first.
#[derive(Debug, Default)]
pub(super) struct History {
    points: VecDeque<Value>,
}

impl History {
    /// Adds a point, and returns it.
    pub(super) fn sample(&mut self, now_ms: u64, applications: BTreeMap<String, ApplicationNow>) -> Value {
        let applications = applications.into_iter().take(APPLICATIONS_MAX).map(|(application, now)| {
            let values = json!([now.instances, rounded(now.requests_per_s), rounded(now.responses["p95_ms"].as_f64())]);
            (application, values)
        });
        let point = json!({ "time_ms": now_ms, "applications": applications.collect::<serde_json::Map<_, _>>() });
        if self.points.len() == POINTS_MAX {
            self.points.pop_front();
        }
        self.points.push_back(point.clone());
        point
    }

    pub(super) fn shown(&self) -> Value {
        json!(self.points)
    }
}

/// Rounds to a tenth; more digits would only cost bytes.
fn rounded(value: Option<f64>) -> Option<f64> {
    value.map(|value| (value * 10.0).round() / 10.0)
}
