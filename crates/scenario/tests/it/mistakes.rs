//! Each scenario in `mistakes.txt` has exactly the errors listed below it, each with a place and a hint. `nothing` is
//! listed for a valid scenario.
//!
//! `UPDATE_MISTAKES=1` rewrites the listed errors.

use std::fs;
use std::path::Path;

use mario_scenario::{Document, ScenarioError};

use crate::scenarios::Texts;

struct Case {
    title: String,
    input: String,
    expected: String,
}

fn path() -> String {
    format!("{}/tests/it/mistakes.txt", env!("CARGO_MANIFEST_DIR"))
}

fn cases(text: &str) -> (String, Vec<Case>) {
    let mut parts = text.split("\n=== ");
    let opening = parts.next().unwrap_or_default().to_owned();
    let case = |part: &str| {
        let (title, rest) = part.split_once('\n').expect("a title ends a line");
        let (input, expected) = rest.split_once("---\n").expect("`---` ends the input");
        Case { title: title.to_owned(), input: input.to_owned(), expected: expected.trim().to_owned() }
    };
    (opening, parts.map(case).collect())
}

/// Resolves the input of a case: a scenario with `%set` lines for overrides and `%file` parts for further files.
fn found(input: &str) -> Result<(), ScenarioError> {
    let mut files = Texts::default();
    let mut parts = input.split("%file ");
    let main = parts.next().unwrap_or_default();
    for part in parts {
        let (name, text) = part.split_once('\n').expect("a name ends a line");
        files = files.with(name, text);
    }
    let overrides: Vec<String> =
        main.lines().filter_map(|line| line.strip_prefix("%set ")).map(str::to_owned).collect();
    let text: String = main.split_inclusive('\n').filter(|line| !line.starts_with("%set ")).collect();
    let mut document = Document::file(Path::new("s.toml"), text, &mut files);
    document.set(&overrides);
    document.resolve(&mut files).map(|_| ())
}

fn rendered(result: &Result<(), ScenarioError>) -> String {
    match result {
        Ok(()) => "nothing".to_owned(),
        Err(error) => error.mistakes.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
    }
}

#[test]
fn every_error_is_reported_with_its_place_and_a_remedy() {
    let text = fs::read_to_string(path()).expect("it is beside this file");
    let (opening, cases) = cases(&text);
    let mut updated = opening;
    let mut differences = Vec::new();
    for Case { title, input, expected } in cases {
        let result = found(&input);
        if let Err(error) = &result {
            assert!(!error.mistakes.is_empty(), "{title}");
            for mistake in &error.mistakes {
                assert!(mistake.hint.is_some(), "{title}: `{mistake}` has no hint");
                assert!(mistake.place.is_some(), "{title}: `{mistake}` has no place");
            }
        }
        let seen = rendered(&result);
        if seen != expected {
            differences.push(format!("=== {title}\n{seen}\n--- instead of\n{expected}"));
        }
        updated += &format!("\n=== {title}\n{input}---\n{seen}\n");
    }
    if std::env::var_os("UPDATE_MISTAKES").is_some() {
        fs::write(path(), updated).expect("the sources can be written");
    } else {
        assert!(differences.is_empty(), "{}", differences.join("\n\n"));
    }
}
