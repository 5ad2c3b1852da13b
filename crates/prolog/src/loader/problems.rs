//! The problems of a program, as many as are reported.

use super::limits::{ERRORS_MAX, WARNINGS_MAX};
use super::{Problem, Severity, Source, Topic};
use std::ops::Range;
use std::sync::Arc;

/// Problems in the order in which they were found.
#[derive(Default)]
pub(super) struct Problems {
    errors: Vec<Problem>,
    warnings: Vec<Problem>,
    /// For each topic of warnings: how many there were, and where the first was that is not reported.
    topics: Vec<(Topic, usize, Option<(Arc<Source>, Range<usize>)>)>,
}

/// Whether there is room for more errors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Room {
    Left,
    /// There were more errors than are reported, and the last one says so.
    Full,
}

impl Problems {
    pub(super) fn add(&mut self, problem: Problem) -> Room {
        match problem.severity {
            Severity::Error => self.add_error(problem),
            Severity::Warning => {
                self.add_warning(problem);
                Room::Left
            }
        }
    }

    fn add_error(&mut self, problem: Problem) -> Room {
        match self.errors.len() {
            0..ERRORS_MAX => {
                self.errors.push(problem);
                return Room::Left;
            }
            ERRORS_MAX => {
                let message = format!("there are more than {ERRORS_MAX} errors: nothing is read from here on");
                let hint = "mend those that were reported, and load it again".to_owned();
                let Problem { source, span, .. } = problem;
                self.errors.push(Problem::new(Severity::Error, &source, span, message, Some(hint)));
            }
            _ => {}
        }
        Room::Full
    }

    fn add_warning(&mut self, problem: Problem) {
        let place = match self.topics.iter().position(|(topic, ..)| *topic == problem.topic) {
            Some(place) => place,
            None => {
                self.topics.push((problem.topic, 0, None));
                self.topics.len() - 1
            }
        };
        let (_, count, first_left_out) = &mut self.topics[place];
        *count += 1;
        if *count <= WARNINGS_MAX {
            self.warnings.push(problem);
        } else {
            first_left_out.get_or_insert((problem.source, problem.span));
        }
    }

    /// Whether an error about this stretch of a source is reported.
    pub(super) fn has_error_at(&self, source: &Arc<Source>, span: &Range<usize>) -> bool {
        self.errors.iter().any(|problem| problem.span == *span && Arc::ptr_eq(&problem.source, source))
    }

    /// Errors and warnings.
    pub(super) fn into_parts(mut self) -> (Vec<Problem>, Vec<Problem>) {
        for (topic, count, first_left_out) in self.topics {
            let Some((source, span)) = first_left_out else { continue };
            let message = match count - WARNINGS_MAX {
                1 => "there is 1 more warning like those before".to_owned(),
                more => format!("there are {more} more warnings like those before, this is the first of them"),
            };
            self.warnings.push(Problem::new(Severity::Warning, &source, span, message, None).about(topic));
        }
        (self.errors, self.warnings)
    }
}
