//! `openapi.json` describes what a running node answers: every request is made, and every answer is checked against
//! the schema of its status.

use std::collections::BTreeSet;

use mario_live::api::{ENDPOINTS, Endpoint};
use mario_live::identity::Identity;
use mario_live::operators::{Client, DEPLOY_KEY, Method, Reply};
use serde_json::Value;

use crate::colony::Colony;
use crate::daemons::STAYS;
use crate::json_schema::valid;

/// A running colony, and what was asked so far.
struct Asked {
    colony: Colony,
    document: Value,
    requests: BTreeSet<(String, &'static str, u16)>,
}

impl Asked {
    /// Makes a request, with the value of the name in braces, and checks that the answer is described. Returns it.
    fn ask(&mut self, method: &Method, path: &'static str, name: &str, body: Vec<u8>) -> Reply {
        let (before, after) = path.split_once('{').unwrap_or((path, ""));
        let after = after.split_once('}').map_or("", |(_, after)| after);
        let real = if path.contains('{') { format!("{before}{name}{after}") } else { path.to_owned() };
        let headers = [(DEPLOY_KEY, "7")];
        let reply = self.colony.ask(0, method.clone(), &real, &headers, body).expect("an answer");
        self.check(method, path, reply.status, &reply.text);
        reply
    }

    /// Checks that an answer is described.
    fn check(&mut self, method: &Method, path: &'static str, status: u16, text: &str) {
        let operation = &self.document["paths"][path][method.as_str().to_lowercase()];
        let response = &operation["responses"][status.to_string()];
        let content = response["content"].as_object().unwrap_or_else(|| panic!("{method} {path}: {status}: {text}"));
        for (media_type, content) in content {
            if media_type != "text/plain" {
                let answer: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
                let checked = valid(&self.document, &content["schema"], &answer);
                checked.unwrap_or_else(|fault| panic!("{method} {path}: {status}: {fault}\n{text}"));
            }
        }
        self.requests.insert((method.to_string(), path, status));
    }

    fn get(&mut self, path: &'static str, name: &str) -> Reply {
        self.ask(&Method::GET, path, name, Vec::new())
    }

    /// Checks the events that the node keeps.
    fn check_events(&mut self) {
        let identity = Identity::load_bundle(&self.colony.directory.join("ada.pem")).expect("an identity");
        let client = Client::new(&identity, &self.colony.daemons[0].operators.to_string()).expect("a client");
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let mut kinds = BTreeSet::new();
        let events = runtime.block_on(async {
            let mut stream = client.follow(0).await.expect("events");
            let mut events = Vec::new();
            while !kinds.contains("report") || events.len() < 6 {
                let event = stream.next().await.expect("an event").expect("the node runs");
                let event = serde_json::to_value(&event).expect("plain data");
                kinds.insert(event["event"].as_str().expect("a name").to_owned());
                events.push(event.to_string());
            }
            events
        });
        for event in events {
            self.check(&Method::GET, "/v1/events", 200, &event);
        }
    }
}

fn signed(colony: &Colony, version: u64) -> Vec<u8> {
    colony.signed_with(STAYS, &format!("hardware = 1\nversion = {version}\n"), "", "")
}

#[test]
fn real_answers_to_all_requests_have_the_schemas_of_openapi() {
    let mut colony = Colony::new("openapi", &["a", "b"], 6);
    (0..2).for_each(|index| colony.start(index, None));
    colony.wait("the link is up", |colony| colony.get(0, "/v1/links")["links"][0]["has_data"] == true);
    let document: Value = serde_json::from_str(include_str!("../../openapi.json")).expect("JSON");
    let first = signed(&colony, 1);
    let mut asked = Asked { colony, document, requests: BTreeSet::new() };
    let deployed = asked.ask(&Method::POST, "/v1/instances", "", first.clone()).json().expect("accepted");
    let instance = deployed["instance"].as_str().expect("an id").to_owned();
    asked.ask(&Method::PUT, "/v1/applications/{application}/shadow", "shop", signed(&asked.colony, 2));
    asked
        .colony
        .wait("it decides", |colony| colony.get(0, "/v1/instances")["instances"][0]["evaluations"].as_u64() > Some(1));
    for path in ["/healthz", "/metrics", "/v1/status", "/v1/instances", "/v1/applications", "/v1/links", "/v1/routes"] {
        asked.get(path, "");
    }
    let journal = asked.get("/v1/journal", "").json().expect("a journal");
    asked.check_events();
    for id in [instance.as_str(), "nobody"] {
        for path in ["/v1/instances/{instance}", "/v1/instances/{instance}/log", "/v1/instances/{instance}/explanation"]
        {
            asked.get(path, id);
        }
        for method in [Method::PUT, Method::DELETE] {
            asked.ask(&method, "/v1/instances/{instance}/pin", id, Vec::new());
            asked.ask(&method, "/v1/instances/{instance}/anchor", id, Vec::new());
            let body = signed(&asked.colony, 2);
            asked.ask(&method, "/v1/instances/{instance}/application", id, body);
        }
    }
    asked.ask(&Method::PUT, "/v1/instances/{instance}/application", &instance, b"not signed".to_vec());
    asked.ask(&Method::POST, "/v1/instances", "", b"not signed".to_vec());
    for application in ["shop", "none"] {
        asked.get("/v1/applications/{application}/shadow", application);
        asked.ask(&Method::DELETE, "/v1/applications/{application}/shadow", application, Vec::new());
    }
    for body in ["{\"is_draining\":true}", "{\"is_draining\":false}", "{}"] {
        asked.ask(&Method::PUT, "/v1/drain", "", body.as_bytes().to_vec());
    }
    for id in [instance.as_str(), "nobody"] {
        asked.ask(&Method::DELETE, "/v1/instances/{instance}", id, Vec::new());
    }
    asked.colony.kill(1);
    let peer = journal["peers"][0]["journal"].as_str().expect("the neighbour's journal");
    for journal in [peer, "7", "none"] {
        asked.ask(&Method::POST, "/v1/lost/{journal}", journal, Vec::new());
    }
    let succeeded =
        |Endpoint { method, path, .. }: &&Endpoint| asked.requests.contains(&(method.to_string(), *path, 200));
    assert_eq!(ENDPOINTS.iter().filter(succeeded).count(), ENDPOINTS.len(), "{:?}", asked.requests);
    let statuses: BTreeSet<u16> = asked.requests.iter().map(|(.., status)| *status).collect();
    assert_eq!(statuses, BTreeSet::from([200, 400, 404, 422]), "{:?}", asked.requests);
}
