//! Reporting of errors and warnings by the loader.

use super::problems::Room;
use super::{Loader, Origin, Problem, Severity, Topic};
use crate::explain;
use crate::reader::ReadTerm;
use std::ops::Range;

impl Loader {
    pub(super) fn warn_singletons(&mut self, source: usize, read: &ReadTerm) {
        if self.origin != Origin::User {
            return;
        }
        for (name, span) in &read.singletons {
            if self.is_over() {
                return;
            }
            let message = format!("singleton variable `{name}`");
            let others = read.variables.iter().map(|(other, _)| &**other).filter(|other| *other != &**name);
            let hint = explain::singleton_hint(name, others);
            self.warn(Topic::Singleton, source, span.clone(), message, Some(hint));
        }
    }

    pub(super) fn warn(
        &mut self,
        topic: Topic,
        source: usize,
        span: Range<usize>,
        message: String,
        hint: Option<String>,
    ) {
        let problem = Problem::new(Severity::Warning, &self.sources[source], span, message, hint);
        self.add_problem(problem.about(topic));
    }

    pub(super) fn error(&mut self, source: usize, span: Range<usize>, message: String, hint: Option<&str>) {
        let hint = hint.map(str::to_owned);
        self.add_problem(Problem::new(Severity::Error, &self.sources[source], span, message, hint));
    }

    pub(super) fn add_problem(&mut self, problem: Problem) {
        self.is_stopped |= self.problems.add(problem) == Room::Full;
    }
}
