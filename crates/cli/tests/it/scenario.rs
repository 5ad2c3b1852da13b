//! `mario scenario` as a user sees it.

use std::fs;
use std::path::{Path, PathBuf};

use mario_testing::empty_directory;

use crate::{run, stderr, stdout};

fn fresh_directory(name: &str) -> PathBuf {
    empty_directory(env!("CARGO_TARGET_TMPDIR"), &format!("scenario/{name}"))
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
    // The output is a scenario file, and describes the same scenario.
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

error: a period must be positive, not 0
 --> {one}:4:10
4 | period = 0
  |          ^
hint: write a number of at least 0.001
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
    let links = "#   links: latency 1 to 2 ms, unlimited bandwidth\n";
    assert!(
        text.starts_with(&format!("# prototype: 21 nodes, 20 links\n{links}#   tier 0: 1 node, 14 units")),
        "{text}"
    );
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

#[test]
fn check_and_run_reject_endless_scenarios_with_their_place() {
    let directory = fresh_directory("endless");
    let drawn = ["topology.kind=random-geometric", "topology.nodes=16000000"];
    let cases: [(&[&str], &str); 8] = [
        (&["duration=1e308"], "a time must be from 0 to 1e12, not 1e308"),
        (&["duration=1e18"], "a time must be from 0 to 1e12, not 1e18"),
        (&["mobility.step=1e-300"], "a period must be from 0.001 to 1e12, not 1e-300"),
        (&["managers.period=1e-300"], "a period must be from 0.001 to 1e12, not 1e-300"),
        (
            &["duration=1e11"],
            "the run would take about 660 billion events, more than the 10 billion of `limits.events`",
        ),
        (
            &["managers.period=0.001"],
            "of memory, more than the 16 GiB of `limits.memory_mib`, most of all for activations",
        ),
        (&["topology.access_hardware=18446744073709551615"], "has more than 64 bits"),
        (&drawn, "there would be about 25 trillion links, and 33554432 is the most"),
    ];
    for (keys, words) in cases {
        let out = directory.join("run");
        let sets: Vec<&str> = keys.iter().flat_map(|key| ["--set", key]).collect();
        let check = [&["scenario", "check", "paper"], sets.as_slice()].concat();
        let run_it = [&["run", "paper", "--out", out.to_str().expect("a path")], sets.as_slice()].concat();
        for command in [check, run_it] {
            let output = run(&command);
            let said = stderr(&output);
            assert_eq!(output.status.code(), Some(2), "{command:?}: {said}");
            assert!(said.contains(words) && said.contains(" --> --set:1:") && said.contains("hint: "), "{said}");
        }
        assert!(!out.exists(), "{keys:?} left a directory");
    }
}

#[test]
fn check_reports_the_cost_of_a_run_and_limits_can_be_raised() {
    let output = run(["scenario", "check", "paper"]);
    assert!(stdout(&output).contains("\n  expected cost: about 350000 events and 24 MiB\n"), "{}", stdout(&output));
    let keys = ["scenario", "check", "paper", "--set", "limits.events=1000"];
    let output = run(keys);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("or raise `limits.events`"), "{}", stderr(&output));
    let output =
        run([&keys[..3], &["--set", "duration=2e9", "--set", "mobility.step=1e6", "--set", "limits.events=1e12"]]
            .concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("the run is expected to take about "), "{}", stderr(&output));
}

#[test]
fn check_reports_applications_that_do_not_fit_at_the_start() {
    let keys =
        ["--set", "topology.size=1", "--set", "topology.access_hardware=2", "--set", "topology.cloud_hardware=2"];
    let output = run([&["scenario", "check", "paper"], keys.as_slice()].concat());
    assert_eq!(output.status.code(), Some(2), "{}", stdout(&output));
    assert!(stderr(&output).contains("cannot deploy application"), "{}", stderr(&output));
}
