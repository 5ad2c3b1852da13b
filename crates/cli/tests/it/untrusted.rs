//! Policies, facts and tests of other people: they neither break a command nor control the terminal.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{run, stderr, stdout};

const FACTS: &str = "service(video, 4, 10, 25).\nnode(n42, 10).\nserviceInstance(s1, video, n42).\n";

fn file(name: &str, text: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("untrusted");
    let path = directory.join(name);
    fs::create_dir_all(path.parent().expect("a directory")).expect("the tests' own directory is writable");
    fs::write(&path, text).expect("the tests' own directory is writable");
    path
}

/// Runs a command; returns standard output, standard error and the exit code.
fn mario(arguments: &[&std::ffi::OsStr]) -> (String, String, Option<i32>) {
    let output = run(arguments);
    (stdout(&output), stderr(&output), output.status.code())
}

fn decide(policy: &str, name: &str, facts: &str) -> (String, String, Option<i32>) {
    let policy = file(&format!("{name}.pl"), policy);
    let facts = file(&format!("{name}-facts.pl"), facts);
    mario(&[
        "policy".as_ref(),
        "decide".as_ref(),
        "--policy".as_ref(),
        policy.as_ref(),
        "--facts".as_ref(),
        facts.as_ref(),
        "--all".as_ref(),
    ])
}

#[test]
fn a_name_of_any_length_is_shown() {
    let name = "n".repeat(70_000);
    let facts = format!("{FACTS}requests(s1, {name}, 11, 30).\nnode({name}, 10).\n");
    let (out, err, code) = decide("operation(migrate, I, N) :- requests(I, N, _, _).\n", "long", &facts);
    assert_eq!((err.as_str(), code), ("", Some(0)));
    assert!(out.starts_with(&format!("migrate s1 {name}")), "{}", &out[..100]);
    let (out, _, code) =
        decide("operation(migrate, I, T) :- serviceInstance(I, _, _), length(T, 1000000).\n", "wide", FACTS);
    assert_eq!(code, Some(0));
    assert!(out.len() < 2_000, "{} bytes", out.len());
}

/// Names with control characters, and with characters that reverse the direction of text.
const CONTROLS: &str = "'\\e[31m\\e]0;title\\a\\nmigrate s1 x\\x202e\\'";

fn assert_printable(text: &str) {
    let is_control =
        |character: char| character.is_control() && character != '\n' || matches!(character, '\u{202a}'..='\u{202e}');
    assert!(!text.contains(is_control), "{text:?}");
    assert!(!text.lines().any(|line| line.starts_with("migrate s1 x")), "{text}");
}

#[test]
fn no_text_from_outside_controls_the_terminal() {
    let facts = format!("{FACTS}requests(s1, {CONTROLS}, 11, 30).\n");
    let (out, err, code) = decide("operation(migrate, I, N) :- requests(I, N, _, _).\n", "controls", &facts);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("\\u{1b}[31m"), "{out}");
    assert_printable(&(out + &err));

    file("tested.pl", "operation(migrate, I, N) :- requests(I, N, _, _).\n");
    let table = file(
        "tested.test.pl",
        &format!(
            "test({CONTROLS}, [service(a, 1, 1, 1), node(n, 5), serviceInstance(s, a, n), requests(s, {CONTROLS}, 1, 1)], []).\n"
        ),
    );
    let (out, err, code) = mario(&["policy".as_ref(), "test".as_ref(), table.as_ref()]);
    assert_eq!(code, Some(1), "{err}");
    assert_printable(&(out + &err));

    let owner = file("owner.pl", &format!("reject(_, {CONTROLS}).\n"));
    let facts = file("owner-facts.pl", "node(n, 5).\n");
    let (out, err, _) = mario(&[
        "policy".as_ref(),
        "explain".as_ref(),
        "--acceptance".as_ref(),
        owner.as_ref(),
        "--facts".as_ref(),
        facts.as_ref(),
        "--request".as_ref(),
        "request(deploy, a, n, n, operator)".as_ref(),
    ]);
    assert_printable(&(out + &err));
}

#[test]
fn a_table_of_tests_shows_no_other_files() {
    let secret = file("outside/secret.txt", "root:x:0:0 the secret line\n");
    let elsewhere = file("outside/elsewhere.pl", "the secret line, (\n");
    for named in [
        secret.to_str().expect("a path"),
        "../outside/secret.txt",
        "../../../../../../../../../../etc/passwd",
        elsewhere.to_str().expect("a path"),
        "/etc/passwd",
    ] {
        let table = file("tables/some.test.pl", &format!(":- policy('{named}').\ntest(a, [], []).\n"));
        let (out, err, code) = mario(&["policy".as_ref(), "test".as_ref(), table.as_ref()]);
        assert!(!(out + &err).contains("secret line") && !err.contains("root:"), "{named}: {err}");
        assert_eq!(code, Some(2), "{named}: {err}");
    }
    file("tables/below/good.pl", "operation(undeploy, I, self) :- serviceInstance(I, _, _).\n");
    let table = file(
        "tables/some.test.pl",
        ":- policy('below/good.pl').\ntest(a, [serviceInstance(s, a, n)], [operation(undeploy, s, self)]).\n",
    );
    let (out, err, _) = mario(&["policy".as_ref(), "test".as_ref(), table.as_ref()]);
    assert!(out.contains("1 passed, 0 failed"), "{out}{err}");
}
