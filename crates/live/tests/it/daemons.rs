//! Daemons as processes: they deploy, serve and migrate instances, and survive `kill -9` and a full disk.

use std::fs;

use mario_live::identity::Role;
use mario_live::operators::Method;

use crate::colony::Colony;

/// A policy that proposes nothing.
pub const STAYS: &str = "operation(undeploy, I, self) :- serviceInstance(I, _, nowhere).";
/// A policy that migrates its instance from `a` to `b`, and proposes nothing there.
pub const MOVES: &str = "operation(migrate, I, b) :- serviceInstance(I, _, a).";

#[test]
fn a_deployed_application_answers_clients_and_survives_its_daemon() {
    let mut colony = Colony::new("survives", &["a"], 2);
    colony.start(0, None);
    let document = colony.signed(STAYS);
    let reply = colony.deploy(0, "17", &document).expect("an answer");
    let instance = reply.json().expect("accepted")["instance"].as_str().expect("an id").to_owned();
    // A repeated deploy with the same key is idempotent.
    let again = colony.deploy(0, "17", &document).expect("an answer").json().expect("accepted");
    assert_eq!(again["instance"], instance.as_str());
    colony.wait("it is healthy", |colony| colony.healthy(0) == [instance.clone()]);
    let (status, body) = colony.client(0, "/").expect("an answer");
    assert_eq!(status, 200, "{body}");
    assert!(body.contains(&instance), "{body}");
    assert_eq!(colony.client(0, "/shop/cart").expect("an answer").0, 200, "a path prefix leads to it, too");

    // `kill -9`: the copy keeps running, and the next daemon adopts it.
    let before = colony.get(0, "/v1/instances")["instances"][0]["copy"]["address"].clone();
    colony.kill(0);
    colony.start(0, None);
    colony.wait("it is healthy again", |colony| colony.healthy(0) == [instance.clone()]);
    let after = colony.get(0, "/v1/instances")["instances"][0]["copy"]["address"].clone();
    assert_eq!(before, after, "the copy was adopted, not started again");
    assert_eq!(colony.client(0, "/").expect("an answer").0, 200);

    // SIGTERM: the daemon exits successfully, and the instance is healthy again under the next one.
    assert!(colony.stop(0));
    colony.start(0, None);
    colony.wait("it is healthy once more", |colony| colony.healthy(0) == [instance.clone()]);
    let status = colony.get(0, "/v1/status");
    assert_eq!((&status["instances"], &status["free"]), (&1.into(), &1.into()), "{status}");
}

#[test]
fn an_instance_moves_to_the_neighbour_and_clients_of_both_nodes_reach_it() {
    let mut colony = Colony::new("moves", &["a", "b"], 2);
    colony.start(0, None);
    colony.start(1, None);
    colony.wait("the link is up", |colony| {
        let status = colony.get(0, "/v1/links");
        status["links"][0]["is_up"] == true && status["links"][0]["has_data"] == true
    });
    let reply = colony.deploy(0, "1", &colony.signed(MOVES)).expect("an answer").json().expect("accepted");
    let instance = reply["instance"].as_str().expect("an id").to_owned();
    colony.wait("it has moved", |colony| colony.healthy(1) == [instance.clone()] && colony.healthy(0).is_empty());
    let shown = colony.get(1, &format!("/v1/instances/{instance}"));
    assert_eq!(shown["epoch"], 2, "{shown}");
    for index in [1, 0] {
        let (status, body) = colony.client(index, "/").expect("an answer");
        assert_eq!(status, 200, "node {index}: {body}");
        assert!(body.lines().any(|line| line == "node b"), "{body}");
    }
    colony.wait("all is quiet", |colony| (0..2).all(|index| colony.get(index, "/v1/status")["is_quiet"] == true));
    assert_eq!(colony.get(0, "/v1/status")["free"], 2);
    // Only a journal that the node knows can be declared lost.
    let lost = |journal: &str| colony.ask(0, Method::POST, &format!("/v1/lost/{journal}"), &[], Vec::new());
    let unknown = lost("0123456789abcdef0123456789abcdef").expect("an answer");
    assert_eq!(unknown.status, 404, "{}", unknown.text);
    let of_neighbour = colony.get(1, "/v1/status")["journal"].as_str().expect("an id").to_owned();
    for _ in 0..2 {
        let known = lost(&of_neighbour).expect("an answer");
        assert_eq!(known.status, 200, "{}", known.text);
    }
}

#[test]
fn clients_reach_an_instance_over_two_hops_and_follow_it_when_it_moves() {
    let mut colony = Colony::new("hops", &["a", "b", "c"], 2);
    for index in 0..3 {
        colony.start(index, None);
    }
    let reply = colony.deploy(2, "1", &colony.signed(STAYS)).expect("an answer").json().expect("accepted");
    let instance = reply["instance"].as_str().expect("an id").to_owned();
    colony.wait("it is healthy", |colony| colony.healthy(2) == [instance.clone()]);
    colony.wait("clients of all nodes reach it", |colony| {
        (0..3).all(|index| {
            colony.client(index, "/").is_some_and(|(status, body)| status == 200 && body.contains("node c"))
        })
    });
    // The drained node hands the instance to its neighbour. Clients notice this only by the content of the answer.
    let drained = colony.ask(2, Method::PUT, "/v1/drain", &[], br#"{"is_draining":true}"#.to_vec()).expect("an answer");
    assert_eq!(drained.status, 200, "{}", drained.text);
    let mut answers = 0;
    colony.wait("it has moved and all clients reach it there", |colony| {
        let replies: Vec<_> = (0..3).map(|index| colony.client(index, "/").expect("an answer")).collect();
        for (status, body) in &replies {
            answers += 1;
            assert_eq!(*status, 200, "{body}");
        }
        colony.healthy(1) == [instance.clone()] && replies.iter().all(|(_, body)| body.contains("node b"))
    });
    println!("{answers} answers, none failed");
    let routes = colony.get(0, "/v1/routes");
    assert_eq!(routes["next_hops"]["shop"][0]["neighbour"], "b", "{routes}");
}

#[test]
fn pinned_instances_stay_and_drained_nodes_hand_over_what_is_not_pinned() {
    let mut colony = Colony::new("drains", &["a", "b"], 3);
    colony.start(0, None);
    colony.start(1, None);
    let first = colony.deploy(0, "1", &colony.signed(STAYS)).expect("an answer").json().expect("accepted");
    let second = colony.deploy(0, "2", &colony.signed(STAYS)).expect("an answer").json().expect("accepted");
    let [first, second] = [first, second].map(|reply| reply["instance"].as_str().expect("an id").to_owned());
    colony.wait("both are healthy", |colony| colony.healthy(0).len() == 2);
    let pinned = colony.ask(0, Method::PUT, &format!("/v1/instances/{first}/pin"), &[], Vec::new()).expect("an answer");
    assert_eq!(pinned.status, 200);
    let drained = colony.ask(0, Method::PUT, "/v1/drain", &[], br#"{"is_draining":true}"#.to_vec()).expect("an answer");
    assert_eq!(drained.status, 200, "{}", drained.text);
    colony.wait("one has gone", |colony| colony.healthy(1) == [second.clone()] && colony.healthy(0) == [first.clone()]);
    let refused = colony.deploy(0, "3", &colony.signed(STAYS)).expect("an answer");
    assert_eq!(refused.status, 409, "a node that is draining takes nothing new: {}", refused.text);
    assert!(refused.text.contains("node a is draining") && refused.text.contains("--undo"), "{}", refused.text);
}

#[test]
fn roles_limit_operators_and_errors_have_messages() {
    let mut colony = Colony::new("roles", &["a"], 1);
    colony.start(0, None);
    let look = colony.authority.operator("eve", vec![Role::Look]).expect("a name");
    colony.certificate("eve", &look, 5);
    let status = |reply: Option<mario_live::operators::Reply>| reply.expect("an answer").status;
    let eve = |method: Method, path: &str| colony.ask_as("eve", 0, method, path, &[], Vec::new());
    assert_eq!(status(eve(Method::GET, "/v1/status")), 200);
    assert_eq!(status(eve(Method::GET, "/healthz")), 200);
    assert!(eve(Method::GET, "/metrics").expect("an answer").text.contains("mario_instances 0"));
    assert_eq!(status(eve(Method::PUT, "/v1/drain")), 403);
    assert_eq!(status(eve(Method::POST, "/v1/instances")), 403);
    assert_eq!(status(eve(Method::GET, "/v1/nothing")), 404);
    assert_eq!(status(eve(Method::PATCH, "/v1/status")), 405);
    assert_eq!(status(eve(Method::GET, "/v1/instances/none")), 404);

    // A document that is unsigned, changed or too large, or a request with an invalid key, is rejected, and nothing is
    // deployed.
    let document = colony.signed(STAYS);
    let mut changed = document.clone();
    changed[100] ^= 1;
    assert_eq!(status(colony.deploy(0, "1", &changed)), 422);
    assert_eq!(status(colony.deploy(0, "1", b"id = 'shop'")), 422);
    assert_eq!(status(colony.deploy(0, "1", &vec![b'x'; 500_000])), 413);
    assert_eq!(status(colony.deploy(0, "not a number", &document)), 400);
    assert_eq!(colony.get(0, "/v1/status")["instances"], 0);
    // The second instance does not fit.
    assert_eq!(status(colony.deploy(0, "1", &document)), 200);
    let full = colony.deploy(0, "2", &document).expect("an answer");
    assert_eq!(full.status, 409);
    assert!(full.text.contains("0 free"), "{}", full.text);
    let events = fs::read_to_string(colony.directory.join("a.log")).expect("a log");
    assert!(events.contains("\"event\":\"started\""), "{events}");
}

#[test]
fn a_full_disk_stops_new_reservations_and_nothing_else() {
    let mut colony = Colony::new("full", &["a"], 3);
    colony.start(0, None);
    let document = colony.signed(STAYS);
    colony.deploy(0, "1", &document).expect("an answer").json().expect("accepted");
    colony.wait("it is healthy", |colony| colony.healthy(0).len() == 1);
    let full = colony.directory.join("a.full");
    fs::write(&full, "").expect("written");
    for _ in 0..2 {
        let refused = colony.deploy(0, "2", &document).expect("an answer");
        assert_eq!(refused.status, 503, "{}", refused.text);
        assert!(
            refused.text.contains("no storage space") && refused.text.contains("disk has free space"),
            "{}",
            refused.text
        );
    }
    let health = colony.ask(0, Method::GET, "/healthz", &[], Vec::new()).expect("an answer");
    assert_eq!(health.status, 503, "{}", health.text);
    assert_eq!(colony.client(0, "/").expect("an answer").0, 200, "what runs keeps running");
    fs::remove_file(&full).expect("removed");
    colony.wait("it can be written again", |colony| colony.get(0, "/healthz")["is_healthy"] == true);
    // The rejected command may have been carried out nevertheless. Repeated with the same key, it deploys nothing
    // twice.
    colony.wait("it is deployed once", |colony| {
        let reply = colony.deploy(0, "2", &document).expect("an answer");
        reply.status == 200 && colony.healthy(0).len() == 2
    });
    assert_eq!(colony.get(0, "/v1/status")["instances"], 2);
}
