//! Tests of library predicates that other tests do not reach.

use mario_prolog::{Budget, Engine, Machine, Outcome};

#[test]
fn the_library_answers_as_documented() {
    let engine = Engine::new();
    let mut machine = Machine::new(&engine);
    for goal in [
        "foreach(true, true)",
        "foreach(member(X, [1, 2]), X > 0)",
        "\\+ foreach(member(X, [1, -2]), X > 0)",
        "foreach(member(X, [1, 2]), dif(X, Y)), \\+ Y = 1, Y = 3",
        "phrase(foreach(member(X, [1, 2]), [X]), [1, 2])",
        "phrase(foreach(member(X, [1, 2]), [X], [and]), [1, and, 2])",
        "findall(L, findnsols(0, X, member(X, [1, 2]), L), [[]])",
        "findall(L, findnsols(2, X, member(X, [1, 2, 3]), L), [[1, 2], [3]])",
        "current_prolog_flag(max_arity, N), catch((M is N + 1, functor(_, f, M)), error(representation_error(max_arity), _), true)",
        "functor(T, f, 121), catch(assertz(T), error(representation_error(max_procedure_arity), _), true), catch(T, error(representation_error(max_procedure_arity), _), true)",
        "functor(T, f, 120), assertz(T), call(T)",
    ] {
        let mut query = machine.query(engine.library(), goal, &(), &Budget::default()).expect("a goal");
        assert_eq!(query.next_answer(), Outcome::Answer, "{goal}");
    }
}
