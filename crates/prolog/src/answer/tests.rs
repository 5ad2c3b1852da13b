use super::{Answer, Detail};
use crate::{Budget, Engine, Machine, Outcome};

/// The first answer on one line, or what came instead.
fn ask(goal: &str) -> String {
    let engine = Engine::new();
    let mut machine = Machine::new(&engine);
    let mut query = machine.query(engine.library(), goal, &(), &Budget::default()).expect("the goal is well-formed");
    match query.next_answer() {
        Outcome::Answer => {
            query.answer(Detail::Whole).map_or_else(|resource| resource.to_string(), |answer| answer.sentence())
        }
        other => format!("{other:?}"),
    }
}

#[test]
fn x() {
    for goal in [
        "X = 1, Y = f(A,_,B,B)",
        "X = f(X)",
        "X = f(Z,Z,W), Z = g(Z)",
        "X = [1,2|Y], Y = [3|X]",
        "X = f(X), Y = f(Y)",
        "dif(X,a)",
        "freeze(X,true), Y = f(X)",
        "X = (a:-b,c)",
        "X = (+)",
        "X = #",
        "X = Y, Y = Z",
        "copy_term([V,V,W,W],[P|Q])",
        "_A = 1, copy_term([V,V],L)",
        "true",
        "when(ground(X+Y), foo(X))",
        "dif(X, f(Y,Z)), X = f(A,B)",
    ] {
        println!("{goal}  --> {}", ask(goal));
    }
    let _ = Answer::default();
}
