//! Policies that exhaust their budgets or throw, a deploy key used twice, an unreachable neighbour, a port in use, and
//! crashes around compaction.

use std::fs;
use std::net::TcpListener;
use std::process::Command;
use std::time::{Duration, Instant};

use mario_live::identity::application_id;
use serde_json::Value;

use crate::colony::Colony;
use crate::daemons::STAYS;

const LOOPS: &str = "operation(undeploy, I, self) :- forever(I).\nforever(I) :- forever(I).";
const ALLOCATES: &str = "operation(undeploy, _, self) :- grow([x]).\ngrow(L) :- grow([L, L, L, L | L]).";
const THROWS: &str = "operation(undeploy, _, self) :- atom_length(_, _).";

fn instances(colony: &Colony, index: usize) -> Vec<Value> {
    colony.get(index, "/v1/instances")["instances"].as_array().cloned().unwrap_or_default()
}

/// The resident memory of the first daemon of a colony, in bytes.
fn resident(colony: &Colony) -> u64 {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let directory = colony.daemons[0].config.parent().expect("a directory").to_owned();
    let of = entries.filter(|entry| fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd == directory));
    let pages = of.filter_map(|entry| {
        let text = fs::read_to_string(entry.path().join("statm")).ok()?;
        text.split(' ').nth(1)?.parse::<u64>().ok()
    });
    pages.max().unwrap_or(0) * 4_096
}

#[test]
fn endless_policies_cost_only_their_own_budget() {
    let mut colony = Colony::new("budgets", &["a"], 8);
    colony.start(0, None);
    for (key, policy) in ["1", "2", "3", "4"].iter().zip([STAYS, LOOPS, ALLOCATES, THROWS]) {
        colony.deploy(0, key, &colony.signed(policy)).expect("an answer").json().expect("accepted");
    }
    colony.wait("all are healthy", |colony| colony.healthy(0).len() == 4);
    let decided =
        |colony: &Colony| instances(colony, 0).iter().map(|one| one["evaluations"].as_u64().unwrap_or(0)).min();
    colony.wait("each has decided three times", |colony| decided(colony) >= Some(3));
    let failed = |one: &Value| {
        let decisions = one["decisions"].as_array().cloned().unwrap_or_default();
        decisions.iter().any(|decision| decision["kind"] == "evaluated" && decision["has_failed"] == true)
    };
    let failing = instances(&colony, 0).iter().filter(|one| failed(one)).count();
    assert_eq!(failing, 3, "the budget ends what does not end by itself: {:?}", instances(&colony, 0));
    // Clients and operators are served in the meantime.
    let begun = Instant::now();
    for _ in 0..20 {
        assert_eq!(colony.client(0, "/").map(|(status, _)| status), Some(200));
        assert_eq!(colony.get(0, "/healthz")["is_healthy"], true);
    }
    assert!(begun.elapsed() < Duration::from_secs(40), "{:?}", begun.elapsed());
    let memory = resident(&colony);
    assert!(memory > 0 && memory < 400 << 20, "{memory} bytes");
    assert_eq!(colony.healthy(0).len(), 4, "and nobody was undeployed");
}

#[test]
fn foreign_deploy_keys_and_unreachable_neighbours_are_reported() {
    let mut colony = Colony::new("bad-deploys", &["a", "b"], 3);
    colony.start(0, None);
    colony.deploy(0, "17", &colony.signed(STAYS)).expect("an answer").json().expect("accepted");
    let bank = colony.authority.application(application_id("bank").expect("a name"), Vec::new(), Vec::new());
    colony.certificate("bank", &bank, 5);
    let other = colony.signed_by("bank", STAYS);
    let refused = colony.deploy(0, "17", &other).expect("an answer");
    assert_eq!(refused.status, 409, "{}", refused.text);
    let expected = ["the key 17 deployed instance", "of application `shop` before", "take another key"];
    assert!(expected.iter().all(|part| refused.text.contains(part)), "{}", refused.text);
    assert_eq!(colony.get(0, "/v1/status")["instances"], 1, "nothing came of it");
    colony.deploy(0, "18", &other).expect("an answer").json().expect("another key");

    // Node `b` is down. Node `a` reports that, and keeps serving.
    let log = colony.directory.join("a.log");
    colony.wait("it is told", |_| {
        fs::read_to_string(&log).is_ok_and(|log| log.contains("link-failed") && log.contains("\"neighbour\":\"b\""))
    });
    let links = colony.get(0, "/v1/links");
    assert_eq!(links["links"][0]["is_up"], false, "{links}");
    colony.wait("clients are served", |colony| colony.client(0, "/").is_some_and(|(status, _)| status == 200));
}

#[test]
fn a_port_in_use_is_reported_with_its_place_and_nothing_starts() {
    let colony = Colony::new("taken-port", &["a"], 3);
    let taken = TcpListener::bind(colony.daemons[0].ingress).expect("free until now");
    let mut command = Command::new(env!("CARGO_BIN_EXE_workload"));
    let output = command.arg("node").arg(&colony.daemons[0].config).output().expect("it runs");
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{message}");
    let address = taken.local_addr().expect("bound").to_string();
    assert!(message.contains(&address) && message.contains("another program listens there"), "{message}");
}

#[test]
fn killing_a_node_around_compaction_loses_nothing() {
    let mut colony = Colony::new("shortened", &["a"], 3);
    colony.configure(0, "[journal]\nshorten_after = 16\n");
    colony.start(0, None);
    let reply = colony.deploy(0, "1", &colony.signed(STAYS)).expect("an answer").json().expect("accepted");
    let instance = reply["instance"].as_str().expect("an id").to_owned();
    // Each start, pin and unpin writes a record. The daemon is killed before or after its fourth to ninth write, and
    // some of its writes compact the journal.
    for number in 0..12_u32 {
        let crash = format!("{}:{}", ["before", "after"][number as usize % 2], 4 + number / 2);
        colony.kill(0);
        colony.start(0, Some(&crash));
        for turn in 0..20 {
            let (path, method) = (format!("/v1/instances/{instance}/pin"), ["PUT", "DELETE"][turn % 2]);
            let method = method.parse().expect("a method");
            if colony.ask(0, method, &path, &[], Vec::new()).is_none() {
                break;
            }
        }
    }
    colony.kill(0);
    colony.start(0, None);
    colony.wait("it is healthy", |colony| colony.healthy(0) == [instance.clone()]);
    let journal = colony.get(0, "/v1/journal");
    let number = |key: &str| journal[key].as_u64().unwrap_or_else(|| panic!("{key}: {journal}"));
    assert!(number("records") > 40 && number("records_since_ledger") < 32, "{journal}");
    assert_eq!(number("records"), number("sequence"));
    let (trace, report) = colony.audited();
    assert!(report.findings.is_empty(), "{:?}\n{trace}", report.findings);
}
