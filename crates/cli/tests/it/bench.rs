//! `mario bench`.

use serde_json::Value;

use crate::{run, stderr, stdout};

#[test]
fn the_cost_at_each_size_has_exactly_the_documented_keys() {
    let output = run(["bench", "scale", "--nodes", "85,1365", "--format", "json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let sizes: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    let sizes = sizes.as_array().expect("a list");
    assert_eq!(sizes.len(), 2);
    for (size, (nodes, users)) in sizes.iter().zip([(85, 243), (1_365, 3_905)]) {
        let keys: Vec<&str> = size.as_object().expect("an object").keys().map(String::as_str).collect();
        let mut wanted =
            ["nodes", "users", "agents", "cycles", "asked", "evaluated", "cpu_ns_per_agent_cycle"].to_vec();
        wanted.extend(["peak_bytes", "wall_s"]);
        wanted.sort_unstable();
        let mut found = keys.clone();
        found.sort_unstable();
        assert_eq!(found, wanted);
        let number = |key: &str| size[key].as_f64().expect("a number");
        assert_eq!(size["nodes"], nodes);
        assert_eq!(size["users"], users);
        assert!(number("evaluated") < number("asked") && number("evaluated") > 0.0, "{size}");
        assert!((number("asked") / number("cycles") - number("agents")).abs() <= 0.5, "{size}");
        // More agents than the 6 applications, and fewer than 20 per node.
        assert!(number("agents") > 6.0 && number("agents") < 20.0 * number("nodes"), "{size}");
        assert!(number("cpu_ns_per_agent_cycle") > 1.0 && number("wall_s") > 0.0, "{size}");
        assert!(number("peak_bytes") > 1e6, "{size}");
    }
    // A world sixteen times as large takes more memory; each process measures its own.
    assert!(sizes[1]["peak_bytes"].as_u64() > sizes[0]["peak_bytes"].as_u64(), "{sizes:?}");
    assert!(stderr(&output).contains("1365 nodes, 3905 users"), "{}", stderr(&output));
}

#[test]
fn the_table_compares_the_largest_size_with_the_smallest() {
    let output = run(["bench", "scale", "--nodes", "5,21", "--policy", "latency-aware", "--threads", "2"]);
    let text = stdout(&output);
    assert_eq!(text.lines().count(), 4, "{text}{}", stderr(&output));
    assert!(text.lines().last().is_some_and(|line| line.contains("21 nodes against 5:")), "{text}");
}

#[test]
fn two_threads_make_as_many_decisions_and_evaluations_as_one() {
    let counts = |threads| {
        let output = run(["bench", "scale", "--nodes", "85", "--threads", threads, "--format", "json"]);
        let sizes: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
        (sizes[0]["asked"].clone(), sizes[0]["evaluated"].clone())
    };
    assert_eq!(counts("1"), counts("2"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_measuring_child_ends_with_its_parent() {
    use std::fs;
    use std::path::Path;
    use std::process::Stdio;
    use std::time::{Duration, Instant};
    let patience = Instant::now() + Duration::from_mins(1);
    let wait = || {
        assert!(Instant::now() < patience);
        std::thread::sleep(Duration::from_millis(5));
    };
    let mut parent = crate::mario()
        .args(["bench", "scale", "--nodes", "87381"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it runs");
    let process = parent.id();
    let children = format!("/proc/{process}/task/{process}/children");
    let child = loop {
        let children = fs::read_to_string(&children).expect("Linux tells");
        if let Some(child) = children.split_whitespace().next() {
            break child.to_owned();
        }
        wait();
    };
    parent.kill().expect("it is there");
    parent.wait().expect("it ends");
    // The process that adopts the child may leave it as a zombie, which counts as ended.
    let is_running = || {
        let status = fs::read_to_string(Path::new("/proc").join(&child).join("status")).unwrap_or_default();
        status.lines().any(|line| line.starts_with("State:") && !line.contains('Z'))
    };
    while is_running() {
        wait();
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_benchmark_prints_what_it_measured() {
    use std::io::{BufRead, BufReader, Read};
    use std::process::Stdio;

    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;

    let mut measuring = crate::mario()
        .args(["bench", "scale", "--nodes", "1,349525"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    let mut told = BufReader::new(measuring.stderr.take().expect("piped"));
    let mut line = String::new();
    while !line.contains("349525 nodes") {
        line.clear();
        assert!(told.read_line(&mut line).expect("text") > 0, "it ended");
    }
    kill(Pid::from_raw(measuring.id() as i32), Signal::SIGINT).expect("it is there");
    let output = measuring.wait_with_output().expect("it ends");
    let mut rest = String::new();
    told.read_to_string(&mut rest).expect("text");
    assert_eq!(output.status.code(), Some(130), "{rest}");
    assert!(rest.contains("interrupted at 349525 nodes"), "{rest}");
    let rows: Vec<String> = stdout(&output).lines().map(str::to_owned).collect();
    assert!(rows.len() == 2 && rows[1].trim_start().starts_with("1 "), "{rows:?}");
}
