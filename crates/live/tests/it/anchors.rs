//! What an operator deploys is an anchor: it survives windows without requests; and clients are told to come back while
//! an application starts.

use std::io::{Read, Write};
use std::net::TcpStream;

use mario_live::application::{ApplicationFile, sign};
use mario_live::identity::Identity;
use mario_live::operators::Method;
use mario_policy::PolicyText;

use crate::colony::Colony;
use crate::daemons::{MOVES, STAYS};

/// A policy that always undeploys its instance.
const LEAVES: &str = "operation(undeploy, I, self) :- serviceInstance(I, _, _).";

fn deployed(colony: &Colony, document: &[u8]) -> String {
    let reply = colony.deploy(0, "1", document).expect("an answer").json().expect("accepted");
    reply["instance"].as_str().expect("an id").to_owned()
}

/// Whether the node has inhibited an undeploy of the instance by the rule `anchor`.
fn was_kept(colony: &Colony, index: usize, instance: &str) -> bool {
    let shown = colony.get(index, &format!("/v1/instances/{instance}"));
    let decisions = shown["decisions"].as_array().cloned().unwrap_or_default();
    decisions.iter().any(|one| one["rule"] == "anchor" && one["is_accepted"] == false)
}

#[test]
fn what_an_operator_deploys_stays_until_an_operator_lets_it_go() {
    let mut colony = Colony::new("anchors", &["a"], 2);
    colony.start(0, None);
    let instance = deployed(&colony, &colony.signed(LEAVES));
    colony.wait("its undeploy is inhibited", |colony| was_kept(colony, 0, &instance));
    colony.kill(0);
    colony.start(0, None);
    colony.wait("it is inhibited after kill -9, too", |colony| was_kept(colony, 0, &instance));
    let shown = colony.get(0, &format!("/v1/instances/{instance}"));
    assert_eq!(shown["is_anchor"], true, "{shown}");
    let path = format!("/v1/instances/{instance}/anchor");
    let answer = colony.ask(0, Method::DELETE, &path, &[], Vec::new()).expect("an answer");
    assert_eq!(answer.status, 200, "{}", answer.text);
    colony.wait("it undeploys itself", |colony| {
        colony.get(0, "/v1/instances")["instances"].as_array().is_some_and(Vec::is_empty)
    });
    let (trace, report) = colony.audited();
    assert!(report.is_clean(), "{report}\n{trace}");
    assert!(trace.contains("\"anchored\"") && trace.contains("\"rule\":\"anchor\""), "{trace}");
}

#[test]
fn an_anchor_migrates_as_an_anchor_and_a_description_may_say_otherwise() {
    let mut colony = Colony::new("wandering", &["a", "b"], 2);
    colony.start(0, None);
    colony.start(1, None);
    let moves = format!("{MOVES}\n{LEAVES}");
    let instance = deployed(&colony, &colony.signed(&moves));
    colony.wait("it has moved, and stays", |colony| {
        colony.healthy(1) == [instance.clone()] && was_kept(colony, 1, &instance)
    });
    let other = colony.signed_with(LEAVES, "hardware = 1\nversion = 2\nanchor = false\n", "", "");
    let reply = colony.deploy(0, "2", &other).expect("an answer").json().expect("accepted");
    let other = reply["instance"].as_str().expect("an id").to_owned();
    colony.wait("it goes", |colony| !colony.get(0, "/v1/instances").to_string().contains(&other));
    let (trace, report) = colony.audited();
    assert!(report.is_clean(), "{report}\n{trace}");
}

/// The answer to a request for a path, with its head.
fn answer(colony: &Colony, index: usize, host: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(colony.daemons[index].ingress).expect("the ingress listens");
    write!(stream, "GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n").expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer.to_ascii_lowercase()
}

#[test]
fn clients_are_told_to_come_back_while_no_copy_of_an_application_is_healthy() {
    let mut colony = Colony::new("starting", &["a", "b"], 2);
    colony.start(0, None);
    colony.start(1, None);
    colony.wait("the link is up", |colony| colony.get(1, "/v1/links")["links"][0]["has_data"] == true);
    let file: ApplicationFile = toml::from_str(
        "id = \"shop\"\nhardware = 1\nmax_rate = 100\nmax_latency = 50\npolicy = \"p.pl\"\nprefixes = [\"/shop\"]\n\
         run = { driver = \"process\", command = [\"/nowhere/program\"] }\n",
    )
    .expect("an application");
    let files = vec![("p.pl".to_owned(), STAYS.to_owned())];
    let policy = PolicyText { name: "p".to_owned(), files, memory: 0 };
    let shop = Identity::load_bundle(&colony.directory.join("shop.pem")).expect("an identity");
    deployed(&colony, &sign(&file, &policy, &shop).expect("signed"));
    for index in [0, 1] {
        colony.wait("the node knows its name", |colony| {
            let answer = answer(colony, index, "localhost", "/shop/cart");
            answer.starts_with("http/1.1 503")
        });
        let told = answer(&colony, index, "localhost", "/shop/cart");
        for part in ["retry-after: 1\r\n", "cache-control: no-store\r\n", "it starts, restarts or is out of reach"] {
            assert!(told.contains(part), "node {index}: {told}");
        }
        let told = answer(&colony, index, "localhost", "/other");
        assert!(told.starts_with("http/1.1 404") && told.contains("cache-control: no-store\r\n"), "{told}");
    }
    colony.end_instances();
}
