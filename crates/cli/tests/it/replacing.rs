//! Commands replace no unrelated file, reject a directory without results, and list missing files of a run.

use std::fs;
use std::path::{Path, PathBuf};

use mario_testing::empty_directory;

use crate::{mario, stderr, stdout};

fn directory(name: &str) -> PathBuf {
    empty_directory(env!("CARGO_TARGET_TMPDIR"), &format!("replacing/{name}"))
}

/// Runs mario in a directory with the words of `command` as arguments. Returns the exit code, and the standard output
/// followed by the standard error.
fn typed(directory: &Path, command: &str) -> (i32, String) {
    let output = mario().current_dir(directory).args(command.split_whitespace()).output().expect("it runs");
    (output.status.code().expect("it ends by itself"), stdout(&output) + &stderr(&output))
}

#[track_caller]
fn succeeds(directory: &Path, command: &str) -> String {
    let (code, text) = typed(directory, command);
    assert_eq!(code, 0, "{command}: {text}");
    text
}

#[track_caller]
fn refused(directory: &Path, command: &str, message: &str) {
    let (code, text) = typed(directory, command);
    assert_eq!(code, 2, "{command}: {text}");
    assert!(text.contains(message), "{command}: {text}");
}

#[test]
fn a_signed_application_replaces_no_other_file() {
    let place = directory("signed");
    succeeds(&place, "ca init harbour");
    succeeds(&place, "ca application shop --host shop.example");
    fs::write(place.join("stay.pl"), "operation(undeploy, _, self) :- fail.\n").expect("writable");
    let application = "id = \"shop\"\nhosts = [\"shop.example\"]\nhardware = 1\nmax_rate = 10\nmax_latency = 50\n\
                       policy = \"stay.pl\"\n[run]\ndriver = \"sample\"\n";
    fs::write(place.join("shop.toml"), application).expect("writable");
    let key = fs::read(place.join("shop.key")).expect("a key");
    refused(
        &place,
        "app sign shop.toml --as shop.pem --out shop.key",
        "`shop.key` is there already and is not a signed",
    );
    assert_eq!(fs::read(place.join("shop.key")).expect("a key"), key);
    for _ in 0..2 {
        succeeds(&place, "app sign shop.toml --as shop.pem --out shop.signed");
    }
}

#[test]
fn a_page_of_explanations_replaces_no_other_file() {
    let place = directory("page");
    fs::write(place.join("stay.pl"), "operation(undeploy, _, self) :- fail.\n").expect("writable");
    fs::write(
        place.join("facts.pl"),
        "node(n1, 3).\nnode(n1, 3, []).\nservice(a, 1, 5, 5).\nserviceInstance(s1, a, n1).\n",
    )
    .expect("writable");
    let explain = "policy explain --policy stay.pl --facts facts.pl --html";
    refused(&place, &format!("{explain} stay.pl"), "`stay.pl` is there already and is not a page of explanations");
    assert!(fs::read_to_string(place.join("stay.pl")).expect("a policy").starts_with("operation"));
    for _ in 0..2 {
        succeeds(&place, &format!("{explain} why.html"));
    }
}

#[test]
fn a_directory_without_a_run_or_comparison_is_reported() {
    let place = directory("directories");
    fs::create_dir(place.join("empty")).expect("writable");
    refused(&place, "audit empty", "`empty` holds no run: it has no trace.jsonl");
    succeeds(&place, "run paper --set duration=400 --out kept --quiet");
    refused(&place, "figures kept", "`kept` holds no comparison and no sweep");
}

#[test]
fn an_audit_lists_missing_files_of_a_run() {
    let place = directory("gone");
    succeeds(&place, "run paper --set duration=400 --out kept --quiet");
    assert!(!succeeds(&place, "audit kept").contains("not in the directory"));
    for name in ["moves.csv", "run.json"] {
        fs::remove_file(place.join("kept").join(name)).expect("it was there");
    }
    assert!(succeeds(&place, "audit kept").contains("not checked: run.json, moves.csv: not in the directory"));
}
