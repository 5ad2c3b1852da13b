use super::{Limit, Spacing, Terms, WriteOptions, format_float, name_variables, write_term};
use crate::fault::{Raised, Solved};
use crate::flags::Flags;
use crate::meter::{Budget, Resource};
use crate::operators::{Operator, OperatorType, Operators};
use crate::reader::{Syntax, read_goal};
use crate::store::Store;
use crate::symbols::{Atoms, Scope, Symbols, atoms};
use crate::term::{Functor, Term};

#[expect(clippy::disallowed_methods, reason = "it writes a program for SWI-Prolog and runs it")]
mod peer;

/// Additional operators, so that every operator type is covered.
const OPERATORS: &[(u16, OperatorType, &str)] = &[
    (200, OperatorType::Xf, "post"),
    (300, OperatorType::Yf, "ypost"),
    (200, OperatorType::Xf, "++"),
    (200, OperatorType::Fy, "fyop"),
    (200, OperatorType::Fx, "fxop"),
    (200, OperatorType::Xfx, "xfxop"),
    (700, OperatorType::Xfx, "===>"),
    (200, OperatorType::Xfx, "hello world"),
    (200, OperatorType::Fy, "Pre fix"),
];

struct World {
    store: Store,
    atoms: Atoms,
    operators: Operators,
}

impl World {
    fn new() -> World {
        let symbols = Symbols::new();
        let mut operators = Operators::standard(&symbols);
        for &(priority, kind, name) in OPERATORS {
            operators.define(symbols.intern(name), Operator { priority, kind });
        }
        let mut store = Store::default();
        store.meter.start(&Budget::UNLIMITED);
        World { store, atoms: Atoms::new(symbols, Scope::Shared), operators }
    }

    fn read(&mut self, text: &str) -> Term {
        let World { store, atoms, operators } = self;
        let read = read_goal(text, store, &mut Syntax { atoms, operators, flags: &Flags::default() });
        match read {
            Ok(read) => read.expect("the text is not empty").term,
            Err(error) => panic!("`{text}` at {:?}: {error}", error.span),
        }
    }

    fn write_limited(&mut self, term: Term, options: &WriteOptions, limit: Limit) -> Solved<String> {
        let World { store, atoms, operators } = self;
        let mut text = String::new();
        write_term(&mut text, term, options, limit, &mut Terms { store, atoms, operators })?;
        Ok(text)
    }

    fn write(&mut self, term: Term, options: &WriteOptions) -> String {
        self.write_limited(term, options, Limit::NONE).expect("there is no limit")
    }

    /// The term, quoted and in functional notation. Terms that differ in more than the names of variables have
    /// different texts.
    fn canonical(&mut self, term: Term) -> String {
        let variable_names = name_variables(&mut self.store, term).expect("the budget is large");
        self.write(term, &WriteOptions { variable_names, ..WriteOptions::canonical() })
    }
}

/// Reads and writes each text, and checks the output. Quoted output without `...` must be read back as the same term.
fn check_with(options: &WriteOptions, cases: &[(&str, &str)]) {
    let mut world = World::new();
    for (text, expected) in cases {
        let term = world.read(text);
        let written = world.write(term, options);
        assert_eq!(written, *expected, "writing `{text}`");
        if options.quoted && !expected.contains("...") {
            let again = world.read(&written);
            assert_eq!(world.canonical(again), world.canonical(term), "reading `{written}`");
        }
    }
}

fn check(cases: &[(&str, &str)]) {
    let numbered = WriteOptions { numbervars: false, ..WriteOptions::writeq() };
    check_with(&numbered, cases);
}

#[test]
fn prefix_operators_are_written_next_to_their_operand() {
    check(&[
        ("-(1)", "- 1"),
        ("- a", "-a"),
        ("-(-(1))", "- - 1"),
        ("-(-1)", "- -1"),
        ("-(-(a))", "- -a"),
        ("\\+ (a,b)", "\\+ (a,b)"),
        ("\\+[a]", "\\+[a]"),
        ("-{a}", "-{a}"),
        ("-(-)", "- (-)"),
        ("- = x", "(-)=x"),
        ("(-1)^2", "-1^2"),
        ("-(1)^2", "(- 1)^2"),
        ("-(1^2)", "- 1^2"),
        ("-a^2", "-a^2"),
        ("(-a)^2", "(-a)^2"),
        ("+(1)", "+1"),
        ("+(-1)", "+ -1"),
        ("-(2+3)", "- (2+3)"),
        ("fyop -1", "fyop-1"),
        ("fyop (a,b)", "fyop (a,b)"),
        ("fyop f(x)", "fyop f(x)"),
        ("fyop 'A b'", "fyop'A b'"),
        ("fyop \"s\"", "fyop\"s\""),
        ("fyop [a]", "fyop[a]"),
        ("'Pre fix' 'Pre fix' a", "'Pre fix' 'Pre fix'a"),
        (":- dynamic a,b", ":-dynamic a,b"),
        (":- (:-)", ":- (:-)"),
        ("- (dynamic a)", "- (dynamic a)"),
        ("\\ \\ a", "\\ \\a"),
        ("\\+ (\\+a,b)", "\\+ (\\+a,b)"),
        ("-((a,b)^2)", "- (a,b)^2"),
        ("$ 1", "$1"),
    ]);
}

#[test]
fn infix_operators_have_spaces_only_where_needed() {
    check(&[
        ("a:-b,c;d->e", "a:-b,c;d->e"),
        ("1 - -1", "1- -1"),
        ("1-(-(1))", "1- - 1"),
        ("a- -b", "a- -b"),
        ("1-(2-3)", "1-(2-3)"),
        ("1-2-3", "1-2-3"),
        ("2^3^4", "2^3^4"),
        ("(2^3)^4", "(2^3)^4"),
        ("1 rdiv 2", "1 rdiv 2"),
        ("a mod (b mod c)", "a mod (b mod c)"),
        ("a=(\\+b)", "a=(\\+b)"),
        ("(:-):-(:-)", "(:-):-(:-)"),
        ("f(:-)", "f(:-)"),
        ("[(a:-b)]", "[(a:-b)]"),
        ("f((a:-b),(c,d))", "f((a:-b),(c,d))"),
        ("{a:-b,c}", "{a:-b,c}"),
        ("[a] is [b]", "[a]is[b]"),
        ("a is [b]", "a is [b]"),
        ("[a] is (b:-c)", "[a]is(b:-c)"),
        ("f(x) is f(y)", "f(x)is f(y)"),
        ("'A' is 'B'", "'A'is'B'"),
        ("1 'hello world' 2", "1 'hello world' 2"),
        ("a 'hello world' b", "a'hello world'b"),
        ("@ - a", "@ - a"),
        ("a ++ + b", "a++ + b"),
        ("a|b", "a|b"),
        ("',' = a", "(',')=a"),
        ("a:b:c", "a:b:c"),
        ("(a:b):c", "(a:b):c"),
        ("a*(b+c)*d", "a*(b+c)*d"),
        ("a post", "a post"),
        ("(a+b)post", "(a+b)post"),
        ("-(a ypost)", "- (a ypost)"),
        ("(-a) ypost", "-a ypost"),
        ("post post", "(post)post"),
        ("1-1.0Inf", "1-1.0Inf"),
        ("(a->b;c)", "a->b;c"),
        ("((a,b),c)", "(a,b),c"),
    ]);
}

#[test]
fn names_are_quoted_where_needed() {
    check(&[
        ("[]", "[]"),
        ("'[]'", "[]"),
        ("{}", "{}"),
        ("';'", ";"),
        ("!", "!"),
        ("','", "','"),
        ("'|'", "'|'"),
        ("'hello world'", "'hello world'"),
        ("'don''t'", "'don\\'t'"),
        ("'a\\\\b'", "'a\\\\b'"),
        ("'\\n\\t\\a\\b\\f\\v\\r'", "'\\n\\t\\a\\b\\f\\v\\r'"),
        ("'\\e\\0\\'", "'\\x1B\\\\x0\\'"),
        ("'\\u200b\\uFEFF\\u00A0'", "'\\x200B\\\\xFEFF\\\\xA0\\'"),
        ("'A'", "'A'"),
        ("'_a'", "'_a'"),
        ("aB_1", "aB_1"),
        ("'1a'", "'1a'"),
        ("éa", "éa"),
        ("'É'", "'É'"),
        ("日本", "日本"),
        ("'∀'", "∀"),
        ("'∀x'", "'∀x'"),
        ("+", "+"),
        ("'.'", "'.'"),
        ("'..'", ".."),
        ("'/*'", "'/*'"),
        ("'//'", "//"),
        ("\\", "\\"),
        ("'%'", "'%'"),
        ("''", "''"),
        ("\"s\\\"t\\n\\\\'\"", "\"s\\\"t\\n\\\\'\""),
        ("'A'('B')", "'A'('B')"),
        ("[](a)", "[](a)"),
        ("{}(a,b)", "{}(a,b)"),
        ("','(a)", "','(a)"),
        ("[a,'B'|'C']", "[a,'B'|'C']"),
        ("'.'(a)", "'.'(a)"),
        ("'$VAR'(1)", "'$VAR'(1)"),
    ]);
}

#[test]
fn options_change_the_output() {
    let term = "f(a, B, [c, d|e], (a, b), 1+2, 'A b', \"s\", {x,y}, '$VAR'(27), -(1))";
    let mut world = World::new();
    let read = world.read(term);
    let names = name_variables(&mut world.store, read).expect("the budget is large");
    let named = |options: WriteOptions| WriteOptions { variable_names: names.clone(), ..options };
    let cases = [
        (WriteOptions::write(), "f(a,_,[c,d|e],(a,b),1+2,A b,s,{x,y},B1,- 1)"),
        (WriteOptions::writeq(), "f(a,_,[c,d|e],(a,b),1+2,'A b',\"s\",{x,y},B1,- 1)"),
        (WriteOptions::answer(), "f(a, _, [c, d|e], (a, b), 1+2, 'A b', \"s\", {x, y}, B1, - 1)"),
        (WriteOptions::canonical(), "f(a,_,[c,d|e],','(a,b),+(1,2),'A b',\"s\",{}(','(x,y)),'$VAR'(27),-(1))"),
        (
            WriteOptions { dotlists: true, ..WriteOptions::plain() },
            "f(a,_,.(c,.(d,e)),(a,b),1+2,A b,s,{x,y},$VAR(27),- 1)",
        ),
    ];
    for (options, expected) in cases {
        assert_eq!(world.write(read, &named(options)), expected);
    }
    let functor = Functor::new(world.atoms.intern("f"), 0);
    let without_arguments = world.store.structure_of_variables(functor);
    assert_eq!(world.write(without_arguments, &WriteOptions::plain()), "f()");
    let shared = world.read("f(X,Y,X,_,[Z|Z])");
    assert_eq!(world.canonical(shared), "f(A,_,A,_,[B|B])");
    let loose = world.read("a=b");
    assert_eq!(world.write(loose, &WriteOptions { priority: 699, ..WriteOptions::plain() }), "(a=b)");
    let escape = world.read("'\\e\\U0010FFFF'");
    assert_eq!(world.write(escape, &WriteOptions::print()), "'\\u001B\\U0010FFFF'");
}

#[test]
fn deep_parts_are_elided() {
    let mut world = World::new();
    let cases = [
        ("[1,2,3,4]", 1, "[...|...]"),
        ("[1,2,3,4]", 3, "[1,2|...]"),
        ("[1,2,3,4]", 4, "[1,2,3|...]"),
        ("[1,2,3,4]", 5, "[1,2,3,4]"),
        ("f(f(g,h),h)", 2, "f(f(...,...),h)"),
        ("a:-b,c", 1, "... :- ..."),
        ("a:-b,c", 2, "a:- ...,..."),
        ("- - a", 2, "- - ..."),
        ("[[a,b,c],[d,[e,[f,[g]]]],f([x,y,z]),{a,{b}}]", 5, "[[a,b,c],[d,[...|...]],f([...|...]),{...}]"),
        ("[[a,b,c],[d,[e,[f,[g]]]],f([x,y,z]),{a,{b}}]", 9, "[[a,b,c],[d,[e,[f,[...]]]],f([x,y,z]),{a,{b}}]"),
    ];
    for (text, max_depth, expected) in cases {
        let term = world.read(text);
        assert_eq!(world.write(term, &WriteOptions { max_depth, ..WriteOptions::plain() }), expected);
    }
}

#[test]
fn floats_are_shortest_and_have_a_point() {
    let cases = [
        (1.0, "1.0"),
        (0.1, "0.1"),
        (-0.0, "-0.0"),
        (1e10, "10000000000.0"),
        (1e14, "100000000000000.0"),
        (1e15, "1.0e+15"),
        (1.0e22, "1.0e+22"),
        (123_456_789_012_345_680.0, "1.2345678901234568e+17"),
        (1_000_000_000_000_000.2, "1000000000000000.2"),
        (1e-4, "0.0001"),
        (0.000_123_4, "0.0001234"),
        (1e-5, "1.0e-5"),
        (5e-324, "5.0e-324"),
        (f64::MAX, "1.7976931348623157e+308"),
        (1.0 / 3.0, "0.3333333333333333"),
        (f64::INFINITY, "1.0Inf"),
        (f64::NEG_INFINITY, "-1.0Inf"),
        (f64::NAN, "1.5NaN"),
    ];
    for (value, expected) in cases {
        assert_eq!(format_float(value), expected);
    }
}

#[test]
fn deep_terms_are_written_without_native_stack() {
    const DEPTH: usize = 1_000_000;
    let texts = [
        format!("{}a{}", "[".repeat(DEPTH), "]".repeat(DEPTH)),
        format!("{}a{}", "{".repeat(DEPTH), "}".repeat(DEPTH)),
        format!("{}a{}", "f(".repeat(DEPTH), ")".repeat(DEPTH)),
        format!("{}-a", "- ".repeat(DEPTH)),
        format!("{}a", "a-".repeat(DEPTH)),
        format!("{}a", "a,".repeat(DEPTH)),
        format!("[{}a]", "a,".repeat(DEPTH)),
    ];
    for text in texts {
        let mut world = World::new();
        let term = world.read(&text);
        assert!(world.write(term, &WriteOptions::writeq()) == text, "`{}…` is not written as it was read", &text[..4]);
    }
}

#[test]
fn cyclic_terms_are_written_in_finite_form_or_end_with_a_budget() {
    let mut world = World::new();
    let [left, right] = [world.store.variable(), world.store.variable()];
    let grows_right = world.store.structure(atoms::MINUS, &[Term::NIL, right]);
    world.store.bind(right, grows_right);
    let limit = Limit { bytes: 1000, resource: Resource::OutputBytes };
    let outcome = world.write_limited(grows_right, &WriteOptions::write(), limit);
    assert_eq!(outcome, Ok("@(S_1,[S_1=[]-S_1])".to_owned()));
    let outcome = world.write_limited(grows_right, &WriteOptions::write(), Limit { bytes: 10, ..limit });
    assert_eq!(outcome, Err(Raised::Exhausted(Resource::OutputBytes)));

    let grows_left = world.store.structure(atoms::MINUS, &[left, Term::NIL]);
    world.store.bind(left, grows_left);
    world.store.meter.start(&Budget { heap_bytes: 1 << 16, ..Budget::UNLIMITED });
    let outcome = world.write_limited(grows_left, &WriteOptions::write(), Limit::NONE);
    assert_eq!(outcome, Ok("@(S_1,[S_1=S_1-[]])".to_owned()));
    world.store.meter.start(&Budget { inferences: 10, ..Budget::UNLIMITED });
    let outcome = world.write_limited(grows_right, &WriteOptions::write(), Limit::NONE);
    assert_eq!(outcome, Err(Raised::Exhausted(Resource::Inferences)));
}

#[test]
fn spacing_affects_arguments_only() {
    let mut world = World::new();
    let term = world.read("(a:-b,[c,d]|e)");
    let options = WriteOptions { spacing: Spacing::NextArgument, ..WriteOptions::plain() };
    assert_eq!(world.write(term, &options), "a:-b, [c, d]| e");
}
