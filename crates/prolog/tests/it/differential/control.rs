//! Control constructs, nested at random: cut, conditionals, negation, `call/N`, `catch/3` and `throw/1`.

use super::generator::{Case, Generator};

const PROGRAM: &[&str] =
    &["p(1).", "p(2).", "p(3).", "q(a,1).", "q(b,2).", "q(c,2).", "once_only(X) :- p(X), !.", "none :- fail."];
const LEAVES: &[&str] = &[
    "true",
    "fail",
    "!",
    "p({variable})",
    "p({variable})",
    "q({variable},{variable})",
    "once_only({variable})",
    "{variable} = {small}",
    "{variable} = {atom}",
    "{variable} == {small}",
    "nonvar({variable})",
    "var({variable})",
    "write(a)",
    "write(b)",
    "write({variable})",
    "throw(ball)",
    "throw(ball({small}))",
    "undefined_predicate",
    "none",
    "member({variable},[1,2])",
    "{variable} > 1",
    "p({small})",
    "call(p,{variable})",
    "call(({variable} = 1 ; {variable} = 2))",
    "call(!)",
    "call((p({variable}),!))",
    "G = p({variable}), G",
    "call((fail,1))",
    "call({small})",
    "call(_)",
    "\\+ {variable} = {small}",
];

impl Generator {
    /// A goal with control constructs at most `depth` levels deep.
    pub fn control(&mut self, depth: usize) -> String {
        if depth == 0 || self.random.one_in(4) {
            let leaf = self.filled_one_of(LEAVES);
            // Engines write unbound variables differently.
            return match leaf.strip_prefix("write(").and_then(|rest| rest.strip_suffix(')')) {
                Some(variable) if variable.starts_with(char::is_uppercase) => {
                    format!("( nonvar({variable}) -> write({variable}) ; write(unbound) )")
                }
                _ => leaf,
            };
        }
        let mut part = || self.control(depth - 1);
        let (a, b, c) = (part(), part(), part());
        match self.random.below(17) {
            0..=3 => format!("( {a} , {b} )"),
            4..=6 => format!("( {a} ; {b} )"),
            7 => format!("( {a} -> {b} ; {c} )"),
            8 => format!("( {a} -> {b} )"),
            9 => format!("( {a} *-> {b} ; {c} )"),
            10 => format!("( {a} *-> {b} )"),
            11 => format!("\\+ {a}"),
            12 => format!("once({a})"),
            13 => format!("ignore({a})"),
            14 => format!(
                "catch({a},{},{b})",
                self.choose(&["_", "ball", "ball(_)", "error(E,_)", "error(type_error(_,_),_)"])
            ),
            15 => format!("call({a})"),
            _ => {
                let collector = self.choose(&[
                    "findall({v},{g},L)",
                    "forall({g},{h})",
                    "findall({v}-x,{g},L,T)",
                    "call(({g},{h}))",
                ]);
                collector.replace("{v}", "X").replace("{g}", &a).replace("{h}", &b)
            }
        }
    }
}

pub fn case(generator: &mut Generator) -> Case {
    let mut program: Vec<String> = PROGRAM.iter().map(|clause| (*clause).to_owned()).collect();
    let depth = 2 + generator.random.below(3);
    let goal = if generator.random.one_in(2) {
        generator.control(depth)
    } else {
        let (first, second) = (generator.control(depth), generator.control(1));
        program.push(format!("t(X,Y,Z) :- {first} ."));
        program.push(format!("t(X,Y,Z) :- {second} ."));
        program.push("t(last,last,last).".to_owned());
        generator.filled_one_of(&[
            "t(X,Y,Z)",
            "t(X,Y,Z)",
            "p(X), t(X,Y,Z)",
            "( t(X,Y,Z) ; X = end )",
            "\\+ t(X,Y,Z)",
            "t(X,X,Z), !",
        ])
    };
    Case { theme: "control", program, goal: goal + " ." }
}
