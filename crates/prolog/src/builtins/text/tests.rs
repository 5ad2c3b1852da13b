//! Tests of the predicates on text, characters and formats. Most cases are lines `goal => answers`: each answer is
//! written as the instantiated goal, no answer as `false`, and an error as its formal part.

use super::TABLES;
use crate::builtins::{Builtin, Code, FIRST, State, Step, characters, format};
use crate::core::Core;
use crate::fault::{Fault, Raised, Solved};
use crate::meter::{Budget, Resource};
use crate::output::Sink;
use crate::store::View;
use crate::stored::Attributes;
use crate::symbols::atoms;
use crate::term::Term;
use crate::testing::Fixture;
use std::sync::{Arc, Mutex};

/// Enumerations are cut off after this number of answers.
const ANSWERS_MAX: usize = 50;

fn find(name: &str, arity: usize) -> Code {
    let tables = TABLES.iter().copied().chain([characters::TABLE, format::TABLE]);
    let rows: Vec<&Builtin> = tables.flatten().filter(|row| row.name == name && row.arity == arity).collect();
    assert_eq!(rows.len(), 1, "one definition of {name}/{arity}");
    rows[0].code
}

/// The answers to `goal`, at most [`ANSWERS_MAX`], or the error it raised.
fn solve(fixture: &mut Fixture, goal: &str) -> Solved<Vec<String>> {
    let goal = fixture.term(goal);
    let View::Compound(functor, start) = fixture.core.store.view(goal) else { panic!("a goal") };
    let arguments: Vec<Term> = (0..functor.arity()).map(|index| fixture.core.store.argument(start, index)).collect();
    let name = fixture.core.atoms.name(functor.name()).to_owned();
    let core = &mut fixture.core;
    let succeeded = match (find(&name, functor.arity()), arguments.as_slice()) {
        (Code::D1(run), &[a]) => run(core, a)?,
        (Code::D2(run), &[a, b]) => run(core, a, b)?,
        (Code::D3(run), &[a, b, c]) => run(core, a, b, c)?,
        (Code::D4(run), &[a, b, c, d]) => run(core, a, b, c, d)?,
        (Code::N(run), arguments) => return enumerate(fixture, run, goal, arguments),
        _ => panic!("no builtin of {} arguments", functor.arity()),
    };
    Ok(if succeeded { vec![fixture.show(goal)] } else { Vec::new() })
}

fn enumerate(
    fixture: &mut Fixture,
    run: fn(&mut Core, &[Term], State) -> Solved<Step>,
    goal: Term,
    arguments: &[Term],
) -> Solved<Vec<String>> {
    let mut answers = Vec::new();
    let mut state = FIRST;
    fixture.core.store.boundary = fixture.core.store.cells.len();
    let trail = fixture.core.store.trail_length();
    while answers.len() < ANSWERS_MAX {
        let step = run(&mut fixture.core, arguments, state)?;
        if step != Step::Fail {
            answers.push(fixture.show(goal));
        }
        fixture.core.store.undo_to(trail);
        match step {
            Step::More(next) => state = next,
            Step::Last | Step::MoreOf(_) | Step::Fail => break,
        }
    }
    Ok(answers)
}

/// The formal part of an error, as text. Culprits of type and domain errors are copied first, so that their variables
/// are fresh, as in an error term that was caught.
fn formal(fixture: &mut Fixture, raised: &Raised) -> String {
    match raised {
        Raised::Fault(Fault::Type(kind, term)) => format!("type_error({kind},{})", show_fresh(fixture, *term)),
        Raised::Fault(Fault::Domain(kind, term)) => format!("domain_error({kind},{})", show_fresh(fixture, *term)),
        Raised::Fault(Fault::Existence(kind, term)) => format!("existence_error({kind},{})", fixture.show(*term)),
        Raised::Fault(Fault::Permission(action, kind, term)) => {
            format!("permission_error({action},{kind},{})", fixture.show(*term))
        }
        Raised::Fault(Fault::Syntax(message)) => format!("syntax_error({})", fixture.core.atoms.name(*message)),
        Raised::Ball(ball) => {
            let store = &mut fixture.core.store;
            let error = store.paste(ball);
            let Some((functor, start)) = store.compound(error) else { panic!("an error term") };
            assert_eq!(functor.name(), atoms::ERROR);
            let formal = store.argument(start, 0);
            fixture.show(formal)
        }
        other => fixture.show_error(other),
    }
}

fn show_fresh(fixture: &mut Fixture, term: Term) -> String {
    let store = &mut fixture.core.store;
    let copy = store.copy_out(term, Attributes::Drop).expect("room for a copy");
    let term = store.paste(&copy);
    fixture.show(term)
}

fn outcome(goal: &str) -> String {
    let mut fixture = Fixture::new();
    match solve(&mut fixture, goal) {
        Ok(answers) if answers.is_empty() => "false".to_owned(),
        Ok(answers) => answers.join("; "),
        Err(raised) => formal(&mut fixture, &raised),
    }
}

fn check(cases: &str) {
    let mut failures = Vec::new();
    for line in cases.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (goal, expected) = line.split_once(" => ").expect("goal => answers");
        let found = outcome(goal);
        if found != expected {
            failures.push(format!("{goal}\n  expected {expected}\n  found    {found}"));
        }
    }
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn text_predicates_answer_as_recorded() {
    check(include_str!("tests/text.txt"));
}

#[test]
fn characters_are_classified_as_recorded() {
    check(include_str!("tests/characters.txt"));
}

#[test]
fn formats_print_as_recorded() {
    check(include_str!("tests/format.txt"));
}

/// An output sink that the test can inspect: the text of standard output and of standard error.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<(String, String)>>);

impl Sink for Shared {
    fn write(&mut self, text: &str) {
        self.0.lock().expect("one thread").0.push_str(text);
    }

    fn write_error(&mut self, text: &str) {
        self.0.lock().expect("one thread").1.push_str(text);
    }
}

#[test]
fn format_writes_to_the_sinks_and_knows_the_column() {
    let mut fixture = Fixture::new();
    let sink = Shared::default();
    fixture.core.output.set_sink(Some(Box::new(sink.clone())));
    for goal in [
        "format(\"ab\")",
        "format(\"~t~w~8|~w~n\",[x,y])",
        "format(user_output,\"~a~t~4+~a~n\",[p,q])",
        "format(user_error,\"~t~w~4|~n\",[e])",
    ] {
        assert!(solve(&mut fixture, goal).is_ok_and(|answers| answers.len() == 1), "{goal}");
    }
    // Text before a faulty directive has been written by the time the error is raised.
    assert!(solve(&mut fixture, "format(\"before~w\",[])").is_err());
    let (output, error) = sink.0.lock().expect("one thread").clone();
    assert_eq!(output, "ab     xy\np   q\nbefore");
    assert_eq!(error, "   e\n");
}

#[test]
fn results_beyond_the_budget_are_never_built() {
    let budget = Budget { heap_bytes: 100_000, output_bytes: 1_000, inferences: 10_000, ..Budget::default() };
    for (goal, resource) in [
        ("format(atom(X),\"~1000000000000c\",[120])", Resource::HeapBytes),
        ("format(atom(X),\"~1000000000000|\",[])", Resource::HeapBytes),
        ("format(atom(X),\"~99999999999999999999999+\",[])", Resource::HeapBytes),
        ("format(atom(X),\"~1000000000000f\",[1])", Resource::HeapBytes),
        ("format(atom(X),\"~1000000000000e\",[1.5])", Resource::HeapBytes),
        ("format(atom(X),\"~1000000000000d\",[1])", Resource::HeapBytes),
        ("format(atom(X),\"~1000000000000n\",[])", Resource::HeapBytes),
        ("format(\"~2000c\",[120])", Resource::OutputBytes),
        ("char_type(X,decimal(17))", Resource::Inferences),
    ] {
        let mut fixture = Fixture::with_budget(&budget);
        assert_eq!(solve(&mut fixture, goal), Err(Raised::Exhausted(resource)), "{goal}");
    }
}

#[test]
fn long_atoms_stop_at_the_budget() {
    let budget = Budget { heap_bytes: 1 << 20, ..Budget::default() };
    let mut fixture = Fixture::with_budget(&budget);
    let long = "x".repeat(100_000);
    let atom = Term::atom(fixture.core.atoms.intern(&long));
    let list = fixture.core.store.list(&[atom; 20], Term::NIL);
    let result = fixture.core.store.variable();
    let Code::D2(join) = find("atomic_list_concat", 2) else { panic!("deterministic") };
    assert_eq!(join(&mut fixture.core, list, result), Err(Raised::Exhausted(Resource::HeapBytes)));
    let Code::D2(codes) = find("atom_codes", 2) else { panic!("deterministic") };
    assert_eq!(codes(&mut fixture.core, atom, result), Err(Raised::Exhausted(Resource::HeapBytes)));
    let Code::D2(length) = find("atom_length", 2) else { panic!("deterministic") };
    assert_eq!(length(&mut fixture.core, atom, result), Ok(true));
    assert_eq!(fixture.show(result), "100000");
}

#[test]
fn positions_count_characters_not_bytes() {
    check(
        "sub_atom('aébc',B,2,A,S) => sub_atom(aébc,0,2,2,aé); sub_atom(aébc,1,2,1,éb); sub_atom(aébc,2,2,0,bc)\n\
         sub_atom('ééaé',B,L,A,é) => sub_atom(ééaé,0,1,3,é); sub_atom(ééaé,1,1,2,é); sub_atom(ééaé,3,1,0,é)\n\
         sub_atom('éa',B,L,A,S) => sub_atom(éa,0,0,2,); sub_atom(éa,0,1,1,é); sub_atom(éa,0,2,0,éa); \
         sub_atom(éa,1,0,1,); sub_atom(éa,1,1,0,a); sub_atom(éa,2,0,0,)\n\
         sub_atom('日本語',1,L,0,S) => sub_atom(日本語,1,2,0,本語)\n\
         atom_concat(X,Y,'éa') => atom_concat(,éa,éa); atom_concat(é,a,éa); atom_concat(éa,,éa)\n\
         string_code(2,\"éa\",C) => string_code(2,\"éa\",97)\n\
         atom_length('日本語',L) => atom_length(日本語,3)",
    );
}

#[test]
fn text_concat_makes_strings_from_strings() {
    check(
        "text_concat(a,b,X) => text_concat(a,b,ab)\n\
         text_concat(a,\"b\",X) => text_concat(a,\"b\",\"ab\")\n\
         text_concat(X,b,\"ab\") => text_concat(\"a\",b,\"ab\")\n\
         text_concat(X,Y,\"a\") => text_concat(\"\",\"a\",\"a\"); text_concat(\"a\",\"\",\"a\")\n\
         text_concat(X,Y,a) => text_concat(,a,a); text_concat(a,,a)\n\
         text_concat(X,Y,Z) => instantiation_error\n\
         text_length([a,b],L) => text_length([a,b],2)",
    );
}
