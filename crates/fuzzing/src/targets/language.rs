//! Programs and goals of the policy language, and recorded knowledge bases.

use std::cell::RefCell;
use std::sync::{Arc, LazyLock};

use mario_policy::RecordedSituation;
use mario_prolog::{Budget, Engine, Machine, Outcome as Found, Problem};

use super::{Outcome, Target, files};

static ENGINE: LazyLock<Engine> = LazyLock::new(Engine::new);

/// The budget of [`PROGRAM`]: small, so that every input is fast.
const BUDGET: Budget = Budget {
    inferences: 2_000,
    heap_bytes: 1 << 20,
    trail_entries: 10_000,
    choice_points: 1_000,
    answers: 5,
    output_bytes: 10_000,
};

const PIECES: &[&str] =
    &[" :- ", ". ", "(", ")", "[H|T]", "X", "0'", "/*", "\\+ ", "é", "call(X)", "99999999999999999999"];

/// Loads a text as a program. The positions of errors and warnings must be inside the text.
pub(super) const READER: Target = Target {
    name: "reader",
    reads: "a program of the policy language",
    run: reader,
    seeds: || [files("policies", ".pl"), files("examples", ".pl")].concat(),
    pieces: PIECES,
    inputs: 200,
};

fn reader(bytes: &[u8]) -> Outcome {
    let text = String::from_utf8_lossy(bytes);
    let mut loader = ENGINE.loader();
    loader.budget(Budget { inferences: 10_000, heap_bytes: 1 << 22, output_bytes: 1 << 16, ..Budget::default() });
    loader.load("fuzz.pl", &text);
    let finished = loader.finish();
    let outcome = Outcome::of(finished.is_ok());
    let problems: Vec<Problem> = match finished {
        Ok(loaded) => loaded.warnings,
        Err(error) => error.errors.into_iter().chain(error.warnings).collect(),
    };
    for problem in problems {
        assert!(text.get(problem.span.clone()).is_some(), "{problem:?} points into a character or beyond the text");
    }
    outcome
}

/// Runs a text as a goal, for at most five answers. Afterwards, the machine must be usable for the next query.
pub(super) const MACHINE: Target =
    Target { name: "machine", reads: "a goal", run: machine, seeds: goals, pieces: PIECES, inputs: 2_000 };

thread_local! {
    static REUSED: RefCell<Machine> = RefCell::new(Machine::new(&ENGINE));
}

fn machine(bytes: &[u8]) -> Outcome {
    let goal = String::from_utf8_lossy(bytes);
    REUSED.with_borrow_mut(|machine| {
        let budget = Budget { inferences: 20_000, heap_bytes: 1 << 23, output_bytes: 1 << 16, ..Budget::default() };
        let outcome = match machine.query(ENGINE.library(), &goal, &(), &budget) {
            Ok(mut query) => {
                for _ in 0..5 {
                    if query.next_answer() != Found::Answer {
                        break;
                    }
                    query.bindings();
                }
                Outcome::Accepted
            }
            Err(_) => Outcome::Rejected,
        };
        let mut query = machine.query(ENGINE.library(), "X is 6 * 7", &(), &budget).expect("the goal is right");
        assert_eq!(query.next_answer(), Found::Answer);
        outcome
    })
}

/// The goals of the conformity tests that the machine accepts.
fn goals() -> Vec<Vec<u8>> {
    let cases = files("crates/prolog/tests/conformity", ".cases");
    let texts = cases.iter().map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    let goals: Vec<Vec<u8>> = texts
        .flat_map(|text| {
            let goals = text.lines().filter_map(|line| line.strip_prefix("?- "));
            goals.map(|goal| goal.as_bytes().to_vec()).collect::<Vec<_>>()
        })
        .collect();
    goals.into_iter().filter(|goal| machine(goal) == Outcome::Accepted).collect()
}

/// Runs the first line of a text as a goal, with the rest as its program, or without a program if the rest has errors.
pub(super) const PROGRAM: Target = Target {
    name: "program",
    reads: "a goal, and the program that it runs in",
    run: program,
    seeds: || {
        let programs = files("policies", ".pl").into_iter();
        programs.map(|program| [&b"operation(Operation, Instance, Target)\n"[..], &program].concat()).collect()
    },
    pieces: PIECES,
    inputs: 200,
};

fn program(bytes: &[u8]) -> Outcome {
    let text = String::from_utf8_lossy(bytes);
    let (goal, program) = text.split_once('\n').unwrap_or((&text, ""));
    let mut loader = ENGINE.loader();
    loader.budget(BUDGET);
    loader.load("fuzz.pl", program);
    let program = loader.finish().map_or_else(|_| Arc::clone(ENGINE.library()), |loaded| loaded.program);
    let mut machine = Machine::new(&ENGINE);
    match machine.query(&program, goal, &(), &BUDGET) {
        Ok(mut query) => {
            while query.next_answer() == Found::Answer {
                query.bindings();
            }
            Outcome::Accepted
        }
        Err(_) => Outcome::Rejected,
    }
}

/// Reads a line as the recorded knowledge base of an agent. The position of an error must be inside the line.
pub(super) const KNOWLEDGE_BASE: Target = Target {
    name: "knowledge_base",
    reads: "a recorded knowledge base of an agent",
    run: knowledge_base,
    seeds: || {
        let minimal =
            r#"{"si": 1, "app": "shop", "node": "n1", "free_hw": {"n1": 3, "n2": 4}, "requests": [["n2", 5, 2.5]]}"#;
        let full = r#"{"si": "i", "app": 2, "node": 7, "free_hw": {"7": 3.5}, "requests": [[1, 0, 0]], "refused": [["migrate", "i", 1]],
            "earlier": [[1, "n2", 5, 2]], "done": [[2, "migrate", "n2"]], "age": 4, "asleep": true, "free": {"units": 10, "memory_mb": 512}}"#;
        vec![minimal.as_bytes().to_vec(), full.replace('\n', " ").into_bytes()]
    },
    pieces: &["null", "true", "\"node\"", "\"free_hw\"", "{}", "[]", "\\u0000", "1e400"],
    inputs: 4_000,
};

fn knowledge_base(bytes: &[u8]) -> Outcome {
    let line = String::from_utf8_lossy(bytes);
    match RecordedSituation::parse(ENGINE.symbols(), &line) {
        Ok(_) => Outcome::Accepted,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            assert!(error.column.is_none_or(|column| column <= line.len() + 1), "{error:?} is beyond the line");
            Outcome::Rejected
        }
    }
}
