//! Runs goals in our engine. Each goal and its program are given as text.

use crate::conformity::{End, Outcome};
use mario_prolog::{Budget, Engine, Machine, Outcome as Answer, Program, Query, Sink};
use std::sync::{Arc, Mutex};

/// A budget that suffices for every test goal that should terminate.
pub const BUDGET: Budget = Budget {
    inferences: 30_000_000,
    heap_bytes: 1 << 29,
    trail_entries: 1 << 24,
    choice_points: 1 << 22,
    answers: u64::MAX,
    output_bytes: 1 << 20,
};

/// A sink whose contents the test can read.
#[derive(Clone, Default)]
pub struct Written(Arc<Mutex<String>>);

impl Written {
    pub fn take(&self) -> String {
        std::mem::take(&mut *self.0.lock().expect("no writer panicked"))
    }
}

impl Sink for Written {
    fn write(&mut self, text: &str) {
        self.0.lock().expect("no writer panicked").push_str(text);
    }
}

/// An engine and a machine that are reused from goal to goal.
pub struct Runner {
    engine: Engine,
    machine: Machine,
    written: Written,
    budget: Budget,
}

impl Runner {
    pub fn new(budget: Budget) -> Runner {
        let engine = Engine::new();
        let written = Written::default();
        let mut machine = Machine::new(&engine);
        machine.set_sink(Some(Box::new(written.clone())));
        Runner { engine, machine, written, budget }
    }

    pub fn load(&self, text: &str) -> Result<Arc<Program>, String> {
        if text.is_empty() {
            return Ok(Arc::clone(self.engine.library()));
        }
        let mut loader = self.engine.loader();
        loader.load("case.pl", text);
        loader.finish().map(|loaded| loaded.program).map_err(|error| error.to_string())
    }

    /// Loads `program`, then asks for at most `limit` answers of `goal`. The end is [`End::Stopped`] if the program
    /// cannot be loaded, and [`End::Raised`] with the syntax error if the goal cannot be parsed.
    pub fn run(&mut self, program: &str, goal: &str, limit: usize) -> Outcome {
        let nothing = |end| Outcome { names: Vec::new(), answers: Vec::new(), end, output: String::new() };
        let program = match self.load(program) {
            Ok(program) => program,
            Err(error) => return nothing(End::Stopped(format!("the program does not load: {error}"))),
        };
        self.written.take();
        let mut query = match self.machine.query(&program, goal, &(), &self.budget) {
            Ok(query) => query,
            Err(error) => {
                let ball = format!("error(syntax_error({}),_0)", error.culprit());
                return nothing(End::Raised(ball));
            }
        };
        let names: Vec<String> =
            query.variable_names().filter(|name| !name.starts_with('_')).map(str::to_owned).collect();
        let mut answers = Vec::new();
        let end = loop {
            if answers.len() == limit {
                break End::Limit;
            }
            match query.next_answer() {
                Answer::Answer => match query.comparable_answer(&names) {
                    Some(answer) => answers.push(answer),
                    None => break End::Stopped("the answer is too large to be written".to_owned()),
                },
                other => break end_of(&mut query, other),
            }
        };
        Outcome { names, answers, end, output: self.written.take() }
    }
}

impl Runner {
    /// Like [`Runner::run`], but compiles the goal as the body of a clause, if it can be one. Otherwise, it is run as a
    /// query.
    pub fn run_compiled(&mut self, program: &str, goal: &str, limit: usize) -> Outcome {
        let names: Vec<String> = match self.machine.query(self.engine.library(), goal, &(), &self.budget) {
            Ok(query) => query.variable_names().filter(|name| !name.starts_with('_')).map(str::to_owned).collect(),
            Err(_) => return self.run(program, goal, limit),
        };
        let arguments = if names.is_empty() { String::new() } else { format!("({})", names.join(", ")) };
        let body = goal.trim().trim_end_matches('.');
        let clause = format!("{program}\n'compiled case'{arguments} :-\n{body}\n.");
        // Some goals cannot be clause bodies, such as a conjunction with a number. The flag `occurs_check` does not
        // affect compiled unifications.
        if self.load(&clause).is_err() || goal.contains("occurs_check") {
            return self.run(program, goal, limit);
        }
        self.run(&clause, &format!("'compiled case'{arguments}"), limit)
    }
}

fn end_of(query: &mut Query<'_>, outcome: Answer) -> End {
    match outcome {
        Answer::Answer | Answer::NoMore => End::Exhausted,
        Answer::Exception(exception) => match query.comparable_ball(&exception) {
            Some(ball) => End::Raised(ball),
            None => End::Stopped("the ball is too large to be written".to_owned()),
        },
        Answer::Exhausted(resource) => End::Stopped(format!("out of {resource}")),
        Answer::Halted(status) => End::Stopped(format!("halted with {status}")),
    }
}

#[test]
fn a_library_at_run_time_is_named_by_an_atom_or_a_path_of_two_atoms() {
    let engine = Engine::new();
    let program = engine.loader().finish().map_err(|error| error.to_string()).expect("an empty program").program;
    let holds = |goal: &str| {
        let mut machine = Machine::new(&engine);
        let mut query = machine.query(&program, goal, &(), &Budget::default()).expect("a goal");
        query.next_answer() == Answer::Answer
    };
    for library in ["lists", "dcg/basics"] {
        assert!(holds(&format!("use_module(library({library})), ensure_loaded(library({library}))")), "{library}");
    }
    for wrong in ["dcg/L", "L/basics", "dcg/basics/L", "L", "'dcg/'/basics", "dcg/'basics/'", "''/lists"] {
        let caught =
            format!("L = [a, b], catch(use_module(library({wrong})), error(existence_error(source_sink, _), _), true)");
        assert!(holds(&caught) && !holds(&format!("L = [a], catch(use_module(library({wrong})), _, fail)")), "{wrong}");
    }
}
