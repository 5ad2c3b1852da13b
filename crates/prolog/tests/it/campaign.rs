//! Stress test of budgets: calls predicates, and runs random goals, with large, deep, shared and cyclic arguments, and
//! checks that the budget bounds their time and memory.
//!
//! Goals with a small budget must end within a fixed CPU time. Goals that try to use much memory run in a separate
//! process, whose peak resident memory is checked.
//!
//! For a long run by hand, in which one goal in 500 has large arguments:
//! `MARIO_CAMPAIGN_GOALS=1000000 MARIO_CAMPAIGN_LARGE=500 MARIO_CAMPAIGN_SEED=7 cargo test --release -p mario-prolog
//! --test it campaign::random -- --nocapture`.

use crate::fuzz::{builtins, predicates, setting};
use mario_prolog::{Budget, Detail, Engine, Machine, Outcome, Program};
use mario_testing::Random;
use std::fs;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The number of random goals in a test run, unless `MARIO_CAMPAIGN_GOALS` is set.
const GOALS: u64 = 10_000;
const SEED: u64 = 1;

/// The number of goals for each predicate, each with a large argument that is chosen at random.
const KINDS: usize = 8;

/// A budget that suffices to build the arguments.
const BUDGET: Budget = Budget {
    inferences: 30_000,
    heap_bytes: 8 << 20,
    trail_entries: 1_000_000,
    choice_points: 100_000,
    answers: 3,
    output_bytes: 1 << 20,
};
/// The budget of goals with small arguments, in long runs by hand.
const SMALL_BUDGET: Budget = Budget { inferences: 1_000, ..BUDGET };
/// The CPU time that a goal may take, with either budget: 10 µs per inference of [`BUDGET`]. The cheapest inference
/// takes a few nanoseconds in an optimised build. The limit is generous, because machines that run tests may be busy
/// and slow.
const TIME_MAX: Duration = Duration::from_millis(300);
/// The resident memory that a process may use in addition to 1.2 times the heap budget: its code, the library, and the
/// engine's own tables.
const CONSTANT_BYTES: u64 = 64 << 20;
const MEMORY_BUDGET: Budget = Budget { inferences: 10_000_000, heap_bytes: 64 << 20, output_bytes: 1 << 26, ..BUDGET };

/// Goals that build large arguments. `%` is replaced by the number of the argument, so that each argument has its own
/// variables.
pub const LARGE: &[&str] = &[
    "numlist(1, 3000, A%)",
    "length(A%, 3000)",
    "numlist(1, 3000, B%), atomic_list_concat(B%, ',', A%)",
    "numlist(1, 3000, B%), atomic_list_concat(B%, C%), atom_string(C%, A%)",
    "numlist(1, 3000, B%), atomic_list_concat(B%, C%), atom_codes(C%, A%)",
    "A% is 7 ** 20000",
    "A% is 3 ** 30000 + 1",
    "functor(A%, f, 3000)",
    "numlist(1, 3000, B%), A% =.. [g|B%]",
    "numlist(1, 2000, B%), foldl([X, Y, Y + X]>>true, B%, 0, A%)",
    "numlist(1, 2000, B%), foldl([X, Y, X - Y]>>true, B%, 0, A%)",
    "numlist(1, 2000, B%), foldl([_, Y, s(Y)]>>true, B%, z, A%)",
    "A% = c(A%, x)",
    "A% = [a, b|A%]",
    "A% = d(x, B%, A%)",
    "numlist(1, 40, B%), foldl([_, Y, h(Y, Y)]>>true, B%, z, A%)",
    "length(B%, 1000), maplist([E, E - E]>>true, B%, A%)",
    "length(B%, 1000), maplist([E]>>freeze(E, true), B%), A% = B%",
    "numlist(1, 1000, B%), maplist([E, E = E]>>true, B%, A%)",
    "length(B%, 1000), maplist(=(\"~w~t\"), B%), atomic_list_concat(B%, A%)",
];

/// Small arguments.
pub const SMALL: &[&str] =
    &["_", "X", "Y", "a", "[]", "0", "1", "2", "-1", "1.5", "\"text\"", "f(X)", "[X]", "p/1", "true", "@<", "p(X)"];

/// A predicate `@name` for each helper `$name` that is written in Rust, because goals cannot call the helper itself.
fn helpers() -> String {
    let helpers = builtins().into_iter().filter(|(name, _)| name.starts_with("'$"));
    let clause = |(name, arity): (String, usize)| {
        let variables: Vec<String> = (0..arity).map(|index| format!("A{index}")).collect();
        let arguments = if arity == 0 { String::new() } else { format!("({})", variables.join(", ")) };
        format!("{}{arguments} :- {name}{arguments}.\n", name.replace('$', "@"))
    };
    helpers.map(clause).collect()
}

pub struct Campaign {
    engine: Engine,
    machine: Machine,
    program: Arc<Program>,
    judged: u64,
}

/// The resources that a goal used.
pub struct Usage {
    pub time: Duration,
    pub inferences: u64,
    pub outcome: Outcome,
}

impl Campaign {
    pub fn new() -> Campaign {
        let engine = Engine::new();
        let mut loader = engine.loader();
        loader.load_companion("helpers.pl", &helpers());
        loader.load(
            "campaign.pl",
            ":- dynamic p/1.\np(1). p(a). p(X) :- p(X, []).\np(_, []).\n
            nested(f(g(h(i(j(k(a), 1), 1), 1), 1), c)).\nloop :- loop.\nleft :- left, true.\nleft.\nsolved(a).\nsolved(X) :- solved(Y), ( Y = a -> X = a ; X = b ).\n
            count(0) :- !.\ncount(N) :- M is N - 1, count(M).\n",
        );
        let program = loader.finish().map_or_else(|error| panic!("{error}"), |loaded| loaded.program);
        let machine = Machine::new(&engine);
        Campaign { engine, machine, program, judged: 0 }
    }

    /// Runs a goal until its query ends; `None` if the text is not a goal.
    pub fn run(&mut self, goal: &str, budget: &Budget) -> Option<Usage> {
        let start = Instant::now();
        let mut query = self.machine.query(&self.program, goal, &(), budget).ok()?;
        let outcome = loop {
            match query.next_answer() {
                Outcome::Answer => {}
                outcome => break outcome,
            }
        };
        let inferences = query.inferences();
        drop(query);
        Some(Usage { time: start.elapsed(), inferences, outcome })
    }

    /// Runs a goal; if it takes longer than [`TIME_MAX`], runs it again, and returns a message if its CPU time exceeds
    /// [`TIME_MAX`]. Asserts that the machine is still usable after the first run; with [`SMALL_BUDGET`], only after
    /// every 16th goal.
    fn judge(&mut self, goal: &str, budget: &Budget) -> Option<String> {
        let usage = self.run(goal, budget)?;
        self.judged += 1;
        if budget.inferences > SMALL_BUDGET.inferences || self.judged.is_multiple_of(16) {
            self.is_unharmed(goal);
        }
        if usage.time <= TIME_MAX {
            return None;
        }
        // Measure again by CPU time: the machine may have been busy.
        let start = processor_time();
        let again = self.run(goal, budget)?;
        let time = processor_time().saturating_sub(start);
        (time > TIME_MAX).then(|| format!("{time:?} for {} inferences: {goal}", again.inferences))
    }

    /// Asserts that the machine still answers a simple query.
    fn is_unharmed(&mut self, after: &str) {
        let still = "findall(X, member(X, [1, 2]), [1, 2]), catch(throw(b), b, true)";
        let mut query = self.machine.query(self.engine.library(), still, &(), &BUDGET).expect("it can be read");
        assert_eq!(query.next_answer(), Outcome::Answer, "after {after}");
    }
}

/// The CPU time of this thread if the system reports it, otherwise wall-clock time.
fn processor_time() -> Duration {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = text.and_then(|text| text.split(' ').next().and_then(|number| number.parse().ok()));
    match nanoseconds {
        Some(nanoseconds) => Duration::from_nanos(nanoseconds),
        None => {
            static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
            START.get_or_init(Instant::now).elapsed()
        }
    }
}

/// A goal that builds the arguments once, and repeats a call until the budget is exhausted.
fn repeated(setup: &[String], call: &str) -> String {
    let setup = setup.join(", ");
    format!("{setup}, repeat, \\+ \\+ catch(findnsols(3, x, {call}, _), _, true), fail")
}

pub fn call_of(name: &str, arguments: &[String]) -> String {
    if arguments.is_empty() { name.to_owned() } else { format!("{name}({})", arguments.join(", ")) }
}

/// Whether a predicate ends the query (`halt`) or succeeds forever (`repeat`).
pub fn is_out_of_scope(name: &str) -> bool {
    matches!(name.trim_matches('\''), "halt" | "repeat")
}

#[test]
fn every_predicate_is_charged_for_large_arguments() {
    let mut campaign = Campaign::new();
    let mut random = Random::new(setting("MARIO_CAMPAIGN_SEED", SEED));
    let mut wrong = Vec::new();
    for (name, arity) in predicates().into_iter().filter(|(name, arity)| *arity > 0 && !is_out_of_scope(name)) {
        // A large argument in one position, and a second copy of it or a small argument in each of the others.
        for index in 0..KINDS {
            let large = *random.choose(LARGE);
            let place = (index + random.below(arity)) % arity;
            let setup = vec![large.replace('%', "0"), large.replace('%', "1")];
            let arguments: Vec<String> = (0..arity)
                .map(|argument| {
                    if argument == place {
                        "A0".to_owned()
                    } else if random.one_in(3) {
                        "A1".to_owned()
                    } else {
                        (*random.choose(SMALL)).to_owned()
                    }
                })
                .collect();
            wrong.extend(campaign.judge(&repeated(&setup, &call_of(&name, &arguments)), &BUDGET));
        }
    }
    assert!(wrong.is_empty(), "{} goals take more than they are charged:\n{}", wrong.len(), wrong.join("\n"));
}

/// A goal that builds one to three large arguments, then makes one to four calls of random predicates, some of them
/// within `catch`, `findall`, `forall`, a negation or a disjunction. The arguments of these calls are the large
/// arguments, terms from which those were built, variables that the calls share, and small terms.
fn random_goal(random: &mut Random, predicates: &[(String, usize)]) -> String {
    let mut parts = Vec::new();
    for argument in 0..=random.below(3) {
        parts.push(random.choose(LARGE).replace('%', &argument.to_string()));
    }
    let known = parts.len();
    for _ in 0..=random.below(4) {
        let (name, arity) = random.choose(predicates);
        let arguments: Vec<String> = (0..*arity)
            .map(|_| match random.below(4) {
                0 => format!("A{}", random.below(known)),
                1 => format!("V{}", random.below(3)),
                2 => format!("B{}", random.below(known)),
                _ => (*random.choose(SMALL)).to_owned(),
            })
            .collect();
        let call = call_of(name, &arguments);
        parts.push(match random.below(8) {
            0 => format!("catch({call}, V0, true)"),
            1 => format!("findall(V1, {call}, V2)"),
            2 => format!("\\+ {call}"),
            3 => format!("( {call} ; true )"),
            4 => format!("forall(member(V0, [1, 2, 3]), {call})"),
            _ => call,
        });
    }
    parts.join(", ")
}

/// The goal with smaller sizes in its arguments, such as 30 instead of 3000, so that it takes a fraction of the time.
fn with_small_arguments(goal: &str) -> String {
    goal.replace("000", "0").replace("20", "5")
}

/// On a panic, prints the goal that was running.
struct PanicNote<'t>(&'t str);

impl Drop for PanicNote<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the goal: {}", self.0);
        }
    }
}

#[test]
fn random_goals_stay_within_their_budgets() {
    let mut campaign = Campaign::new();
    let seed = setting("MARIO_CAMPAIGN_SEED", SEED);
    let mut random = Random::new(seed);
    let predicates: Vec<(String, usize)> =
        predicates().into_iter().filter(|(name, _)| !is_out_of_scope(name)).collect();
    let goals = setting("MARIO_CAMPAIGN_GOALS", GOALS);
    let large = setting("MARIO_CAMPAIGN_LARGE", 1).max(1) as usize;
    let mut wrong = Vec::new();
    let start = processor_time();
    for number in 1..=goals {
        let goal = random_goal(&mut random, &predicates);
        if random.one_in(large) {
            let _note = PanicNote(&goal);
            wrong.extend(campaign.judge(&goal, &BUDGET));
        } else {
            let goal = with_small_arguments(&goal);
            let _note = PanicNote(&goal);
            wrong.extend(campaign.judge(&goal, &SMALL_BUDGET));
        }
        if number % 100_000 == 0 {
            let (usage, peak) = ((processor_time().saturating_sub(start)).as_secs(), peak_bytes() >> 20);
            println!("seed {seed}: {number} goals, {} wrong, {usage} s, peak {peak} MiB", wrong.len());
        }
    }
    assert!(wrong.is_empty(), "{} goals take more than they are charged:\n{}", wrong.len(), wrong.join("\n"));
    // Only in runs by hand, which run no other test: the memory of other tests in the process would count, too.
    if setting("MARIO_CAMPAIGN_GOALS", 0) > 0 {
        let limit = BUDGET.heap_bytes as u64;
        assert!(peak_bytes() <= limit + limit / 5 + CONSTANT_BYTES, "{} bytes", peak_bytes());
    }
}

/// Goals that try to use more memory than their budget.
const GREEDY: &[&str] = &[
    "numlist(1, 100000, L), between(1, inf, I), atom_concat(k, I, K), nb_setval(K, L), fail",
    "numlist(1, 100000, L), between(1, inf, I), atom_concat(k, I, K), assertz(p(K, L)), fail",
    "findall(X, between(1, 20000000, X), _)",
    "findall(f(X), between(1, 20000000, X), _)",
    "length(L, 100000000)",
    "length(L, 1000000), copy_term(L, M), copy_term(M, N), copy_term(N, O), copy_term(O, P), copy_term(P, Q), Q = L",
    "between(1, inf, I), atom_concat(abcdefghijklmnop, I, _), fail",
    "between(1, inf, I), atom_concat(f, I, F), dynamic(F/3), fail",
    "numlist(1, 500000, L), foldl([_, Y, s(Y, x)]>>true, L, z, T), foldl([_, Y, s(Y, x)]>>true, L, z, U), T = U",
    "numlist(1, 500000, L), foldl([_, Y, s(Y, x)]>>true, L, z, T), term_to_atom(T, _)",
    "numlist(1, 500000, L), foldl([_, Y, s(Y, x)]>>true, L, z, T), assertz(p(T)), throw(T)",
    "X = s(X, 1), Y = s(Y, 1), X = Y, write(X), X == Y, msort([X, Y], _), copy_term(X, Z), Z = Y",
    "with_output_to(string(_), ( repeat, write(abcdefghijklmnopqrstuvwxyz), fail ))",
    "format(atom(_), \"~t~w~100000000|\", [a])",
    "length(L, 2000000), maplist([X]>>freeze(X, true), L)",
    "length(L, 1000000), msort(L, M), sort(0, @>=, M, N), list_to_set(N, _)",
    "X is 7 ** 20000000, Y is X * X, Z is Y * Y, Z > X",
    "length(L, 300000), ( member(_, [1, 2]), maplist(=(a), L), fail ; true ), findall(L, ( member(_, [1, 2, 3, 4, 5]) ), _)",
    "b_setval(k, []), repeat, b_getval(k, L), b_setval(k, [x|L]), fail",
    "numlist(1, 1000000, L), atomic_list_concat(L, A), atom_codes(A, C), atom_chars(B, C), atom_length(B, _)",
    "repeat, catch(( numlist(1, 300000, L), throw(L) ), _, true), fail",
    "repeat, nested(f(g(h(i(j(k(b), 1), 1), 1), 1), c))",
    "between(1, inf, I), atom_concat(o, I, O), op(200, xfy, O), fail",
    "setof(X-Y, ( between(1, 3000, X), between(1, 3000, Y) ), _)",
];

/// Goals whose answers need more memory to display than to store.
const SHOWN: &[&str] = &["length(L, 2000000)", "numlist(1, 2000000, L)", "length(L, 1000000), msort(L, M)"];

/// Runs only in a separate process that [`no_goal_makes_the_process_exceed_its_memory`] starts.
#[test]
#[ignore = "it is a part of another test"]
fn greedy_goals() {
    let mut campaign = Campaign::new();
    campaign.run("true", &MEMORY_BUDGET);
    for goal in GREEDY {
        campaign.machine = Machine::new(&campaign.engine);
        campaign.run(goal, &MEMORY_BUDGET).expect("it can be read");
        println!("peak {} after {goal}", peak_bytes());
    }
    for goal in SHOWN {
        campaign.machine = Machine::new(&campaign.engine);
        let mut query = campaign.machine.query(&campaign.program, goal, &(), &MEMORY_BUDGET).expect("it can be read");
        assert_eq!(query.next_answer(), Outcome::Answer, "{goal}");
        let _ = query.answer(Detail::Whole);
        drop(query);
        println!("peak {} after {goal}", peak_bytes());
    }
}

/// The peak resident memory of this process; 0 if the system does not report it.
fn peak_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse::<u64>().ok())
        .map_or(0, |kibibytes| kibibytes * 1024)
}

#[test]
fn no_goal_makes_the_process_exceed_its_memory() {
    if peak_bytes() == 0 {
        eprintln!("skipped: the system does not tell how much memory a process has had");
        return;
    }
    let this = std::env::current_exe().expect("it runs");
    let output = Command::new(this)
        .args(["--ignored", "--exact", "--nocapture", "campaign::greedy_goals"])
        .output()
        .expect("it can be run again");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let peaks: Vec<(u64, &str)> = text
        .lines()
        .filter_map(|line| line.strip_prefix("peak ")?.split_once(" after "))
        .filter_map(|(bytes, goal)| Some((bytes.parse().ok()?, goal)))
        .collect();
    assert_eq!(peaks.len(), GREEDY.len() + SHOWN.len(), "{text}");
    let limit = MEMORY_BUDGET.heap_bytes as u64;
    let allowed = limit + limit / 5 + CONSTANT_BYTES;
    let first = peaks.iter().find(|(bytes, _)| *bytes > allowed);
    assert!(first.is_none(), "more than {allowed} bytes: {first:?}");
}
