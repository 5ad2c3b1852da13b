//! Differential test: runs the same generated goals in our engine and in SWI-Prolog, and compares output, answers and
//! errors as text.
//!
//! Start at [`generated_goals_behave_as_in_swi_prolog`]. Intended disagreements are listed in
//! `tests/differential/known.txt` with the reason for our behaviour. The test fails on a disagreement that is not
//! listed, and on a listed one that no longer occurs.
//!
//! For a long run by hand:
//! `MARIO_DIFFERENTIAL_GOALS=100000 MARIO_DIFFERENTIAL_SEED=7 cargo test -p mario-prolog --test it differential`.

mod arithmetic;
mod control;
mod coroutines;
mod database;
mod facts;
mod generator;
mod grammars;
mod known;
mod libraries;
mod lists;
mod programs;
mod rules;
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
/// The maximum number of answers that are asked for.
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

/// The number of goals of [`THEMES`] that are run with and without eager garbage collection.
const GOALS_TWICE: usize = 3_000;

/// Ten times the inferences that SWI-Prolog gets for a goal, so that a goal that ends there also ends here.
const BUDGET: Budget = Budget {
    inferences: 3_000_000,
    heap_bytes: 1 << 28,
    trail_entries: 1 << 22,
    choice_points: 1 << 20,
    answers: u64::MAX,
    output_bytes: 1 << 20,
};

#[test]
fn generated_goals_behave_as_in_swi_prolog() {
    let known = Known::read();
    let mut cases = generate(THEMES, GOALS);
    cases.extend(known.witnesses().map(witness));
    let Some(used) = compare(&cases, &known) else { return };
    let stale = known.unused(&used);
    assert!(stale.is_empty(), "listed, but no longer so: {stale:?}");
}

/// In many of these goals, clauses are added and removed while a choice point on their predicate is open.
#[test]
fn generated_changes_of_facts_behave_as_in_swi_prolog() {
    compare(&generate(&[facts::case], GOALS / 4), &Known::read());
}

#[test]
fn generated_rules_behave_as_in_swi_prolog() {
    compare(&generate(&[rules::case], GOALS / 3), &Known::read());
}

#[test]
fn libraries_behave_as_in_swi_prolog() {
    compare(&generate(&[libraries::case], GOALS / 3), &Known::read());
}

/// Runs the cases in both engines, and asserts that the outcomes differ only in known disagreements. Cases that the
/// driver reports as `stopped`, or whose goal caught the error of the driver's inference limit, are not compared; they
/// must be fewer than 2 %. Returns how often each known disagreement occurred; `None` if SWI-Prolog is not installed.
fn compare(cases: &[Case], known: &Known) -> Option<Vec<usize>> {
    let theirs = run_in_swipl(cases)?;
    assert_eq!(theirs.len(), cases.len(), "SWI-Prolog answered every goal");
    let mut runner = Runner::new(BUDGET);
    let mut used = vec![0; known.len()];
    let (mut undecided, mut failures, mut report) = (0, 0, String::new());
    for (case, theirs) in cases.iter().zip(&theirs) {
        let program = case.program.join("\n");
        let ours = line(&runner.run(&program, &case.goal, LIMIT));
        if theirs.ends_with("stopped") || theirs.contains("inference_limit_exceeded") {
            undecided += 1;
        } else if !is_same(&case.goal, &normalized(&ours), &normalized(theirs)) {
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
    assert!(failures == 0, "{report}{failures} of {} goals differ (seed {})", cases.len(), seed());
    assert!(undecided * 50 < cases.len(), "{undecided} goals took too long for SWI-Prolog");
    Some(used)
}

fn seed() -> u64 {
    setting("MARIO_DIFFERENTIAL_SEED", SEED)
}

#[test]
fn generated_goals_behave_the_same_with_constant_garbage_collection() {
    let mut cases = generate(THEMES, GOALS_TWICE);
    cases.extend(generate(&[facts::case, rules::case, libraries::case], GOALS_TWICE / 4));
    let run =
        |runner: &mut Runner, case: &Case| normalized(&line(&runner.run(&case.program.join("\n"), &case.goal, LIMIT)));
    let mut runner = Runner::new(BUDGET);
    let before: Vec<String> = cases.iter().map(|case| run(&mut runner, case)).collect();
    mario_prolog::collect_eagerly();
    for (case, before) in cases.iter().zip(&before) {
        // Goals that were stopped are not compared: one that exhausted its memory budget may now succeed, because
        // garbage is collected earlier.
        if !before.contains("stopped: ") {
            assert_eq!(run(&mut runner, case), *before, "{:?} ?- {}", case.program, case.goal);
        }
    }
}

fn setting(name: &str, default: u64) -> u64 {
    env::var(name).map_or(default, |value| value.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}

fn generate(themes: &[fn(&mut Generator) -> Case], goals: usize) -> Vec<Case> {
    let goals = setting("MARIO_DIFFERENTIAL_GOALS", goals as u64) as usize;
    let mut generator = Generator::new(seed());
    (0..goals).map(|index| themes[index % themes.len()](&mut generator)).collect()
}

/// The case of a goal in the list of known disagreements, with the predicates that some of these goals need.
fn witness(goal: &str) -> Case {
    let program = vec![":- dynamic d/1.".to_owned(), "static.".to_owned()];
    Case { theme: "known", program, goal: goal.to_owned() }
}

/// The line that SWI-Prolog's driver prints for each case. If SWI-Prolog is not installed, returns `None`, or panics if
/// `CI` is set.
fn run_in_swipl(cases: &[Case]) -> Option<Vec<String>> {
    let mut text = String::new();
    for case in cases {
        case.program.iter().for_each(|clause| writeln!(text, "| {clause}").expect("a string takes it"));
        writeln!(text, "?- {}", case.goal).expect("a string takes it");
    }
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!(
        "differential-{}-{}.txt",
        cases[0].theme,
        std::process::id()
    ));
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

/// An outcome in the format that the driver prints.
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

/// The first argument of `error(Formal,Context)`, from the text after the parenthesis.
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

/// Whether two outcomes agree. If the goal uses a function such as `sin`, two floats also agree if they are adjacent,
/// because SWI-Prolog uses the functions of the C library, which differ between machines.
fn is_same(goal: &str, ours: &str, theirs: &str) -> bool {
    const FUNCTIONS: [&str; 7] = ["sin", "cos", "tan", "exp", "log", "**", "^"];
    let may_differ = FUNCTIONS.iter().any(|function| goal.contains(function));
    ours == theirs || may_differ && is_same_but_for_last_digits(ours, theirs)
}

fn is_same_but_for_last_digits(ours: &str, theirs: &str) -> bool {
    let is_boundary = |character: char| !(character.is_ascii_alphanumeric() || ".+-".contains(character));
    let (ours, theirs) = (ours.split(is_boundary), theirs.split(is_boundary));
    let is_near = |ours: &str, theirs: &str| match (ours.parse::<f64>(), theirs.parse::<f64>()) {
        (Ok(a), Ok(b)) => ours.contains('.') && theirs.contains('.') && a.to_bits().abs_diff(b.to_bits()) <= 1,
        _ => false,
    };
    ours.clone().count() == theirs.clone().count() && ours.zip(theirs).all(|(a, b)| a == b || is_near(a, b))
}

#[test]
fn only_the_last_digit_of_a_float_may_differ() {
    for (ours, theirs, expected) in [
        ("[1385.4472660972242] ; false", "[1385.4472660972244] ; false", true),
        ("[1385.447266097224] ; false", "[1385.4472660972244] ; false", false),
        ("[0.1] ; false", "[0.2] ; false", false),
        ("[1] ; false", "[2] ; false", false),
        ("[1.0] ; false", "[1.0] ; error", false),
        ("[-1.5e300]", "[-1.5000000000000002e300]", true),
    ] {
        assert_eq!(is_same_but_for_last_digits(ours, theirs), expected, "{ours} {theirs}");
    }
}

/// Removes the parts that may differ between engines: the culprit of a syntax error, generated names of unbound
/// variables such as `_G12` and `_345`, and the space before braces (`- {a}`), which SWI-Prolog needs because of its
/// dicts, and which ISO 7.10.5 does not require. The names `_0` to `_9`, which number the variables of an answer, stay.
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
        // A line break appears as `\n`.
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
