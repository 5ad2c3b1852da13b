//! Changes of clauses, also while goals iterate over them (the logical update view), and global variables.

use super::generator::{Case, Generator};

const STEPS: &[&str] = &[
    "assertz(d({small}))",
    "asserta(d({small}))",
    "assertz(d({ground_small}))",
    "assertz((d(X) :- e(X)))",
    "assertz((d(X) :- X = {small}, !))",
    "assertz(e({small}))",
    "assertz({term})",
    "asserta((foo({small_term}) :- {small_term}))",
    "( retract(d({small})) -> true ; true )",
    "retract(d(X))",
    "retract(d({small_term}))",
    "retract((d(X) :- B))",
    "retractall(d({small}))",
    "retractall(d(_))",
    "retractall({maybe_atom})",
    "forall(d(X),(write(X),write(' ')))",
    "forall(clause(d(X),B),(print(B),nl))",
    "forall(d(X),(Y is 1,assertz(d(Y))))",
    "forall(retract(d(X)),assertz(e(X)))",
    "( d(X), assertz(d(9)), fail ; true )",
    "( d(X), retract(d(X)), fail ; true )",
    "( d(X), retractall(d(_)), write(X), fail ; true )",
    "( d(X), asserta(e(X)), e(Y) -> true ; true )",
    "findall(X,d(X),L)",
    "findall(X-B,clause(d(X),B),L)",
    "clause(d(X),B)",
    "clause(foo({small_term}),B)",
    "abolish(d/1)",
    "abolish({atom}/{small})",
    "abolish(static/0)",
    "assertz(static)",
    "asserta(atom(_))",
    "retract((static :- true))",
    "clause(static,B)",
    "clause(atom(_),B)",
    "catch(d(X),E,true)",
    "d(X)",
    "d({small})",
    "undefined_here(X)",
    "dynamic(fresh/1), fresh(X)",
    "predicate_property(d(_),dynamic)",
    "current_predicate(d/N)",
    "current_predicate(static/0)",
    "nb_setval(key,{ground})",
    "nb_setval(key,{term}), nb_getval(key,V)",
    "b_setval(key,{term}), b_getval(key,V)",
    "( b_setval(key,{ground}), fail ; catch(b_getval(key,V),_,V = none) )",
    "assertz((d(X) :- {small_term}, {variable}))",
    "assertz((foo :- {small}))",
    "assertz((foo , bar))",
];

pub fn case(generator: &mut Generator) -> Case {
    let mut program = vec![":- dynamic d/1, e/1.".to_owned(), "static.".to_owned()];
    for _ in 0..generator.random.below(4) {
        program.push(generator.fill("d({small})."));
    }
    program.push("e(5).".to_owned());
    // In SWI-Prolog, global variables outlive a goal, so each case uses a variable of another name.
    let key = format!("key{}", generator.random.number());
    let steps: Vec<String> = (0..=generator.random.below(4)).map(|_| generator.filled_one_of(STEPS)).collect();
    Case { theme: "database", program, goal: steps.join(", ").replace("key", &key) + " ." }
}
