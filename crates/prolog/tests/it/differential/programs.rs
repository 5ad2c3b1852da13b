//! Small random programs: facts, rules, recursion over lists.
//!
//! A predicate calls itself only on the tail of a list in its head, and of the other predicates of the program only
//! those that are defined earlier, so that most programs terminate.

use super::generator::{Case, Generator};

const VALUES: &[&str] = &["a", "b", "1", "2", "f(a)", "f(1)", "[]", "[a]", "[1,2]", "c", "3", "1.5", "\"s\"", "g(a,b)"];
const FIRST: &[&str] =
    &["[]", "[H|T]", "[H|T]", "[H,_|T]", "a", "b", "1", "f(H)", "g(H,T)", "A", "_", "[a|T]", "[H|[]]", "c", "2"];
const SECOND: &[&str] = &["R", "R", "R", "a", "1", "[]", "[H|R]", "f(R)", "A", "_"];
const BODY: &[&str] = &[
    "R = H",
    "R = [H|A]",
    "R = f(H,A)",
    "H = a",
    "H == a",
    "H \\== a",
    "A = R",
    "R = T",
    "!",
    "atom(H)",
    "integer(H)",
    "var(R)",
    "R = 0",
    "( integer(H) -> R is H + 1 ; R = H )",
    "( A = 1 ; A = 2 )",
    "\\+ H = a",
    "( H = a -> R = yes ; R = no )",
    "write(H_)",
    "H = f(A)",
    "member(A,[1,2])",
    "copy_term(H-A,R)",
    "R =.. [f,H]",
    "findall(A,member(A,[H,x]),R)",
    "( var(A) -> A = 5 ; true )",
    "once(member(H,[a,b,1]))",
];

impl Generator {
    fn rule(&mut self, predicate: usize) -> String {
        let head = format!("p{predicate}({},{})", self.choose(FIRST), self.choose(SECOND));
        let mut goals = Vec::new();
        for _ in 0..self.random.below(4) {
            goals.push(match self.random.below(5) {
                0 if predicate > 0 => {
                    let callee = self.random.below(predicate);
                    let (first, second) =
                        (self.choose(&["T", "H", "A", "[H|T]", "[a,1]"]), self.choose(&["A", "R", "H", "_"]));
                    format!("p{callee}({first},{second})")
                }
                1 if head.contains("|T]") => format!("p{predicate}(T,{})", self.choose(&["A", "R", "_"])),
                _ => self.choose(BODY),
            });
        }
        // Engines write unbound variables differently.
        let body = goals.join(", ").replace("write(H_)", "( ground(H) -> write(H) ; write(unbound) )");
        if body.is_empty() { format!("{head}.") } else { format!("{head} :- {body}.") }
    }
}

pub fn case(generator: &mut Generator) -> Case {
    let predicates = 2 + generator.random.below(3);
    let mut program = Vec::new();
    for predicate in 0..predicates {
        for _ in 0..=generator.random.below(5) {
            let clause = if generator.random.one_in(2) {
                format!("p{predicate}({},{}).", generator.choose(VALUES), generator.choose(VALUES))
            } else {
                generator.rule(predicate)
            };
            program.push(clause);
        }
    }
    let called = predicates - 1 - generator.random.below(2);
    let first =
        generator.choose(&["X", "[a,b]", "[1,2,3]", "[a]", "[X,b]", "f(X)", "a", "1", "[a|X]", "[]", "[f(a),1,b]"]);
    let second = generator.choose(&["Y", "Y", "Y", "[]", "a", "X"]);
    let goal = match generator.random.below(4) {
        0 => format!("findall({first}-{second},p{called}({first},{second}),L)"),
        1 => format!("catch(p{called}({first},{second}),Ball,true)"),
        _ => format!("p{called}({first},{second})"),
    };
    Case { theme: "programs", program, goal: goal + " ." }
}
