//! Commands end with a message of bounded length, even for texts with very many errors and for files that load each
//! other very many times.

use std::fs;
use std::path::{Path, PathBuf};

use mario_testing::empty_directory;

use crate::{mario, stderr};

/// The number of faulty lines or entries in a text.
const MANY: usize = 20_000;

/// An empty directory for one test.
fn directory(name: &str) -> PathBuf {
    empty_directory(env!("CARGO_TARGET_TMPDIR"), &format!("texts/{name}"))
}

fn write(directory: &Path, name: &str, text: &str) {
    fs::write(directory.join(name), text).expect("writable");
}

/// Runs mario, which must exit with code 2 and a message of fewer than 1,500 lines. Returns the message.
fn refused(directory: &Path, arguments: &[&str]) -> String {
    let output = mario().args(arguments).current_dir(directory).output().expect("it runs");
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{}", &message[..message.len().min(2_000)]);
    assert!(message.lines().count() < 1_500, "{} lines", message.lines().count());
    message
}

fn lines(line: impl Fn(usize) -> String) -> String {
    (0..MANY).map(|number| line(number) + "\n").collect()
}

#[test]
fn a_program_with_very_many_errors_is_read_up_to_a_limit() {
    let directory = directory("program");
    write(&directory, "lines.pl", &lines(|number| format!("f({number} :- g.")));
    write(&directory, "line.pl", &lines(|number| format!("f({number} :- g.")).replace('\n', " "));
    for (file, place) in [("lines.pl", "lines.pl:101:"), ("line.pl", "line.pl:1:1")] {
        for arguments in [&["prolog", file, "--goal", "true"][..], &["policy", "check", file]] {
            let message = refused(&directory, arguments);
            assert!(message.contains("there are more than 100 errors"), "{arguments:?}");
            assert!(message.contains(place), "{arguments:?}");
        }
    }
}

#[test]
fn warnings_are_counted_when_there_are_too_many() {
    let directory = directory("warnings");
    write(&directory, "many.pl", &lines(|number| format!("f({number}, X).")));
    let output =
        mario().args(["prolog", "many.pl", "--goal", "true"]).current_dir(&directory).output().expect("it runs");
    assert_eq!(output.status.code(), Some(0));
    let message = stderr(&output);
    assert!(message.contains("there are 19900 more warnings") && message.lines().count() < 1_000);
}

#[test]
fn programs_that_include_the_next_twice_reach_a_limit() {
    let directory = directory("doubling");
    for number in 0..31 {
        write(&directory, &format!("{number}.pl"), &format!(":- include('{0}').\n:- include('{0}').\n", number + 1));
    }
    write(&directory, "31.pl", "operation(undeploy, _, self).\n");
    for arguments in [
        &["prolog", "0.pl", "--goal", "true"][..],
        &["policy", "check", "0.pl"],
        &["run", "paper", "--policy", "0.pl", "--out", "run"],
    ] {
        let message = refused(&directory, arguments);
        assert!(message.contains("files load files more than 1000 times here"), "{message}");
        assert!(message.contains("29.pl:1:1"), "{message}");
    }
}

#[test]
fn scenarios_that_include_the_next_twice_reach_a_limit() {
    let directory = directory("layers");
    for number in 0..26 {
        write(&directory, &format!("{number}.toml"), &format!("include = [\"{0}.toml\", \"{0}.toml\"]\n", number + 1));
    }
    write(&directory, "26.toml", "preset = \"paper\"\n");
    let message = refused(&directory, &["scenario", "check", "0.toml"]);
    assert!(message.contains("files include files more than 1000 times here"), "{message}");
    assert!(message.contains(".toml:1:"), "{message}");
    assert_eq!(message.matches("error:").count(), 1, "{message}");
}

#[test]
fn scenarios_that_include_too_deep_or_too_much_are_refused() {
    let directory = directory("layers-deep");
    for number in 0..40 {
        write(&directory, &format!("{number}.toml"), &format!("include = \"{}.toml\"\n", number + 1));
    }
    let message = refused(&directory, &["scenario", "check", "0.toml"]);
    assert!(message.contains("files include files 32 deep here"), "{message}");
    write(&directory, "large.toml", &format!("# {}\n", "x".repeat(40 << 20)));
    write(&directory, "twice.toml", "include = [\"large.toml\", \"large.toml\"]\n");
    let message = refused(&directory, &["scenario", "check", "twice.toml"]);
    assert!(message.contains("the included files have more than 64 MiB together"), "{message}");
}

#[test]
fn very_many_errors_in_a_scenario_are_shown_in_part() {
    let directory = directory("scenario");
    let cases = [
        ("values.toml", lines(|number| format!("k{number} =")), "this is not TOML in 19900 more places"),
        ("twice.toml", lines(|_| "[t]\na = 1".to_owned()), "this is not TOML in"),
        ("keys.toml", lines(|number| format!("k{number} = 1")), "after 100 mistakes no more were looked for"),
        (
            "unknown.toml",
            "preset = \"paper\"\n".to_owned()
                + &lines(|number| format!("[[deploy]]\napplication = \"a{number}\"\nnode = \"n{number}\"")),
            "more problems are not shown",
        ),
    ];
    for (name, text, expected) in cases {
        write(&directory, name, &text);
        let message = refused(&directory, &["scenario", "check", name]);
        assert!(message.contains(expected), "{name}: {}", &message[message.len().saturating_sub(1_000)..]);
    }
}

#[test]
fn very_many_errors_in_attachments_are_shown_in_part() {
    let directory = directory("attachments");
    let users: Vec<String> = (0..MANY).map(|number| format!("\"u{number}\": {{}}")).collect();
    for (name, node) in [("nodes.json", "\"u1\": \"nowhere\""), ("users.json", "\"v1\": null")] {
        let nodes: Vec<String> = (0..MANY).map(|number| node.replace('1', &number.to_string())).collect();
        let text =
            format!("{{\"users\": {{{}}}, \"steps\": [{{\"node\": {{{}}}}}]}}", users.join(", "), nodes.join(", "));
        write(&directory, name, &text);
        let message = refused(&directory, &["run", "paper", "--attachments", name, "--out", "run"]);
        assert!(message.contains("the attachments have 19980 more mistakes"), "{name}: {message}");
        assert!(message.len() < 20_000, "a long line is not shown");
    }
}

#[test]
fn very_many_errors_in_facts_are_shown_in_part() {
    let directory = directory("facts");
    write(&directory, "facts.pl", &lines(|number| format!("nonsense({number}).")));
    write(&directory, "policy.pl", "operation(undeploy, _, self).\n");
    let message = refused(&directory, &["policy", "decide", "--policy", "policy.pl", "--facts", "facts.pl"]);
    assert!(message.contains("19800 more problems are not shown"), "{}", &message[message.len().saturating_sub(500)..]);
}
