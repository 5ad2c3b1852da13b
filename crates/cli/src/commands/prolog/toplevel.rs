//! Goals from standard input: an interactive session on a terminal, or a script through a pipe.

use std::io::{self, BufRead, Read};

use mario_diagnostics::Source;
use mario_frontend::Diagnostic;
use mario_prolog::{Detail, Outcome as Solved, Request};

use super::asking::{Asker, Ended, Place, Stop, stop, unwritable};
use super::halted;
use super::sources::Sources;
use super::terminal::{Key, Terminal, Typed};
use crate::{Failure, Outcome, TEXT_SIZE_BYTES_MAX};

const WELCOME: &str = "End each goal with a full stop. `help.` tells more; `halt.` or Ctrl-D ends.";

const HELP: &str = "At the prompt:
  member(X, [a, b]).    asks a goal; it may span several lines, up to its full stop
  [file].               loads a file, and all others again; `make.` only the latter
  halt.                 ends, and so does Ctrl-D
After an answer:
  ; or space            shows the next one
  Enter or .            is content with this one
  w                     shows it again without leaving anything out
Ctrl-C stops a goal that runs.
";

const KEYS: &str = "  ; or space: next answer    Enter or .: stop    w: show all of it    h: this help\n";

/// Runs an interactive session.
pub(super) fn converse(asker: &mut Asker<'_>, sources: &mut Sources) -> Result<Outcome, Failure> {
    let mut terminal = Terminal::open(asker.output.interrupt())?;
    asker.console.inform(WELCOME);
    loop {
        let text = match terminal.read_goal(|text| asker.session.goal_end(text))? {
            Typed::Goal(text) => text,
            Typed::Abandoned => continue,
            Typed::End => {
                asker.output.write_text("\n");
                asker.output.end()?;
                return Ok(Outcome::Done);
            }
        };
        asker.output.interrupt().clear();
        match asker.session.request(&text) {
            Ok(Request::Nothing) => {}
            Ok(Request::Help) => asker.output.write_text(HELP),
            Ok(Request::Load(files)) => {
                if let Ended::Halted(status) = load(asker, sources, &files)? {
                    return Ok(halted(status, asker.console));
                }
            }
            Ok(Request::Answers) => {
                if let Ended::Halted(status) = show_answers(asker, &text, &mut terminal)? {
                    return Ok(halted(status, asker.console));
                }
            }
            Err(error) => asker.console.show([&Place::whole("goal").diagnose(&text, &error)]),
        }
        asker.output.interrupt().clear();
        asker.output.end()?;
    }
}

/// Shows one answer at a time while the user asks for more.
fn show_answers(asker: &mut Asker<'_>, goal: &str, terminal: &mut Terminal) -> Result<Ended, Failure> {
    let Asker { session, budget, output, console } = asker;
    let mut query = match session.query(goal, &(), budget) {
        Ok(query) => query,
        Err(error) => return Ok(Ended::NotAGoal(Box::new(Place::whole("goal").diagnose(goal, &error)))),
    };
    loop {
        let solved = query.next_answer();
        if solved != Solved::Answer {
            let ended = match stop(&mut query, solved, budget) {
                Stop::NoMore => {
                    output.write_on_new_line("false.\n\n");
                    Ended::Unanswered
                }
                Stop::Halted(status) => Ended::Halted(status),
                Stop::Wrong(diagnostic) => {
                    output.end_line()?;
                    console.show([&*diagnostic]);
                    Ended::Unanswered
                }
            };
            return Ok(ended);
        }
        let mut detail = Detail::Abbreviated;
        loop {
            let answer = match query.answer(detail) {
                Ok(answer) => answer,
                Err(resource) => {
                    output.end_line()?;
                    console.show([&unwritable(resource)]);
                    return Ok(Ended::Unanswered);
                }
            };
            let lines = answer.lines();
            if !query.may_have_more() {
                output.write_on_new_line(&(answer.ended(lines) + "\n\n"));
                return Ok(Ended::Answered);
            }
            // `read_key` prints the last line, because it waits for a key after it and then ends the line.
            let (before, last) = lines.rsplit_once('\n').map_or(("", &*lines), |(before, last)| (before, last));
            output.write_on_new_line(before);
            output.end_line()?;
            match terminal.read_key(&format!("{last} "))? {
                Key::Next => break,
                Key::Stop => {
                    output.write_text("\n");
                    return Ok(Ended::Answered);
                }
                Key::Whole => detail = Detail::Whole,
                Key::Help => output.write_on_new_line(KEYS),
            }
        }
    }
}

/// Loads the requested files and reloads all others. On failure, the program is unchanged.
fn load(asker: &mut Asker<'_>, sources: &mut Sources, files: &[String]) -> Result<Ended, Failure> {
    let count = sources.count();
    if let Err(failure) = sources.add(files) {
        asker.console.report(&failure);
        return Ok(Ended::Unanswered);
    }
    match sources.load(asker.console) {
        Ok(loaded) => {
            if let Some(status) = loaded.halted {
                return Ok(Ended::Halted(status));
            }
            asker.session.replace_program(&loaded.program);
            asker.output.write_on_new_line("true.\n");
            Ok(Ended::Answered)
        }
        Err(failure @ (Failure::Input(_) | Failure::Environment(_))) => {
            sources.truncate(count);
            asker.console.report(&failure);
            Ok(Ended::Unanswered)
        }
        Err(failure @ (Failure::Interrupted(_) | Failure::OutputClosed)) => Err(failure),
    }
}

/// Runs the goals of standard input in order.
pub(super) fn answer_all(asker: &mut Asker<'_>, sources: &mut Sources, limit: u64) -> Result<Outcome, Failure> {
    let mut input = io::stdin().lock();
    let mut script = Script::default();
    let mut is_at_end = false;
    while !is_at_end {
        is_at_end = !script.read_line(&mut input)?;
        while let Some(goal) = script.next_goal(asker, is_at_end) {
            let place = Place::after_lines("standard input", script.lines_done);
            script.lines_done += goal.matches('\n').count();
            let ended = answer_request(asker, sources, &goal, &place, limit)?;
            match ended {
                Some(Ended::Halted(status)) => return Ok(halted(status, asker.console)),
                Some(Ended::Unanswered) => script.has_unanswered = true,
                Some(Ended::NotAGoal(diagnostic)) => {
                    asker.output.end_line()?;
                    asker.console.show([&*diagnostic]);
                    script.has_mistakes = true;
                }
                Some(Ended::Answered) | None => {}
            }
            asker.output.end()?;
        }
    }
    match (script.has_mistakes, script.has_unanswered) {
        // Each error was already reported where it occurred.
        (true, _) => Err(Failure::Input(Vec::new())),
        (false, true) => Ok(Outcome::CheckFailed),
        (false, false) => Ok(Outcome::Done),
    }
}

fn answer_request(
    asker: &mut Asker<'_>,
    sources: &mut Sources,
    text: &str,
    place: &Place,
    limit: u64,
) -> Result<Option<Ended>, Failure> {
    match asker.session.request(text) {
        Ok(Request::Nothing) => Ok(None),
        Ok(Request::Help) => {
            asker.output.write_text(HELP);
            Ok(Some(Ended::Answered))
        }
        Ok(Request::Load(files)) => load(asker, sources, &files).map(Some),
        Ok(Request::Answers) => asker.ask(text, place, limit).map(Some),
        Err(error) => Ok(Some(Ended::NotAGoal(Box::new(place.diagnose(text, &error))))),
    }
}

/// Goals read line by line.
#[derive(Default)]
struct Script {
    /// Text that was read but not run yet.
    pending: String,
    /// Whether `pending` may contain a complete goal that was not looked for yet.
    may_be_complete: bool,
    /// The number of lines before `pending`.
    lines_done: usize,
    has_unanswered: bool,
    has_mistakes: bool,
}

impl Script {
    /// Appends the next line to `pending`. Returns false at the end of the input.
    fn read_line(&mut self, input: &mut impl BufRead) -> Result<bool, Failure> {
        let mut line = Vec::new();
        // One byte more than the limit, to detect that it is exceeded.
        let most = TEXT_SIZE_BYTES_MAX as u64 + 1;
        Read::take(&mut *input, most).read_until(b'\n', &mut line).map_err(|error| {
            Failure::Environment(vec![Diagnostic::error("cannot read standard input").caused_by(&error)])
        })?;
        if self.pending.len() + line.len() > TEXT_SIZE_BYTES_MAX {
            let mebibytes = TEXT_SIZE_BYTES_MAX >> 20;
            let title = format!("a goal in standard input is larger than {mebibytes} MiB");
            return Err(Failure::input(Diagnostic::error(title)));
        }
        let line = String::from_utf8(line).map_err(|error| self.not_text(&error))?;
        self.may_be_complete |= line.contains('.');
        self.pending.push_str(&line);
        Ok(!line.is_empty())
    }

    fn not_text(&self, error: &std::string::FromUtf8Error) -> Failure {
        let lines_before = self.lines_done + self.pending.matches('\n').count();
        let readable = String::from_utf8_lossy(error.as_bytes()).into_owned();
        let start = error.utf8_error().valid_up_to() + lines_before;
        let source = Source::new("standard input", "\n".repeat(lines_before) + &readable);
        Failure::input(
            Diagnostic::error("cannot read standard input as text")
                .at(&source, start..start + char::REPLACEMENT_CHARACTER.len_utf8(), "this is not valid UTF-8")
                .hint("send it as UTF-8"),
        )
    }

    /// Removes the next goal from `pending` and returns it; `None` if it is incomplete. At the end of the input, the
    /// rest of `pending` counts as a goal.
    fn next_goal(&mut self, asker: &mut Asker<'_>, is_at_end: bool) -> Option<String> {
        if self.may_be_complete {
            if let Some(end) = asker.session.goal_end(&self.pending) {
                let rest = self.pending.split_off(end);
                return Some(std::mem::replace(&mut self.pending, rest));
            }
            self.may_be_complete = false;
        }
        (is_at_end && !self.pending.is_empty()).then(|| std::mem::take(&mut self.pending))
    }
}
