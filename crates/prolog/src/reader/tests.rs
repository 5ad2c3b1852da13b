use super::{FullStop, ReadTerm, Reader, Syntax, SyntaxError, read_number};
use crate::flags::{Flags, QuotedText};
use crate::number::Number;
use crate::operators::{Operator, OperatorType, Operators};
use crate::store::{Store, View};
use crate::symbols::{Atoms, Scope, Symbols};
use crate::term::Term;

/// A reader's flags, operators, atoms and store.
struct World {
    store: Store,
    atoms: Atoms,
    operators: Operators,
    flags: Flags,
}

impl World {
    fn new() -> World {
        let symbols = Symbols::new();
        let operators = Operators::standard(&symbols);
        let atoms = Atoms::new(symbols, Scope::Shared);
        World { store: Store::default(), atoms, operators, flags: Flags::default() }
    }

    fn operator(mut self, priority: u16, kind: OperatorType, name: &str) -> World {
        self.operators.define(self.atoms.intern(name), Operator { priority, kind });
        self
    }

    fn next(&mut self, reader: &mut Reader<'_>) -> Result<Option<ReadTerm>, SyntaxError> {
        let World { store, atoms, operators, flags } = self;
        reader.next(store, &mut Syntax { atoms, operators, flags })
    }

    fn read(&mut self, text: &str) -> Result<ReadTerm, SyntaxError> {
        let term = self.next(&mut Reader::new(text, FullStop::Optional))?;
        Ok(term.expect("the text is not empty"))
    }

    /// The term in functional notation. Names that are empty or contain spaces or line breaks are in double quotes.
    fn show(&self, read: &ReadTerm, term: Term) -> String {
        let name = |atom| {
            let name = self.atoms.name(atom);
            if name.is_empty() || name.contains([' ', '\n']) { format!("{name:?}") } else { name.to_owned() }
        };
        match self.store.view(term) {
            View::Variable(_) => {
                let term = self.store.deref(term);
                let named = read.variables.iter().find(|variable| variable.1 == term);
                named.map_or("_".to_owned(), |variable| variable.0.to_string())
            }
            View::Atom(atom) => name(atom),
            View::Small(value) => value.to_string(),
            View::Big => self.store.big(term).to_string(),
            View::Float(value) => format!("{value:?}"),
            View::Text => format!("{:?}", self.store.text(term)),
            View::List(address) => {
                let [head, tail] = [0, 1].map(|index| self.show(read, self.store.argument(address, index)));
                format!("[{head}|{tail}]")
            }
            View::Compound(functor, arguments) => {
                let shown: Vec<_> =
                    (0..functor.arity()).map(|index| self.show(read, self.store.argument(arguments, index))).collect();
                format!("{}({})", name(functor.name()), shown.join(","))
            }
        }
    }

    fn outcome(&mut self, text: &str) -> String {
        match self.read(text) {
            Ok(read) => self.show(&read, read.term),
            Err(error) => format!("{:?}", error.kind),
        }
    }
}

fn check_all(mut world: World, cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        assert_eq!(world.outcome(text), *expected, "reading `{text}`");
    }
}

fn check(cases: &[(&str, &str)]) {
    check_all(World::new(), cases);
}

fn check_error(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        let kind = match World::new().read(text) {
            Ok(read) => panic!("`{text}` is read as a term with variables {:?}", read.variables),
            Err(error) => format!("{:?}", error.kind),
        };
        let expected = if expected.ends_with(')') { (*expected).to_owned() } else { format!("Named({expected:?})") };
        assert_eq!(kind, expected, "reading `{text}`");
    }
}

#[test]
fn prefix_operators_are_operators_or_atoms() {
    check(&[
        ("- = x", "=(-,x)"),
        ("- + 1", "-(+(1))"),
        ("- - 1", "-(-(1))"),
        ("- * 1", "*(-,1)"),
        ("- - -", "-(-(-))"),
        ("\\ -", "\\(-)"),
        ("[- | -]", "[-|-]"),
        ("f(:- , a)", "f(:-,a)"),
        ("[-]", "[-|[]]"),
        ("{-}", "{}(-)"),
        ("-(1)", "-(1)"),
        ("- (1)", "-(1)"),
        ("- 1", "-(1)"),
        ("-1", "-1"),
        ("- -1", "-(-1)"),
        ("-(-1)", "-(-1)"),
        ("a - 1", "-(a,1)"),
        ("a -1", "-(a,1)"),
        ("a-1", "-(a,1)"),
        ("a - -1", "-(a,-1)"),
        ("a - - 1", "-(a,-(1))"),
        ("1 -(1)", "-(1,1)"),
        ("- (1,2)", "-(,(1,2))"),
        ("-(1,2)", "-(1,2)"),
        ("\\+ (a,b)", "\\+(,(a,b))"),
        ("\\+(a,b)", "\\+(a,b)"),
        ("\\+(a),b", ",(\\+(a),b)"),
        ("\\+a,b", ",(\\+(a),b)"),
        (":- dynamic foo/1", ":-(dynamic(/(foo,1)))"),
        (":- dynamic a, b.", ":-(dynamic(,(a,b)))"),
        ("dynamic", "dynamic"),
        (":- dynamic", ":-(dynamic)"),
        ("X = dynamic", "=(X,dynamic)"),
        ("dynamic = 1", "=(dynamic,1)"),
        ("\\+ = x", "=(\\+,x)"),
        ("\\+ =", "\\+(=)"),
        (":- is - 1", ":-(-(is,1))"),
        ("- = - 1", "=(-,-(1))"),
        ("a = \\+", "=(a,\\+)"),
        ("a = - b", "=(a,-(b))"),
        ("- a ^ b", "-(^(a,b))"),
        ("-1 ^ 2", "^(-1,2)"),
        ("- 1 ^ 2", "-(^(1,2))"),
        ("-(1)^2", "^(-(1),2)"),
        ("- (1)^2", "-(^(1,2))"),
        ("'-'1", "-(1)"),
        ("'dynamic' foo", "dynamic(foo)"),
        ("-(-)-(-)", "-(-(-),-)"),
        ("+1", "+(1)"),
        ("$a", "$(a)"),
        ("-a", "-(a)"),
        ("-X", "-(X)"),
        ("-[1]", "-([1|[]])"),
        ("-{1}", "-({}(1))"),
        ("-\"x\"", "-(\"x\")"),
        ("f(+)", "f(+)"),
    ]);
}

#[test]
fn infix_operators_nest_by_priority() {
    check(&[
        ("a:b:c", ":(a,:(b,c))"),
        ("a-b-c", "-(-(a,b),c)"),
        ("a*(b+c)*d", "*(*(a,+(b,c)),d)"),
        ("a+b*c-d", "-(+(a,*(b,c)),d)"),
        ("a :- b, c ; d -> e ; f", ":-(a,;(,(b,c),;(->(d,e),f)))"),
        ("(a :- b) :- c", ":-(:-(a,b),c)"),
        ("a --> b, {c}, !", "-->(a,,(b,,({}(c),!)))"),
        ("a is 1 + 2 * 3", "is(a,+(1,*(2,3)))"),
        ("a 'is' b", "is(a,b)"),
        ("a rem b mod c", "mod(rem(a,b),c)"),
        ("* = *", "=(*,*)"),
        ("= = =", "=(=,=)"),
        ("- = =", "=(-,=)"),
        ("[= | =]", "[=|=]"),
        ("a\\=b", "\\=(a,b)"),
        ("2**3", "**(2,3)"),
        ("a=..b", "=..(a,b)"),
    ]);
}

#[test]
fn bars_are_operators_or_start_a_tail() {
    check(&[
        ("a | b", "|(a,b)"),
        ("(a | b | c)", "|(a,|(b,c))"),
        ("a ; b | c", "|(;(a,b),c)"),
        ("a --> b | c", "-->(a,|(b,c))"),
        ("{a | b}", "{}(|(a,b))"),
        ("'|'(a,b)", "|(a,b)"),
        ("[a|b]", "[a|b]"),
        ("[a,b|c]", "[a|[b|c]]"),
        ("[a|[b]]", "[a|[b|[]]]"),
        ("[(a|b)]", "[|(a,b)|[]]"),
    ]);
}

#[test]
fn brackets_make_lists_braces_and_arguments() {
    check(&[
        ("[]", "[]"),
        ("[ ]", "[]"),
        ("{}", "{}"),
        ("{ }", "{}"),
        ("[](a)", "[](a)"),
        ("{}(a)", "{}(a)"),
        ("{a}", "{}(a)"),
        ("{a,b}", "{}(,(a,b))"),
        ("{a:-b}", "{}(:-(a,b))"),
        ("[(a :- b)]", "[:-(a,b)|[]]"),
        ("f((a :- b))", "f(:-(a,b))"),
        ("f((a,b))", "f(,(a,b))"),
        ("f(a,b)", "f(a,b)"),
        ("f(a;b,c->d)", "f(;(a,b),->(c,d))"),
        ("f(a:-b,c)", "f(:-(a,b),c)"),
        ("[a:-b|:- c]", "[:-(a,b)|:-(c)]"),
        ("f(a|b)", "f(|(a,b))"),
        ("f(a, [b], {c})", "f(a,[b|[]],{}(c))"),
        ("'.'(a,[])", "[a|[]]"),
        ("'[]'", "[]"),
        (";(a,b)", ";(a,b)"),
        ("f(;,a)", "f(;,a)"),
        ("[!]", "[!|[]]"),
        ("!(a)", "!(a)"),
        ("(;)", ";"),
    ]);
}

#[test]
fn numbers_have_many_forms() {
    check(&[
        ("0'a", "97"),
        ("0' ", "32"),
        ("0''", "39"),
        ("0'''", "39"),
        ("0'\\n", "10"),
        ("0'\\\\", "92"),
        ("0'\\'", "39"),
        ("0'\\x41\\", "65"),
        ("0x1F", "31"),
        ("0b101", "5"),
        ("0o17", "15"),
        ("16'FF", "255"),
        ("36'Z", "35"),
        ("1_000_000", "1000000"),
        ("1_ 000", "1000"),
        ("0x1_F", "31"),
        ("0xFFFFFFFFFFFFFFFFFFFF", "1208925819614629174706175"),
        ("9223372036854775808", "9223372036854775808"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ("1.5", "1.5"),
        ("1.0e10", "10000000000.0"),
        ("1e10", "10000000000.0"),
        ("1E5", "100000.0"),
        ("1.5e-3", "0.0015"),
        ("1.0e-400", "0.0"),
        ("-0.0", "-0.0"),
        ("1.0Inf", "inf"),
        ("-1.0Inf", "-inf"),
        ("1.5NaN", "NaN"),
        ("X = 1.", "=(X,1)"),
        ("f(1.5.", "Named(\"operator_expected\")"),
    ]);
}

#[test]
fn long_integers_are_read_in_pieces() {
    let digits = format!("1{}", "0".repeat(4000));
    assert_eq!(World::new().outcome(&format!("{digits} - 1")), format!("-({digits},1)"));
    let nines = "9".repeat(1537);
    assert_eq!(World::new().outcome(&nines), nines);
}

#[test]
fn quoted_text_has_escapes() {
    check(&[
        ("'hello world'", "\"hello world\""),
        ("'a''b'", "a'b"),
        ("'\\''", "'"),
        ("'\\\"\\`'", "\"`"),
        ("'a\\\nb'", "ab"),
        ("'a\\\n b'", "\"a b\""),
        ("'a\\c\n  b'", "ab"),
        ("'a\\x41\\b'", "aAb"),
        ("'\\101\\'", "A"),
        ("'\\u00e9\\U0001F600'", "é😀"),
        ("'\\s'", "\" \""),
        ("'\\n'", "\"\\n\""),
        ("''", "\"\""),
        ("\"a\"\"b\"", "\"a\\\"b\""),
        ("\"\\e\\a\\b\\f\\v\\0\\\\t\\r\\\\\"", "\"\\u{1b}\\u{7}\\u{8}\\u{c}\\u{b}\\0\\t\\r\\\\\""),
        ("`ab`", "[97|[98|[]]]"),
        ("éa = Éa", "=(éa,Éa)"),
        ("'foo'(x)", "foo(x)"),
    ]);
}

#[test]
fn flags_determine_the_meaning_of_quotes() {
    let cases = [
        (QuotedText::Codes, "[97|[]]"),
        (QuotedText::Chars, "[a|[]]"),
        (QuotedText::Atom, "a"),
        (QuotedText::String, "\"a\""),
    ];
    for (meaning, expected) in cases {
        let mut world = World::new();
        world.flags.double_quotes = meaning;
        assert_eq!(world.outcome("\"a\""), expected);
        world.flags.back_quotes = meaning;
        assert_eq!(world.outcome("`a`"), expected);
    }
}

#[test]
fn comments_and_layout_separate_tokens() {
    check(&[
        ("a % b", "a"),
        ("a%b", "a"),
        ("/**/a", "a"),
        ("a:- /* x */ b", ":-(a,b)"),
        ("a.% end", "a"),
        ("a.", "a"),
        ("a .", "a"),
        ("..", ".."),
        ("f(\n%x\na)", "f(a)"),
    ]);
}

#[test]
fn user_operators_are_read() {
    use OperatorType::{Fx, Xf, Xfx, Yf, Yfx};
    let world = World::new()
        .operator(700, Xfx, "===>")
        .operator(200, Xf, "done")
        .operator(300, Yf, "!")
        .operator(200, Yfx, "leftish")
        .operator(300, Fx, "nonassoc")
        .operator(500, Xfx, "both")
        .operator(500, Xf, "both")
        .operator(300, Fx, "is");
    check_all(
        world,
        &[
            ("a ===> b", "===>(a,b)"),
            ("a done", "done(a)"),
            ("a ! !", "!(!(a))"),
            ("a + b done", "+(a,done(b))"),
            ("- a !", "!(-(a))"),
            ("a leftish b leftish c", "leftish(leftish(a,b),c)"),
            ("- a leftish b", "leftish(-(a),b)"),
            ("nonassoc a", "nonassoc(a)"),
            ("nonassoc nonassoc a", "Named(\"operator_clash\")"),
            ("a both b", "both(a,b)"),
            ("a both", "both(a)"),
            ("f(a both, b both)", "f(both(a),both(b))"),
            ("X is 1", "is(X,1)"),
            ("is 1", "is(1)"),
            ("a done done", "Named(\"operator_clash\")"),
        ],
    );
}

#[test]
fn syntax_errors_have_names() {
    check_error(&[
        ("f(a:-b", "operator_expected"),
        (":- :- :-", "operator_clash"),
        ("a=b=c", "operator_clash"),
        (":- a :- b", "operator_clash"),
        ("a = :- b", "operator_clash"),
        ("a = \\+ b", "operator_clash"),
        ("- :- a", "operator_clash"),
        ("a:-b:-c", "operator_clash"),
        ("foo (a)", "operator_expected"),
        ("foo()", "cannot_start_term"),
        ("X(a)", "operator_expected"),
        ("\"abc\"(x)", "operator_expected"),
        ("[a](b)", "operator_expected"),
        ("a.b", "operator_expected"),
        ("a b", "operator_expected"),
        ("\"a\" \"b\"", "operator_expected"),
        ("1 000", "operator_expected"),
        ("0xfG", "operator_expected"),
        ("0b12", "operator_expected"),
        ("1.e5", "operator_expected"),
        ("1.0e", "operator_expected"),
        ("a = = b", "operator_expected"),
        ("1--1", "operator_expected"),
        ("a+", "operator_balance"),
        ("f(,)", "quoted_punctuation"),
        ("f(a,)", "cannot_start_term"),
        ("[a,]", "cannot_start_term"),
        ("[a|]", "cannot_start_term"),
        ("[a|b,c]", "list_rest"),
        ("[a|b|c]", "list_rest"),
        ("|", "quoted_punctuation"),
        ("p :- q, (r", "operator_expected"),
        ("p :- q)", "cannot_start_term"),
        ("[a)", "cannot_start_term"),
        ("1.0e400", "float_overflow"),
        ("1.0NaN", "illegal_number"),
        ("0'\\q", "illegal_number"),
        ("0'", "end_of_file"),
        ("'a\\qb'", "Escape('q')"),
        ("'\\z'", "Escape('z')"),
        ("'\\x41'", "undefined_char_escape"),
        ("'\\uD800'", "Illegal character code"),
        ("'\\u12'", "Illegal \\u or \\U sequence"),
        ("'abc", "OpenQuote('\\'')"),
        ("\"abc", "OpenQuote('\"')"),
        ("'a\nb'", "OpenQuote('\\'')"),
        ("/* abc", "end_of_file_in_block_comment"),
        (".", "end_of_clause"),
        ("a \u{1} b", "illegal_character"),
    ]);
}

/// The errors of a file as `line:column: message; hint`.
fn errors(text: &str) -> Vec<String> {
    let mut world = World::new();
    let mut reader = Reader::new(text, FullStop::Required);
    let mut found = Vec::new();
    loop {
        match world.next(&mut reader) {
            Ok(None) => return found,
            Ok(Some(_)) => {}
            Err(error) => {
                let before = &text[..error.span.start];
                let line = before.matches('\n').count() + 1;
                let column = before.len() - before.rfind('\n').map_or(0, |at| at + 1) + 1;
                let hint = error.hint.map_or(String::new(), |hint| format!("; {hint}"));
                found.push(format!("{line}:{column}: {}{hint}", error.message));
            }
        }
    }
}

#[test]
fn reading_continues_after_an_error() {
    let text = "\
good(a).
migrate(I, N :- latency(I, N, L).
good(b).
p :- write('hello).
good(c).
q :- write('hello
  world'), nl.
q :- X = [a :- b, c.
r :- foo (a).
s :- a,.
t :- [a, b.
u :- '\\q', b.
v :- a b, 'c.d', 0'x. w :- X = 1.0e999.
x :- a
y :- b.
z :- a,
zz :- b.
good(d). /* never
good(e).
";
    let expected = [
        "2:14: expected `,` or `)`; close the argument list before `:-`",
        "4:12: the closing `'` is missing; close it with `'`; write `\\n` for a line break, `\\` at the end to continue",
        "6:12: the closing `'` is missing; close it with `'`; write `\\n` for a line break, `\\` at the end to continue",
        "8:13: expected `,`, `|` or `]`; close the list before `:-`",
        "9:10: expected an operator or `.`; write `foo(` without a space",
        "10:8: expected a term after `,`",
        "11:11: expected `,`, `|` or `]`; close the list before the end of the clause",
        "12:7: `\\q` is not an escape sequence; write `\\\\` for a backslash",
        "13:8: expected an operator or `.`",
        "13:32: this number is too large; the largest float is 1.7976931348623157e308",
        "15:1: expected an operator or `.`; end the clause before with `.`",
        "17:4: `:-` clashes with `:-` before it; end the clause before with `.`, or put the inner term in parentheses",
        "18:10: this comment never ends; close it with `*/`",
    ];
    assert_eq!(errors(text), expected);
}

#[test]
fn a_file_may_start_with_a_mark_and_a_loader_line() {
    assert_eq!(errors("\u{feff}#!/usr/bin/env swipl\na."), [""; 0]);
    assert_eq!(errors("a. #!b."), ["1:5: expected an operator or `.`"]);
}

#[test]
fn the_last_clause_needs_its_full_stop() {
    assert_eq!(errors("a. b"), ["1:5: the last clause has no final `.`; a clause ends with `.`"]);
    assert_eq!(errors("a. b :-"), ["1:8: expected a term; end the clause with `.`"]);
    assert_eq!(errors("a. b(c"), ["1:7: expected `,` or `)`; close the argument list"]);
    assert_eq!(errors("a. 'b"), ["1:4: the closing `'` is missing; close it with `'`"]);
}

#[test]
fn variables_are_listed_in_order_of_appearance() {
    let mut world = World::new();
    let text = "p(X, Y, _, _Z) :- q(Y, _, W)";
    let read = world.read(text).expect("it is well formed");
    let names: Vec<&str> = read.variables.iter().map(|variable| &*variable.0).collect();
    assert_eq!(names, ["X", "Y", "_Z", "W"]);
    let singletons: Vec<&str> = read.singletons.iter().map(|(_, span)| &text[span.clone()]).collect();
    assert_eq!(singletons, ["X", "W"]);
    let goals: Vec<&str> = read.goals.iter().map(|(_, span)| &text[span.clone()]).collect();
    assert_eq!(goals, ["p(X, Y, _, _Z)", "q(Y, _, W)", text]);
    assert_eq!(&text[read.span.clone()], text);
}

#[test]
fn numbers_are_read_alone() {
    let cases = [(" 12", 12), ("-3", -3), ("+4", 4), ("0'a", 97)];
    for (text, expected) in cases {
        assert_eq!(read_number(text), Ok(Number::Int(expected)), "reading `{text}`");
    }
    assert_eq!(read_number("1.5e3"), Ok(Number::Float(1500.0)));
    for text in ["", " ", "a", "1 ", "- 1", "1x", "--1", "0'", "1.", "0'ab", "/*1", "#!\n1"] {
        assert!(read_number(text).is_err(), "reading `{text}`");
    }
}

#[test]
fn nesting_is_bounded_by_memory_alone() {
    const DEPTH: usize = 1_000_000;
    let texts = [
        format!("{}a{}", "(".repeat(DEPTH), ")".repeat(DEPTH)),
        format!("{}a{}", "[".repeat(DEPTH), "]".repeat(DEPTH)),
        format!("{}a{}", "{".repeat(DEPTH), "}".repeat(DEPTH)),
        format!("{}a{}", "f(".repeat(DEPTH), ")".repeat(DEPTH)),
        format!("{}a", "- ".repeat(DEPTH)),
        format!("{}a", "a-".repeat(DEPTH)),
        format!("{}a", "a,".repeat(DEPTH)),
        format!("[{}a]", "a,".repeat(DEPTH)),
        format!("{}a{}", "[a|".repeat(DEPTH), "]".repeat(DEPTH)),
    ];
    for text in texts {
        let mut world = World::new();
        let read = world.read(&text).expect("it is well formed");
        let beginning = &text[..4];
        assert!(read.goals.len() >= DEPTH || beginning == "((((" || beginning == "[a,a", "reading `{beginning}…`");
    }
    let open = "f(".repeat(DEPTH);
    assert!(World::new().read(&open).is_err());
}
