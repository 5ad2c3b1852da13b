use super::super::reading;
use super::TABLE;
use crate::builtins::Builtin;
use crate::meter::{Budget, Resource};
use crate::output::Sink;
use crate::symbols::atoms;
use crate::term::Term;
use crate::testing::{Fixture, check_goals};
use std::sync::{Arc, Mutex};

/// Records the two streams separately.
#[derive(Clone, Default)]
struct Recorder(Arc<Mutex<(String, String)>>);

impl Sink for Recorder {
    fn write(&mut self, text: &str) {
        self.0.lock().expect("no test panics while writing").0.push_str(text);
    }

    fn write_error(&mut self, text: &str) {
        self.0.lock().expect("no test panics while writing").1.push_str(text);
    }
}

/// Each case has a goal, and the text that it writes to standard output and to standard error.
fn check_output(cases: &[(&str, &str, &str)]) {
    for (goal, output, error) in cases {
        let mut fixture = Fixture::new();
        let recorder = Recorder::default();
        fixture.core.output.set_sink(Some(Box::new(recorder.clone())));
        fixture.solve(TABLE, goal);
        let written = recorder.0.lock().expect("no test panics while writing").clone();
        assert_eq!(written, ((*output).to_owned(), (*error).to_owned()), "goal {goal}");
    }
}

#[test]
fn terms_are_written_to_the_stream_that_is_named() {
    check_output(&[
        ("write('A b')", "A b", ""),
        ("print('A b')", "'A b'", ""),
        ("writeq(+(1,'A b'))", "1+'A b'", ""),
        ("writeln('A b')", "A b\n", ""),
        ("write_canonical(f(X,+(1,2),Y,X))", "f(A,+(1,2),_,A)", ""),
        ("write(user_output,a)", "a", ""),
        ("write(user_error,a)", "", "a"),
        ("writeq(user_error,'A')", "", "'A'"),
        ("print(user_error,'A')", "", "'A'"),
        ("writeln(user_error,'A')", "", "A\n"),
        ("write_canonical(user_error,f(X))", "", "f(_)"),
        ("write_term(user_error,'A',[quoted(true)])", "", "'A'"),
        ("nl", "\n", ""),
        ("nl(user_error)", "", "\n"),
        ("tab(+(1,1))", "  ", ""),
        ("tab(-1)", "", ""),
        ("tab(user_error,1)", "", " "),
        ("put_char(a)", "a", ""),
        ("put_char(user_error,a)", "", "a"),
    ]);
}

#[test]
fn options_of_write_term_are_obeyed() {
    check_output(&[
        ("write_term(f('A',X),[quoted(true),variable_names(['='('Foo',X)])])", "f('A',Foo)", ""),
        ("write_term([a,b],[dotlists(true)])", ".(a,.(b,[]))", ""),
        ("write_term([a,b,c],[max_depth(2),spacing(next_argument)])", "[a|...]", ""),
        ("write_term(f(a,b),[spacing(next_argument)])", "f(a, b)", ""),
        ("write_term(+,[fullstop(true)])", "+ . ", ""),
        ("write_term(a,[fullstop(true),nl(true)])", "a.\n", ""),
        ("write_term(a,[nl(true)])", "a\n", ""),
        ("write_term(=(a,b),[priority(699)])", "(a=b)", ""),
        ("write_term(+(1,2),[ignore_ops(true)])", "+(1,2)", ""),
        ("write_term('$VAR'(1),[numbervars(true)])", "B", ""),
        ("write_term('$VAR'(1),[])", "$VAR(1)", ""),
        ("write_term({}(a),[brace_terms(false)])", "{}(a)", ""),
    ]);
}

#[test]
fn wrong_arguments_raise_iso_errors() {
    check_goals(
        TABLE,
        &[
            ("write_term(a,_)", "instantiation_error"),
            ("write_term(a,[_])", "instantiation_error"),
            ("write_term(a,[quoted(true)|_])", "instantiation_error"),
            ("write_term(a,[quoted(_)])", "instantiation_error"),
            ("write_term(a,foo)", "type_error(list,foo)"),
            ("write_term(a,[quoted(true)|foo])", "type_error(list,[quoted(true)|foo])"),
            ("write_term(a,[foo])", "domain_error(write_option,foo)"),
            ("write_term(a,[foo(bar)])", "domain_error(write_option,foo(bar))"),
            ("write_term(a,[quoted(maybe)])", "domain_error(write_option,quoted(maybe))"),
            ("write_term(a,[max_depth(-1)])", "domain_error(write_option,max_depth(-1))"),
            ("write_term(a,[variable_names([a])])", "domain_error(write_option,variable_names([a]))"),
            ("write_term(a,[variable_names([_])])", "instantiation_error"),
            ("write_term(a,[variable_names(['='(_,X)])])", "instantiation_error"),
            ("write_term(a,[variable_names(['='(x,X)])])", "domain_error(write_option,variable_names([=(x,X)]))"),
            ("nl(_)", "instantiation_error"),
            ("nl(1)", "domain_error(stream_or_alias,1)"),
            ("put_char(_)", "instantiation_error"),
            ("put_char(ab)", "type_error(character,ab)"),
            ("put_char(1)", "type_error(character,1)"),
            ("tab(_)", "instantiation_error"),
            ("tab(1.5)", "type_error(integer,1.5)"),
        ],
    );
}

#[test]
fn output_ends_with_its_budget() {
    let budget = Budget { output_bytes: 5, ..Budget::default() };
    let solve = |goal: &str| Fixture::with_budget(&budget).solve(TABLE, goal);
    assert_eq!(solve("write(abcde)"), "write(abcde)");
    for goal in ["write(abcdef)", "write([a,b,c])", "tab(6)", "tab(1000000000000000000000)"] {
        assert_eq!(solve(goal), format!("exhausted {}", Resource::OutputBytes), "goal {goal}");
    }
    let mut fixture = Fixture::new();
    let tail = fixture.core.store.variable();
    let cycle = fixture.core.store.structure(atoms::DOT, &[Term::atom(atoms::NIL), tail]);
    fixture.core.store.bind(tail, cycle);
    assert!(super::write(&mut fixture.core, cycle).is_ok());
    assert_eq!(fixture.core.output.written(), "@(S_1,[S_1=[[]|S_1]])".len());
}

fn check_reading(cases: &[(&str, &str)]) {
    const READING: &[Builtin] = reading::TABLE;
    check_goals(READING, cases);
}

#[test]
fn terms_become_text_and_back() {
    check_reading(&[
        ("term_to_atom(+(1,'A'),X)", "term_to_atom(+(1,A),1+'A')"),
        ("term_to_atom(X,'f(X,Y,X)')", "term_to_atom(f(_,_,_),f(X,Y,X))"),
        ("term_to_atom(f(A,b),'f(X,Y)')", "term_to_atom(f(A,b),f(X,Y))"),
        ("term_to_atom(X,\"1 + 2. more\")", "term_to_atom(+(1,2),\"1 + 2. more\")"),
        ("term_to_atom(X,'')", "term_to_atom(end_of_file,)"),
        ("term_to_atom(X,[97])", "term_to_atom(a,[97])"),
        ("term_to_atom(X,f(x))", "type_error(text,f(x))"),
        ("term_to_atom(X,12)", "term_to_atom(12,12)"),
        ("term_to_atom(foo,bar)", "false"),
        ("atom_to_term('f(X,_,_Y)',T,B)", "atom_to_term(f(X,_,_Y),f(_,_,_),[=(X,_),=(_Y,_)])"),
        ("atom_to_term(_,T,B)", "instantiation_error"),
        ("read_term_from_atom('f(X)',T,[])", "read_term_from_atom(f(X),f(_),[])"),
        (
            "read_term_from_atom('f(X,Y,X)',T,[singletons(S),variables(V)])",
            "read_term_from_atom(f(X,Y,X),f(_,_,_),[singletons([=(Y,_)]),variables([_,_])])",
        ),
        ("read_term_from_atom(a,T,[foo])", "domain_error(read_option,foo)"),
        ("term_string(f('A'),S)", "term_string(f(A),\"f('A')\")"),
        ("term_string(T,\"f(x)\")", "term_string(f(x),\"f(x)\")"),
        ("term_string(f('A'),S,[quoted(false)])", "term_string(f(A),\"f(A)\",[quoted(false)])"),
        ("term_string(f('A'),S,[])", "term_string(f(A),\"f('A')\",[])"),
        ("term_string(T,\"f(X)\",[variable_names(V)])", "term_string(f(_),\"f(X)\",[variable_names([=(X,_)])])"),
    ]);
}

#[test]
fn there_is_no_input() {
    for (goal, expected) in [
        ("read(X)", "Permission"),
        ("read(user_input,X)", "Permission"),
        ("read_term(X,[])", "Permission"),
        ("read(foo,X)", "Existence"),
        ("read(_,X)", "instantiation_error"),
        ("read_term(user_input,X,_)", "instantiation_error"),
    ] {
        let outcome = Fixture::new().solve(reading::TABLE, goal);
        assert!(outcome.starts_with(expected), "{goal} gives {outcome}");
    }
}

#[test]
fn broken_text_raises_a_syntax_error() {
    for text in ["'f('", "'a b'", "'f(a'", "'X = '"] {
        let outcome = Fixture::new().solve(reading::TABLE, &format!("term_to_atom(X,{text})"));
        assert!(outcome.starts_with("Syntax"), "{text} gives {outcome}");
    }
}
