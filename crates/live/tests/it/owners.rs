//! Owners of live nodes evict and shrink instances there.

use std::fs;

use serde_json::Value;

use crate::colony::Colony;
use crate::daemons::STAYS;

/// Gives a node an owner's policy, which is evaluated every 200 ms. An agent can evaluate twice between the
/// announcement and the eviction.
fn owned(colony: &Colony, index: usize, policy: &str) {
    let path = &colony.daemons[index].config;
    let text = fs::read_to_string(path).expect("written before");
    fs::write(path.with_file_name("owner.pl"), policy).expect("written");
    let text = text.replacen("capacity", "policy = \"owner.pl\"\ncapacity", 1);
    fs::write(path, text.replacen("[timing]\n", "[timing]\nnotice = 2\nowner_ms = 200\n", 1)).expect("written");
}

fn log(colony: &Colony, name: &str) -> String {
    fs::read_to_string(colony.directory.join(format!("{name}.log"))).expect("a log")
}

#[test]
fn an_owner_announces_an_eviction_and_ends_instances_that_stay() {
    let mut colony = Colony::new("evicts", &["a", "b"], 2);
    owned(&colony, 0, "evict(I, 'it is ours again') :- serviceInstance(I, _, _).\n");
    colony.start(0, None);
    colony.start(1, None);
    colony.deploy(0, "1", &colony.signed(STAYS)).expect("an answer").json().expect("accepted");
    colony.wait("it is gone", |colony| log(colony, "a").contains("\"kind\":\"evicted\""));
    colony.wait("its hardware is free", |colony| colony.get(0, "/v1/status")["free"] == 2);
    let told = log(&colony, "a");
    let told: Vec<Value> = told.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let leave = told.iter().find(|event| event["report"]["kind"] == "leave").expect("it was announced");
    assert_eq!((&leave["report"]["evaluations"], &leave["report"]["reason"]), (&2.into(), &"it is ours again".into()));
    let (trace, report) = colony.audited();
    assert!(report.is_clean(), "{report}\n{trace}");
    let owner: Vec<&str> = trace.lines().filter(|line| line.starts_with("[\"owner\",")).collect();
    assert_eq!(owner.len(), 2, "{trace}");
    assert!(owner[0].contains("\"leave\"") && owner[1].contains("\"evicted\""), "{owner:?}");
    assert!(owner.iter().all(|line| line.contains("it is ours again")), "{owner:?}");
    if let Ok(path) = std::env::var("MARIO_KEEP_TRACE") {
        fs::write(path, &trace).expect("written");
    }
}

#[test]
fn an_instance_under_notice_can_migrate_in_time() {
    let mut colony = Colony::new("leaves", &["a", "b"], 2);
    owned(&colony, 0, "evict(I, ours) :- serviceInstance(I, _, _).\n");
    colony.start(0, None);
    colony.start(1, None);
    colony.wait("the link is up", |colony| colony.get(0, "/v1/status")["links_up"] == 1);
    let leaves = "operation(migrate, I, b) :- leave(I, _).\n";
    let reply = colony.deploy(0, "1", &colony.signed(leaves)).expect("an answer").json().expect("accepted");
    let instance = reply["instance"].as_str().expect("an id").to_owned();
    colony.wait("it has moved", |colony| colony.healthy(1) == [instance.clone()] && colony.healthy(0).is_empty());
    assert!(!log(&colony, "a").contains("\"kind\":\"evicted\""));
    let (trace, report) = colony.audited();
    assert!(report.is_clean(), "{report}\n{trace}");
    assert!(report.counts.decisions > 0, "decisions that saw `leave/2` are made again: {report}");
    assert_eq!(trace.matches("\"leave\"").count(), 1, "{trace}");
}

#[test]
fn an_owner_shrinks_an_instance_that_uses_too_much() {
    let mut colony = Colony::new("shrinks", &["a"], 4);
    owned(&colony, 0, "shrink(I, lite, crowded) :- running(I, full).\n");
    colony.start(0, None);
    let flavours = "[[flavour]]\nid = \"full\"\nhardware = 3\nmax_rate = 100\nmax_latency = 50\nquality = 1\n\
                    [[flavour]]\nid = \"lite\"\nhardware = 1\nmax_rate = 50\nmax_latency = 50\nquality = 0.5\n";
    let document = colony.signed_with(STAYS, "hardware = 3\n", "", flavours);
    colony.deploy(0, "1", &document).expect("an answer").json().expect("accepted");
    colony.wait("it runs in the smaller flavour", |colony| {
        let instances = colony.get(0, "/v1/instances");
        instances["instances"][0]["flavour"] == "lite" && colony.get(0, "/v1/status")["free"] == 3
    });
    let (trace, report) = colony.audited();
    assert!(report.is_clean(), "{report}\n{trace}");
    assert!(trace.contains("[\"shrunk\","), "{trace}");
}

#[test]
fn a_failing_policy_evicts_nothing_and_is_reported() {
    let mut colony = Colony::new("fails", &["a"], 2);
    owned(&colony, 0, "evict(I, R) :- serviceInstance(I, _, _), R is foo + 1.\n");
    colony.start(0, None);
    colony.deploy(0, "1", &colony.signed(STAYS)).expect("an answer").json().expect("accepted");
    colony.wait("it is told", |colony| log(colony, "a").contains("\"kind\":\"initiative-failed\""));
    assert_eq!(colony.healthy(0).len(), 1);
}
