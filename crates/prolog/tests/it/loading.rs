//! Tests of the limits on loading: errors, warnings, included files, and the budget that all directives share.

use mario_prolog::{
    Budget, ERRORS_MAX, Engine, INCLUDE_BYTES_MAX, INCLUDE_COUNT_MAX, INCLUDE_DEPTH_MAX, LoadError, Loaded, Resolver,
    Severity, WARNINGS_MAX,
};

fn load(text: &str) -> Result<Loaded, LoadError> {
    let mut loader = Engine::new().loader();
    loader.load("program.pl", text);
    loader.finish()
}

/// The errors of a program. Asserts that it cannot be loaded.
fn errors(text: &str) -> Vec<String> {
    shown(load(text))
}

fn shown(loaded: Result<Loaded, LoadError>) -> Vec<String> {
    loaded.err().expect("it cannot be loaded").errors.iter().map(ToString::to_string).collect()
}

fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(|number| line(number) + "\n").collect()
}

#[test]
fn stops_at_the_error_limit_with_a_final_error() {
    for text in
        [lines(20_000, |number| format!("f({number} :- g.")), lines(20_000, |number| format!("f({number}) :- 1."))]
    {
        let errors = errors(&text);
        assert_eq!(errors.len(), ERRORS_MAX + 1);
        assert!(errors[99].starts_with("program.pl:100:"), "{}", errors[99]);
        assert!(errors[100].starts_with("program.pl:101:"), "{}", errors[100]);
        assert!(
            errors[100].contains("there are more than 100 errors: nothing is read from here on"),
            "{}",
            errors[100]
        );
    }
    let exactly = errors(&lines(ERRORS_MAX, |_| "f( :- g.".to_owned()));
    assert_eq!(exactly.len(), ERRORS_MAX, "there are no more to speak of");
}

#[test]
fn counts_unreported_warnings() {
    let text = lines(20_000, |number| format!("f({number}, X)."));
    let loaded = load(&text).map_err(|error| error.to_string()).expect("warnings do not prevent loading");
    assert_eq!(loaded.warnings.len(), WARNINGS_MAX + 1);
    assert!(loaded.warnings.iter().all(|problem| problem.severity == Severity::Warning));
    let last = loaded.warnings[WARNINGS_MAX].to_string();
    assert!(last.starts_with("program.pl:101:") && last.contains("there are 19900 more warnings"), "{last}");
}

/// A resolver whose files are generated on request.
struct GeneratedFiles<F>(F);

impl<F: Fn(usize) -> String + Send> Resolver for GeneratedFiles<F> {
    fn resolve(&mut self, _: &str, wanted: &str) -> Result<(String, String), String> {
        let number = wanted.parse().map_err(|_| "it has no number".to_owned())?;
        Ok((format!("{wanted}.pl"), (self.0)(number)))
    }
}

fn load_files(text: impl Fn(usize) -> String + Send + 'static) -> Result<Loaded, LoadError> {
    let mut loader = Engine::new().loader();
    let first = text(0);
    loader.resolver(GeneratedFiles(text)).load("0.pl", &first);
    loader.finish()
}

#[test]
fn mutual_inclusion_reaches_a_limit() {
    let shown = shown(load_files(|number| match number {
        31 => "fact.\n".to_owned(),
        _ => lines(2, |_| format!(":- include('{}').", number + 1)),
    }));
    assert_eq!(shown.len(), 1, "{shown:?}");
    assert!(shown[0].contains(&format!("files load files more than {INCLUDE_COUNT_MAX} times here")), "{shown:?}");
}

#[test]
fn nesting_of_loaded_files_is_limited() {
    for directive in ["include", "consult", "ensure_loaded"] {
        let chain = move |length: usize| {
            load_files(move |number| {
                if number == length {
                    "end.\n".to_owned()
                } else {
                    format!("% next\n:- {directive}('{}').\n", number + 1)
                }
            })
        };
        assert!(chain(INCLUDE_DEPTH_MAX).is_ok(), "{directive}");
        let shown = shown(chain(100_000));
        assert_eq!(shown, ["32.pl:2:1: files load files more than 32 deep here"], "{directive}");
    }
}

#[test]
fn the_bytes_of_all_loaded_files_count_together() {
    let large = |number: usize| match number {
        0 => lines(3, |number| format!(":- include('{}').", number + 1)),
        _ => format!("% {}\n", "x".repeat(INCLUDE_BYTES_MAX / 2 - 3)),
    };
    assert_eq!(shown(load_files(large)), ["0.pl:3:1: the files that files load have more than 64 MiB together"]);
}

#[test]
fn directives_share_one_budget() {
    let mut loader = Engine::new().loader();
    loader.budget(Budget { inferences: 50_000, ..Budget::default() });
    loader.load("program.pl", &lines(1_000, |_| ":- forall(between(1, 5000, _), true).".to_owned()));
    let shown = shown(loader.finish());
    assert_eq!(shown.len(), 1, "{shown:?}");
    assert!(shown[0].ends_with("the directives used up their 50000 inferences"), "{shown:?}");
    let line: usize = shown[0].split(':').nth(1).and_then(|line| line.parse().ok()).expect("a line");
    assert!((2..=10).contains(&line), "some directives ran: {shown:?}");
}

#[test]
fn directives_of_all_files_share_one_budget() {
    let mut loader = Engine::new().loader();
    loader.budget(Budget { inferences: 50_000, ..Budget::default() });
    for number in 0..100 {
        loader.load(&format!("{number}.pl"), ":- initialization(forall(between(1, 5000, _), true)).\n");
    }
    let shown = shown(loader.finish());
    assert_eq!(shown.len(), 1, "{shown:?}");
}

#[test]
fn directives_share_one_output() {
    let mut loader = Engine::new().loader();
    loader.budget(Budget { output_bytes: 95, ..Budget::default() });
    loader.load("program.pl", &lines(1_000, |_| ":- write('0123456789').".to_owned()));
    assert_eq!(shown(loader.finish()), ["program.pl:10:1: the directives wrote more than 95 bytes"]);
}

#[test]
fn directives_between_clauses_link_a_bounded_number() {
    let shown = errors(&lines(3_000, |number| format!("f({number}). :- true.")));
    assert_eq!(shown.len(), 1, "{shown:?}");
    assert!(shown[0].contains("too many directives stand between clauses"), "{shown:?}");
}

#[test]
fn directives_that_change_nothing_relink_nothing() {
    let text = lines(20_000, |number| format!("f({number}).")) + &lines(2_000, |_| ":- f(7).".to_owned());
    let loaded = load(&text).map_err(|error| error.to_string()).expect("it is a program");
    assert!(loaded.warnings.is_empty());
}

#[test]
fn directives_see_changes_of_earlier_directives() {
    let text = ":- assertz(known(1)).\n:- known(1), assertz(known(2)).\n:- set_prolog_flag(double_quotes, atom).\n\
                f(\"text\").\n:- f(X), atom(X).\n:- op(700, xfx, ===>).\ng(a ===> b).\n:- g(X ===> Y), X == a, Y == b.\n\
                :- known(2), f(text).\n";
    let loaded = load(text).map_err(|error| error.to_string()).expect("it is a program");
    let warnings: Vec<String> = loaded.warnings.iter().map(ToString::to_string).collect();
    assert!(warnings.is_empty(), "{warnings:?}");
}

#[test]
fn a_library_path_may_have_any_number_of_segments() {
    let path = vec!["a"; 1_000_000].join("/");
    let shown = errors(&format!(":- use_module(library({path})).\n"));
    assert!(shown[0].contains("there is no library `a/a/a/"), "{}", &shown[0][..100]);
}

#[test]
fn two_modules_cannot_define_the_same_predicate() {
    let module = |name: &str| format!(":- module({name}, [{name}/1]).\n{name}(X) :- helper(X).\nhelper({name}).\n");
    let mut loader = Engine::new().loader();
    loader.load("one.pl", &module("one")).load("two.pl", &module("two"));
    let shown = shown(loader.finish());
    assert_eq!(shown, ["two.pl:3:1: helper/1 is defined in one.pl, too, and modules are not namespaces here"]);
    let mut loader = Engine::new().loader();
    loader.load("one.pl", &module("one")).load("main.pl", "p(X) :- one(X), own(X).\nown(one).\n");
    assert!(loader.finish().is_ok());
}

#[test]
fn operators_of_other_languages_get_a_hint() {
    for (text, hint) in [
        ("p(X) :- q(X), X <= 3.\n", "less or equal is written `=<`"),
        ("p(X) :- q(X), X != 3.\n", "write `=\\=` for numbers that differ, and `\\==` for other terms"),
        ("p(X) :- q(X) && r(X).\n", "the conjunction of two goals is written `,`"),
        ("p(X) :- q(X), X === 3.\n", "write `==` for identical terms, and `=:=` for equal numbers"),
    ] {
        let errors = load(text).err().expect("it is not Prolog").errors;
        assert_eq!(errors[0].hint.as_deref(), Some(hint), "{text}: {}", errors[0].message);
    }
}
