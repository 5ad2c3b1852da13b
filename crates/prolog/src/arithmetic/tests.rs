use super::*;
use crate::meter::Budget;
use crate::term::{SMALL_MAX, SMALL_MIN};
use crate::testing::Fixture;

fn value(text: &str) -> String {
    let mut fixture = Fixture::new();
    let term = fixture.term(text);
    match evaluate(&mut fixture.core, term) {
        Ok(number) => {
            let term = from_number(&mut fixture.core.store, number);
            fixture.show(term)
        }
        Err(raised) => fixture.show_error(&raised),
    }
}

fn check(cases: &[(&str, &str)]) {
    for (expression, expected) in cases {
        assert_eq!(&value(expression), expected, "{expression}");
    }
}

#[test]
fn computes_integers_of_any_size() {
    check(&[
        ("+(9223372036854775807,1)", "9223372036854775808"),
        ("-(-9223372036854775808)", "9223372036854775808"),
        ("*(4294967296,4294967296)", "18446744073709551616"),
        ("//(-9223372036854775808,-1)", "9223372036854775808"),
        ("//(-7,2)", "-3"),
        ("div(-7,2)", "-4"),
        ("div(-9223372036854775808,-1)", "9223372036854775808"),
        ("mod(-7,2)", "1"),
        ("mod(7,-2)", "-1"),
        ("rem(-7,2)", "-1"),
        ("mod(-9223372036854775808,-1)", "0"),
        ("<<(1,64)", "18446744073709551616"),
        ("<<(1,-1)", "0"),
        (">>(-5,1)", "-3"),
        (">>(-5,100000000000000000000)", "-1"),
        (">>(4,-1)", "8"),
        ("\\(**(2,100))", "-1267650600228229401496703205377"),
        ("xor(-(**(2,100)),5)", "-1267650600228229401496703205371"),
        ("gcd(-12,18)", "6"),
        ("lcm(-4,6)", "12"),
        ("msb(**(2,100))", "100"),
        ("lsb(12)", "2"),
        ("popcount(255)", "8"),
        ("powm(2,100,1000007)", "698635"),
        ("getbit(5,2)", "1"),
        ("succ(3)", "4"),
        ("trunc(-2.5)", "-2"),
        ("integer(-2.5)", "-3"),
        ("integer(0.49999999999999994)", "0"),
        ("ceiling(1.0e20)", "100000000000000000000"),
        ("max_tagged_integer", "1152921504606846975"),
    ]);
}

#[test]
fn keeps_integers_if_possible() {
    check(&[
        ("/(8,2)", "4"),
        ("/(7,2)", "3.5"),
        ("**(2,3)", "8"),
        ("**(2,-1)", "0.5"),
        ("**(2,3.0)", "8.0"),
        ("^(2,100)", "1267650600228229401496703205376"),
        ("^(1,-1)", "1"),
        ("^(-1,-3)", "-1"),
        ("^(0,0)", "1"),
        ("**(0.0,0)", "1.0"),
        ("max(1,1.0)", "1.0"),
        ("max(2,1.0)", "2"),
        ("max(nan,1)", "1"),
        ("min(0,-0.0)", "-0.0"),
        ("copysign(2,-0.0)", "-2"),
        ("float_integer_part(2)", "2"),
        ("float_fractional_part(-2.5)", "-0.5"),
        ("sign(-2.5)", "-1.0"),
    ]);
}

#[test]
fn computes_floats() {
    check(&[
        ("asinh(1)", "0.881373587019543"),
        ("asinh(epsilon)", "2.220446049250313e-16"),
        ("float_fractional_part(-1.0)", "-0.0"),
        ("acosh(100)", "5.298292365610484"),
        ("atanh(0.1)", "0.10033534773107558"),
        ("atan2(1,2)", "0.4636476090008061"),
        ("log(2,8)", "3.0"),
        ("log2(8)", "3.0"),
        ("nexttoward(1,2)", "1.0000000000000002"),
        ("float(9007199254740995)", "9007199254740996.0"),
        ("inf", "inf"),
        ("-(inf)", "-inf"),
    ]);
}

#[test]
fn reports_errors_as_swi_prolog_does() {
    check(&[
        ("/(1,0)", "evaluation_error(zero_divisor) in //2"),
        ("/(1,0.0)", "evaluation_error(zero_divisor) in //2"),
        ("/(0,0.0)", "evaluation_error(undefined)"),
        ("mod(1,0)", "evaluation_error(zero_divisor) in mod/2"),
        ("^(2,-1)", "type_error(float,2) in ^/2"),
        ("^(0,-1)", "evaluation_error(zero_divisor) in **/2"),
        ("**(-8.0,0.333)", "evaluation_error(undefined)"),
        ("//(7.0,2)", "type_error(integer,7.0) in ///2"),
        ("//(nan,2)", "evaluation_error(undefined)"),
        ("msb(0)", "domain_error(not_less_than_one,0) in msb/1"),
        ("sqrt(-1)", "evaluation_error(undefined)"),
        ("log(0)", "evaluation_error(undefined)"),
        ("exp(1000)", "evaluation_error(float_overflow)"),
        ("+(inf,1)", "evaluation_error(float_overflow)"),
        ("float(**(10,400))", "evaluation_error(float_overflow)"),
        ("integer(inf)", "evaluation_error(undefined)"),
        ("foo", "type_error(evaluable,/(foo,0))"),
        ("foo(a,Y)", "instantiation_error"),
        ("+(a,/(1,0))", "evaluation_error(zero_divisor) in //2"),
        ("+(/(1,0),a)", "type_error(evaluable,/(a,0))"),
        ("rdiv(1,2)", "type_error(evaluable,/(rdiv,2))"),
        ("random(10)", "type_error(evaluable,/(random,1))"),
        ("cputime", "type_error(evaluable,/(cputime,0))"),
        ("[]", "type_error(evaluable,/([],0))"),
        ("pi()", "type_error(evaluable,/(pi,0))"),
    ]);
}

#[test]
fn reads_characters_as_codes() {
    check(&[
        ("\"a\"", "97"),
        ("\"ab\"", "type_error([],\"ab\")"),
        ("[a]", "97"),
        ("[5]", "5"),
        ("[X]", "instantiation_error"),
        ("[+(1,2)]", "type_error(character,+(1,2))"),
        ("[1,2]", "type_error(evaluable,/(.,2))"),
    ]);
}

#[test]
fn stops_before_a_result_exceeds_the_budget() {
    check(&[
        ("**(2,**(10,12))", "exhausted heap bytes"),
        ("^(7,**(10,30))", "exhausted heap bytes"),
        ("<<(1,**(10,12))", "exhausted heap bytes"),
        ("*(^(3,400000000),^(3,400000000))", "exhausted inferences"),
    ]);
}

#[test]
fn counts_the_memory_of_long_operands() {
    let mut fixture = Fixture::with_budget(&Budget { heap_bytes: 1 << 20, ..Budget::default() });
    let mut term = fixture.term("<<(1,1000000)");
    let long = term;
    for _ in 0..20 {
        term = fixture.core.store.structure(atoms::PLUS, &[term, long]);
    }
    let raised = evaluate(&mut fixture.core, term).unwrap_err();
    assert_eq!(fixture.show_error(&raised), "exhausted heap bytes");
}

#[test]
fn evaluates_a_million_levels() {
    let mut fixture = Fixture::new();
    let mut term = Term::small(0);
    for _ in 0..1_000_000 {
        term = fixture.core.store.structure(atoms::PLUS, &[term, Term::small(1)]);
    }
    assert_eq!(evaluate(&mut fixture.core, term), Ok(Number::Int(1_000_000)));
}

#[test]
fn a_cyclic_expression_ends_with_the_budget() {
    let budget = Budget { inferences: 10_000, ..Budget::default() };
    for (text, expected) in [("+(1,X)", "exhausted inferences"), ("-(X)", "exhausted inferences")] {
        let mut fixture = Fixture::with_budget(&budget);
        let cycle = fixture.term(text);
        let variable = fixture.term("X");
        fixture.core.store.bind(variable, cycle);
        let raised = evaluate(&mut fixture.core, cycle).unwrap_err();
        assert_eq!(fixture.show_error(&raised), expected);
    }
}

/// Operands around the limits at which a fast path must fall back to the general evaluation.
const EDGES: &[i64] = &[
    0,
    1,
    -1,
    2,
    -2,
    3,
    -7,
    59,
    60,
    61,
    63,
    64,
    1 << 30,
    -(1 << 31),
    1 << 59,
    SMALL_MAX,
    SMALL_MIN,
    SMALL_MAX - 1,
    -100,
];

#[test]
fn fast_paths_agree_with_the_general_evaluation() {
    type Fast = fn(&mut Core, Term, Term) -> Solved<Term>;
    let pairs: &[(&str, Fast)] = &[
        ("+", add),
        ("-", subtract),
        ("*", multiply),
        ("/", divide),
        ("//", int_divide),
        ("mod", modulo),
        ("rem", remainder),
        ("min", min),
        ("max", max),
        ("<<", shift_left),
        (">>", shift_right),
        ("/\\", and),
        ("\\/", or),
        ("xor", xor),
    ];
    for &(name, fast) in pairs {
        for &a in EDGES {
            for &b in EDGES {
                if name == "<<" && b > 64 || name == ">>" && b < -100 {
                    continue;
                }
                let mut fixture = Fixture::new();
                let name = fixture.core.atoms.intern(name);
                let (a, b) = (Term::small(a), Term::small(b));
                let found = fast(&mut fixture.core, a, b);
                let found = found.map(|term| fixture.show(term));
                let expression = fixture.core.store.structure(name, &[a, b]);
                let expected = evaluate_generally(&mut fixture.core, expression);
                if let Some(short) = quick::evaluate(&fixture.core.store, expression, &mut 0) {
                    assert_eq!(Ok(&short), expected.as_ref());
                }
                let expected = expected.map(|number| {
                    let term = from_number(&mut fixture.core.store, number);
                    fixture.show(term)
                });
                assert_eq!(found, expected, "{}", fixture.show(expression));
            }
        }
    }
}
