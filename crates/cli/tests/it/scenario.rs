//! `mario scenario` as a user sees it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{run, stderr, stdout};

fn fresh_directory(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("scenario").join(name);
    if directory.exists() {
        fs::remove_dir_all(&directory).expect("the test's own directory is writable");
    }
    fs::create_dir_all(&directory).expect("the test's own directory is writable");
    directory
}

#[test]
fn a_new_scenario_is_checked_and_shown_without_a_mistake() {
    let directory = fresh_directory("new");
    let path = directory.join("mine.toml");
    let output = run(["scenario".as_ref(), "new".as_ref(), path.as_os_str()]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let output = run(["scenario".as_ref(), "check".as_ref(), path.as_os_str()]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(
        stdout(&output).contains("mine.toml: no mistakes\nmy scenario: 21 nodes, 20 links\n"),
        "{}",
        stdout(&output)
    );
    let shown = run(["scenario".as_ref(), "show".as_ref(), path.as_os_str()]);
    assert_eq!(shown.status.code(), Some(0), "{}", stderr(&shown));
    // What is shown is a scenario, and the same one.
    let copy = directory.join("copy.toml");
    fs::write(&copy, stdout(&shown)).expect("the test's own directory is writable");
    let again = run(["scenario".as_ref(), "show".as_ref(), copy.as_os_str()]);
    assert_eq!(stdout(&again), stdout(&shown));
}

#[test]
fn an_existing_file_is_overwritten_by_force_only() {
    let path = fresh_directory("force").join("mine.toml");
    fs::write(&path, "precious").expect("the test's own directory is writable");
    let output = run(["scenario".as_ref(), "new".as_ref(), path.as_os_str()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("hint: `--force` overwrites it"), "{}", stderr(&output));
    assert_eq!(fs::read_to_string(&path).expect("it is there"), "precious");
    let output = run(["scenario".as_ref(), "new".as_ref(), "--force".as_ref(), path.as_os_str()]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(fs::read_to_string(&path).expect("it is there").starts_with("# A scenario"));
}

#[test]
fn every_mistake_of_every_file_is_shown_with_its_line() {
    let directory = fresh_directory("mistakes");
    let (one, other) = (directory.join("one.toml"), directory.join("other.toml"));
    fs::write(&one, "preset = \"paper\"\n[workload]\nperod = 40\nperiod = 0\n").expect("writable");
    fs::write(&other, "preset = \"paper\"\ninclude = [\"one.toml\"]\n").expect("writable");
    let output = run(["scenario".as_ref(), "check".as_ref(), "paper".as_ref(), one.as_os_str(), other.as_os_str()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stdout(&output).starts_with("paper: no mistakes\n"), "{}", stdout(&output));
    let expected = format!(
        "\
error: unknown key `perod` in `workload` of kind `periodic`
 --> {one}:3:1
3 | perod = 40
  | ^^^^^
hint: did you mean `period`?

error: a period must be more than 0, not 0
 --> {one}:4:10
4 | period = 0
  |          ^
hint: write a number above 0
",
        one = one.display()
    );
    let note = "note: paper: 51 users are generated from seed 1\n";
    assert_eq!(stderr(&output), format!("{note}{expected}\n{expected}"));
}

#[test]
fn a_preset_is_shown_as_toml_and_as_json() {
    let toml = run(["scenario", "show", "prototype", "--set", "topology.size=4", "--seed", "7"]);
    assert_eq!(toml.status.code(), Some(0), "{}", stderr(&toml));
    let text = stdout(&toml);
    assert!(text.starts_with("# prototype: 21 nodes, 20 links\n#   tier 0: 1 node, 14 units of hardware\n"), "{text}");
    assert!(text.contains("\nseed = 7\n") && text.contains("\nsize = 4\n"), "{text}");
    let json = run(["scenario", "show", "prototype", "--format", "json", "--policy", "1=latency-aware"]);
    let value: serde_json::Value = serde_json::from_str(&stdout(&json)).expect("it is JSON");
    assert_eq!(value["overview"]["applications"][0]["policy"], "latency-aware");
    assert_eq!(value["overview"]["applications"][1]["policy"], "workload-and-latency-aware");
    assert_eq!(value["settings"]["application"][0]["policy"], "latency-aware");
    assert_eq!(value["settings"]["application"][0]["id"], 1);
}

#[test]
fn the_schema_is_printed() {
    let output = run(["scenario", "schema"]);
    let value: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("it is JSON");
    assert_eq!(value["title"], "A scenario of mario");
}

#[test]
fn recorded_users_are_attached() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/recorded-users.json");
    let output =
        run(["scenario".as_ref(), "show".as_ref(), "prototype".as_ref(), "--attachments".as_ref(), path.as_os_str()]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("# prototype"), "{}", stdout(&output));
    assert!(stdout(&output).contains("51 users, 1 of them later, 85 handovers in 26 steps"), "{}", stdout(&output));
}
