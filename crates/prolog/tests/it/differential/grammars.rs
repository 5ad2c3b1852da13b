//! Random grammar rules, and phrases over a small alphabet.

use super::generator::{Case, Generator};

const PARTS: &[&str] = &[
    "[a]",
    "[b]",
    "[a,b]",
    "[]",
    "[X]",
    "as",
    "rest(X)",
    "\"ab\"",
    "!",
    "{{X = {small}}",
    "{{write(x)}",
    "\\+ [a]",
    "\\+ as",
    "call(any,X)",
    "( [a] ; [b] )",
    "( [a] -> [b] ; [] )",
    "( [a] -> [X] )",
    "( as , [b] )",
    "digits(X)",
    "[a] | [b]",
    "{{!}, [X]",
    "{{fail}",
    "( as | [c] )",
];
const COMMON: &[&str] = &[
    "as --> [a], as.",
    "as --> [].",
    "rest([X|Xs]) --> [X], !, rest(Xs).",
    "rest([]) --> [].",
    "any(X,[X|S],S).",
    "digits([D|T]) --> digit(D), digits(T).",
    "digits([D]) --> digit(D).",
    "digit(D) --> [D], {{ code_type(D,digit) }.",
];
const GOALS: &[&str] = &[
    "phrase(s(X),{letters})",
    "phrase(s(X),{letters},R)",
    "phrase(s(X),{letters},R)",
    "phrase(s({small}),{letters},R)",
    "phrase({{X = 1},{letters})",
    "phrase(([a],s(X)),{letters},R)",
    "phrase(s(X),{maybe_list},R)",
    "phrase({maybe_atom},{letters})",
    "phrase(digits(X),[0'1,0'2])",
    "phrase(push,{letters},R)",
];

pub fn case(generator: &mut Generator) -> Case {
    let mut program: Vec<String> = COMMON.iter().map(|rule| generator.fill(rule)).collect();
    for _ in 0..=generator.random.below(2) {
        let parts: Vec<String> =
            (0..=generator.random.below(3)).map(|_| format!("({})", generator.filled_one_of(PARTS))).collect();
        program.push(format!("s(X) --> {}.", parts.join(", ")));
    }
    program.push(generator.filled_one_of(&["push, [c] --> [a].", "push, \"c\" --> [b].", "push, [X] --> [X,_]."]));
    let goal = generator.filled_one_of(GOALS) + " .";
    Case { theme: "grammars", program, goal }
}
