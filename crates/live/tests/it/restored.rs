//! Data directories that were restored from a backup, emptied or lost: no instance runs twice, and the documented repair
//! works.

use std::fs;
use std::path::Path;

use mario_live::operators::Method;
use serde_json::Value;

use crate::colony::Colony;
use crate::daemons::STAYS;
use crate::maintenance::control_groups;

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("made");
    for entry in fs::read_dir(from).expect("a directory").flatten() {
        let target = to.join(entry.file_name());
        if entry.file_type().expect("a type").is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("copied");
        }
    }
}

fn data(colony: &Colony, name: &str) -> std::path::PathBuf {
    colony.directory.join(name).join("data")
}

fn log(colony: &Colony, name: &str) -> String {
    fs::read_to_string(colony.directory.join(format!("{name}.log"))).unwrap_or_default()
}

/// The programs of workloads that run on a node.
fn programs(colony: &Colony, name: &str) -> usize {
    let directory = colony.directory.join(name);
    let runs_there =
        |pid: &i32| fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|working| working.starts_with(&directory));
    colony.workload_processes().iter().filter(|pid| runs_there(pid)).count()
}

fn text(colony: &Colony, index: usize, path: &str) -> String {
    colony.ask(index, Method::GET, path, &[], Vec::new()).map(|reply| reply.text).unwrap_or_default()
}

fn is_linked(colony: &Colony) -> bool {
    (0..2).all(|index| {
        let link = &colony.get(index, "/v1/links")["links"][0];
        link["is_up"] == true && link["has_data"] == true
    })
}

#[test]
fn an_old_copy_of_a_data_directory_stops_its_copies_and_the_documented_repair_works() {
    let mut colony = Colony::new("restored", &["a", "b"], 4);
    colony.start(0, None);
    colony.start(1, None);
    colony.wait("the link is up", |colony| is_linked(colony));
    for key in ["1", "2"] {
        colony.deploy(0, key, &colony.signed(STAYS)).expect("an answer").json().expect("accepted");
    }
    colony.wait("both are healthy", |colony| colony.healthy(0).len() == 2);
    // A backup, then both instances move, and then the backup is restored.
    assert!(colony.stop(0));
    let (now, backup) = (data(&colony, "a"), colony.directory.join("backup"));
    copy(&now, &backup);
    colony.start(0, None);
    colony.wait("they are healthy again", |colony| colony.healthy(0).len() == 2 && is_linked(colony));
    assert_eq!(colony.get(0, "/v1/status")["confirmation"], "confirmed");
    let drain = |colony: &Colony, drains: bool| {
        let body = format!("{{\"is_draining\": {drains}}}").into_bytes();
        colony.ask(0, Method::PUT, "/v1/drain", &[], body).expect("an answer")
    };
    assert_eq!(drain(&colony, true).status, 200);
    colony.wait("both have moved", |colony| colony.healthy(1).len() == 2 && programs(colony, "a") == 0);
    assert!(colony.stop(0));
    fs::remove_dir_all(&now).expect("removed");
    copy(&backup, &now);
    colony.start(0, None);
    colony.wait("it has learnt it", |colony| colony.get(0, "/v1/status")["confirmation"] == "outdated");
    colony.wait("its copies have ended", |colony| programs(colony, "a") == 0);
    assert_eq!((colony.healthy(0).len(), colony.healthy(1).len()), (0, 2));

    // Both sides say so, everywhere.
    let cause = "the journal of this node is an old copy";
    let health = colony.ask(0, Method::GET, "/healthz", &[], Vec::new()).expect("an answer");
    assert!(health.status == 503 && health.text.contains(cause), "{}", health.text);
    assert!(text(&colony, 0, "/metrics").contains("\nmario_journal_outdated 1"));
    assert!(log(&colony, "a").contains(cause));
    let refused = colony.deploy(0, "3", &colony.signed(STAYS)).expect("an answer");
    assert!(refused.status == 409 && refused.text.contains("mario node lost"), "{}", refused.text);
    colony.wait("the neighbour rejects it", |colony| colony.get(1, "/v1/links")["links"][0]["is_rejected"] == true);
    assert!(text(&colony, 1, "/metrics").contains("mario_link_rejected{neighbour=\"a\"} 1"));
    let journal = text(&colony, 1, "/v1/journal");
    let peers: Value = serde_json::from_str(&journal).expect("JSON");
    assert_eq!(peers["peers"][0]["state"], "rejected", "{journal}");
    assert!(peers["peers"][0]["sequence"].is_null() && !journal.contains("18446744073709551615"), "{journal}");
    assert_eq!(colony.get(1, "/healthz")["is_healthy"], true);

    // A restart changes nothing: it does not even have to ask.
    let old = colony.get(0, "/v1/status")["journal"].as_str().expect("an id").to_owned();
    assert!(colony.stop(0));
    colony.start(0, None);
    assert_eq!(colony.get(0, "/v1/status")["confirmation"], "outdated");

    // The repair, in the documented order.
    assert!(colony.stop(0));
    let trace = colony.joined();
    assert!(trace.contains("\"outdated\""), "{trace}");
    let audited = mario_audit::audit(trace.as_bytes(), mario_audit::Options::default(), &mut |_| ());
    assert!(!audited.expect("a trace that the auditor reads").is_clean(), "for a moment there were two owners");
    fs::rename(&now, colony.directory.join("a").join("old")).expect("moved away");
    colony.start(0, None);
    colony.wait("the new node is welcome", |colony| {
        is_linked(colony) && colony.get(1, "/v1/links")["links"][0]["is_rejected"] == false
    });
    for _ in 0..2 {
        let lost = colony.ask(1, Method::POST, &format!("/v1/lost/{old}"), &[], Vec::new()).expect("an answer");
        assert_eq!(lost.status, 200, "{}", lost.text);
    }
    let peers = colony.get(1, "/v1/journal")["peers"].clone();
    assert_eq!((&peers[0]["state"], &peers[1]["state"]), (&"known".into(), &"lost".into()), "{peers}");
    assert_eq!(peers[1]["journal"], old.as_str());
    colony.deploy(0, "4", &colony.signed(STAYS)).expect("an answer").json().expect("accepted");
    colony.wait("it is healthy", |colony| colony.healthy(0).len() == 1);
    assert_eq!(colony.healthy(1).len(), 2);
}

#[test]
fn a_restarted_node_without_reachable_neighbours_serves_all_but_exclusive_applications() {
    let mut colony = Colony::new("unconfirmed", &["a", "b"], 4);
    colony.start(0, None);
    colony.start(1, None);
    colony.wait("the link is up", |colony| is_linked(colony));
    let runs = colony.deploy(0, "1", &colony.signed(STAYS)).expect("an answer").json().expect("accepted");
    let exclusive = colony.signed_with(STAYS, "hardware = 1\nexclusive = true\n", "", "");
    let waits = colony.deploy(0, "2", &exclusive).expect("an answer").json().expect("accepted");
    colony.wait("both are healthy", |colony| colony.healthy(0).len() == 2);
    colony.kill(1);
    colony.kill(0);
    colony.start(0, None);
    colony.wait("one is healthy", |colony| colony.healthy(0) == [runs["instance"].as_str().unwrap_or_default()]);
    assert_eq!(colony.get(0, "/v1/status")["confirmation"], "unconfirmed");
    assert!(text(&colony, 0, "/metrics").contains("\nmario_journal_unconfirmed 1"));
    let waiting = colony.get(0, &format!("/v1/instances/{}", waits["instance"].as_str().unwrap_or_default()));
    assert!(waiting["held_back"].as_str().is_some_and(|why| why.contains("no neighbour has confirmed")), "{waiting}");
    assert_eq!(colony.client(0, "/shop").expect("an answer").0, 200);
    let refused = colony.deploy(0, "3", &colony.signed(STAYS)).expect("an answer");
    assert!(refused.text.contains("no neighbour has confirmed its journal yet"), "{}", refused.text);
    // With the setting, it waits for nothing.
    colony.kill(0);
    colony.configure(0, "[journal]\nunconfirmed = \"all\"\n");
    colony.start(0, None);
    colony.wait("both are healthy", |colony| colony.healthy(0).len() == 2);
    let text = fs::read_to_string(&colony.daemons[0].config).expect("written");
    fs::write(&colony.daemons[0].config, text.replace("\"all\"", "\"all-but-exclusive\"")).expect("written");
    colony.kill(0);
    colony.start(0, None);
    colony.start(1, None);
    colony.wait("a neighbour has confirmed", |colony| colony.get(0, "/v1/status")["confirmation"] == "confirmed");
    colony.wait("both are healthy", |colony| {
        colony.healthy(0).contains(&waits["instance"].as_str().unwrap_or_default().to_owned())
    });
    assert!(log(&colony, "a").contains("\"kind\":\"confirmed\""));
}

#[test]
fn processes_of_a_former_journal_are_ended_when_the_node_begins_a_new_one() {
    let mut colony = Colony::new("orphans", &["a"], 4);
    colony.start(0, None);
    let document = colony.signed_with(STAYS, "hardware = 1\n", ", memory_bytes_max = 268435456", "");
    colony.deploy(0, "1", &document).expect("an answer").json().expect("accepted");
    colony.wait("it is healthy", |colony| colony.healthy(0).len() == 1);
    let journal = colony.get(0, "/v1/status")["journal"].as_str().expect("an id").to_owned();
    colony.kill(0);
    assert_eq!(colony.workload_processes().len(), 1, "it runs on");
    fs::rename(data(&colony, "a"), colony.directory.join("a").join("old")).expect("moved away");
    colony.start(0, None);
    colony.wait("nothing is left of it", |colony| colony.workload_processes().is_empty());
    colony.wait("the log says so", |colony| log(colony, "a").contains("\"event\":\"orphans-ended\""));
    assert_eq!(control_groups(&journal), 0, "their control groups are gone");
    colony.deploy(0, "2", &colony.signed(STAYS)).expect("an answer").json().expect("accepted");
    colony.wait("the new one is healthy", |colony| colony.healthy(0).len() == 1);
}

#[test]
fn a_journal_that_lost_a_record_which_the_trace_has_keeps_the_daemon_from_starting() {
    let mut colony = Colony::new("shortened", &["a"], 4);
    colony.start(0, None);
    let journal = data(&colony, "a").join("journal.redb");
    colony.wait("it runs", |colony| colony.get(0, "/v1/status")["node"] == "a");
    colony.kill(0);
    let before = fs::read(&journal).expect("a file");
    colony.start(0, None);
    colony.wait("it runs", |colony| colony.get(0, "/v1/status")["node"] == "a");
    let told = log(&colony, "a");
    assert!(told.contains("the journal was not closed") && told.contains("record 1 is the last"), "{told}");
    colony.deploy(0, "1", &colony.signed(STAYS)).expect("an answer").json().expect("accepted");
    colony.wait("it is healthy", |colony| colony.healthy(0).len() == 1);
    colony.kill(0);
    // As after damage of its last write, which the database undoes when it repairs the file.
    let whole = fs::read(&journal).expect("a file");
    fs::write(&journal, before).expect("written");
    colony.start(0, None);
    colony.wait("it has ended", |colony| colony.has_ended(0));
    let told = log(&colony, "a");
    assert!(told.contains("lost records that were on disk") && told.contains("it ends with record 1,"), "{told}");
    assert_eq!(colony.workload_processes().len(), 1, "its copy is not forgotten");
    fs::write(&journal, whole).expect("written");
    colony.kill(0);
    colony.start(0, None);
    colony.wait("it is healthy again", |colony| colony.healthy(0).len() == 1);
}

#[test]
fn an_empty_journal_keeps_the_daemon_from_starting_and_its_copies_running() {
    let mut colony = Colony::new("emptied", &["a"], 4);
    colony.start(0, None);
    colony.deploy(0, "1", &colony.signed(STAYS)).expect("an answer").json().expect("accepted");
    colony.wait("it is healthy", |colony| colony.healthy(0).len() == 1);
    colony.kill(0);
    let journal = data(&colony, "a").join("journal.redb");
    let whole = fs::read(&journal).expect("a file");
    fs::write(&journal, []).expect("written");
    colony.start(0, None);
    colony.wait("it has ended", |colony| colony.has_ended(0));
    assert!(log(&colony, "a").contains("journal.redb has 0 bytes"), "{}", log(&colony, "a"));
    assert_eq!(colony.workload_processes().len(), 1, "its copy is not forgotten");
    fs::write(&journal, whole).expect("written");
    colony.kill(0);
    colony.start(0, None);
    colony.wait("it is healthy again", |colony| colony.healthy(0).len() == 1);
}
