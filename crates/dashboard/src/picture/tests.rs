mod versions;

use super::*;

const START_MS: u64 = 1_700_000_000_000;

fn told(event: &Value) -> Received<Event> {
    Received::read(event.clone()).expect("an event")
}

fn extra(data: Value) -> TestbedData {
    serde_json::from_value(data).expect("data of a testbed")
}

/// A picture of nodes `a` and `b`, which answer and are linked.
fn two_nodes() -> Picture {
    let mut picture = Picture::new(vec!["127.0.0.1:1".to_owned(), "127.0.0.1:2".to_owned()]);
    for (source, (node, neighbour)) in [("a", "b"), ("b", "a")].into_iter().enumerate() {
        let status = json!({ "node": node, "version": "0.1.0", "capacity": 4, "free": 3, "evaluation_ms": 2_000 });
        picture.answered(source, START_MS, Answer::json(Topic::Status, status));
        let link = json!({ "neighbour": neighbour, "is_up": true, "has_data": true, "round_trip_ms": 0.5 });
        picture.answered(source, START_MS, Answer::json(Topic::Links, json!({ "links": [link] })));
    }
    picture
}

fn instance(id: &str, state: &str) -> Value {
    if state == "in-custody" {
        return json!({ "instance": id, "application": "shop", "state": state, "copy": { "state": "healthy" } });
    }
    json!({
        "instance": id, "application": "shop", "state": state, "epoch": 1, "copy": { "state": "healthy" },
        "facts": { "requests": [{ "neighbour": "self", "rate": 8.0, "latency": 1.0 }, { "neighbour": "b", "rate": 2.0, "latency": 9.0 }] },
        "decisions": [],
    })
}

fn hosts(picture: &mut Picture, source: usize, instances: &[Value]) {
    picture.answered(source, START_MS, Answer::json(Topic::Instances, json!({ "instances": instances })));
}

fn judged(number: u64, operation: &str, target: &str, verdict: &Value) -> Value {
    let request = json!({
        "requester": { "agent": 1, "instance": "i1", "node": "a" }, "application": "shop", "operation": operation, "target": target,
    });
    let mut report = json!({ "kind": "judged", "request": request });
    for (key, value) in verdict.as_object().expect("an object") {
        report[key] = value.clone();
    }
    json!({ "number": number, "time_ms": START_MS + number, "event": "report", "report": report })
}

fn inhibited(number: u64) -> Value {
    judged(number, "migrate", "b", &json!({ "is_accepted": false, "inhibited_by": "b", "reason": "node b is full" }))
}

fn texts(problems: &[Problem]) -> Vec<&str> {
    problems.iter().map(|problem| problem.text.as_str()).collect()
}

#[test]
fn nodes_instances_and_links_are_shown_once_each() {
    let mut picture = two_nodes();
    // During a transfer, the source reports custody and the target the instance.
    hosts(&mut picture, 0, &[instance("i1", "in-custody"), instance("i2", "owned")]);
    hosts(&mut picture, 1, &[instance("i1", "owned")]);
    let shown = picture.snapshot(START_MS);
    assert_eq!(shown["nodes"].as_array().map(Vec::len), Some(2));
    assert_eq!(shown["links"], json!([{ "ends": ["a", "b"], "is_up": true, "has_data": true, "round_trip_ms": 0.5 }]));
    let places: Vec<(&Value, &Value)> =
        shown["instances"].as_array().expect("a list").iter().map(|one| (&one["id"], &one["node"])).collect();
    assert_eq!(places, [(&json!("i1"), &json!("b")), (&json!("i2"), &json!("a"))]);
    // Two instances, each with ten requests in two seconds.
    assert_eq!(shown["applications"][0]["requests_per_s"], 10.0);
    assert_eq!(shown["problems"], json!([]));
}

#[test]
fn unpolled_nodes_are_shown_as_reported_by_neighbours() {
    let mut picture = two_nodes();
    let links = json!({ "links": [{ "neighbour": "far", "is_up": false, "has_data": false, "round_trip_ms": null }] });
    picture.answered(1, START_MS, Answer::json(Topic::Links, links));
    hosts(&mut picture, 0, &[instance("i1", "owned")]);
    let moved = judged(1, "migrate", "far", &json!({ "is_accepted": true }));
    picture.happened(0, START_MS, &told(&moved)).expect("it is new");
    hosts(&mut picture, 0, &[]);
    let shown = picture.snapshot(START_MS);
    let far = shown["nodes"].as_array().expect("a list").iter().find(|node| node["id"] == "far").expect("it is named");
    assert_eq!(far["reach"], "unwatched");
    let instance = &shown["instances"][0];
    assert_eq!(
        (&instance["node"], &instance["state"], &instance["told_by"]),
        (&json!("far"), &json!("elsewhere"), &json!("a"))
    );
    // When the instance is back on a polled node, the answer of that node takes precedence.
    hosts(&mut picture, 1, &[self::instance("i1", "owned")]);
    let shown = picture.snapshot(START_MS);
    assert_eq!((shown["instances"].as_array().map(Vec::len), &shown["instances"][0]["node"]), (Some(1), &json!("b")));
}

#[test]
fn an_event_counts_once_even_after_a_daemon_restart() {
    let mut picture = two_nodes();
    let event = |number: u64, time_ms: u64| json!({ "number": number, "time_ms": time_ms, "event": "link-up", "neighbour": "b" });
    assert!(picture.happened(0, START_MS, &told(&event(1, START_MS))).is_some());
    assert!(picture.happened(0, START_MS, &told(&event(2, START_MS))).is_some());
    // The stream is reopened, and repeats all events.
    assert!(picture.happened(0, START_MS, &told(&event(1, START_MS))).is_none());
    assert!(picture.happened(0, START_MS, &told(&event(2, START_MS))).is_none());
    assert!(picture.happened(1, START_MS, &told(&event(1, START_MS))).is_some(), "another node counts for itself");
    // A restarted daemon counts from 1 again.
    assert!(picture.happened(0, START_MS, &told(&event(1, START_MS + 5))).is_some());
    assert!(picture.happened(0, START_MS, &told(&event(2, START_MS + 6))).is_some());
    assert_eq!(picture.events(None).count(), 5);
    assert_eq!(picture.events(Some(3)).count(), 2);
}

#[test]
fn recent_events_are_kept_in_time_order() {
    let mut picture = two_nodes();
    let event = |number: u64, time_ms: u64| json!({ "number": number, "time_ms": time_ms, "event": "stopping" });
    for number in 1..=EVENTS_MAX as u64 {
        picture.happened(0, START_MS, &told(&event(number, START_MS + 10 * number)));
    }
    // A node that is polled later reports past events.
    picture.happened(1, START_MS, &told(&event(1, START_MS + 25)));
    let times: Vec<u64> = picture.events(None).map(|colony_event| colony_event.time_ms - START_MS).collect();
    assert_eq!(times.len(), EVENTS_MAX);
    assert_eq!(times[..3], [20, 25, 30]);
}

#[test]
fn operations_are_described_with_both_ends() {
    let mut picture = two_nodes();
    let accepted = json!({ "is_accepted": true, "created": "i9" });
    let cases = [
        (judged(1, "migrate", "b", &json!({ "is_accepted": true })), "migrate", "i1 migrates to b", ("a", "b")),
        (judged(2, "replicate", "self", &accepted), "replicate", "i1 replicates to a as i9", ("a", "a")),
        (inhibited(3), "inhibited", "i1: migrate to b inhibited: node b is full", ("a", "b")),
    ];
    for (event, kind, text, (from, to)) in cases {
        let told = picture.happened(0, START_MS, &told(&event)).expect("new");
        assert_eq!((told.kind, told.text.as_str()), (kind, text));
        assert_eq!((told.from.as_deref(), told.to.as_deref()), (Some(from), Some(to)));
        assert_eq!(told.application.as_deref(), Some("shop"));
        assert!(told.is_fresh);
    }
    let old = picture.happened(0, START_MS + 60_000, &told(&inhibited(4))).expect("new");
    assert!(!old.is_fresh, "what was told long after is not drawn as if it happened now");
}

#[test]
fn a_silent_node_is_a_problem_until_it_answers() {
    let mut picture = two_nodes();
    hosts(&mut picture, 0, &[instance("i1", "owned")]);
    picture.silent(0, START_MS, "connection refused");
    picture.silent(0, START_MS + 5_000, "connection refused");
    let problems = picture.problems(START_MS + 7_000);
    assert_eq!(texts(&problems), ["Node a has not answered for 7 s: connection refused"]);
    let shown = picture.snapshot(START_MS);
    assert_eq!((&shown["nodes"][0]["reach"], &shown["answering"]), (&json!("silent"), &json!(1)));
    assert_eq!(shown["instances"][0]["is_silent"], true, "what it told last is marked as such");
    // The instance may have moved since its node went silent, so the node that answers is trusted.
    hosts(&mut picture, 1, &[instance("i1", "owned")]);
    assert_eq!(picture.snapshot(START_MS)["instances"][0]["node"], "b");
    hosts(&mut picture, 0, &[]);
    assert!(picture.problems(START_MS).is_empty());
}

#[test]
fn several_silent_nodes_are_one_problem() {
    let mut picture = two_nodes();
    picture.silent(0, START_MS, "connection refused");
    picture.silent(1, START_MS, "channel closed");
    let problems = picture.problems(START_MS + 7_000);
    assert_eq!(texts(&problems), ["None of the 2 nodes answers"]);
    let parts: Vec<&str> = problems[0].parts.iter().map(|part| part.text.as_str()).collect();
    assert_eq!(
        parts,
        ["Node a has not answered for 7 s: connection refused", "Node b has not answered for 7 s: channel closed"]
    );
    assert_eq!(problems[0].severity, Severity::Bad);
}

#[test]
fn after_the_end_of_a_run_a_stopped_daemon_is_no_fault() {
    let mut picture = two_nodes();
    picture.set_extra(extra(json!({ "outcome": "It ran for 60 s." })), START_MS + 60_000);
    picture.silent(0, START_MS + 60_001, "channel closed");
    picture.silent(1, START_MS + 60_001, "channel closed");
    assert!(
        picture
            .happened(0, START_MS, &told(&json!({ "number": 1, "time_ms": START_MS, "event": "stopping" })))
            .is_none()
    );
    assert!(picture.problems(START_MS + 90_000).is_empty());
    let shown = picture.snapshot(START_MS + 90_000);
    assert_eq!((&shown["outcome"], &shown["answering"]), (&json!("It ran for 60 s."), &json!(2)));
    assert_eq!(shown["time_ms"], START_MS + 60_000, "the time of the last state");
    picture.set_extra(TestbedData::default(), START_MS + 91_000);
    assert!(picture.is_over() && picture.snapshot(START_MS)["outcome"] == "It ran for 60 s.");
}

#[test]
fn events_before_the_first_answer_bear_the_id_of_the_node() {
    let mut picture = Picture::new(vec!["10.71.9.2:7441".to_owned()]);
    let event = json!({ "number": 1, "time_ms": START_MS, "event": "started" });
    let heard = picture.happened(0, START_MS, &told(&event)).expect("it is new");
    assert_eq!(heard.node, "10.71.9.2:7441", "nothing else is known yet");
    picture.answered(0, START_MS, Answer::json(Topic::Status, json!({ "node": "mid" })));
    assert_eq!(picture.events(None).map(|kept| kept.node.as_str()).collect::<Vec<_>>(), ["mid"]);
}

#[test]
fn links_journals_policies_and_managers_that_do_not_work_are_problems() {
    let mut picture = two_nodes();
    let down = json!({ "links": [{ "neighbour": "a", "is_up": false, "has_data": false, "round_trip_ms": null,
        "fault": "`a` does not list `b` as a neighbour" }] });
    picture.answered(1, START_MS, Answer::json(Topic::Links, down));
    let status = json!({
        "node": "a", "version": "0.2.0", "journal_fault": "no space left",
        "confirmation": "unconfirmed", "outdated": "the journal of this node is an old copy",
        "id_fault": "two nodes have the id `a`",
    });
    picture.answered(0, START_MS, Answer::json(Topic::Status, status));
    let mut unanswered = instance("i1", "owned");
    unanswered["decisions"] = json!([
        { "kind": "evaluated", "has_failed": false }, { "kind": "evaluated", "has_failed": true }, { "kind": "judged" },
    ]);
    hosts(&mut picture, 0, &[unanswered]);
    for number in 1..=problems_in_a_row() {
        picture.happened(0, START_MS, &told(&inhibited(number)));
    }
    let problems = picture.problems(START_MS);
    let told = texts(&problems);
    let expected = [
        "The journal of a cannot be written, so the node makes no new reservations: no space left",
        "Nothing runs on a any more: the journal of this node is an old copy",
        "Another node has the id of a, so instances may run twice: two nodes have the id `a`",
        "The policy of shop has no valid answer for i1 on a",
        "The link a – b is down: `a` does not list `b` as a neighbour",
        "No neighbour has confirmed the journal of a since it restarted",
        "Node b refuses everything: the last 5 requests were inhibited, the last one: i1: migrate to b inhibited: node b is full",
        "Nodes run different versions: b runs 0.1.0, a runs 0.2.0",
    ];
    assert_eq!(told, expected);
    assert_eq!(problems[6].node.as_deref(), Some("b"));
    // After one accepted request, the node no longer inhibits everything.
    picture.happened(0, START_MS, &self::told(&judged(9, "migrate", "b", &json!({ "is_accepted": true }))));
    assert!(!texts(&picture.problems(START_MS)).iter().any(|text| text.contains("refuses everything")));
}

#[test]
fn a_copy_that_ended_says_why_and_so_does_a_link_to_two_nodes_of_one_id() {
    let mut picture = two_nodes();
    let mut ended = instance("i1", "owned");
    ended["copy"]["state"] = "ended".into();
    ended["restart"] = json!({ "cause": "exited with status 2", "failures": 3, "starts_in_ms": 900 });
    hosts(&mut picture, 0, &[ended]);
    let link = json!({ "links": [{ "neighbour": "a", "is_up": true, "has_data": true, "fault": "two nodes have the id `a`" }] });
    picture.answered(1, START_MS, Answer::json(Topic::Links, link));
    assert_eq!(
        texts(&picture.problems(START_MS)),
        ["The copy of i1 on a has ended: exited with status 2", "The link a – b is up: two nodes have the id `a`",]
    );
}

#[test]
fn full_nodes_are_distinguished_from_refusing_ones_and_grouped() {
    let mut picture = two_nodes();
    let refuse = |picture: &mut Picture, node: &str, rule: &str, from: u64| {
        for number in from..from + problems_in_a_row() {
            let verdict = json!({ "is_accepted": false, "inhibited_by": node, "rule": rule, "reason": "no" });
            picture.happened(0, START_MS, &told(&judged(number, "migrate", node, &verdict)));
        }
    };
    refuse(&mut picture, "b", "capacity", 1);
    let told = "Node b is full: it had no room for the last 5 requests";
    assert_eq!(texts(&picture.problems(START_MS)), [told]);
    refuse(&mut picture, "c", "capacity", 11);
    refuse(&mut picture, "d", "acceptance", 21);
    let problems = picture.problems(START_MS);
    let refusing =
        "Node d refuses everything: the last 5 requests were inhibited, the last one: i1: migrate to d inhibited: no";
    assert_eq!(texts(&problems), [refusing, "2 nodes are full: they had no room for the last requests"]);
    assert_eq!(problems[1].parts.iter().map(|part| part.node.as_str()).collect::<Vec<_>>(), ["b", "c"]);
    assert_eq!(problems[1].parts[0].text, told);
    // An anchor that its node keeps was refused by nobody.
    refuse(&mut picture, "e", "anchor", 31);
    assert_eq!(picture.problems(START_MS).len(), 2);
    // A node that also inhibits for another reason is not reported as full.
    refuse(&mut picture, "b", "acceptance", 41);
    assert!(texts(&picture.problems(START_MS)).contains(&"2 nodes refuse everything"));
}

const fn problems_in_a_row() -> u64 {
    5
}

#[test]
fn rates_are_computed_from_counters_and_reset_with_the_daemon() {
    let mut picture = two_nodes();
    let count = |picture: &mut Picture, after_ms: u64, count: u64| {
        let text =
            format!("# TYPE x counter\nmario_requests_ingress_total {count}\nmario_link_up{{neighbour=\"b\"}} 1\n");
        picture.answered(0, START_MS + after_ms, Answer::metrics(&text));
        picture.snapshot(START_MS)["nodes"][0]["requests_per_s"].clone()
    };
    assert_eq!(count(&mut picture, 0, 100), Value::Null);
    assert_eq!(count(&mut picture, 2_000, 130), 15.0);
    assert_eq!(count(&mut picture, 2_100, 131), 15.0, "too soon to tell");
    assert_eq!(count(&mut picture, 4_000, 10), Value::Null, "it was begun again");
    assert_eq!(count(&mut picture, 5_000, 20), 10.0);
}

#[test]
fn data_of_a_testbed_is_shown_beside_that_of_nodes() {
    let mut picture = two_nodes();
    picture.set_extra(
        extra(json!({
            "title": "paper", "nodes": { "a": { "tier": 1, "users": 3 }, "z": { "tier": 0 } },
            "applications": { "shop": { "requests_per_s": 7.5, "p95_ms": 12.0 } }, "faults": ["a is cut off"],
        })),
        START_MS,
    );
    let shown = picture.snapshot(START_MS);
    assert_eq!((&shown["nodes"][0]["tier"], &shown["nodes"][0]["users"]), (&json!(1), &json!(3)));
    assert_eq!((&shown["nodes"][2]["id"], &shown["nodes"][2]["tier"]), (&json!("z"), &json!(0)));
    assert_eq!(shown["applications"][0]["requests_per_s"], 7.5);
    picture.sample(START_MS);
    let sample = json!({ "instances": 0, "requests_per_s": 7.5, "p95_ms": 12.0 });
    assert_eq!(picture.history(), json!([{ "time_ms": START_MS, "applications": { "shop": sample } }]));
}

#[test]
fn charts_show_what_was_measured_and_where_it_was_not() {
    let mut picture = two_nodes();
    let measured = |rate: Option<f64>| json!({ "applications": { "shop": { "requests_per_s": rate }, "chat": {} } });
    picture.set_extra(extra(measured(Some(7.5))), START_MS);
    picture.sample(START_MS);
    assert_eq!(picture.charts(400.0), json!([]), "one point is no line");
    for (after, rate) in [(1_000, Some(9.0)), (2_000, None), (3_000, Some(2.25))] {
        picture.set_extra(extra(measured(rate)), START_MS);
        picture.sample(START_MS + after);
    }
    let charts = picture.charts(400.0);
    let names: Vec<&Value> = charts.as_array().expect("a list").iter().map(|chart| &chart["name"]).collect();
    assert_eq!(names, ["instances", "requests"], "no response time was measured");
    let chart = &charts[1]["chart"];
    assert_eq!(chart["layouts"][0]["width"], 400.0);
    assert_eq!(chart["edges"], json!([-3, -2, -1, 0, 0]));
    let tips = ["3 s before now\nshop 7.5", "2 s before now\nshop 9", "1 s before now", "0 s before now\nshop 2.3"];
    assert_eq!(chart["tips"], json!(tips));
    let drawing = chart["layouts"][0]["drawing"].to_string();
    let line = drawing.split("\"d\":\"").find(|part| part.contains("application-1")).expect("the line of shop");
    assert_eq!(line.split('"').next().map(|path| path.matches('M').count()), Some(2), "{line}");
    let csv = picture.chart_csv("requests").expect("the data");
    assert!(csv.starts_with("time_ms,chat,shop\n") && csv.ends_with(",,2.3\n"), "{csv}");
    assert_eq!(picture.chart_csv("latencies"), None);
    assert_eq!(picture.charts(1e9)[0]["chart"]["layouts"][0]["width"], 1_600.0);
}

#[test]
fn of_many_applications_the_highest_are_drawn() {
    let mut picture = two_nodes();
    let applications = (0..20).map(|nth| (format!("app{nth:02}"), json!({ "requests_per_s": f64::from(nth) })));
    picture.set_extra(extra(json!({ "applications": applications.collect::<serde_json::Map<_, _>>() })), START_MS);
    (0..2).for_each(|second| picture.sample(START_MS + 1_000 * second));
    let charts = picture.charts(400.0);
    assert_eq!(charts[1]["caption"], "The 12 of 20 applications with the highest values.");
    let tip = charts[1]["chart"]["tips"][0].as_str().expect("a tip").to_owned();
    assert!(tip.contains("app19 19") && tip.contains("app08 8") && !tip.contains("app07"), "{tip}");
    assert_eq!(picture.snapshot(START_MS)["applications"][7]["colour"], 7, "the page picks colours as charts do");
}

#[test]
fn arbitrary_answers_do_not_break_a_picture() {
    let mut picture = two_nodes();
    let long = "x".repeat(1 << 20);
    let odd = [
        json!(null),
        json!(7),
        json!([]),
        json!({ "instances": 1 }),
        json!({ "instances": [1, { "instance": long }] }),
    ];
    for value in &odd {
        for topic in [Topic::Status, Topic::Instances, Topic::Links, Topic::Routes, Topic::Journal] {
            picture.answered(0, START_MS, Answer::json(topic, value.clone()));
        }
        if let Ok(event) = Received::read(value.clone()) {
            picture.happened(0, START_MS, &event);
        }
        picture.sample(START_MS);
        let _ = (picture.snapshot(START_MS), picture.charts(350.0), picture.everything(START_MS));
    }
    picture.answered(0, START_MS, Answer::metrics(&long));
    let event = json!({ "number": 9, "time_ms": START_MS, "event": "fault", "message": long });
    let told = picture.happened(0, START_MS, &told(&event)).expect("new");
    assert!(told.text.len() < 4 * TEXT_CHARS_MAX);
    picture.answered(99, START_MS, Answer::metrics(""));
    assert!(picture.node_details("nobody").is_none() && picture.instance_details("nothing").is_none());
}

#[test]
fn events_of_owners_sleepers_and_shadows_have_descriptions() {
    let mut picture = two_nodes();
    let mut words = |number: u64, event: Value| {
        let mut event = event;
        (event["number"], event["time_ms"]) = (number.into(), (START_MS + number).into());
        let colony_event = picture.happened(0, START_MS, &told(&event)).expect("it is new");
        (colony_event.kind, colony_event.text)
    };
    let report = |report: Value| json!({ "event": "report", "report": report });
    let leave = report(json!({ "kind": "leave", "instance": "i1", "evaluations": 3, "reason": "ours" }));
    let text = "the owner of a wants i1 to leave within 3 evaluations: ours".to_owned();
    assert_eq!(words(1, leave), ("inhibited", text));
    let evicted = report(json!({ "kind": "evicted", "instance": "i1", "reason": "ours", "pinned": false }));
    assert_eq!(words(2, evicted), ("undeploy", "the owner of a evicts i1: ours".to_owned()));
    let woken = report(json!({ "kind": "woken", "instance": "i1", "is_accepted": true, "reason": null }));
    assert_eq!(words(3, woken), ("copy", "a client request wakes i1".to_owned()));
    let refused = report(json!({ "kind": "woken", "instance": "i1", "is_accepted": false, "reason": "a is full" }));
    assert_eq!(words(4, refused), ("inhibited", "a client request does not wake i1: a is full".to_owned()));
    let failed = report(json!({ "kind": "initiative-failed", "cause": "a type error" }));
    assert_eq!(words(5, failed), ("policy", "the policy of the owner of a has no answer: a type error".to_owned()));
    let shadow = json!({ "event": "shadow-differs", "instance": "i1", "policy": "nothing", "shadow": "migrate b" });
    assert_eq!(words(6, shadow), ("proposed", "i1 proposes nothing; the shadow proposes migrate b".to_owned()));
    assert_eq!(words(7, judged(7, "sleep", "self", &json!({ "is_accepted": true }))).1, "i1: sleep accepted");
}
