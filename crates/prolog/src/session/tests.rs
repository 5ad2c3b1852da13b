use super::{Request, Session};
use crate::{Budget, Detail, Engine, Interrupt, Outcome, Program, Resource};
use std::sync::Arc;

fn program(engine: &Engine, text: &str) -> Arc<Program> {
    let mut loader = engine.loader();
    loader.load("test.pl", text);
    loader.finish().expect("the text is well-formed").program
}

fn session(text: &str) -> Session {
    let engine = Engine::new();
    let program = program(&engine, text);
    Session::new(&engine, program)
}

/// All answers to a goal, or `false` if there are none. If the query ends in another way, only its message or outcome.
fn ask(session: &mut Session, goal: &str) -> String {
    let mut query = session.query(goal, &(), &Budget::default()).expect("the goal is well-formed");
    let mut answers = Vec::new();
    loop {
        match query.next_answer() {
            Outcome::Answer => answers.push(query.answer(Detail::Whole).expect("it is small").to_string()),
            Outcome::NoMore if answers.is_empty() => return "false".to_owned(),
            Outcome::NoMore => return answers.join("; "),
            Outcome::Exception(exception) => return query.explain(&exception).message,
            other => return format!("{other:?}"),
        }
    }
}

#[test]
fn keeps_asserted_and_retracted_clauses() {
    let mut session =
        session(":- dynamic count/1.\ncount(0).\nnext(N) :- retract(count(M)), N is M + 1, assertz(count(N)).");
    assert_eq!(ask(&mut session, "next(N)"), "N = 1");
    assert_eq!(ask(&mut session, "next(N)"), "N = 2");
    assert_eq!(ask(&mut session, "count(N)"), "N = 2");
    assert_eq!(ask(&mut session, "retract(count(_)), fail"), "false");
    assert_eq!(ask(&mut session, "count(N)"), "false");
}

#[test]
fn keeps_predicates_created_by_queries() {
    let mut session = session("uses(X) :- later(X).");
    assert_eq!(ask(&mut session, "uses(X)"), "unknown procedure later/1");
    assert_eq!(ask(&mut session, "assertz(later(brand_new_name))"), "true");
    assert_eq!(ask(&mut session, "uses(X)"), "X = brand_new_name");
    assert_eq!(ask(&mut session, "assertz(later(2)), fail"), "false");
    assert_eq!(ask(&mut session, "uses(X)"), "X = brand_new_name; X = 2");
}

#[test]
fn keeps_operators_and_flags() {
    let mut session = session("");
    assert_eq!(ask(&mut session, "op(700, xfx, likes)"), "true");
    assert_eq!(ask(&mut session, "X = (a likes b)"), "X = (a likes b)");
    assert_eq!(ask(&mut session, "set_prolog_flag(double_quotes, atom)"), "true");
    assert_eq!(ask(&mut session, "X = \"text\""), "X = text");
}

#[test]
fn keeps_changes_of_a_query_that_fails() {
    let mut session = session(":- dynamic seen/1.");
    assert_eq!(ask(&mut session, "assertz(seen(1)), atom_length(_, _)"), {
        "an argument has no value yet, but needs one, in atom_length/2"
    });
    assert_eq!(ask(&mut session, "seen(X)"), "X = 1");
}

#[test]
fn continues_with_another_program() {
    let engine = Engine::new();
    let mut session = Session::new(&engine, program(&engine, "p(old). q(old)."));
    assert_eq!(ask(&mut session, "assertz(mine(1)), assertz(r(mine))"), "true");
    session.replace_program(&program(&engine, "p(new). r(theirs)."));
    assert_eq!(ask(&mut session, "p(X)"), "X = new");
    assert_eq!(ask(&mut session, "q(X)"), "unknown procedure q/1");
    assert_eq!(ask(&mut session, "mine(X)"), "X = 1");
    assert_eq!(ask(&mut session, "r(X)"), "X = theirs");
}

#[test]
fn distinguishes_goals_from_other_requests() {
    let mut session = session("");
    let load = |files: &[&str]| Request::Load(files.iter().map(|&file| file.to_owned()).collect());
    for (text, expected) in [
        ("p(X).", Request::Answers),
        ("", Request::Nothing),
        ("% only a comment", Request::Nothing),
        ("[a, 'b.pl', \"c\"].", load(&["a", "b.pl", "c"])),
        ("consult(a).", load(&["a"])),
        ("consult([a, b]).", load(&["a", "b"])),
        ("use_module(library(lists)).", load(&[])),
        ("make.", load(&[])),
        ("[X].", Request::Answers),
        ("help.", Request::Help),
    ] {
        assert_eq!(session.request(text).as_ref(), Ok(&expected), "{text}");
    }
    assert!(session.request("p(").is_err());
    assert_eq!(ask(&mut session, "assertz(help)"), "true");
    assert_eq!(session.request("help."), Ok(Request::Answers));
}

#[test]
fn finds_where_a_goal_ends() {
    let mut session = session("");
    for (text, end) in [
        ("p(X).", Some(5)),
        ("p(X). q.", Some(5)),
        ("p(X)", None),
        ("p('.", Some(4)),
        ("p('", None),
        ("p(\".\").\n", Some(7)),
        ("p. % comment", Some(2)),
        ("X = a.b", None),
        ("X = 1.5", None),
        ("/* a. */", None),
        ("/* open. ", None),
    ] {
        assert_eq!(session.goal_end(text), end, "{text}");
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the interrupt comes while the goal runs")]
fn an_interrupt_stops_every_kind_of_loop() {
    let mut session = session("loop :- loop.\n");
    let interrupt = Interrupt::new();
    session.set_interrupt(Some(interrupt.clone()));
    for goal in [
        "loop",
        "between(1, inf, _), fail",
        "repeat, fail",
        "X = f(X), Y = f(Y), X = Y, loop",
        "X = f(X), Y = f(Y), X == Y, repeat, fail",
        "length(L, 100000), repeat, copy_term(L, _), fail",
    ] {
        assert!(!interrupt.clear());
        let mut query = session.query(goal, &(), &Budget::UNLIMITED).expect("well-formed");
        let other = interrupt.clone();
        let thread = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(20));
            other.request();
        });
        assert_eq!(query.next_answer(), Outcome::Exhausted(Resource::Time), "{goal}");
        thread.join().expect("it does not panic");
        assert!(interrupt.clear());
    }
    assert_eq!(ask(&mut session, "X = 1"), "X = 1");
}
