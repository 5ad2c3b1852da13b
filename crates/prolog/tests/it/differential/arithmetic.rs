//! Arithmetic: evaluables on numbers of all kinds, comparisons, and errors.

use super::generator::{Case, Generator};

const UNARY: &[&str] = &[
    "-",
    "+",
    "abs",
    "sign",
    "float",
    "integer",
    "truncate",
    "round",
    "floor",
    "ceiling",
    "sqrt",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "exp",
    "log",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "float_integer_part",
    "float_fractional_part",
    "\\",
    "msb",
];
const BINARY: &[&str] = &[
    "+", "-", "*", "+", "-", "*", "/", "//", "mod", "rem", "div", "min", "max", "gcd", "/\\", "\\/", "xor", "atan2",
    "atan", "copysign", "truncate", "lcm",
];
const GOALS: &[&str] = &[
    "X is {expression}",
    "X is {expression}",
    "X is {expression}",
    "X is {expression}",
    "{number} is {expression}",
    "{expression} {comparison} {expression}",
    "{number} {comparison} {number}",
    "X is {number} ** {small}",
    "X is {small} ** {float}",
    "X is {integer} ^ {small}",
    "X is {small} ^ {small}",
    "X is {float} ^ {number}",
    "X is {integer} << {small}",
    "X is {integer} >> {small}",
    "X is {integer} // {integer}",
    "X is {integer} mod {integer}",
    "X is {integer} rem {integer}",
    "X is {integer} div {integer}",
    "X is {integer} * {integer} + {integer}",
    "X is {integer} / {integer}",
    "X is gcd({integer},{integer})",
    "succ({maybe_small},X)",
    "succ(X,{maybe_small})",
    "plus({maybe_small},{maybe_small},X)",
    "plus({maybe_small},X,{maybe_small})",
    "between({maybe_small},{maybe_small},X)",
    "between({small},inf,X)",
    "between({small},{small},{maybe_small})",
    "X is {maybe_small} + {term}",
    "X is {small_list}",
    "X is \"a\" + {small}",
    "X is {atom}",
    "X = {small}, Y is X * {expression}",
    "X is pi * {number}",
    "X is e ** {small}",
    "X is powm({small},{small},{small})",
    "X is max({number},{number})",
    "X is min({number},{number})",
    "X is nexttoward({float},{number})",
    "X is truncate({number})",
    "X is integer({number})",
    "X is round({number})",
    "X is floor({number})",
    "X is ceiling({number})",
    "X is msb({integer})",
    "X is inf",
    "X is nan",
    "X is epsilon",
    "format(\"~d ~a ~w\", [{maybe_small},{atom},{number}])",
    "atom_number('{integer}',X)",
    "{number} == {number}",
    "compare(O,{number},{number})",
    "sort(0,@>=,{number_list},L)",
    "sum_list({number_list},S)",
    "max_list({number_list},S)",
    "min_list({number_list},S)",
    "max_member(M,{number_list})",
];

impl Generator {
    pub fn expression(&mut self, depth: usize) -> String {
        if depth == 0 || self.random.one_in(4) {
            return match self.random.below(24) {
                0 => "X".to_owned(),
                1 => self.fill("{atom}"),
                2 => self.choose(&["pi", "e", "inf", "nan", "epsilon"]),
                3 => "foo(1)".to_owned(),
                4 => self.choose(&["\"a\"", "[1]", "\"ab\"", "[1,2]", "[X]"]),
                _ => self.fill("{number}"),
            };
        }
        if self.random.one_in(3) {
            let name = self.choose(UNARY);
            return format!("{name}({})", self.expression(depth - 1));
        }
        let name = self.choose(BINARY);
        format!("{name}({},{})", self.expression(depth - 1), self.expression(depth - 1))
    }
}

pub fn case(generator: &mut Generator) -> Case {
    let goal = generator.filled_one_of(GOALS) + " .";
    Case { theme: "arithmetic", program: Vec::new(), goal }
}
