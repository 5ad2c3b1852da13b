//! Judges an engine by the cases of `tests/conformity/*.cases`.
//!
//! Start at [`judge_all`]. The format of the case files is in `tests/conformity/README.md`.
//!
//! The expected bindings of a case are a goal (`X = f(Y), Z = 1`), which the engine runs, too. Both answers are written
//! as text, with variables numbered from the left, so that equal texts are equal terms up to variable names. Error
//! terms are compared with `subsumes_term/2`, so that `_` in an expected error matches anything.

mod tests;

use std::fmt;
use std::fs;
use std::path::Path;

/// The result of running a goal in an engine.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The variables of the goal whose names do not start with `_`, in order of appearance.
    pub names: Vec<String>,
    /// One text for each answer: the list of the values of `names`, written quoted, without operators and without
    /// `numbervars`. Variables are written as `_0`, `_1`, … in order of appearance.
    pub answers: Vec<String>,
    pub end: End,
    /// All output, including that of branches that failed later.
    pub output: String,
}

/// Why there was no further answer.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    Exhausted,
    /// The requested number of answers was reached; there may be more.
    Limit,
    /// An uncaught error term, written like an answer. A goal that cannot be parsed raises its syntax error.
    Raised(String),
    /// Any other end, such as an exhausted budget, as the engine reports it.
    Stopped(String),
}

#[derive(Clone, Debug, PartialEq)]
struct Case {
    file: String,
    line: usize,
    section: String,
    program: String,
    goal: String,
    answers: Vec<String>,
    end: ExpectedEnd,
    output: String,
}

#[derive(Clone, Debug, PartialEq)]
enum ExpectedEnd {
    Exhausted,
    More,
    Error(String),
    Throws(String),
}

#[derive(Debug, PartialEq)]
struct Malformed {
    file: String,
    line: usize,
    reason: String,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "malformed case {}:{}: {}", self.file, self.line, self.reason)
    }
}

/// The cases that an engine failed, and the number of cases.
pub struct Report {
    pub cases: usize,
    failures: Vec<Failure>,
}

struct Failure {
    case: Case,
    reason: &'static str,
    got: String,
}

impl Report {
    pub fn is_clean(&self) -> bool {
        self.failures.is_empty()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Failure { case, reason, got } in &self.failures {
            writeln!(f, "{}:{}  {}: {reason}", case.file, case.line, case.section)?;
            writeln!(f, "    ?- {}", case.goal)?;
            writeln!(f, "    expected {}", case.expectation())?;
            writeln!(f, "    got      {got}")?;
        }
        write!(f, "conformity: {} of {} cases", self.cases - self.failures.len(), self.cases)
    }
}

/// Runs every case of every case file. `run(program, goal, limit)` must load the program text without traces of earlier
/// cases, and ask for at most `limit` answers of the goal.
pub fn judge_all(mut run: impl FnMut(&str, &str, usize) -> Outcome) -> Report {
    let cases = all_cases().unwrap_or_else(|malformed| panic!("{malformed}"));
    let mut report = Report { cases: cases.len(), failures: Vec::new() };
    for case in cases {
        if let Err((reason, got)) = judge(&case, &mut run) {
            report.failures.push(Failure { case, reason, got });
        }
    }
    report
}

fn judge(case: &Case, run: &mut impl FnMut(&str, &str, usize) -> Outcome) -> Result<(), (&'static str, String)> {
    let limit = match case.end {
        ExpectedEnd::More => case.answers.len(),
        _ => case.answers.len() + 1,
    };
    let outcome = run(&case.program, &case.goal, limit);
    let fail = |reason| Err((reason, render(&outcome)));
    if outcome.output != case.output {
        return fail("other output");
    }
    if outcome.answers.len() != case.answers.len() {
        return fail("other number of answers");
    }
    for (expected, answer) in case.answers.iter().zip(&outcome.answers) {
        let goal = expected_answer_goal(&outcome.names, expected);
        let expected = run("", &goal, 1);
        if expected.names != outcome.names || expected.answers.is_empty() {
            return Err(("the expected answer cannot be evaluated", render(&expected)));
        }
        if expected.answers[0] != *answer {
            return fail("other answer");
        }
    }
    let ended_as_expected = match (&case.end, &outcome.end) {
        (ExpectedEnd::Exhausted, End::Exhausted) | (ExpectedEnd::More, End::Limit) => true,
        (ExpectedEnd::Error(formal), End::Raised(ball)) => subsumes(run, &format!("error({formal}, _)"), ball),
        (ExpectedEnd::Throws(expected), End::Raised(ball)) => subsumes(run, expected, ball),
        _ => false,
    };
    if ended_as_expected { Ok(()) } else { fail("other end") }
}

/// A goal that binds the variables as the case expects. It starts with `names`, the variables of the case's goal, so
/// that its answers have the same variables in the same order.
fn expected_answer_goal(names: &[String], expected: &str) -> String {
    let names = names.join(", ");
    format!("[{names}] = [{names}], ( {expected} ).")
}

fn subsumes(run: &mut impl FnMut(&str, &str, usize) -> Outcome, general: &str, specific: &str) -> bool {
    let goal = format!("subsumes_term(({general}), ({specific})).");
    run("", &goal, 1).answers.len() == 1
}

fn render(outcome: &Outcome) -> String {
    let mut parts: Vec<String> = Vec::new();
    for answer in &outcome.answers {
        parts.push(if outcome.names.is_empty() {
            "true".to_owned()
        } else {
            format!("[{}] = {answer}", outcome.names.join(","))
        });
    }
    match &outcome.end {
        End::Exhausted if outcome.answers.is_empty() => parts.push("false".to_owned()),
        End::Exhausted => {}
        End::Limit => parts.push("...".to_owned()),
        End::Raised(ball) => parts.push(format!("throws {ball}")),
        End::Stopped(why) => parts.push(format!("stopped: {why}")),
    }
    let answers = parts.join(" ; ");
    if outcome.output.is_empty() { answers } else { format!("output {:?}, {answers}", outcome.output) }
}

impl Case {
    fn expectation(&self) -> String {
        let mut parts = self.answers.clone();
        match &self.end {
            ExpectedEnd::Exhausted if parts.is_empty() => parts.push("false".to_owned()),
            ExpectedEnd::Exhausted => {}
            ExpectedEnd::More => parts.push("...".to_owned()),
            ExpectedEnd::Error(formal) => parts.push(format!("error {formal}")),
            ExpectedEnd::Throws(ball) => parts.push(format!("throws {ball}")),
        }
        let answers = parts.join(" ; ");
        if self.output.is_empty() { answers } else { format!("output {:?}, {answers}", self.output) }
    }
}

fn all_cases() -> Result<Vec<Case>, Malformed> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformity");
    let entries = fs::read_dir(&directory).expect("the directory of the case files can be read");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("its entries can be read").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "cases"));
    paths.sort();
    let mut cases = Vec::new();
    for path in paths {
        let text = fs::read_to_string(&path).expect("a case file is UTF-8 text");
        let name = path.file_name().expect("a case file has a name").to_string_lossy();
        cases.extend(read_cases(&name, &text)?);
    }
    Ok(cases)
}

fn read_cases(file: &str, text: &str) -> Result<Vec<Case>, Malformed> {
    let malformed = |index: usize, reason: &str| {
        Err(Malformed { file: file.to_owned(), line: index + 1, reason: reason.to_owned() })
    };
    let lines: Vec<&str> = text.lines().collect();
    let mut cases = Vec::new();
    let mut section = "";
    let mut program = String::new();
    let mut index = 0;
    while index < lines.len() {
        let line = lines[index];
        let start = index;
        index += 1;
        if let Some(heading) = line.strip_prefix("# ") {
            section = heading;
            program.clear();
        } else if let Some(clause) = line.strip_prefix("| ") {
            program.push_str(clause);
            program.push('\n');
        } else if let Some(first) = line.strip_prefix("?- ") {
            let mut goal = first.to_owned();
            while index < lines.len() && !lines[index].starts_with("=> ") {
                goal.push('\n');
                goal.push_str(lines[index]);
                index += 1;
            }
            let expected_from = index;
            while index < lines.len() && lines[index].starts_with("=> ") {
                index += 1;
            }
            if section.is_empty() {
                return malformed(start, "a goal before the first section");
            }
            let expected: Vec<&str> = lines[expected_from..index].iter().map(|line| &line["=> ".len()..]).collect();
            let (output, answers, end) = match read_expectation(&expected) {
                Ok(expectation) => expectation,
                Err(reason) => return malformed(start, reason),
            };
            cases.push(Case {
                file: file.to_owned(),
                line: start + 1,
                section: section.to_owned(),
                program: program.clone(),
                goal,
                answers,
                end,
                output,
            });
        } else if !line.is_empty() && !line.starts_with('%') {
            return malformed(start, "a line that is neither #, |, ?-, =>, % nor blank");
        }
    }
    Ok(cases)
}

fn read_expectation(lines: &[&str]) -> Result<(String, Vec<String>, ExpectedEnd), &'static str> {
    let mut output = String::new();
    let mut answers: Vec<String> = Vec::new();
    let mut end = None;
    for line in lines {
        if let Some(quoted) = line.strip_prefix("output ") {
            output.push_str(&unquote(quoted).ok_or("an output that is not a quoted text")?);
            continue;
        }
        for part in line.split(" ; ") {
            if end.is_some() {
                return Err("an answer after the end");
            }
            if part == "..." {
                end = Some(ExpectedEnd::More);
            } else if part == "false" {
                end = Some(ExpectedEnd::Exhausted);
            } else if let Some(formal) = part.strip_prefix("error ") {
                end = Some(ExpectedEnd::Error(formal.to_owned()));
            } else if let Some(ball) = part.strip_prefix("throws ") {
                end = Some(ExpectedEnd::Throws(ball.to_owned()));
            } else {
                answers.push(part.to_owned());
            }
        }
    }
    match end {
        None if answers.is_empty() => Err("a goal without expected answers"),
        end => Ok((output, answers, end.unwrap_or(ExpectedEnd::Exhausted))),
    }
}

fn unquote(text: &str) -> Option<String> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    let mut plain = String::new();
    let mut characters = inner.chars();
    while let Some(character) = characters.next() {
        plain.push(match character {
            '\\' => match characters.next()? {
                'n' => '\n',
                't' => '\t',
                other @ ('\\' | '"') => other,
                _ => return None,
            },
            '"' => return None,
            plain => plain,
        });
    }
    Some(plain)
}
