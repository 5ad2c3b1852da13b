//! Runs one goal: answers to standard output, problems to standard error.

use mario_diagnostics::Source;
use mario_frontend::{Diagnostic, Hint};
use mario_prolog::{Budget, Detail, Exception, Outcome as Solved, Query, Request, Resource, Session, SyntaxError};

use super::halted;
use super::output::ProgramOutput;
use crate::{Console, Failure, Outcome};

/// Runs goals against one program.
pub(super) struct Asker<'c> {
    pub(super) session: Session,
    pub(super) budget: Budget,
    pub(super) output: ProgramOutput,
    pub(super) console: &'c Console,
}

/// How a goal ended.
#[derive(Debug)]
pub(super) enum Ended {
    /// It had at least one answer, and no problem.
    Answered,
    /// It had no answer, or a problem, such as an error, an exhausted budget or an answer that is too large to print.
    Unanswered,
    /// The text is not a goal.
    NotAGoal(Box<Diagnostic>),
    Halted(i32),
}

impl Ended {
    pub(super) fn outcome(&self, console: &Console) -> Outcome {
        match self {
            Self::Answered => Outcome::Done,
            Self::Unanswered | Self::NotAGoal(_) => Outcome::CheckFailed,
            Self::Halted(status) => halted(*status, console),
        }
    }
}

/// The source of a goal, for error messages: the name of a text, and the number of lines before the goal.
pub(super) struct Place {
    name: &'static str,
    lines_before: usize,
}

impl Place {
    /// The source of a goal that is a whole text.
    pub(super) fn whole(name: &'static str) -> Self {
        Self { name, lines_before: 0 }
    }

    /// The source of a goal that starts after `lines_before` lines of a text.
    pub(super) fn after_lines(name: &'static str, lines_before: usize) -> Self {
        Self { name, lines_before }
    }

    /// The diagnostic for a syntax error in the goal `text`.
    pub(super) fn diagnose(&self, text: &str, error: &SyntaxError) -> Diagnostic {
        // The preceding lines are replaced by empty ones, so that line numbers are right.
        let source = Source::new(self.name, "\n".repeat(self.lines_before) + text);
        let span = error.span.start + self.lines_before..error.span.end + self.lines_before;
        let mut diagnostic = Diagnostic::error("cannot read the goal").at(&source, span, error.message.clone());
        diagnostic.hints.extend(error.hint.clone().map(Hint::Text));
        diagnostic
    }
}

impl Asker<'_> {
    /// Runs a goal and writes up to `limit` answers, one per line.
    pub(super) fn ask(&mut self, goal: &str, place: &Place, limit: u64) -> Result<Ended, Failure> {
        let budget = self.budget;
        let output = self.output.clone();
        if self.session.request(goal) == Ok(Request::Nothing) {
            let diagnostic = Diagnostic::error(format!("there is no goal in {}", place.name));
            return Ok(Ended::NotAGoal(Box::new(diagnostic.hint("write one, such as `true`"))));
        }
        let mut query = match self.session.query(goal, &(), &budget) {
            Ok(query) => query,
            Err(error) => return Ok(Ended::NotAGoal(Box::new(place.diagnose(goal, &error)))),
        };
        let mut answers = 0;
        let ended = loop {
            if answers == limit {
                break Ended::Answered;
            }
            let solved = query.next_answer();
            if solved == Solved::Answer {
                match query.answer(Detail::Whole) {
                    Ok(answer) => output.write_on_new_line(&(answer.sentence() + "\n")),
                    Err(resource) => {
                        output.end_line()?;
                        self.console.show([&unwritable(resource)]);
                        break Ended::Unanswered;
                    }
                }
                answers += 1;
                continue;
            }
            break match stop(&mut query, solved, &budget) {
                Stop::NoMore if answers == 0 => {
                    output.write_on_new_line("false.\n");
                    Ended::Unanswered
                }
                Stop::NoMore => Ended::Answered,
                Stop::Halted(status) => Ended::Halted(status),
                Stop::Wrong(diagnostic) => {
                    output.end_line()?;
                    self.console.show([&*diagnostic]);
                    Ended::Unanswered
                }
            };
        };
        output.end()?;
        Ok(ended)
    }
}

/// Why there are no more answers.
pub(super) enum Stop {
    NoMore,
    Halted(i32),
    /// A problem to report, such as an error or an exhausted budget.
    Wrong(Box<Diagnostic>),
}

/// Interprets an outcome that is not an answer.
pub(super) fn stop(query: &mut Query<'_>, solved: Solved, budget: &Budget) -> Stop {
    match solved {
        Solved::Answer | Solved::NoMore => Stop::NoMore,
        Solved::Halted(status) => Stop::Halted(status),
        Solved::Exception(exception) => Stop::Wrong(Box::new(uncaught(query, &exception))),
        Solved::Exhausted(resource) => Stop::Wrong(Box::new(exhausted(resource, budget))),
    }
}

fn uncaught(query: &mut Query<'_>, exception: &Exception) -> Diagnostic {
    let explanation = query.explain(exception);
    let says_all = explanation.message.contains(&explanation.term);
    let mut diagnostic = Diagnostic::error(explanation.message);
    if !says_all {
        diagnostic.causes.push(format!("uncaught {}", explanation.term));
    }
    diagnostic.hints.extend(explanation.hint.map(Hint::Text));
    diagnostic
}

fn exhausted(resource: Resource, budget: &Budget) -> Diagnostic {
    let (what, option) = match resource {
        Resource::Inferences => (format!("its {} inferences", budget.inferences), "--budget N"),
        Resource::HeapBytes => (format!("its {} bytes of memory", budget.heap_bytes), "--heap BYTES"),
        Resource::TrailEntries => (format!("its {} trail entries", budget.trail_entries), "--heap BYTES"),
        Resource::ChoicePoints => (format!("its {} choice points", budget.choice_points), "--heap BYTES"),
        Resource::OutputBytes => (format!("its {} bytes of output", budget.output_bytes), "--output BYTES"),
        Resource::Answers => (format!("its {} answers", budget.answers), "--limit N"),
        Resource::Time => return Diagnostic::error("the goal was interrupted"),
    };
    Diagnostic::error(format!("the goal used up {what}"))
        .hint(format!("`{option}` allows more, unless it is an endless loop"))
}

/// The diagnostic for an answer that exists but cannot be printed.
pub(super) fn unwritable(resource: Resource) -> Diagnostic {
    Diagnostic::error(format!("the answer is too large to be shown: it takes too many {resource}"))
        .hint("ask for a part of it")
}
