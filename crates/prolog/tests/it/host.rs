//! Tests of the interface between a host and a program: relations, and numbered clauses.

use mario_prolog::{Argument, Budget, Engine, Machine, Outcome, Program, Relation, Relations, Table, Value};
use std::sync::Arc;

/// A host with one relation. If `shows_table` is false, the relation is visible only through the trait [`Relation`].
struct Host {
    table: Table,
    shows_table: bool,
}

impl Relations for Host {
    fn relation(&self, position: usize) -> Option<&dyn Relation> {
        (position == 0).then_some(&self.table as &dyn Relation)
    }

    fn table(&self, position: usize) -> Option<&Table> {
        (position == 0 && self.shows_table).then_some(&self.table)
    }
}

fn holds(program: &Arc<Program>, engine: &Engine, goal: &str, host: &Host) -> bool {
    let mut machine = Machine::new(engine);
    let mut query = machine.query(program, goal, host, &Budget::default()).expect("a goal");
    query.next_answer() == Outcome::Answer
}

#[test]
fn a_table_holds_floats_lists_and_other_terms() {
    let engine = Engine::new();
    let atom = |name: &str| Value::Atom(engine.symbols().intern(name));
    let mut table = Table::new(2);
    let numbers = [Value::Integer(1), Value::Float(2.5)];
    let pair = [atom("a"), Value::List(&numbers)];
    for (key, value) in [
        ("float", Value::Float(10.5)),
        ("list", Value::List(&numbers)),
        ("empty", Value::List(&[])),
        ("nested", Value::List(&pair)),
        ("compound", Value::Compound(engine.symbols().intern("f"), &pair)),
        ("large", Value::Integer(i64::MAX)),
    ] {
        table.push(&[atom(key), value]);
    }
    let mut loader = engine.loader();
    loader.relation("r", 2);
    // The goal `r(K, V)` is compiled in `p`, and called as a term at run time in `q`.
    loader.load("program", "p(K, V) :- r(K, V). q(K, V) :- G = r(K, V), call(G).");
    let program = loader.finish().expect("it is right").program;
    for shows_table in [true, false] {
        let host = Host { table: table.clone(), shows_table };
        for name in ["p", "q"] {
            for (key, value) in [
                ("float", "10.5"),
                ("list", "[1, 2.5]"),
                ("empty", "[]"),
                ("nested", "[a, [1, 2.5]]"),
                ("compound", "f(a, [1, 2.5])"),
                ("large", "9223372036854775807"),
            ] {
                for goal in [
                    format!("{name}({key}, {value})"),
                    format!("{name}({key}, V), V == {value}"),
                    format!("findall(K, {name}(K, {value}), Ks), Ks == [{key}]"),
                ] {
                    assert!(holds(&program, &engine, &goal, &host), "{goal}, shown as a table: {shows_table}");
                }
            }
            assert!(!holds(&program, &engine, &format!("{name}(float, 10)"), &host));
            assert!(!holds(&program, &engine, &format!("{name}(list, [1|a])"), &host));
        }
    }
    let mut copy = Table::new(2);
    copy.clone_from(&table);
    table.clear();
    assert_eq!((table.len(), copy.len()), (0, 6));
    assert_eq!(copy.value(1, 1), Value::List(&numbers));
}

#[test]
fn clauses_of_dynamic_predicates_see_the_relations_of_the_host() {
    let engine = Engine::new();
    let atom = |name: &str| Value::Atom(engine.symbols().intern(name));
    let mut table = Table::new(2);
    table.push(&[atom("a"), Value::Integer(1)]);
    table.push(&[atom("b"), Value::Integer(2)]);
    let mut loader = engine.loader();
    loader.relation("r", 2);
    let bodies = ["r(K, V)", "true, r(K, V)", "( fail ; r(K, V) )", "\\+ \\+ r(K, V), r(K, V)"];
    let text: Vec<String> =
        bodies.iter().enumerate().map(|(n, body)| format!(":- dynamic p{n}/2. p{n}(K, V) :- {body}.\n")).collect();
    loader.load("program", &(text.concat() + ":- dynamic p4/2. p4(c, 3). p4(K, V) :- r(K, V)."));
    let program = loader.finish().expect("it is right").program;
    for shows_table in [true, false] {
        let host = Host { table: table.clone(), shows_table };
        for number in 0..=bodies.len() {
            let goal = format!("findall(K-V, p{number}(K, V), All), ( All == [a-1, b-2] ; All == [c-3, a-1, b-2] )");
            assert!(holds(&program, &engine, &goal, &host), "p{number}, shown as a table: {shows_table}");
        }
    }
}

#[test]
fn a_negated_goal_matches_a_variable_in_two_columns_only_with_equal_values() {
    let engine = Engine::new();
    let atom = |name: &str| Value::Atom(engine.symbols().intern(name));
    let mut loader = engine.loader();
    loader.relation("r", 2);
    loader.load("program", "none(X, Y) :- \\+ r(X, Y). loop(X) :- \\+ r(X, X). aliased :- X = Y, \\+ r(X, Y).");
    let program = loader.finish().expect("it is right").program;
    let mut table = Table::new(2);
    table.push(&[atom("a"), atom("b")]);
    for (has_loop, shows_table) in [(false, true), (false, false), (true, true), (true, false)] {
        if has_loop && table.len() == 1 {
            table.push(&[atom("c"), atom("c")]);
        }
        let host = Host { table: table.clone(), shows_table };
        for goal in ["X = Y, none(X, Y)", "none(X, X)", "loop(_)", "aliased"] {
            assert_eq!(holds(&program, &engine, goal, &host), !has_loop, "{goal}, shown as a table: {shows_table}");
        }
        assert!(!holds(&program, &engine, "none(_, _)", &host) && !holds(&program, &engine, "none(a, _)", &host));
        assert!(holds(&program, &engine, "none(b, _), none(_, a), loop(a)", &host));
    }
}

#[test]
fn values_that_are_atoms_are_found_by_the_default_search() {
    struct Raw<'v>(Vec<Value<'v>>);

    impl Relation for Raw<'_> {
        fn len(&self) -> usize {
            self.0.len()
        }

        fn value(&self, row: usize, _column: usize) -> Value<'_> {
            self.0[row]
        }
    }

    impl Relations for Raw<'_> {
        fn relation(&self, _position: usize) -> Option<&dyn Relation> {
            Some(self)
        }
    }

    let engine = Engine::new();
    let mut loader = engine.loader();
    loader.relation("r", 1);
    loader.load("program", "p(X) :- r(X). q(X) :- call(r(X)).");
    let program = loader.finish().expect("it is right").program;
    let name = engine.symbols().intern("a");
    let raw = Raw(vec![Value::Integer(1), Value::List(&[]), Value::Compound(name, &[])]);
    for goal in ["p([])", "q([])", "p(a)", "q(a)", "\\+ p(b)", "\\+ q(b)", "findall(X, p(X), [1, [], a])"] {
        let mut machine = Machine::new(&engine);
        let mut query = machine.query(&program, goal, &raw, &Budget::default()).expect("a goal");
        assert_eq!(query.next_answer(), Outcome::Answer, "{goal}");
    }
}

#[test]
fn numbered_predicates_have_the_same_answers() {
    let engine = Engine::new();
    for declared in ["", ":- dynamic p/2.\n"] {
        let mut loader = engine.loader();
        loader.number_clauses("p", 2, "p at");
        let text = "p(1, a).\np(2, X) :- ( X = b ; X = c ).\np(3, _) :- fail.\np(4, X) :- p(1, X), !.\np(5, d).\n";
        loader.load("program.pl", &format!("{declared}{text}"));
        let loaded = loader.finish().expect("it is right");
        let mut machine = Machine::new(&engine);
        let ask = |name: &str, arity: usize, machine: &mut Machine| {
            let name = engine.symbols().intern(name);
            let mut query =
                machine.ask(&loaded.program, name, &vec![Argument::Unknown; arity], &(), &Budget::default());
            let mut answers = Vec::new();
            while query.next_answer() == Outcome::Answer {
                answers.push((0..arity).map(|index| query.argument_text(index)).collect::<Vec<_>>());
            }
            answers
        };
        let numbered = ask("p at", 3, &mut machine);
        let numbers: Vec<&str> = numbered.iter().map(|answer| answer[2].as_str()).collect();
        assert_eq!(numbers, ["0", "1", "1", "3"]);
        let without: Vec<&[String]> = numbered.iter().map(|answer| &answer[..2]).collect();
        assert_eq!(without, ask("p", 2, &mut machine));
        let first_line = 1 + declared.lines().count();
        let lines: Vec<usize> = loaded.places("p", 2).iter().map(|place| place.position().0).collect();
        assert_eq!(lines, (first_line..first_line + 5).collect::<Vec<_>>());
    }
}
