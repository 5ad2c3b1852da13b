//! Writing terms with random operators, and reading them back.

use super::generator::{Case, Generator};

const NAMES: &[&str] = &["is", "&", "===>", "foo", "+", "-", "\\", "~", "**", "abc", "=", "dynamic"];
const WRITERS: &[&str] = &[
    "writeq({w})",
    "writeq({w})",
    "writeq({w})",
    "write({w})",
    "print({w})",
    "write_canonical({w})",
    "write_term({w},[quoted(true),ignore_ops(true)])",
    "write_term({w},[quoted(true),max_depth(3)])",
    "write_term({w},[quoted(true),spacing(next_argument)])",
    "write_term({w},[])",
    "format(\"~w ~q\",[{w},{w}])",
    "with_output_to(string(S),writeq({w})), term_string(T,S), ( T == {w} -> true ; writeq(differs(S)) )",
    "T = {w}, format(atom(A),\"~q\",[T]), term_to_atom(U,A), ( U == T -> true ; write(differs(A)) )",
];

impl Generator {
    /// A term of operators, brackets, and atoms that must be quoted or bracketed.
    fn written(&mut self, depth: usize) -> String {
        if depth == 0 || self.random.one_in(5) {
            return match self.random.below(8) {
                0 => self.choose(&[
                    "- 1", "-1", "-(1)", "-(-(1))", "1 - -1", "- a", "-(-(a))", "\\+a", "1-(-1)", "-(1)^2", "-1^2",
                    "(-1)^2", "-a^2",
                ]),
                1 => self.choose(&[
                    "[]",
                    "{}",
                    "'[]'(x)",
                    "{}(x)",
                    "'{}'(x,y)",
                    "';'",
                    "','",
                    "'|'",
                    "!",
                    "[-]",
                    "[a|b]",
                    "-(-)",
                    "\\ (-)",
                    "[(a:-b)]",
                    "(a,b)",
                ]),
                2 => self.choose(&[
                    "'\\t'",
                    "'a\\\\b'",
                    "'\\x1\\'",
                    "'it''s'",
                    "'Hello'",
                    "\"a\\\"b\"",
                    "\"x\\ny\"",
                    "'/*'",
                    "//",
                    "'%'",
                    "'.'",
                ]),
                3 => self.fill("{number}"),
                4 => format!(
                    "({})",
                    self.choose(&["dynamic", ":-", "-->", "is", "mod", "+", "*", "table", "\\+", "?-", "="])
                ),
                _ => self.fill("{atom}"),
            };
        }
        let mut part = || format!("({})", self.written(depth - 1));
        let (a, b) = (part(), part());
        match self.random.below(12) {
            0..=4 => {
                let operator = self.choose(&[
                    "+", "-", "*", "/", "**", "^", "=", "is", ":-", ",", ";", "->", "mod", "rem", "<", "@<", ":",
                    "-->", "*->", "\\=", "=..", "|", "xor", "<<", "div",
                ]);
                format!("({a}{operator}{b})").replace("mod(", "mod (").replace("xor(", "xor (").replace("rem(", "rem (")
            }
            5 | 6 => format!(
                "{} {a}",
                self.choose(&[
                    "-",
                    "+",
                    "\\+",
                    "\\",
                    "?-",
                    ":-",
                    "dynamic",
                    "discontiguous",
                    "initialization",
                    "@",
                    "?",
                    "$"
                ])
            ),
            7 => format!("[{a},{b}]"),
            8 => format!("{{{a}}}"),
            9 => format!("{}({a})", self.choose(&["-", "+", "f", "'X y'", "\\+", "*", "-", "foo", "&"])),
            10 => {
                format!("{}({a},{b})", self.choose(&["-", "f", ":-", "foo", "&", "===>", "is", "abc", "=", "\\+", "~"]))
            }
            _ => format!("f({a},{b},x)"),
        }
    }

    fn declaration(&mut self) -> String {
        let kind = self.choose(&["xfx", "xfy", "yfx", "fy", "fx", "xf", "yf"]);
        let priority = self.choose(&["200", "400", "700", "900", "100", "0", "1100"]);
        format!("op({priority},{kind},({}))", self.choose(NAMES))
    }
}

pub fn case(generator: &mut Generator) -> Case {
    let depth = 1 + generator.random.below(3);
    let term = format!("({})", generator.written(depth));
    let goal = generator.choose(WRITERS).replace("{w}", &term);
    let goal = match generator.random.below(4) {
        0 => format!("{}, {}, {goal}", generator.declaration(), generator.declaration()),
        1 => format!("{}, {goal}", generator.declaration()),
        2 if generator.random.one_in(4) => generator.fill("op({maybe_small},{maybe_atom},{maybe_atom})"),
        _ => goal,
    };
    Case { theme: "writing", program: Vec::new(), goal: goal + " ." }
}
