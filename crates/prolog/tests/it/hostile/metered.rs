//! Tests that no work is done outside the budget.

use super::{LARGE, SMALL, Victim};
use crate::fuzz::{builtins, source_files};
use mario_prolog::{
    Allowance, Argument, Budget, Detail, Engine, Machine, Outcome, Relation, Relations, Resource, Table, Value,
};

/// Each goal is checked once: the cost of a check must not depend on how many diversions of output are open.
#[test]
fn a_check_of_the_budget_takes_constant_time() {
    let engine = Engine::new();
    let mut loader = engine.loader();
    loader.load(
        "nested.pl",
        "d(0) :- !, wake.\nd(N) :- M is N - 1, with_output_to(string(_), d(M)).\nwake :- freeze(X, true), X = 1, wake.\n",
    );
    let program = loader.finish().expect("it is right").program;
    let mut machine = Machine::new(&engine);
    let budget = Budget { inferences: 4_000_000, ..LARGE };
    let start = std::time::Instant::now();
    let mut query = machine.query(&program, "d(100000)", &(), &budget).expect("a goal");
    assert_eq!(query.next_answer(), Outcome::Exhausted(Resource::Inferences));
    assert!(start.elapsed() < super::PATIENCE, "{:?}", start.elapsed());
}

/// The helpers of the library and those written in Rust, as quoted names with their arities.
fn helpers() -> Vec<(String, usize)> {
    let mut found = builtins();
    for text in source_files("src/library", "pl") {
        found.extend(text.lines().filter_map(crate::fuzz::head));
    }
    found.extend([("'$body'".to_owned(), 2), ("'$cut'".to_owned(), 1)]);
    found.retain(|(name, _)| name.starts_with("'$"));
    found.sort();
    found.dedup();
    assert!(found.len() > 200, "{} helpers are found", found.len());
    found
}

#[test]
fn no_text_can_call_a_helper_of_the_library() {
    let mut victim = Victim::new();
    for (name, arity) in helpers() {
        let arguments = vec!["_"; arity].join(", ");
        let goal = if arity == 0 { name.clone() } else { format!("{name}({arguments})") };
        for goal in [
            format!("catch({goal}, error(existence_error(procedure, {name}/{arity}), _), true)"),
            format!("functor(G, {name}, {arity}), catch(G, error(existence_error(procedure, _), _), true)"),
        ] {
            assert_eq!(victim.first(&goal, &SMALL), Outcome::Answer, "{goal}");
        }
    }
}

#[test]
fn a_cut_called_by_the_name_of_a_helper_does_not_leave_catch() {
    let mut victim = Victim::new();
    let goal = "catch(('$body'(!, 0), throw(x)), E, true), E = error(existence_error(procedure, _), _)";
    assert_eq!(victim.first(goal, &SMALL), Outcome::Answer);
}

#[test]
fn a_program_with_the_names_of_helpers_changes_nothing_in_the_library() {
    let engine = Engine::new();
    let mut loader = engine.loader();
    let helpers = helpers();
    let heads = helpers.iter().map(|(name, arity)| match arity {
        0 => format!("{name} :- throw(called).\n"),
        _ => format!("{name}({}) :- throw(called).\n", vec!["_"; *arity].join(", ")),
    });
    loader.load("names.pl", &heads.collect::<String>());
    let program = loader.finish().unwrap_or_else(|error| panic!("{error}")).program;
    let mut machine = Machine::new(&engine);
    for goal in [
        "freeze(X, Y = X), X = 1, Y == 1",
        "with_output_to(string(S), write(a)), S == \"a\"",
        "catch(setup_call_cleanup(true, throw(b), true), b, true)",
        "dif(X, Y), X = 1, \\+ Y = 1",
        "G = (member(X, [1, 2]), X > 1 -> true ; fail), call(G), X == 2",
        "catch('$divert', called, true)",
        "phrase(([a], [b]), [a, b])",
    ] {
        let mut query = machine.query(&program, goal, &(), &SMALL).expect("a goal");
        assert_eq!(query.next_answer(), Outcome::Answer, "{goal}");
    }
}

#[test]
fn an_error_does_not_tell_the_name_of_a_helper() {
    let mut victim = Victim::new();
    for goal in [
        "catch(with_output_to(foo, true), error(_, C), true), \\+ (nonvar(C), C = context(_:_, _))",
        "freeze(X, true), copy_term(X, _, [freeze(_, _)])",
        "dif(X, Y), term_attvars(X-Y, [X, Y]), copy_term(X-Y, _, [dif(_, _)])",
        "when(ground(X), true), frozen(X, when(_, _))",
    ] {
        assert_eq!(victim.first(goal, &SMALL), Outcome::Answer, "{goal}");
    }
}

/// A relation without an index.
struct Rows(usize);

impl Relation for Rows {
    fn len(&self) -> usize {
        self.0
    }

    fn value(&self, row: usize, _column: usize) -> Value<'_> {
        Value::Integer(row as i64)
    }
}

struct Host {
    rows: Rows,
    table: Table,
}

impl Relations for Host {
    fn relation(&self, position: usize) -> Option<&dyn Relation> {
        match position {
            0 => Some(&self.rows),
            _ => Some(&self.table),
        }
    }

    fn table(&self, position: usize) -> Option<&Table> {
        (position == 1).then_some(&self.table)
    }
}

/// The inferences of 100 calls of a goal on relations with `rows` rows.
fn inferences_with(rows: usize, goal: &str) -> u64 {
    let engine = Engine::new();
    let mut loader = engine.loader();
    loader.relation("plain", 1);
    loader.relation("indexed", 3);
    loader.load("calls.pl", &format!("calls :- between(1, 100, _), call_once, fail.\ncalls.\ncall_once :- {goal}.\n"));
    let program = loader.finish().expect("it is right").program;
    let mut table = Table::new(3);
    (0..rows).for_each(|row| table.push(&[1, row as i64, 7].map(Value::Integer)));
    let host = Host { rows: Rows(rows), table };
    let mut machine = Machine::new(&engine);
    let calls = engine.symbols().intern("calls");
    let mut query = machine.ask(&program, calls, &[], &host, &LARGE);
    assert_eq!(query.next_answer(), Outcome::Answer, "{goal}");
    query.inferences()
}

#[test]
fn rows_that_are_searched_are_charged() {
    for goal in [
        "\\+ plain(-1)",
        "\\+ call(plain(-1))",
        "\\+ indexed(1, _, 8)",
        "\\+ indexed(1, -1.5, _)",
        "\\+ (indexed(X, Y, Y), X == Y)",
    ] {
        let (small, large) = (inferences_with(10, goal), inferences_with(4_000, goal));
        let per_call = large.saturating_sub(small) / 100;
        let least = if goal.contains("1, _, 8") { 0 } else { 300 };
        assert!(per_call >= least, "{goal}: {per_call} more inferences with 4,000 rows");
    }
}

#[test]
fn a_key_is_looked_up_without_a_search() {
    for goal in [
        "\\+ indexed(1, -1, _)",
        "indexed(_, 3999, _) ; true",
        "\\+ call(indexed(1, -1, _))",
        "\\+ indexed(nosuch, _, _)",
    ] {
        let (small, large) = (inferences_with(10, goal), inferences_with(4_000, goal));
        assert!(large <= small + 200, "{goal}: {small} inferences with 10 rows, {large} with 4,000");
    }
}

#[test]
fn a_clause_with_many_branches_and_variables_is_loaded_in_linear_time() {
    let branches = |count| format!("p --> [a0]{}.\n", ";[a]".repeat(count));
    let variables = |count| {
        let goals: Vec<String> =
            (0..count).map(|number| format!("q(X{number}), (r(X{number}) ; s(X{number}))")).collect();
        format!("p :- {}.\n", goals.join(", "))
    };
    for text in [branches(200_000), variables(20_000)] {
        let engine = Engine::new();
        let start = std::time::Instant::now();
        let mut loader = engine.loader();
        loader.load("large.pl", &text);
        loader.finish().unwrap_or_else(|error| panic!("{error}"));
        assert!(start.elapsed() < super::PATIENCE, "{:?}", start.elapsed());
    }
}

/// A chain of variables, each bound to the next, is followed each time that its first variable is used.
#[test]
fn following_a_chain_of_variables_is_charged() {
    let engine = Engine::new();
    let mut loader = engine.loader();
    loader.load(
        "chain.pl",
        "link([_]) :- !.\nlink([A, B|T]) :- link([B|T]), A = B.\n\
         use(0, _) :- !.\nuse(N, X) :- var(X), M is N - 1, use(M, X).\n\
         chain(N, L) :- length(L, N), link(L).\n\
         uses([X], N) :- !, use(N, X).\nuses([_|T], N) :- uses(T, N).\n\
         copies([X], N) :- !, findall(X, between(1, N, _), _).\ncopies([_|T], N) :- copies(T, N).\n",
    );
    let program = loader.finish().expect("it is right").program;
    let mut machine = Machine::new(&engine);
    let mut inferences = |goal: &str| {
        let mut query = machine.query(&program, goal, &(), &LARGE).expect("a goal");
        assert_eq!(query.next_answer(), Outcome::Answer, "{goal}");
        query.inferences()
    };
    for goal in ["uses", "copies"] {
        let [once, often] = [1, 1_001].map(|times| inferences(&format!("chain(20000, L), {goal}(L, {times})")));
        assert!(often - once > 1_000 * 20_000 / 10, "{goal}: {once} once, {often} often");
    }
}

fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(line).collect()
}

#[test]
fn reading_and_compiling_clauses_is_charged() {
    let text = lines(20_000, |number| format!("p({number}, [a, b, c]) :- q, r({number}).\n"));
    let load = |allowance: Option<Allowance>, budget: Option<Budget>| {
        let mut loader = Engine::new().loader();
        if let Some(allowance) = allowance {
            loader.allowance(allowance);
        }
        if let Some(budget) = budget {
            loader.budget(budget);
        }
        loader.load("many.pl", &text);
        loader.finish().err().map(|error| error.errors[0].message.clone())
    };
    assert_eq!(load(None, None), None);
    let none = Budget { inferences: 0, heap_bytes: 0, ..Budget::default() };
    assert_eq!(load(None, Some(none)), None, "even without a budget for directives");
    assert_eq!(load(Some(Allowance::new(10_000)), None).as_deref(), Some("loading was interrupted here"));
    let allowance = Allowance::new(10_000_000);
    assert_eq!(load(Some(allowance.clone()), None), None);
    let mut machine = Machine::new(&Engine::new());
    machine.set_allowance(Some(allowance.clone()));
    assert!(!allowance.is_spent());
}

#[test]
fn the_memory_of_clauses_is_limited() {
    let text = "p(\"0123456789012345678901234567890123456789012345678901234567890123456789\", a, b, c, d).\n"
        .repeat(1_000_000);
    let mut loader = Engine::new().loader();
    loader.budget(Budget { heap_bytes: 1 << 20, ..Budget::default() });
    loader.load("many.pl", &text);
    let errors = loader.finish().err().expect("they take more than 64 MiB").errors;
    assert_eq!(errors[0].message, "the clauses need more than 64 MiB of memory");
}

/// Directives have all clauses before them compiled, however large these are.
#[test]
fn compiling_a_large_clause_again_is_charged() {
    let text = format!("p :- q{}.\n", ", q(a, b)".repeat(100_000));
    let again = lines(2_000, |number| format!(":- _ = a.\nf({number}).\n"));
    let mut loader = Engine::new().loader();
    loader.load("again.pl", &(text + &again));
    let errors = loader.finish().err().expect("it takes too long").errors;
    assert!(errors[0].message.starts_with("reading and compiling the clauses used up"), "{}", errors[0].message);
}

#[test]
fn suspended_goals_with_cycles_are_shown() {
    let engine = Engine::new();
    let mut machine = Machine::new(&engine);
    let budget = Budget { heap_bytes: 10_000_000, ..LARGE };
    for (goal, shown) in [
        ("freeze(X, foo(Z)), Z = g(Z, X)", "Z = g(Z, X), freeze(X, foo(Z))."),
        ("dif(X, Z), Z = g(Z, X)", "Z = g(Z, X), dif(X, Z)."),
        ("freeze(X, foo(f(_A))), _A = h(_A)", "freeze(X, foo(f(_A)))."),
    ] {
        let mut query = machine.query(engine.library(), goal, &(), &budget).expect("a goal");
        assert_eq!(query.next_answer(), Outcome::Answer, "{goal}");
        let answer = query.answer(Detail::Whole).unwrap_or_else(|resource| panic!("{goal}: {resource}"));
        let sentence = answer.sentence();
        assert!(sentence == shown || shown.contains("_A"), "{goal}: {sentence}");
    }
}

#[test]
fn the_text_of_an_exception_is_short() {
    let engine = Engine::new();
    let mut loader = engine.loader();
    loader.load("throw.pl", "long :- length(L, 100000), throw(L).\nwide(T) :- w(40, T).\nw(0, a) :- !.\nw(N, f(T, T)) :- M is N - 1, w(M, T).\n");
    let program = loader.finish().expect("it is right").program;
    let mut machine = Machine::new(&engine);
    for goal in [
        "long",
        "wide(T), throw(T)",
        "wide(T), X is T",
        "atom_length(L, L), throw(L)",
        "numlist(1, 9999, L), atomic_list_concat(L, A), throw(error(A, context(_, A)))",
    ] {
        let mut query = machine.query(&program, goal, &(), &LARGE).expect("a goal");
        let Outcome::Exception(exception) = query.next_answer() else { panic!("{goal}") };
        let explanation = query.explain(&exception);
        for text in [&exception.text, &explanation.message, &explanation.term] {
            assert!(text.len() < 4_000, "{goal}: {} bytes", text.len());
        }
    }
    let wide = engine.symbols().intern("wide");
    let mut query = machine.ask(&program, wide, &[Argument::Unknown], &(), &LARGE);
    assert_eq!(query.next_answer(), Outcome::Answer);
    assert!(query.argument_text(0).len() < 1_100);
}
