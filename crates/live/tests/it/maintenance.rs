//! Maintenance of a node: a drain that survives restarts, signals, certificates that expire, a full disk, and what a
//! daemon leaves behind.

use std::fs;
use std::path::Path;

use mario_live::identity::node_id;
use mario_live::operators::Method;

use crate::colony::Colony;
use crate::daemons::STAYS;

fn drain(colony: &Colony, is_draining: bool) {
    let body = format!("{{\"is_draining\":{is_draining}}}").into_bytes();
    let reply = colony.ask(0, Method::PUT, "/v1/drain", &[], body).expect("an answer");
    assert_eq!(reply.status, 200, "{}", reply.text);
}

#[test]
fn a_drain_survives_restarts_and_ends_only_when_it_is_undone() {
    let mut colony = Colony::new("drained", &["a"], 2);
    // The journal is compacted often, so that the drain must be in the ledger, too.
    let config = colony.daemons[0].config.clone();
    let text = fs::read_to_string(&config).expect("written") + "[journal]\nshorten_after = 16\n";
    fs::write(&config, text).expect("written");
    colony.start(0, None);
    drain(&colony, true);
    for restart in 0..20 {
        if restart % 2 == 0 {
            colony.kill(0);
        } else {
            assert!(colony.stop(0), "it ends");
        }
        colony.start(0, None);
        assert_eq!(colony.get(0, "/v1/status")["is_draining"], true, "after restart {restart}");
    }
    let refused = colony.deploy(0, "1", &colony.signed(STAYS)).expect("an answer");
    assert!(refused.status == 409, "{}", refused.text);
    drain(&colony, false);
    colony.kill(0);
    colony.start(0, None);
    assert_eq!(colony.get(0, "/v1/status")["is_draining"], false);
    colony.deploy(0, "2", &colony.signed(STAYS)).expect("an answer").json().expect("accepted");
    let (trace, report) = colony.audited();
    assert!(report.findings.is_empty(), "{:?}\n{trace}", report.findings);
    assert!(trace.contains("{\"drained\":{\"is_draining\":true}}"), "{trace}");
}

#[test]
fn hangup_and_user_signals_do_not_end_a_daemon() {
    let mut colony = Colony::new("signals", &["a"], 2);
    colony.start(0, None);
    let pid = nix::unistd::Pid::from_raw(colony.pid(0).cast_signed());
    for signal in [nix::sys::signal::SIGHUP, nix::sys::signal::SIGUSR1, nix::sys::signal::SIGUSR2] {
        nix::sys::signal::kill(pid, signal).expect("it runs");
        let expected = format!("\"event\":\"signal-ignored\",\"signal\":\"{signal}\"");
        let log = colony.directory.join("a.log");
        colony.wait("it is logged", |_| fs::read_to_string(&log).is_ok_and(|log| log.contains(&expected)));
    }
    assert_eq!(colony.get(0, "/v1/status")["node"], "a");
    assert!(colony.stop(0), "SIGTERM still ends it");
}

#[test]
fn certificates_that_expire_soon_are_in_the_status_the_metrics_and_the_log() {
    let mut colony = Colony::new("expiry", &["a"], 2);
    let node = colony.authority.node(node_id("a").expect("a name"), Vec::new());
    colony.certificate("a", &node, 9);
    // The certificate of the authority is valid for 10 days.
    let config = colony.daemons[0].config.clone();
    let text = fs::read_to_string(&config).expect("written").replace("[timing]", "warn_days = 9\n[timing]");
    fs::write(&config, text).expect("written");
    colony.start(0, None);
    let status = colony.get(0, "/v1/status")["certificates"].clone();
    assert_eq!((&status[0]["certificate"], &status[1]["certificate"]), (&"node".into(), &"authority".into()));
    let left = |place: usize| status[place]["expires_in_s"].as_i64().expect("a number");
    assert!((left(0) - 9 * 86_400).abs() < 3_600 && (left(1) - 10 * 86_400).abs() < 3_600, "{status}");
    assert!(status[0]["warning"].as_str().is_some_and(|text| text.contains("of the node expires in ")), "{status}");
    assert!(status[1]["warning"].is_null(), "{status}");
    let metrics = colony.ask(0, Method::GET, "/metrics", &[], Vec::new()).expect("metrics").text;
    assert!(metrics.contains("mario_certificate_expiry_seconds{certificate=\"node\"} 777"), "{metrics}");
    assert!(metrics.contains("mario_certificate_expiry_seconds{certificate=\"authority\"} 86"), "{metrics}");
    let log = fs::read_to_string(colony.directory.join("a.log")).expect("a log");
    assert_eq!(log.matches("\"event\":\"certificate-expires\"").count(), 1, "{log}");
}

#[test]
fn a_node_that_cannot_start_workloads_says_so_and_accepts_no_deploy() {
    let mut colony = Colony::new("no-room", &["a"], 2);
    colony.start(0, None);
    let workloads = colony.directory.join("a/data/workloads");
    let health = |colony: &Colony| colony.ask(0, Method::GET, "/healthz", &[], Vec::new()).expect("an answer");
    assert_eq!(health(&colony).status, 200);
    // As on a disk that is full, no file can be created.
    fs::remove_dir(&workloads).expect("it is empty");
    fs::write(&workloads, "").expect("written");
    let refused = colony.deploy(0, "1", &colony.signed(STAYS)).expect("an answer");
    assert!(refused.status == 507 && refused.text.contains("cannot start workloads: "), "{}", refused.text);
    let sick = health(&colony);
    assert!(sick.status == 503 && sick.text.contains("cannot start workloads: "), "{}", sick.text);
    fs::remove_file(&workloads).expect("a file");
    fs::create_dir(&workloads).expect("made");
    colony.wait("it notices by itself that there is room", |colony| health(colony).status == 200);
    colony.deploy(0, "1", &colony.signed(STAYS)).expect("an answer").json().expect("accepted");
    colony.wait("it is healthy", |colony| colony.healthy(0).len() == 1);
    assert_eq!(health(&colony).status, 200);
}

/// The control groups of a node with this journal.
pub(crate) fn control_groups(journal: &str) -> usize {
    let roots = ["", "memory", "pids", "cpu"].map(|controller| Path::new("/sys/fs/cgroup").join(controller));
    roots.iter().filter(|root| root.join(format!("mario-{journal}")).exists()).count()
}

#[test]
fn a_daemon_leaves_no_control_group_without_a_workload() {
    let mut colony = Colony::new("groups", &["a"], 2);
    colony.start(0, None);
    let journal = colony.get(0, "/v1/status")["journal"].as_str().expect("an id").to_owned();
    assert_eq!(control_groups(&journal), 0, "nothing runs yet");
    let document = colony.signed_with(STAYS, "hardware = 1\n", ", memory_bytes_max = 268435456", "");
    colony.deploy(0, "1", &document).expect("an answer").json().expect("accepted");
    colony.wait("it is healthy", |colony| colony.healthy(0).len() == 1);
    let running = control_groups(&journal);
    // The program outlives its daemon, and so does its group, until the program ends while no daemon runs.
    colony.kill(0);
    assert_eq!(control_groups(&journal), running);
    for pid in colony.workload_processes() {
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), nix::sys::signal::SIGKILL).expect("it runs");
    }
    colony.start(0, None);
    colony.wait("it is healthy again", |colony| colony.healthy(0).len() == 1);
    colony.end_instances();
    assert!(colony.stop(0));
    assert_eq!(control_groups(&journal), 0, "nothing is left");
}
