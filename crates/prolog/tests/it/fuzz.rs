//! Loads mutated texts and calls the clause heads in them, and calls every predicate with random arguments. Nothing may
//! panic or exceed its time limit.
//!
//! For a long run by hand: `MARIO_FUZZ_TEXTS=100000 MARIO_FUZZ_SEED=7 cargo test --release -p mario-prolog --test it
//! fuzz`. The targets in `fuzz/` run until they are stopped.

use mario_prolog::{Budget, Engine, Loader, Machine, Outcome, Program};
use mario_testing::Random;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{env, fs};

const TEXTS: u64 = 2_000;
const SEED: u64 = 1;
const BUDGET: Budget = Budget {
    inferences: 3_000,
    heap_bytes: 4 << 20,
    trail_entries: 100_000,
    choice_points: 10_000,
    answers: 10,
    output_bytes: 100_000,
};
/// The time limit of one goal, for an unoptimised build on a busy machine. Loading a text may take four times as long.
const PATIENCE: Duration = Duration::from_secs(5);

/// Fragments to insert: they find more faults than random bytes do.
const PIECES: &[&str] = &[
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "|",
    ",",
    ".",
    ". ",
    " :- ",
    " --> ",
    "'",
    "\"",
    "`",
    "0'",
    "0x",
    "1.0e",
    "/*",
    "*/",
    "%",
    "\\",
    "\n",
    "!",
    ";",
    "->",
    "*->",
    "\\+ ",
    "X",
    "_",
    "[]",
    "{}",
    "é",
    "\u{1F600}",
    "\0",
    "- 1",
    "-1",
    "1r3",
    "99999999999999999999",
    "f(X)",
    "[H|T]",
    ":- dynamic p/1.\n",
    ":- op(700, xfx, ===).\n",
    "call(X)",
    "findall(X, G, L)",
    "catch(G, E, true)",
    "X = f(X)",
    "freeze(X, G)",
    "dif(X, Y)",
    "assertz(p(X))",
    "retract(p(X))",
    "copy_term(X, Y)",
    "setof(X, Y^G, L)",
    "throw(X)",
    "X is Y",
    "length(L, N)",
    "atom_length(A, N)",
    "b_setval(k, X)",
    "nb_setval(k, X)",
    "nb_getval(k, X)",
    "setarg(1, X, Y)",
    "format(\"~w~t~20|~p\", [X])",
    "sub_atom(A, B, C, D, E)",
    "term_to_atom(X, Y)",
    "number_codes(X, Y)",
    "op(200, xfy, p)",
    "setup_call_cleanup(true, X, Y)",
    "prolog_cut_to(X)",
];

#[test]
fn mutated_texts_do_no_harm() {
    let corpus = corpus();
    let texts = setting("MARIO_FUZZ_TEXTS", TEXTS);
    let seed = setting("MARIO_FUZZ_SEED", SEED);
    let mut random = Random::new(seed);
    let mut target = Target::new();
    let loaded = (0..texts).filter(|_| target.load_and_call(&changed(&mut random, &corpus))).count() as u64;
    assert!(loaded > texts / 4, "only {loaded} of {texts} texts could be loaded and run");
}

#[test]
fn every_predicate_accepts_any_arguments() {
    let mut random = Random::new(setting("MARIO_FUZZ_SEED", SEED));
    let mut target = Target::new();
    for (name, arity) in predicates() {
        for _ in 0..6 {
            let arguments: Vec<&str> = (0..arity).map(|_| *random.choose(ARGUMENTS)).collect();
            let call = if arity == 0 { name.clone() } else { format!("{name}({})", arguments.join(", ")) };
            let library = Arc::clone(target.engine.library());
            target.call(&library, &format!("X = f(X, Y, [a|T]), {call}"));
            target.call(&library, &call);
        }
    }
}

const ARGUMENTS: &[&str] = &[
    "X",
    "Y",
    "a",
    "[]",
    "0",
    "1",
    "-1",
    "3",
    "1.5",
    "99999999999999999999",
    "\"text\"",
    "f(a, X)",
    "[a, b]",
    "[a|T]",
    "[1, 2]",
    "a:b",
    "p/1",
    "(a :- b)",
    "foo(X)",
    "true",
    "fail",
    "[0'a, 0'b]",
    "'$VAR'(1)",
    "{a}",
    "-",
    "a-1",
    "[a-1, b-2]",
    "[X, Y]",
    "X^p(X)",
    "inf",
    "user_output",
    "library(lists)",
    "[quoted(true)]",
    "@<",
    "s(X)",
    "(a, b)",
];

/// The names and arities of the predicates that the library's text defines, except `halt`, and of the builtins written
/// in Rust. The control constructs of the machine, such as `call/1` and `catch/3`, are in neither.
pub fn predicates() -> Vec<(String, usize)> {
    let mut found = Vec::new();
    for path in files(&source("src/library"), "pl") {
        let text = fs::read_to_string(&path).expect("the library can be read");
        for line in
            text.lines().filter(|line| line.starts_with(|first: char| first.is_ascii_lowercase() || first == '\''))
        {
            found.extend(head(line));
        }
    }
    found.extend(builtins());
    // The helper predicates, which no text can call.
    found.retain(|(name, _)| !name.starts_with("'$"));
    found.sort();
    found.dedup();
    assert!(found.len() > 250, "{} predicates are found", found.len());
    found.retain(|(name, _)| name != "halt");
    found
}

/// The names, quoted, and arities of the builtins written in Rust.
pub fn builtins() -> Vec<(String, usize)> {
    let mut found = Vec::new();
    for path in files(&source("src/builtins"), "rs") {
        let text = fs::read_to_string(&path).expect("the builtins can be read");
        found.extend(rows(&text));
    }
    found
}

/// The predicate of a clause, from its first line; `None` if the head does not end in that line.
pub fn head(line: &str) -> Option<(String, usize)> {
    let name = &line[..line.find(['(', ' ', '.'])?];
    let Some(arguments) = line[name.len()..].strip_prefix('(') else { return Some((name.to_owned(), 0)) };
    let mut depth = 0;
    let mut arity = 1;
    for character in arguments.chars() {
        match character {
            '(' | '[' | '{' => depth += 1,
            ')' if depth == 0 => return Some((name.to_owned(), arity)),
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => arity += 1,
            _ => {}
        }
    }
    None
}

/// The predicates in the rows of builtin tables, `det("name", Code::D2(…))` and `nondet("name", 2, …)`; a line may have
/// several.
fn rows(text: &str) -> Vec<(String, usize)> {
    text.split("det(\"").skip(1).filter_map(row).collect()
}

/// The predicate of a row, from the text that starts with its name.
fn row(rest: &str) -> Option<(String, usize)> {
    let (name, rest) = rest.split_once("\", ")?;
    let rest = rest.strip_prefix("Code::D").unwrap_or(rest);
    let arity = rest.chars().next()?.to_digit(10)?;
    Some((format!("'{}'", name.replace("\\\\", "\\").replace('\\', "\\\\")), arity as usize))
}

/// On a panic, prints the text or goal that was running.
struct PanicNote<'t>(&'static str, &'t str);

impl Drop for PanicNote<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}: {}", self.0, self.1);
        }
    }
}

struct Target {
    engine: Engine,
    machine: Machine,
}

impl Target {
    fn new() -> Target {
        let engine = Engine::new();
        let machine = Machine::new(&engine);
        Target { engine, machine }
    }

    /// Loads a text, and runs as goals the start of each line, up to `:-`, and `case`, which [`as_program`] defines.
    /// Returns whether the text could be loaded; if not, the goals run with the library alone.
    fn load_and_call(&mut self, text: &str) -> bool {
        let _note = PanicNote("the text", text);
        let start = Instant::now();
        let mut loader: Loader = self.engine.loader();
        loader.load("changed.pl", text);
        let loaded = loader.finish();
        assert!(start.elapsed() < PATIENCE * 4, "loading took {:?}:\n{text}", start.elapsed());
        let is_loaded = loaded.is_ok();
        let program = loaded.map_or_else(|_| Arc::clone(self.engine.library()), |loaded| loaded.program);
        let mut goals: Vec<&str> = text.lines().filter_map(|line| line.split(":-").next()).collect();
        goals.push("case");
        goals.dedup();
        goals.iter().for_each(|goal| self.call(&program, goal));
        is_loaded
    }

    /// Runs a goal for all answers that the budget allows. A text that is not a goal is ignored.
    fn call(&mut self, program: &Arc<Program>, goal: &str) {
        let _note = PanicNote("the goal", goal);
        let start = Instant::now();
        if let Ok(mut query) = self.machine.query(program, goal, &(), &BUDGET) {
            while query.next_answer() == Outcome::Answer {
                query.bindings();
            }
        }
        assert!(start.elapsed() < PATIENCE, "took {:?}: {goal}", start.elapsed());
    }
}

/// Consecutive clauses of one text of the corpus, with up to three mutations.
fn changed(random: &mut Random, corpus: &[String]) -> String {
    let clauses: Vec<&str> = random.choose(corpus).split_inclusive(".\n").collect();
    let start = random.below(clauses.len());
    let until = (start + 1 + random.below(20)).min(clauses.len());
    let mut characters: Vec<char> = clauses[start..until].concat().chars().collect();
    for _ in 0..random.below(4) {
        let at = random.below(characters.len() + 1);
        let until = (at + random.below(12)).min(characters.len());
        match random.below(5) {
            0 => drop(characters.drain(at..until)),
            1 => {
                let piece: Vec<char> = random.choose(PIECES).chars().collect();
                characters.splice(at..at, piece);
            }
            2 => {
                let piece: Vec<char> = random.choose(PIECES).chars().collect();
                characters.splice(at..until, piece);
            }
            3 => {
                let copy = characters[at..until].to_vec();
                let to = random.below(characters.len() + 1);
                characters.splice(to..to, copy);
            }
            _ => {
                let other: Vec<char> = random.choose(corpus).chars().collect();
                let from = random.below(other.len());
                let piece = other[from..(from + 40).min(other.len())].to_vec();
                characters.splice(at..at, piece);
            }
        }
    }
    characters.into_iter().collect()
}

/// The texts to mutate: the library, the shipped policies and their tests, and the conformity cases.
fn corpus() -> Vec<String> {
    let mut paths = files(&source("src/library"), "pl");
    paths.extend(files(&source("../../policies"), "pl"));
    let text = |path: &PathBuf| fs::read_to_string(path).expect("the corpus is text");
    let mut corpus: Vec<String> = paths.iter().map(text).collect();
    corpus.extend(files(&source("tests/conformity"), "cases").iter().map(|path| as_program(&text(path))));
    corpus
}

/// A program with the program texts of a case file, and the first lines of its goals as bodies of clauses of `case`.
fn as_program(cases: &str) -> String {
    let mut program = String::new();
    for line in cases.lines() {
        if let Some(clause) = line.strip_prefix("| ") {
            program.push_str(clause);
        } else if let Some(goal) = line.strip_prefix("?- ") {
            program.push_str("case :- ");
            program.push_str(goal);
        } else {
            continue;
        }
        program.push('\n');
    }
    program
}

/// The texts of the files of this crate below a directory with this extension.
pub fn source_files(path: &str, extension: &str) -> Vec<String> {
    let paths = files(&source(path), extension);
    paths.iter().map(|path| fs::read_to_string(path).expect("it is text")).collect()
}

fn source(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// All files below a directory with this extension, sorted by path.
fn files(directory: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let entries = fs::read_dir(directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    for path in entries.map(|entry| entry.expect("its entries can be read").path()) {
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|other| other == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}

pub fn setting(name: &str, default: u64) -> u64 {
    env::var(name).map_or(default, |value| value.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}
