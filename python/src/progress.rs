//! Reports progress to a Python function, and polls Python for signals.

use std::time::{Duration, Instant};

use mario_domain::Time;
use mario_frontend::Diagnostic;
use mario_frontend::run::{Observer, Start};
use mario_frontend::warnings::notes;
use mario_scenario::Resolved;
use pyo3::prelude::*;

use crate::errors::warn;
use crate::function::Raised;

/// The minimum interval between two polls of Python for signals during a run, and between two reports of a study. The
/// end of a study is always reported.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Reports progress to a function, which may stop the work by raising an exception.
pub(crate) struct Progress<'a> {
    function: Option<&'a Py<PyAny>>,
    total: f64,
    raised: Raised,
    /// Notes about the scenario of a new run.
    notes: Vec<String>,
    next: Instant,
    /// The first exception of the function, of a signal handler, or of a warning that is raised as an exception.
    error: Option<PyErr>,
}

impl<'a> Progress<'a> {
    pub(crate) fn new(function: Option<&'a Py<PyAny>>, total: f64, raised: &Raised) -> Progress<'a> {
        let next = Instant::now() + POLL_INTERVAL;
        Progress { function, total, raised: raised.clone(), notes: Vec::new(), next, error: None }
    }

    /// Takes the notes about the scenario of a new run.
    pub(crate) fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    /// Reports progress at most once per [`POLL_INTERVAL`], and always when the work is complete. Also polls Python for
    /// signals. Returns whether to continue.
    pub(crate) fn tell(&mut self, done: f64, total: f64) -> bool {
        self.total = total;
        if self.raised.is_any() || self.error.is_some() {
            return false;
        }
        let is_due = done >= total || Instant::now() >= self.next;
        let told = Python::attach(|py| {
            py.check_signals()?;
            if let Some(function) = self.function
                && is_due
            {
                self.next = Instant::now() + POLL_INTERVAL;
                function.call1(py, (done, total))?;
            }
            Ok(())
        });
        self.error = told.err();
        self.error.is_none()
    }

    /// The first exception of a policy or a metric; otherwise that of the function, a signal handler or a warning, if
    /// any.
    pub(crate) fn into_error(self) -> Option<PyErr> {
        self.raised.take().or(self.error)
    }
}

impl Observer for Progress<'_> {
    fn resolved(&mut self, resolved: &Resolved) {
        self.notes = notes(resolved);
    }

    fn started(&mut self, start: &Start<'_>) {
        self.total = (start.scenario.end() - Time::ZERO).units();
    }

    fn wants_to_stop(&mut self) -> bool {
        if self.raised.is_any() || self.error.is_some() {
            return true;
        }
        if Instant::now() < self.next {
            return false;
        }
        self.next = Instant::now() + POLL_INTERVAL;
        #[allow(
            clippy::redundant_closure_for_method_calls,
            reason = "the method is not general enough in its lifetime"
        )]
        let signalled = Python::attach(|py| py.check_signals());
        self.error = signalled.err();
        self.error.is_some()
    }

    fn at(&mut self, now: Time, _emitted: u64) {
        let Some(function) = self.function else { return };
        let told = Python::attach(|py| function.call1(py, (now.units(), self.total)));
        self.error = self.error.take().or(told.err());
    }

    fn saved(&mut self, _now: Time, _bytes: u64, _took: Duration) {}

    fn not_saved(&mut self, warning: Diagnostic) {
        self.error = self.error.take().or_else(|| Python::attach(|py| warn(py, &[warning])).err());
    }
}
