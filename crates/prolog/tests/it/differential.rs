//! The same generated goals in our engine and in SWI-Prolog, answers and errors compared as text.
//!
//! Start at [`generated_goals_do_the_same_in_swi_prolog`]. Every disagreement is listed in
//! `tests/differential/known.txt` with what justifies ours; a disagreement that is not listed fails the
//! test, and so does a listed one that no longer occurs.
//!
//! For a long run by hand:
//! `MARIO_DIFFERENTIAL_GOALS=100000 MARIO_DIFFERENTIAL_SEED=7 cargo test -p mario-prolog --test it differential`.

mod arithmetic;
mod control;
mod coroutines;
mod database;
mod generator;
mod grammars;
mod known;
mod lists;
mod programs;
mod solutions;
mod terms;
mod text;
mod writing;

use crate::conformity::{End, Outcome};
use crate::engine::Runner;
use generator::{Case, Generator};
use known::Known;
use mario_prolog::Budget;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

const GOALS: usize = 6_000;
const SEED: u64 = 1;
/// Answers asked for.
const LIMIT: usize = 8;

const THEMES: &[fn(&mut Generator) -> Case] = &[
    terms::case,
    arithmetic::case,
    lists::case,
    control::case,
    solutions::case,
    text::case,
    database::case,
    coroutines::case,
    grammars::case,
    writing::case,
    programs::case,
];

/// A few times what SWI-Prolog may use, so that only a hang stops here.
const BUDGET: Budget = Budget {
    inferences: 3_000_000,
    heap_bytes: 1 << 28,
    trail_entries: 1 << 22,
    choice_points: 1 << 20,
    answers: u64::MAX,
    output_bytes: 1 << 20,
};

#[test]
fn generated_goals_do_the_same_in_swi_prolog() {
    let goals = setting("MARIO_DIFFERENTIAL_GOALS", GOALS as u64) as usize;
    let seed = setting("MARIO_DIFFERENTIAL_SEED", SEED);
    let known = Known::read();
    let mut cases = generate(goals, seed);
    cases.extend(known.witnesses().map(witness));
    let Some(theirs) = run_in_swipl(&cases) else { return };
    assert_eq!(theirs.len(), cases.len(), "SWI-Prolog answered every goal");
    let mut runner = Runner::new(BUDGET);
    let mut used = vec![0; known.len()];
    let (mut undecided, mut failures, mut report) = (0, 0, String::new());
    for (case, theirs) in cases.iter().zip(&theirs) {
        let program = case.program.join("\n");
        let ours = line(&runner.run(&program, &case.goal, LIMIT));
        if theirs.ends_with("stopped") || theirs.contains("inference_limit_exceeded") {
            undecided += 1;
        } else if normalized(&ours) != normalized(theirs) {
            match known.find(&case.goal, theirs, &ours) {
                Some(entry) => used[entry] += 1,
                None => {
                    failures += 1;
                    writeln!(report, "{}:", case.theme).expect("a string takes it");
                    case.program
                        .iter()
                        .for_each(|clause| writeln!(report, "    | {clause}").expect("a string takes it"));
                    writeln!(report, "    ?- {}\n    swipl {theirs}\n    ours  {ours}", case.goal)
                        .expect("a string takes it");
                }
            }
        }
    }
    assert!(failures == 0, "{report}{failures} of {} goals differ (seed {seed})", cases.len());
    assert!(undecided * 50 < cases.len(), "{undecided} goals took too long for SWI-Prolog");
    let stale = known.unused(&used);
    assert!(stale.is_empty(), "listed, but no longer so: {stale:?}");
}

fn setting(name: &str, default: u64) -> u64 {
    env::var(name).map_or(default, |value| value.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}

fn generate(goals: usize, seed: u64) -> Vec<Case> {
    let mut generator = Generator::new(seed);
    (0..goals).map(|index| THEMES[index % THEMES.len()](&mut generator)).collect()
}

/// Witnesses may call what the database theme declares.
fn witness(goal: &str) -> Case {
    let program = vec![":- dynamic d/1.".to_owned(), "static.".to_owned()];
    Case { theme: "known", program, goal: goal.to_owned() }
}

/// What SWI-Prolog says to each case; `None` when there is no SWI-Prolog and it is not required.
fn run_in_swipl(cases: &[Case]) -> Option<Vec<String>> {
    let mut text = String::new();
    for case in cases {
        case.program.iter().for_each(|clause| writeln!(text, "| {clause}").expect("a string takes it"));
        writeln!(text, "?- {}", case.goal).expect("a string takes it");
    }
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("differential-{}.txt", std::process::id()));
    fs::write(&file, text).expect("the target directory can be written");
    let driver = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/differential/driver.pl");
    let output =
        Command::new("swipl").arg("--traditional").arg(driver).arg("--").arg(&file).arg(LIMIT.to_string()).output();
    fs::remove_file(&file).expect("the file is ours");
    let Ok(output) = output else {
        assert!(env::var("CI").is_err(), "the differential tests need SWI-Prolog (`swipl`)");
        eprintln!("skipped: the differential tests need SWI-Prolog (`swipl`)");
        return None;
    };
    assert!(output.status.success(), "the driver runs: {}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
}

/// An outcome as the driver prints it.
fn line(outcome: &Outcome) -> String {
    let mut line = format!("\"{}\" ", outcome.output.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"));
    for answer in &outcome.answers {
        line.push_str(answer);
        line.push_str(" ; ");
    }
    match &outcome.end {
        End::Exhausted => line.push_str("false"),
        End::Limit => line.push_str("..."),
        End::Stopped(why) => line.push_str(&format!("stopped: {why}")),
        End::Raised(ball) => match ball.strip_prefix("error(").and_then(formal) {
            Some(formal) => line.push_str(&format!("error {formal}")),
            None => line.push_str(&format!("throws {ball}")),
        },
    }
    line
}

/// The first argument of `error(Formal,Context)`, from the text behind the parenthesis.
fn formal(arguments: &str) -> Option<&str> {
    let (mut depth, mut quote) = (0, None);
    let mut characters = arguments.char_indices();
    while let Some((position, character)) = characters.next() {
        match (quote, character) {
            (Some(_), '\\') => {
                characters.next();
            }
            (Some(open), _) if open == character => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(character),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth -= 1,
            (None, ',') if depth == 0 => return Some(&arguments[..position]),
            _ => {}
        }
    }
    None
}

/// Without what may differ between engines: the culprit of a syntax error, the names of unbound
/// variables in what was written, and the space that SWI-Prolog writes before braces (`- {a}`), which it
/// needs to read them back, as it has dicts (7.10.5 asks for none).
fn normalized(line: &str) -> String {
    let mut text = String::new();
    let mut rest = line;
    if let Some(start) = line.find("error syntax_error(") {
        rest = &line[..start];
        text = "error syntax_error".to_owned();
    }
    let mut output = String::new();
    let mut characters = rest.chars().peekable();
    while let Some(character) = characters.next() {
        output.push(character);
        let before = &output[..output.len() - character.len_utf8()];
        // A line break is written `\n`.
        let is_first = before.ends_with("\\n") || !before.ends_with(char::is_alphanumeric);
        let starts_name = character == '_' && is_first;
        if starts_name && (characters.peek() == Some(&'G') || characters.peek().is_some_and(char::is_ascii_digit)) {
            let mut name = String::new();
            while let Some(&next) = characters.peek().filter(|next| next.is_ascii_alphanumeric()) {
                name.push(next);
                characters.next();
            }
            output.push_str(if name.len() > 1 { "" } else { &name });
        }
    }
    output.replace(" {", "{") + &text
}
