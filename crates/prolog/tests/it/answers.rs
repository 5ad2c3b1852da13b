//! Tests that answers are displayed as at the prompt of SWI-Prolog. Skipped if SWI-Prolog is not installed.

use mario_prolog::{Budget, Detail, Engine, Machine, Outcome};
use std::io::Write;
use std::process::{Command, Stdio};

const GOALS: &str = include_str!("../answers/goals.pl");

/// Goals whose answers differ on purpose, with the reason.
const DIFFERENCES: &[(&str, &str)] = &[
    ("X = '[]'.", "the empty list is the atom `[]`, as in ISO 6.3.5"),
    ("X = '[|]'(a, b).", "lists are terms '.'(Head, Tail), as in ISO 6.3.5"),
    ("X = '$VAR'(-1).", "ISO 7.10.5 gives names to '$VAR'(N) only where N is not negative"),
];

fn goals() -> Vec<&'static str> {
    GOALS.lines().filter(|line| !line.is_empty() && !line.starts_with('%')).collect()
}

/// The first answer, on one line. If there is none, `false.`, the syntax error, or the outcome; if it is too large to
/// display, the resource that it exhausts.
fn our_answer(engine: &Engine, machine: &mut Machine, goal: &str) -> String {
    let mut query = match machine.query(engine.library(), goal, &(), &Budget::default()) {
        Ok(query) => query,
        Err(error) => return format!("syntax error: {error}"),
    };
    match query.next_answer() {
        Outcome::Answer => match query.answer(Detail::Whole) {
            Ok(answer) => answer.sentence(),
            Err(resource) => format!("too large: {resource}"),
        },
        Outcome::NoMore => "false.".to_owned(),
        other => format!("{other:?}"),
    }
}

/// The answer that SWI-Prolog displays for each goal, on one line; `None` if it is not installed.
fn their_answers(goals: &[&str]) -> Option<Vec<String>> {
    let mut child = Command::new("swipl")
        .args(["-q", "-f", "none"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut input =
        String::from("set_prolog_flag(answer_write_options, [quoted(true), portray(true), spacing(next_argument)]).\n");
    for goal in goals {
        input.extend(["write('<<'), nl.\n", goal, "\n"]);
    }
    let mut stdin = child.stdin.take().expect("it was asked for");
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().expect("it runs");
    writer.join().expect("writing does not panic").expect("it reads all goals");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Some(text.split("<<\ntrue.\n\n").skip(1).map(on_one_line).collect())
}

fn on_one_line(block: &str) -> String {
    let lines: Vec<&str> =
        block.trim_end().lines().map(|line| line.trim_start().trim_end_matches(" % where")).collect();
    lines.join(" ")
}

#[test]
fn answers_are_displayed_as_in_swi_prolog() {
    let goals = goals();
    let Some(theirs) = their_answers(&goals) else {
        eprintln!("skipped: SWI-Prolog (`swipl`) is not installed");
        return;
    };
    assert_eq!(theirs.len(), goals.len(), "SWI-Prolog answers each goal");
    let engine = Engine::new();
    let mut machine = Machine::new(&engine);
    let mut wrong = Vec::new();
    for (goal, theirs) in goals.iter().zip(&theirs) {
        let ours = our_answer(&engine, &mut machine, goal);
        let known = DIFFERENCES.iter().find(|(different, _)| different == goal);
        if (ours != *theirs) != known.is_some() {
            let known = known.map_or("", |(_, why)| why);
            wrong.push(format!("?- {goal} {known}\n   ours:   {ours}\n   theirs: {theirs}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {} goals:\n{}", wrong.len(), goals.len(), wrong.join("\n"));
}
