//! The problems of a program, up to the reporting limits.

use super::limits::{ERRORS_MAX, WARNINGS_MAX};
use super::{Place, Problem, Severity, Source, Topic};
use std::ops::Range;
use std::sync::Arc;

/// The errors and the warnings found, each in the order of discovery.
#[derive(Default)]
pub(super) struct Problems {
    errors: Vec<Problem>,
    warnings: Vec<Problem>,
    topics: Vec<Warnings>,
}

/// The warnings of one topic.
struct Warnings {
    topic: Topic,
    count: usize,
    /// The place of the first warning that is not reported; `None` if all are reported.
    left_out: Option<Place>,
}

/// Whether more errors can be added.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Room {
    Left,
    /// The limit on errors is exceeded, and the last error says so.
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
        let known = self.topics.iter().position(|warnings| warnings.topic == problem.topic);
        let position = known.unwrap_or_else(|| {
            self.topics.push(Warnings { topic: problem.topic, count: 0, left_out: None });
            self.topics.len() - 1
        });
        let warnings = &mut self.topics[position];
        warnings.count += 1;
        if warnings.count <= WARNINGS_MAX {
            self.warnings.push(problem);
        } else {
            warnings.left_out.get_or_insert_with(|| problem.place());
        }
    }

    /// Whether an error with this range of a source was reported already.
    pub(super) fn has_error_at(&self, source: &Arc<Source>, span: &Range<usize>) -> bool {
        self.errors.iter().any(|problem| problem.span == *span && Arc::ptr_eq(&problem.source, source))
    }

    /// The errors and the warnings. A topic with too many warnings gets one more, which gives the number of those left
    /// out.
    pub(super) fn into_parts(mut self) -> (Vec<Problem>, Vec<Problem>) {
        for Warnings { topic, count, left_out } in self.topics {
            let Some(place) = left_out else { continue };
            let message = match count - WARNINGS_MAX {
                1 => "there is 1 more warning like those before".to_owned(),
                more => format!("there are {more} more warnings like those before, this is the first of them"),
            };
            let problem = Problem::new(Severity::Warning, &place.source, place.span, message, None);
            self.warnings.push(problem.about(topic));
        }
        (self.errors, self.warnings)
    }
}
