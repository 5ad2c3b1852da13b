//! The time series of the dashboard.

use std::collections::{BTreeMap, VecDeque};

use mario_live::api::TestbedApplication;
use serde::Serialize;

/// The maximum number of points that are kept: ten minutes, at one a second.
const POINTS_MAX: usize = 600;
/// The maximum number of applications in a point.
const APPLICATIONS_MAX: usize = 64;

/// An application at one time.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct ApplicationNow {
    pub(super) instances: usize,
    pub(super) requests_per_s: Option<f64>,
    /// The testbed's data on the application, such as response times at clients; `None` if there is none.
    pub(super) responses: Option<TestbedApplication>,
}

/// All applications at one time.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(super) struct Point {
    pub(super) time_ms: u64,
    pub(super) applications: BTreeMap<String, ApplicationSample>,
}

/// The quantities of an application that are drawn over time.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(super) struct ApplicationSample {
    pub(super) instances: usize,
    pub(super) requests_per_s: Option<f64>,
    pub(super) p95_ms: Option<f64>,
}

/// Points, oldest first.
#[derive(Debug, Default)]
pub(super) struct History {
    points: VecDeque<Point>,
}

impl History {
    /// Adds a point.
    pub(super) fn sample(&mut self, now_ms: u64, applications: BTreeMap<String, ApplicationNow>) {
        let sample = |(application, now): (String, ApplicationNow)| {
            let requests_per_s = rounded(now.requests_per_s);
            let p95_ms = rounded(now.responses.and_then(|responses| responses.p95_ms));
            (application, ApplicationSample { instances: now.instances, requests_per_s, p95_ms })
        };
        let applications = applications.into_iter().take(APPLICATIONS_MAX).map(sample).collect();
        let point = Point { time_ms: now_ms, applications };
        if self.points.len() == POINTS_MAX {
            self.points.pop_front();
        }
        self.points.push_back(point);
    }

    /// The last points, oldest first, at most `count`.
    pub(super) fn last(&self, count: usize) -> Vec<&Point> {
        self.points.iter().skip(self.points.len().saturating_sub(count)).collect()
    }

    /// All points, oldest first.
    pub(super) fn points(&self) -> &VecDeque<Point> {
        &self.points
    }
}

/// Rounds to a tenth, to save bytes.
fn rounded(value: Option<f64>) -> Option<f64> {
    value.map(|value| (value * 10.0).round() / 10.0)
}
