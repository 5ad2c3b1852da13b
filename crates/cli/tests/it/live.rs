//! `mario live`: a colony of daemons, created, used and stopped by one command.

mod page;
mod side_by_side;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use mario_testing::wait_for;
use serde_json::Value;

use crate::{mario, stderr, stdout};

fn directory(test: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("mario-live-{}-{test}", std::process::id()));
    let _ = fs::remove_dir_all(&path);
    path
}

/// Returns the ids of the processes whose working directory is below a directory.
fn processes_below(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir("/proc").expect("a list of processes").flatten();
    let is_number = |name: &str| name.bytes().all(|byte| byte.is_ascii_digit());
    let pids = entries.filter_map(|entry| entry.file_name().into_string().ok()).filter(|name| is_number(name));
    pids.filter(|pid| fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd.starts_with(directory))).collect()
}

fn summary(directory: &Path) -> Value {
    let text = fs::read_to_string(directory.join("summary.json")).expect("a summary");
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn a_colony_serves_its_users_and_leaves_no_process() {
    let out = directory("serves");
    let output = mario().args(["live", "--nodes", "5", "--for", "12s", "--out"]).arg(&out).output().expect("it runs");
    assert!(output.status.success(), "{}", stderr(&output));
    let summary = summary(&out);
    let number = |key: &str| summary[key].as_u64().unwrap_or_else(|| panic!("{key}: {summary}"));
    assert!(number("requests") > 1_000, "{summary}");
    assert_eq!(number("failed"), 0, "{summary}");
    assert_eq!(number("requests"), number("answered"));
    assert!(number("evaluations") > 20, "{summary}");
    // All applications start in the cloud, which is too far away for half of them.
    assert!(number("migrate") + number("replicate") > 0, "{summary}");
    for key in ["undeploy", "inhibited", "instances", "nodes", "users"] {
        number(key);
    }
    assert_eq!(summary["applications"].as_array().map(Vec::len), Some(6));
    assert!(stdout(&output).starts_with("client requests"), "{}", stdout(&output));
    assert_eq!(processes_below(&out), Vec::<String>::new());
    check_that_it_is_like_a_simulated_run(&out);
    fs::remove_dir_all(out).expect("it was there");
}

/// Checks that `mario audit`, `report`, `compare`, `snapshot` and `replay` accept a live run, as they accept a
/// simulated one.
fn check_that_it_is_like_a_simulated_run(out: &Path) {
    let run = out.display().to_string();
    let beside = |name: &str| out.join(name).display().to_string();
    let succeed = |arguments: &[&str]| {
        let output = mario().args(arguments).output().expect("it runs");
        assert!(output.status.success(), "{arguments:?}\n{}", stderr(&output));
        stdout(&output)
    };
    succeed(&["audit", &run]);
    succeed(&["report", &run, "--out", &beside("report.html"), "--animation", &beside("run.svg")]);
    let picture = fs::read_to_string(out.join("run.svg")).expect("a picture");
    assert!(picture.starts_with("<svg") && picture.contains("animateTransform"), "{picture}");
    let compared = succeed(&["compare", &run, &run, "--format", "json"]);
    let compared: Value = serde_json::from_str(&compared).expect("JSON");
    let summary = summary(out);
    for (title, key) in [("client requests", "requests"), ("migrate", "migrate"), ("replicate", "replicate")] {
        assert_eq!(compared["runs"][1]["figures"][title].as_f64(), summary[key].as_f64(), "{title}");
    }
    check_that_the_trace_and_the_summary_agree(out, &summary);
    check_that_changed_results_of_clients_are_found(out);
    let scenario = succeed(&["snapshot", &run, "--at", "9000"]);
    assert!(scenario.contains("# Not in this scenario:") && scenario.contains("[[deploy]]"), "{scenario}");
    let told = succeed(&["replay", &run, "--until", "9000", "--policy", "never-move", "--out", &beside("replayed")]);
    assert!(told.contains("recorded") && told.contains("are not compared"), "{told}");
    let times = told.lines().find(|line| line.starts_with("time, ms")).expect("a row");
    let times: Vec<f64> = times.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    assert!(times[1] <= times[0], "both cover the same time: {told}");
}

/// Checks that the trace of a live run has the scenario, the users and the client requests that the summary has.
fn check_that_the_trace_and_the_summary_agree(out: &Path, summary: &Value) {
    let trace = fs::read(out.join("trace.jsonl")).expect("a trace");
    let header: Value =
        serde_json::from_slice(trace.split(|byte| *byte == b'\n').next().expect("a header")).expect("JSON");
    for key in ["scenario", "seed"] {
        assert_eq!(header[key], summary[key], "{key}");
    }
    let count = |list: &Value| list.as_array().map(|list| list.len() as u64);
    assert_eq!(count(&header["users"]), summary["users"].as_u64());
    let cloud = header["nodes"].as_array().expect("nodes").iter().find(|node| node["tier"] == 0).expect("a top");
    assert_eq!(count(&cloud["neighbours"]), summary["nodes"].as_u64().map(|nodes| nodes - 1), "the cloud is the top");
    let read = mario_experiments::figures::from_trace(trace.as_slice()).expect("a trace");
    assert_eq!(Some(read.figures.served), summary["answered"].as_u64());
    assert_eq!(Some(read.figures.lost), summary["failed"].as_u64());
    let groups: Vec<&str> = read.figures.groups.iter().map(|group| group.group.as_str()).collect();
    assert!(groups.contains(&"LS") && groups.contains(&"WS"), "{groups:?}");
    for (traced, told) in read.measured.applications.iter().zip(summary["applications"].as_array().expect("a list")) {
        assert_eq!(Some(traced.application.as_str()), told["id"].as_str());
        assert_eq!(traced.late_share, told["late_share"].as_f64());
        for (percentile, key) in
            [(traced.response_p50, "p50"), (traced.response_p99, "p99"), (traced.response_max, "max")]
        {
            let (found, exact) = (percentile.expect("served"), told["response_ms"][key].as_f64().expect("served"));
            assert!((found - exact).abs() <= exact * 0.008 + 1e-9, "{key}: {found} and {exact}");
        }
    }
}

/// Checks that the auditor notices a changed number of served requests in the trace of a live run.
fn check_that_changed_results_of_clients_are_found(out: &Path) {
    let trace = fs::read_to_string(out.join("trace.jsonl")).expect("a trace");
    let line = trace.lines().find(|line| line.starts_with("[\"client\"")).expect("a user");
    let mut record: Value = serde_json::from_str(line).expect("JSON");
    record[3] = (record[3].as_u64().expect("a count") + 1).into();
    let changed = out.join("changed.jsonl");
    fs::write(&changed, trace.replacen(line, &record.to_string(), 1)).expect("writable");
    let audited = mario().arg("audit").arg(&changed).output().expect("it runs");
    assert_eq!(audited.status.code(), Some(1), "{}", stderr(&audited));
    assert!(stdout(&audited).contains("expected clients with"), "{}", stdout(&audited));
}

#[test]
fn a_port_in_use_is_reported_before_anything_starts() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("an address").port().to_string();
    let out = directory("port");
    let output = mario().args(["live", "--nodes", "5", "--port", &port, "--out"]).arg(&out).output().expect("it runs");
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let told = stderr(&output);
    assert!(told.contains(&format!("cannot listen on port {port}")) && told.contains("--port"), "{told}");
    assert_eq!(processes_below(&out), Vec::<String>::new());
    assert!(!out.exists(), "nothing is left");
}

#[test]
fn faults_are_survived_and_counted() {
    let out = directory("chaos");
    let arguments = ["live", "--nodes", "5", "--for", "30s", "--chaos", "--seed", "3", "--format", "json", "--out"];
    let output = mario().args(arguments).arg(&out).output().expect("it runs");
    assert!(output.status.success(), "{}", stderr(&output));
    let printed: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    let summary = summary(&out);
    assert_eq!(printed, summary);
    assert!(summary["kills"].as_u64() > Some(0) && summary["cuts"].as_u64() > Some(0), "{summary}");
    assert!(summary["answered"].as_u64() > Some(1_000), "{summary}");
    // Failed requests are counted by reason, and only two reasons are legitimate: the access point was down, or a cut
    // link separated it from all instances. A failure while an instance was reachable is a defect.
    let failures = summary["failures"].as_object().expect("reasons");
    let counted: u64 = failures.values().filter_map(Value::as_u64).sum();
    assert_eq!(Some(counted), summary["failed"].as_u64());
    let explained = ["node-killed", "cut-off"];
    assert!(failures.keys().all(|reason| explained.contains(&reason.as_str())), "{summary}");
    let listed = fs::read_to_string(out.join("failed.jsonl")).unwrap_or_default();
    assert_eq!(Some(listed.lines().count() as u64), summary["failed"].as_u64(), "each is listed");
    let audited = mario().arg("audit").arg(&out).output().expect("it runs");
    assert!(audited.status.success(), "{}{}", stdout(&audited), stderr(&audited));
    let told = stdout(&audited);
    let evaluations = told.lines().find_map(|line| line.trim().strip_prefix("evaluations")).map(str::trim);
    assert_eq!(evaluations.map(str::to_owned), Some(summary["evaluations"].to_string()), "{told}");
    assert_eq!(processes_below(&out), Vec::<String>::new());
    fs::remove_dir_all(out).expect("it was there");
}

#[test]
fn a_killed_colony_leaves_neither_daemons_nor_workloads() {
    let out = directory("killed");
    let mut child = mario()
        .args(["live", "--nodes", "5", "--out"])
        .arg(&out)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it runs");
    let is_serving = || {
        let log = fs::read_to_string(out.join("nodes/n0lt0ln0/log.jsonl")).unwrap_or_default();
        log.contains("\"kind\":\"evaluated\"")
    };
    wait_for("the colony serves", Duration::from_mins(2), || is_serving().then_some(()));
    assert!(processes_below(&out).len() > 5, "five daemons, and workloads");
    child.kill().expect("it runs");
    child.wait().expect("a child");
    wait_for("nothing is left", Duration::from_secs(30), || processes_below(&out).is_empty().then_some(()));
    fs::remove_dir_all(out).expect("it was there");
}

#[test]
fn ctrl_c_ends_every_process_and_keeps_the_summary() {
    let out = directory("interrupted");
    let mut child = mario()
        .args(["live", "--nodes", "5", "--out"])
        .arg(&out)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it runs");
    let is_serving = || {
        let log = fs::read_to_string(out.join("nodes/n0lt0ln0/log.jsonl")).unwrap_or_default();
        log.contains("\"kind\":\"evaluated\"")
    };
    wait_for("the colony serves", Duration::from_mins(2), || is_serving().then_some(()));
    let pid = nix::unistd::Pid::from_raw(child.id().cast_signed());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).expect("it runs");
    let status = child.wait().expect("a child");
    assert!(status.success(), "{status}");
    assert!(summary(&out)["requests"].as_u64().is_some());
    assert_eq!(processes_below(&out), Vec::<String>::new());
    fs::remove_dir_all(out).expect("it was there");
}
