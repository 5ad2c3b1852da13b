//! The classic benchmark programs.

use crate::{benches, cpu, swipl};
use mario_prolog::{Budget, Engine, Machine, Outcome};

const PROGRAMS: [&str; 10] = ["nrev", "tak", "queens", "zebra", "crypt", "deriv", "poly", "browse", "primes", "table"];
const ROUNDS: usize = 3;

pub fn run() {
    println!("classics: CPU seconds, best of {ROUNDS}; ratio = swipl / mario");
    println!("{:<8} {:>10} {:>8} {:>8} {:>8} {:>10}", "program", "iterations", "swipl", "mario", "ratio", "M LIPS");
    for name in PROGRAMS {
        let path = benches().join("programs").join(format!("{name}.pl"));
        let text = std::fs::read_to_string(&path).expect("the program is in the repository");
        let engine = Engine::new();
        let mut loader = engine.loader();
        loader.load(name, &text);
        let program = loader.finish().expect("the program loads").program;
        let mut machine = Machine::new(&engine);
        let mut ask = |goal: &str| {
            let mut query = machine.query(&program, goal, &(), &Budget::UNLIMITED).expect("the goal is right");
            let outcome = query.next_answer();
            assert_eq!(outcome, Outcome::Answer, "{name}: {goal}");
            (query.bindings(), query.inferences())
        };
        ask("check");
        let iterations = ask("iterations(N)").0[0].1.clone();
        let goal = format!("run({iterations})");
        let mut inferences = 0;
        let ours = (0..ROUNDS).map(|_| cpu::time(|| inferences = ask(&goal).1).as_secs_f64()).fold(f64::MAX, f64::min);
        let path = path.to_string_lossy().into_owned();
        let theirs = (0..ROUNDS)
            .filter_map(|_| swipl("classics.pl", &[&path, &iterations])?["cpu_seconds"].as_f64())
            .fold(f64::MAX, f64::min);
        let speed = inferences as f64 / ours / 1e6;
        println!("{name:<8} {iterations:>10} {theirs:>8.3} {ours:>8.3} {:>8.2} {speed:>10.1}", theirs / ours);
    }
}
