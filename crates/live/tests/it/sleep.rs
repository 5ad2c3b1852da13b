//! Live instances that sleep and are woken by client requests.

use crate::colony::Colony;
use crate::daemons::STAYS;

/// A policy that puts an instance to sleep when there are no client requests.
const SLEEPS: &str =
    "operation(sleep, I, self) :- serviceInstance(I, _, _), \\+ asleep(I), \\+ requests(I, _, _, _).\n";

fn is_asleep(colony: &Colony, index: usize) -> bool {
    let instances = colony.get(index, "/v1/instances");
    let sleeper = instances["instances"].as_array().and_then(|all| all.iter().find(|one| one["is_asleep"] == true));
    sleeper.is_some_and(|one| one["copy"].is_null())
}

fn sleeper(colony: &Colony, hardware: u64) -> Vec<u8> {
    colony.signed_with(SLEEPS, &format!("hardware = {hardware}\nsleep = {{ keeps = 1 }}\n"), "", "")
}

#[test]
fn an_instance_sleeps_releases_its_hardware_and_is_woken_by_a_request_even_after_a_crash() {
    let mut colony = Colony::new("sleeps", &["a", "b"], 4);
    colony.start(0, None);
    colony.start(1, None);
    colony.deploy(0, "1", &sleeper(&colony, 3)).expect("an answer").json().expect("accepted");
    colony.wait("it sleeps", |colony| is_asleep(colony, 0) && colony.get(0, "/v1/status")["free"] == 3);
    // A client at the other node wakes the instance, and is answered.
    colony.wait("it is known at the other node", |colony| {
        colony.get(1, "/v1/routes")["next_hops"]["shop"].as_array().is_some_and(|hops| !hops.is_empty())
    });
    let (status, body) = colony.client(1, "/").expect("an answer");
    assert_eq!(status, 200, "{body}");
    assert_eq!(colony.get(0, "/v1/status")["free"], 1);
    colony.wait("it sleeps again", |colony| is_asleep(colony, 0) && colony.get(0, "/v1/status")["free"] == 3);
    colony.kill(0);
    colony.start(0, None);
    assert!(is_asleep(&colony, 0), "what sleeps is in the journal");
    colony.wait("the link is up", |colony| colony.get(1, "/v1/status")["links_up"] == 1);
    let (status, body) = colony.client(0, "/").expect("an answer");
    assert_eq!(status, 200, "{body}");
    let (trace, report) = colony.audited();
    assert!(report.is_clean(), "{report}\n{trace}");
    assert!(trace.contains("\"slept\"") && trace.contains("\"woke\""), "{trace}");
}

#[test]
fn a_request_to_a_sleeper_that_may_not_wake_goes_to_the_next_instance_or_fails() {
    let mut colony = Colony::new("crowded", &["a", "b"], 4);
    colony.start(0, None);
    colony.deploy(0, "1", &sleeper(&colony, 4)).expect("an answer").json().expect("accepted");
    colony.wait("it sleeps", |colony| is_asleep(colony, 0));
    // Another instance takes some of the free hardware, so that too little is left for the sleeper to wake.
    let bank = colony.authority.application(
        mario_live::identity::application_id("bank").expect("a name"),
        Vec::new(),
        Vec::new(),
    );
    colony.certificate("bank", &bank, 5);
    let document = colony.signed_by("bank", STAYS);
    colony.deploy(0, "2", &document).expect("an answer").json().expect("accepted");
    let (status, body) = colony.client(0, "/").expect("an answer");
    assert_eq!(status, 503, "{body}");
    assert!(is_asleep(&colony, 0));
    let log = std::fs::read_to_string(colony.directory.join("a.log")).expect("a log");
    assert!(log.contains("\"kind\":\"woken\"") && log.contains("\"is_accepted\":false"), "{log}");
    // The agent observes the request that would have reached its instance.
    colony.wait("its agent sees a request", |colony| {
        colony.client(0, "/");
        let instances = colony.get(0, "/v1/instances");
        let all = instances["instances"].as_array().cloned().unwrap_or_default();
        let sees = |one: &serde_json::Value| one["facts"]["requests"].as_array().is_some_and(|seen| !seen.is_empty());
        all.iter().any(|one| one["is_asleep"] == true && sees(one))
    });
    // With an instance at the neighbour, the request goes there.
    colony.start(1, None);
    colony
        .deploy(1, "3", &colony.signed_with(STAYS, "hardware = 1\nversion = 2\n", "", ""))
        .expect("an answer")
        .json()
        .expect("accepted");
    colony.wait("the neighbour serves", |colony| colony.healthy(1).len() == 1);
    colony.wait("the next instance answers", |colony| {
        colony.client(0, "/").is_some_and(|(status, body)| status == 200 && body.contains("node b"))
    });
    let (trace, report) = colony.audited();
    assert!(report.is_clean(), "{report}\n{trace}");
}
