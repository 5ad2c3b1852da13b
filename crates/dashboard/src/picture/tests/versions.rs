//! Nodes of other versions than the dashboard.

use super::*;

/// Answers of a node of the first version that served operators.
const OLDER: &str = include_str!("../../../../live/src/api/tests/older.json");

fn words(picture: &mut Picture, number: u64, mut event: Value) -> (&'static str, String) {
    (event["number"], event["time_ms"]) = (number.into(), (START_MS + number).into());
    let colony_event = picture.happened(0, START_MS, &told(&event)).expect("it is new");
    (colony_event.kind, colony_event.text)
}

#[test]
fn names_of_applications_and_certificates_have_descriptions() {
    let mut picture = two_nodes();
    let claimed = json!({
        "event": "name-claimed-twice", "name": "host name a.example", "holder": "shop", "claimed_by": "bank",
    });
    let text = "bank claims the host name a.example, which shop holds and keeps".to_owned();
    assert_eq!(words(&mut picture, 1, claimed), ("fault", text));
    let refused = json!({ "event": "names-refused", "neighbour": "b", "cause": "its signature is wrong" });
    let text = "refused names of an application that b announced: its signature is wrong".to_owned();
    assert_eq!(words(&mut picture, 2, refused), ("fault", text));
    let limited = json!({
        "event": "connections-limited", "listener": "ingress", "refused": 3, "replaced": 0, "silent": 1, "full": 0,
        "failed": 0, "last": "10.0.0.9",
    });
    let text = "limits of the listener `ingress`: 3 connections refused, 1 closed because they were silent; the last: 10.0.0.9";
    assert_eq!(words(&mut picture, 3, limited), ("fault", text.to_owned()));
    let outdated =
        json!({ "event": "report", "report": { "kind": "outdated", "by": "b", "cause": "its journal is old" } });
    assert_eq!(
        words(&mut picture, 4, outdated),
        ("fault", "nothing runs on a any more: its journal is old".to_owned())
    );
}

#[test]
fn what_only_newer_versions_know_is_shown_as_such() {
    let mut picture = two_nodes();
    let rose = words(&mut picture, 1, json!({ "event": "sun-rose", "instance": "i1" }));
    assert_eq!(rose, ("node", "unknown event `sun-rose` (from a newer version)".to_owned()));
    let report = json!({ "event": "report", "report": { "kind": "pondered" } });
    let pondered = words(&mut picture, 2, report);
    assert_eq!(pondered, ("node", "unknown report `pondered` (from a newer version)".to_owned()));
    words(&mut picture, 3, json!({ "event": "link-up", "neighbour": "b", "speed": 7 }));
    let status = json!({ "node": "a", "version": "0.1.0", "mood": "fine" });
    picture.answered(0, START_MS, Answer::json(Topic::Status, status));
    let mut cloned = instance("i1", "cloned");
    cloned["copy"] = Value::Null;
    hosts(&mut picture, 0, &[cloned]);
    let problems = picture.problems(START_MS);
    let problem = problems.iter().find(|problem| problem.text.contains("newer version")).expect("a notice");
    assert_eq!((problem.severity, problem.node.as_deref()), (Severity::Notice, Some("a")));
    for part in ["`mood` in /v1/status", "the event `sun-rose`", "the report `pondered`", "`speed` in an event"] {
        assert!(problem.text.contains(part), "{part}: {}", problem.text);
    }
    assert_eq!(picture.snapshot(START_MS)["instances"][0]["state"], "cloned");
    let details = picture.node_details("a").expect("it is polled");
    assert!(details["unknown"].to_string().contains("sun-rose"), "{details}");
}

#[test]
fn an_older_node_is_shown_without_problems() {
    let mut picture = two_nodes();
    let mut older: Value = serde_json::from_str(OLDER).expect("JSON");
    let topics = [
        (Topic::Status, "status"),
        (Topic::Instances, "instances"),
        (Topic::Links, "links"),
        (Topic::Routes, "routes"),
        (Topic::Journal, "journal"),
    ];
    for (topic, name) in topics {
        picture.answered(0, START_MS, Answer::json(topic, older[name].take()));
    }
    picture.answered(1, START_MS, Answer::json(Topic::Instances, json!({ "instances": [] })));
    assert_eq!(texts(&picture.problems(START_MS)), Vec::<&str>::new());
    let shown = picture.snapshot(START_MS);
    let states: Vec<&Value> = shown["instances"].as_array().expect("a list").iter().map(|one| &one["state"]).collect();
    assert_eq!(states, ["in-custody", "healthy"]);
    assert_eq!(shown["instances"][1]["is_asleep"], false);
}

#[test]
fn an_answer_that_cannot_be_read_is_a_problem_and_the_last_one_is_kept() {
    let mut picture = two_nodes();
    hosts(&mut picture, 0, &[instance("i1", "owned")]);
    picture.answered(0, START_MS, Answer::json(Topic::Instances, json!({ "instances": "many" })));
    let problems = picture.problems(START_MS);
    assert!(texts(&problems)[0].starts_with("The answer of a to /v1/instances cannot be read: "), "{problems:?}");
    assert_eq!(picture.snapshot(START_MS)["instances"][0]["id"], "i1");
    hosts(&mut picture, 0, &[]);
    assert!(picture.problems(START_MS).is_empty());
}
