//! Rules with single-sided unification: `Head => Body`, `Head, Guard => Body`.

use super::generator::{Case, Generator};

const FIRST: &[&str] = &[
    "a", "b", "1", "2.5", "\"s\"", "X", "_", "f(X)", "f(Y)", "f(f(X))", "[]", "[X|_]", "[X,Y]", "[X,X]", "g(X,Y)",
    "g(X,X)", "g(a,Y)", "X-Y",
];
const SECOND: &[&str] = &["R", "R", "R", "X", "Y", "_", "f(R)", "[R]", "a"];
const GUARDS: &[&str] = &[
    "integer(X)",
    "nonvar(R)",
    "var(R)",
    "X = a",
    "R = f(Z)",
    "R = a, X = 1",
    "true, X = Y",
    "X == R",
    "member(X,[a,1])",
    "( X = a ; X = b )",
    "( X = 1 ; X = 2 ), !",
    "fail",
    "Z = 1, X = Z",
    "\\+ X = a",
    "R = X",
    "[X] = R",
];
const BODIES: &[&str] = &[
    "true",
    "R = X",
    "R = Y",
    "R = done",
    "fail",
    "( R = 1 ; R = 2 )",
    "( R = 1 ; R = 2 ), !",
    "member(R,[X,Y,z])",
    "r1(X,R)",
    "write(x), R = w",
    "!, R = cut",
];
const CALLS: &[&str] = &[
    "r0({first},{second})",
    "r1({first},{second})",
    "r0({first},V), W = V",
    "findall(V,r0({first},V),L)",
    "catch(r1({first},{second}),error(E,_),true)",
    "( r0({first},V) -> true ; V = failed )",
    "predicate_property(r0(_,_),ssu)",
    "assertz((r2({first},Q) => Q = 1)), r2({first},V)",
    "assertz((r2({first},{second}) => true)), asserta((r2({first},{second}) => fail)), r2({first},{second})",
    "assertz((r2(1,_) => true)), assertz((r2(2,_) :- true))",
    "assertz(r2(1,_)), assertz((r2(2,_) => true))",
    "assertz((r2(1,_) => true)), retractall(r2(_,_)), assertz(r2(2,2)), r2(2,V)",
    "assertz((r2({first},_), true => true))",
    "d({first},V)",
    "d(V,{first})",
    "retract((d(_,_) :- B))",
    "retractall(d({first},_)), catch(d({first},V),error(E,_),true)",
];
const ASKED: &[&str] = &[
    "a", "b", "1", "2.5", "2", "\"s\"", "_", "U", "f(a)", "f(_)", "f(U)", "[]", "[1]", "[U,U]", "[U,_]", "g(a,b)",
    "g(U,U)", "g(U,_)", "1-2", "f(f(1))", "[a,a]",
];

impl Generator {
    fn ssu_rule(&mut self, name: &str) -> String {
        let guard = if self.random.one_in(3) { format!(", {}", self.choose(GUARDS)) } else { String::new() };
        let (mut first, mut second) = (self.choose(FIRST), self.choose(SECOND));
        // Any of `X`, `Y` and `R` in a guard must also occur in the head: SWI-Prolog drops unifications of variables
        // that occur nowhere else.
        if guard.contains('Y') {
            first = "g(X,Y)".to_owned();
        } else if guard.contains('X') && !first.contains('X') {
            first = "X".to_owned();
        }
        if guard.contains('R') && !second.contains('R') {
            second = "R".to_owned();
        }
        let head = format!("{name}({first},{second})");
        let body = self.choose(BODIES);
        // Only `r0` calls `r1`, so that all programs terminate.
        let body = if name == "r0" { body } else { body.replace("r1(X,R)", "R = end") };
        format!("{head}{guard} => {body}.")
    }
}

pub fn case(generator: &mut Generator) -> Case {
    let mut program = vec![":- dynamic d/2, r2/2.".to_owned()];
    for name in ["r0", "r1", "d"] {
        for _ in 0..=generator.random.below(4) {
            program.push(generator.ssu_rule(name));
        }
    }
    let mut goal = generator.choose(CALLS);
    for (hole, values) in [("{first}", ASKED), ("{second}", &["V", "V", "_", "a", "f(V)", "[_]"])] {
        while goal.contains(hole) {
            let value = generator.choose(values);
            goal = goal.replacen(hole, &value, 1);
        }
    }
    Case { theme: "rules", program, goal: goal + " ." }
}
