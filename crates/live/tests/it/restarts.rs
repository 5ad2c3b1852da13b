//! Copies that end are restarted: at once, then with backoff; and copies that this node cannot probe are left alone.

use std::fs;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rustix::process::{Resource, Rlimit, prlimit};
use serde_json::Value;

use crate::colony::Colony;
use crate::daemons::STAYS;

/// One daemon with one healthy copy, whose transfers wait for 30 s.
fn one_copy(test: &str) -> (Colony, String) {
    let mut colony = Colony::new(test, &["a"], 2);
    let config = colony.daemons[0].config.clone();
    let text = fs::read_to_string(&config).expect("written").replace("resend_ms_max = 1000", "resend_ms_max = 30000");
    fs::write(&config, text).expect("written");
    colony.start(0, None);
    let reply = colony.deploy(0, "1", &colony.signed(STAYS)).expect("an answer").json().expect("accepted");
    let instance = reply["instance"].as_str().expect("an id").to_owned();
    colony.wait("it is healthy", |colony| colony.healthy(0) == [instance.clone()]);
    (colony, instance)
}

/// Kills the program of the only copy, and returns when another one is healthy, with the time that took.
fn crash(colony: &mut Colony, instance: &str, failures: u64) -> Duration {
    let programs = colony.workload_processes();
    assert_eq!(programs.len(), 1, "the program");
    kill(Pid::from_raw(programs[0]), Signal::SIGKILL).expect("it runs");
    let begun = Instant::now();
    colony.wait("another one is healthy", |colony| {
        restart(colony, instance)["failures"] == failures && colony.healthy(0).len() == 1
    });
    begun.elapsed()
}

fn restart(colony: &Colony, instance: &str) -> Value {
    colony.get(0, &format!("/v1/instances/{instance}"))["restart"].clone()
}

#[test]
fn a_crashed_copy_is_back_at_once_and_says_why_it_was_down() {
    let (mut colony, instance) = one_copy("restarts");
    assert!(restart(&colony, &instance).is_null(), "it was never down");
    let took = crash(&mut colony, &instance, 1);
    assert!(took < Duration::from_secs(10), "back after {took:?}");
    let first = restart(&colony, &instance);
    assert_eq!((&first["cause"], &first["failures"]), (&"killed by signal 9 (SIGKILL)".into(), &1.into()), "{first}");
    assert!(first["starts_in_ms"].is_null(), "it runs: {first}");
    // The second crash in a row waits for `restart_ms`.
    let took = crash(&mut colony, &instance, 2);
    assert!(took >= Duration::from_millis(500) && took < Duration::from_secs(10), "back after {took:?}");
    assert_eq!(restart(&colony, &instance)["failures"], 2);
    let metrics = colony.ask(0, mario_live::operators::Method::GET, "/metrics", &[], Vec::new()).expect("metrics").text;
    assert!(metrics.contains("mario_restarts_total 2\n") && metrics.contains("mario_copies_down 0\n"), "{metrics}");
}

#[test]
fn a_copy_that_the_node_has_no_descriptor_to_probe_is_left_alone() {
    let (mut colony, instance) = one_copy("unprobed");
    let before = colony.get(0, "/v1/instances")["instances"][0]["copy"]["address"].clone();
    let programs = colony.workload_processes();
    let daemon = rustix::process::Pid::from_raw(colony.pid(0).cast_signed());
    let none = Rlimit { current: Some(1), maximum: Some(20_000) };
    let usual = prlimit(daemon, Resource::Nofile, none).expect("the limit of an own process");
    // Three probes in a row, which would end a copy that does not answer.
    std::thread::sleep(Duration::from_secs(18));
    let restored = Rlimit { current: usual.current.map(|files| files.min(20_000)), maximum: Some(20_000) };
    prlimit(daemon, Resource::Nofile, restored).expect("the limit of an own process");
    colony.wait("it is healthy", |colony| colony.healthy(0) == [instance.clone()]);
    assert_eq!(colony.workload_processes(), programs, "the same program");
    let after = colony.get(0, "/v1/instances")["instances"][0]["copy"]["address"].clone();
    assert_eq!((before, restart(&colony, &instance)), (after, Value::Null));
    let log = fs::read_to_string(colony.directory.join("a.log")).expect("a log");
    assert_eq!(log.matches("cannot probe copy").count(), 1, "one line for all: {log}");
}
