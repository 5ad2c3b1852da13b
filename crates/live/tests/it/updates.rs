//! Updates of running applications, shadow policies, and flavours.

use std::fs;

use mario_live::operators::{Method, Reply};
use serde_json::Value;

use crate::colony::Colony;
use crate::daemons::{MOVES, STAYS};

fn put(colony: &Colony, index: usize, instance: &str, document: &[u8]) -> Reply {
    let path = format!("/v1/instances/{instance}/application");
    colony.ask(index, Method::PUT, &path, &[], document.to_vec()).expect("an answer")
}

fn only(colony: &Colony, index: usize) -> Value {
    colony.get(index, "/v1/instances")["instances"][0].clone()
}

/// Signs the application `shop` with this policy, version and answer size.
fn signed(colony: &Colony, policy: &str, version: u64, bytes: u32) -> Vec<u8> {
    let settings = format!(", settings = {{ answer-bytes = \"{bytes}\" }}");
    colony.signed_with(policy, &format!("hardware = 1\nversion = {version}\n"), &settings, "")
}

#[test]
fn a_policy_update_keeps_the_copy_running() {
    let mut colony = Colony::new("update-policy", &["a", "b"], 3);
    colony.start(0, None);
    colony.start(1, None);
    let reply = colony.deploy(0, "1", &signed(&colony, STAYS, 1, 8)).expect("an answer").json().expect("accepted");
    let instance = reply["instance"].as_str().expect("an id").to_owned();
    colony.wait("it decides", |colony| only(colony, 0)["evaluations"].as_u64() > Some(0));
    let (before, evaluations) = (only(&colony, 0)["copy"].clone(), only(&colony, 0)["evaluations"].as_u64());

    // Another description that is not newer, or that is not signed, is rejected, and so is an update of an unknown
    // instance. The same description changes nothing.
    let same = put(&colony, 0, &instance, &signed(&colony, STAYS, 1, 9));
    assert!(same.status == 409 && same.text.contains("runs version 1 with digest"), "{}", same.text);
    let same = put(&colony, 0, &instance, &signed(&colony, STAYS, 1, 8)).json().expect("it has it already");
    assert_eq!(same["is_changed"], false, "{same}");
    assert_eq!(put(&colony, 0, &instance, b"version = 9").status, 422);
    assert_eq!(put(&colony, 0, "none", &signed(&colony, STAYS, 9, 8)).status, 404);

    let stays = STAYS.replace("nowhere", "elsewhere");
    let updated = put(&colony, 0, &instance, &signed(&colony, &stays, 2, 8)).json().expect("accepted");
    assert_eq!((&updated["from"], &updated["version"]), (&1.into(), &2.into()), "{updated}");
    let after = only(&colony, 0);
    assert_eq!((&after["copy"]["address"], &after["version"]), (&before["address"], &2.into()), "{after}");
    assert!(after["evaluations"].as_u64() >= evaluations, "its agent lives on: {after}");
    colony.kill(0);
    colony.start(0, None);
    colony.wait("it is healthy again", |colony| colony.healthy(0).len() == 1);
    let after = only(&colony, 0);
    assert_eq!((&after["version"], &after["previous_version"]), (&2.into(), &1.into()), "{after}");
    assert_eq!(after["copy"]["address"], before["address"], "adopted");

    // The next policy migrates the instance, which keeps its version.
    colony.wait("the link is up", |colony| colony.get(0, "/v1/status")["links_up"] == 1);
    put(&colony, 0, &instance, &signed(&colony, MOVES, 3, 8)).json().expect("accepted");
    colony.wait("it has moved", |colony| colony.healthy(1) == [instance.clone()] && colony.healthy(0).is_empty());
    assert_eq!(only(&colony, 1)["version"], 3);
    let (trace, report) = colony.audited();
    assert!(report.findings.is_empty(), "{:?}\n{trace}", report.findings);
}

#[test]
fn a_changed_shape_restarts_the_copy_and_a_rollback_restores_it() {
    let mut colony = Colony::new("update-run", &["a"], 3);
    colony.start(0, None);
    let reply = colony.deploy(0, "1", &signed(&colony, STAYS, 1, 8)).expect("an answer").json().expect("accepted");
    let instance = reply["instance"].as_str().expect("an id").to_owned();
    let length =
        |colony: &Colony| colony.client(0, "/").filter(|(status, _)| *status == 200).map(|(_, body)| body.len());
    colony.wait("it serves", |colony| colony.healthy(0).len() == 1);
    let short = length(&colony).expect("an answer");
    put(&colony, 0, &instance, &signed(&colony, STAYS, 2, 5_000)).json().expect("accepted");
    colony.wait("it answers as it is described now", |colony| length(colony).is_some_and(|now| now > short + 4_000));
    // A restarted daemon adopts copies whose shape has not changed.
    let address = only(&colony, 0)["copy"]["address"].clone();
    colony.kill(0);
    colony.start(0, None);
    colony.wait("it is healthy again", |colony| colony.healthy(0).len() == 1);
    assert_eq!(only(&colony, 0)["copy"]["address"], address);

    let path = format!("/v1/instances/{instance}/application");
    let other = colony.ask(0, Method::DELETE, &format!("{path}?from=1"), &[], Vec::new()).expect("an answer");
    assert!(other.status == 409 && other.text.contains("runs version 2, not 1"), "{}", other.text);
    let back = colony.ask(0, Method::DELETE, &path, &[], Vec::new()).expect("an answer").json().expect("accepted");
    assert_eq!((&back["from"], &back["version"]), (&2.into(), &1.into()), "{back}");
    colony.wait("it answers as before", |colony| length(colony) == Some(short));
    let log = fs::read_to_string(colony.directory.join("a.log")).expect("a log");
    assert!(log.contains("\"kind\":\"updated\""), "{log}");
    let (trace, report) = colony.audited();
    assert!(report.findings.is_empty(), "{:?}\n{trace}", report.findings);
}

#[test]
fn a_shadow_survives_the_daemon_and_shadows_later_instances() {
    let mut colony = Colony::new("shadow", &["a"], 3);
    colony.start(0, None);
    let path = "/v1/applications/shop/shadow";
    let put = |colony: &Colony, path: &str, document: &[u8]| {
        colony.ask(0, Method::PUT, path, &[], document.to_vec()).expect("an answer")
    };
    let other = put(&colony, "/v1/applications/bank/shadow", &signed(&colony, STAYS, 2, 8));
    assert!(other.status == 422 && other.text.contains("of application `shop`"), "{}", other.text);
    let broken = put(&colony, path, &signed(&colony, "operation(", 2, 8));
    assert!(broken.status == 422 && broken.text.contains("cannot be loaded"), "{}", broken.text);
    // A shadow policy that loops exhausts only its own budget.
    let loops = "operation(undeploy, I, self) :- serviceInstance(I, _, _), loop.\nloop :- loop.\n";
    assert_eq!(put(&colony, path, &signed(&colony, loops, 2, 8)).status, 200);
    colony.kill(0);
    colony.start(0, None);
    let compared = colony.get(0, path);
    assert_eq!((&compared["version"], &compared["evaluations"]), (&2.into(), &0.into()), "{compared}");
    colony.deploy(0, "1", &signed(&colony, STAYS, 1, 8)).expect("an answer").json().expect("accepted");
    colony.wait("the shadow is evaluated", |colony| colony.get(0, path)["evaluations"].as_u64() > Some(1));
    let compared = colony.get(0, path);
    assert_eq!(compared["failed"], compared["evaluations"], "{compared}");
    assert_eq!(compared["differences"][0]["shadow"], "no valid answer", "{compared}");
    assert_eq!(colony.healthy(0).len(), 1, "what runs is not disturbed");
}

#[test]
fn an_agent_adapts_and_its_copy_is_restarted_in_the_flavour() {
    let mut colony = Colony::new("flavours", &["a"], 4);
    colony.start(0, None);
    let policy = "operation(adapt, I, lite) :- running(I, full).";
    let flavours = "[[flavour]]\nid = \"full\"\nhardware = 3\nmax_rate = 100\nmax_latency = 50\nquality = 1\n\
                    [[flavour]]\nid = \"lite\"\nhardware = 1\nmax_rate = 50\nmax_latency = 50\nquality = 0.5\n";
    let document = colony.signed_with(policy, "hardware = 3\n", "", flavours);
    colony.deploy(0, "1", &document).expect("an answer").json().expect("accepted");
    colony.wait("it runs in the default flavour, and adapts", |colony| {
        only(colony, 0)["flavour"] == "lite" && colony.get(0, "/v1/status")["free"] == 3
    });
    colony.wait("its copy knows", |colony| {
        colony.client(0, "/").is_some_and(|(status, body)| status == 200 && body.contains("lite"))
    });
    let (trace, report) = colony.audited();
    assert!(report.findings.is_empty(), "{:?}\n{trace}", report.findings);
}

/// Every decision is recomputed, also of agents whose instances had another version than their neighbours' on the same
/// node, and each with the policy and the facts that it had then.
#[test]
fn the_audit_recomputes_decisions_before_and_after_an_update_and_beside_a_canary() {
    let mut colony = Colony::new("update-audit", &["a"], 4);
    colony.start(0, None);
    let described = |colony: &Colony, policy: &str, version: u64, colour: &str| {
        let first = format!("hardware = 1\nversion = {version}\n");
        colony.signed_with(policy, &first, "", &format!("[facts]\ncolour = \"{colour}\"\n"))
    };
    // The first policy never proposes; the second proposes to stay where the agent is, which is inhibited, if it sees
    // the fact of a certain version.
    let first = described(&colony, STAYS, 1, "red");
    let second = described(
        &colony,
        "operation(migrate, I, elsewhere) :- serviceInstance(I, A, _), fact(A, colour, _).",
        2,
        "blue",
    );
    let mut instances = Vec::new();
    for key in ["1", "2"] {
        let reply = colony.deploy(0, key, &first).expect("an answer").json().expect("accepted");
        instances.push(reply["instance"].as_str().expect("an id").to_owned());
    }
    let evaluations = |colony: &Colony, instance: &str| {
        colony.get(0, &format!("/v1/instances/{instance}"))["evaluations"].as_u64().unwrap_or(0)
    };
    let decide_twice = |colony: &mut Colony| {
        let before: Vec<u64> = instances.iter().map(|instance| evaluations(colony, instance)).collect();
        colony.wait("they decide", |colony| {
            instances.iter().zip(&before).all(|(instance, before)| evaluations(colony, instance) >= before + 2)
        });
    };
    decide_twice(&mut colony);
    // The canary, in turn the second and the first instance, whose description agents of the node see.
    put(&colony, 0, &instances[1], &second).json().expect("accepted");
    decide_twice(&mut colony);
    put(&colony, 0, &instances[0], &second).json().expect("accepted");
    decide_twice(&mut colony);
    let (trace, report) = colony.audited();
    assert!(report.findings.is_empty(), "{:?}\n{trace}", report.findings);
    assert!(report.counts.evaluations >= 12, "{report}");
    assert_eq!(report.counts.decisions, report.counts.evaluations, "{report}\n{trace}");
    assert!(!report.unchecked.iter().any(|words| words.contains("descriptions")), "{report}");
    // With the policies of the two versions exchanged, the decisions do not follow any more.
    let mut lines = trace.lines();
    let mut header: Value = serde_json::from_str(lines.next().expect("a header")).expect("JSON");
    let policies = header["policies"].as_array_mut().expect("policies");
    policies.swap(0, 1);
    let lie = format!("{header}\n{}\n", lines.collect::<Vec<_>>().join("\n"));
    let report = mario_audit::audit(lie.as_bytes(), mario_audit::Options::default(), &mut |_| ()).expect("a trace");
    assert!(report.count(mario_audit::FindingKind::Decision) > 0, "{report}");
}
