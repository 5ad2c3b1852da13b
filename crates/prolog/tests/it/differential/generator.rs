//! Random goals from templates.
//!
//! A template is Prolog text with placeholders such as `{term}`, `{list}` and `{atom}`, each of which is replaced by
//! random text of that kind. The parts of a goal share a few variables, so that one part can use the bindings of
//! another.

use mario_testing::Random;

/// A program, possibly empty, and a goal to run. Clauses and goal have no line breaks.
#[derive(Clone, Debug)]
pub struct Case {
    pub theme: &'static str,
    pub program: Vec<String>,
    pub goal: String,
}

const VARIABLES: &[&str] = &["X", "Y", "Z"];
const ATOMS: &[&str] = &[
    "a",
    "b",
    "c",
    "foo",
    "[]",
    "{}",
    "'A'",
    "'hello world'",
    "''",
    "+",
    "-",
    "'don''t'",
    "é",
    "aB_1",
    "'\\n'",
    "*",
    "'1'",
];
const WORDS: &[&str] =
    &["abc", "a", "''", "'hello world'", "abcabc", "'été'", "xyz", "'a b c'", "'12'", "'1.5'", "b", "'A-b'"];
const SMALL: &[&str] = &["0", "1", "2", "3", "-1", "-2", "7", "10"];
const INTEGERS: &[&str] = &[
    "0",
    "1",
    "-1",
    "2",
    "3",
    "7",
    "10",
    "-7",
    "255",
    "1000000",
    "1073741824",
    "4294967296",
    "-4294967297",
    "1152921504606846975",
    "1152921504606846976",
    "-1152921504606846977",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "-9223372036854775809",
    "100000000000000000000",
    "-123456789012345678901234567890",
];
const FLOATS: &[&str] = &[
    "0.0",
    "1.0",
    "-1.0",
    "0.5",
    "2.5",
    "-2.5",
    "1.0e10",
    "1.5e300",
    "-1.0e-10",
    "3.14159",
    "1.0e15",
    "1.0e16",
    "123456789.125",
    "9007199254740993.0",
    "0.1",
    "-0.0",
];
const OPERATORS: &[&str] = &["+", "-", "*", "/", "=", ":-", ",", "->", ";", "is", "<", "mod", "^", "**", "=..", "\\="];

pub struct Generator {
    pub random: Random,
}

impl Generator {
    pub fn new(seed: u64) -> Generator {
        Generator { random: Random::new(seed) }
    }

    pub fn choose(&mut self, items: &[&str]) -> String {
        (*self.random.choose(items)).to_owned()
    }

    /// Fills the placeholders of a template that is chosen at random.
    pub fn filled_one_of(&mut self, templates: &[&str]) -> String {
        let template = *self.random.choose(templates);
        self.fill(template)
    }

    /// Fills the placeholders of a template; `{{` is a literal brace.
    pub fn fill(&mut self, template: &str) -> String {
        let mut text = String::new();
        let mut rest = template;
        while let Some(start) = rest.find('{') {
            text.push_str(&rest[..start]);
            if let Some(after) = rest[start..].strip_prefix("{{") {
                text.push('{');
                rest = after;
                continue;
            }
            let end = start + rest[start..].find('}').expect("a hole is closed");
            text.push_str(&self.hole(&rest[start + 1..end]));
            rest = &rest[end + 1..];
        }
        text + rest
    }

    fn hole(&mut self, name: &str) -> String {
        match name {
            "term" => self.term(2),
            "ground" => self.ground_term(2),
            "small_term" => self.term(1),
            "variable" => self.variable(),
            "atom" => self.choose(ATOMS),
            "word" => self.choose(WORDS),
            "text" => self.text(),
            "small" => self.choose(SMALL),
            "integer" => self.choose(INTEGERS),
            "float" => self.choose(FLOATS),
            "number" => self.number(),
            "maybe_small" => self.mostly(SMALL),
            "maybe_atom" => self.mostly(ATOMS),
            "maybe_word" => self.mostly(WORDS),
            "list" => self.list(),
            "ground_list" => self.ground_list(),
            "number_list" => self.list_of(Generator::number),
            "small_list" => self.list_of(|generator| generator.choose(SMALL)),
            "atom_list" => self.list_of(|generator| generator.choose(ATOMS)),
            "word_list" => self.list_of(|generator| generator.choose(WORDS)),
            "list_list" => self.list_of(Generator::ground_list),
            "pair_list" => self.list_of(|generator| generator.fill("{ground_small}-{small}")),
            "sorted_list" => self.choose(&["[]", "[a]", "[1,a,b]", "[a,b,c]", "[1,2,f(x)]", "[b,c]"]),
            "source" => self.source(),
            "separator" => self.choose(&["', '", "'-'", "a", "' '", "''", "\" \"", "1"]),
            "codes" => self.choose(&[
                "[0'a,0'b]",
                "\"12\"",
                "\" 12\"",
                "\"1.5\"",
                "\"-7\"",
                "\"0x1f\"",
                "[0'1,0'2]",
                "[]",
                "\"1 \"",
                "\"12a\"",
                "[a,b]",
            ]),
            "type" => self.choose(&[
                "alpha",
                "alnum",
                "digit(W)",
                "upper(U)",
                "lower(L)",
                "space",
                "csym",
                "csymf",
                "punct",
                "graph",
                "to_lower(L)",
                "to_upper(U)",
                "end_of_line",
            ]),
            "letters" => self.list_of(|generator| generator.choose(&["a", "a", "b", "c"])),
            "ground_small" => self.ground_term(1),
            "maybe_list" => {
                if self.random.one_in(6) {
                    self.term(2)
                } else {
                    self.list()
                }
            }
            "order" => self.choose(&["<", "=", ">", "O", "a", "1"]),
            "ordering" => self.choose(&["@<", "@=<", "@>", "@>="]),
            "expression" => self.expression(2),
            "comparison" => self.choose(&["=:=", "=\\=", "<", ">", "=<", ">="]),
            other => unreachable!("no hole is called {other}"),
        }
    }

    pub fn variable(&mut self) -> String {
        self.choose(VARIABLES)
    }

    fn number(&mut self) -> String {
        match self.random.below(4) {
            0 => self.choose(FLOATS),
            1 => self.choose(INTEGERS),
            _ => self.choose(SMALL),
        }
    }

    fn text(&mut self) -> String {
        match self.random.below(6) {
            0 => format!("\"{}\"", self.choose(&["abc", "", "a b", "été", "12", "x=1"])),
            1 => self.choose(&["12", "1.5", "-3"]),
            _ => self.choose(WORDS),
        }
    }

    /// Usually one of `items`, sometimes a variable or another term.
    fn mostly(&mut self, items: &[&str]) -> String {
        match self.random.below(8) {
            0 => self.variable(),
            1 => self.term(1),
            _ => self.choose(items),
        }
    }

    fn list_of(&mut self, mut item: impl FnMut(&mut Generator) -> String) -> String {
        let length = self.random.below(6);
        let items: Vec<String> = (0..length).map(|_| item(self)).collect();
        format!("[{}]", items.join(","))
    }

    pub fn ground_list(&mut self) -> String {
        self.list_of(|generator| generator.ground_term(1))
    }

    pub fn list(&mut self) -> String {
        let list = self.list_of(|generator| generator.term(1));
        if self.random.one_in(8) && list != "[]" {
            let tail = self.term(0);
            return format!("{}|{tail}]", &list[..list.len() - 1]);
        }
        list
    }

    fn leaf(&mut self) -> String {
        match self.random.below(10) {
            0 => self.number(),
            1 | 2 => self.choose(SMALL),
            3 => self.text(),
            _ => self.choose(ATOMS),
        }
    }

    pub fn ground_term(&mut self, depth: usize) -> String {
        self.term_of(depth, &mut Generator::leaf)
    }

    pub fn term(&mut self, depth: usize) -> String {
        self.term_of(depth, &mut |generator| {
            if generator.random.one_in(3) { generator.variable() } else { generator.leaf() }
        })
    }

    fn term_of(&mut self, depth: usize, leaf: &mut dyn FnMut(&mut Generator) -> String) -> String {
        if depth == 0 || self.random.one_in(3) {
            return leaf(self);
        }
        match self.random.below(6) {
            0 => {
                let operator = self.choose(OPERATORS);
                let (left, right) = (self.term_of(depth - 1, leaf), self.term_of(depth - 1, leaf));
                format!("(({left}){operator}({right}))")
            }
            1 => {
                let items: Vec<String> = (0..=self.random.below(3)).map(|_| self.term_of(depth - 1, leaf)).collect();
                format!("[{}]", items.join(","))
            }
            2 if self.random.one_in(3) => format!("{{{}}}", self.term_of(depth - 1, leaf)),
            3 if self.random.one_in(2) => format!("-({})", self.term_of(depth - 1, leaf)),
            _ => {
                let name = self.choose(&["f", "f", "g", "h", "'F'", "+", "foo"]);
                let arguments: Vec<String> =
                    (0..=self.random.below(3)).map(|_| self.term_of(depth - 1, leaf)).collect();
                format!("{name}({})", arguments.join(","))
            }
        }
    }
}
