//! A picture of a tree of 21 nodes, with answers like those of daemons.

use mario_dashboard::Picture;
use mario_dashboard::picture::{Answer, Topic};
use mario_live::api::{Event, Received, TestbedApplication, TestbedData, TestbedNode};
use serde_json::{Value, json};

pub const APPLICATIONS: [&str; 6] = ["video", "game", "chat", "sensors", "maps", "alarm"];

/// The nodes of the tree: id, id of the parent, and depth.
pub fn tree() -> Vec<(String, Option<String>, usize)> {
    let mut nodes = vec![("cloud".to_owned(), None, 0)];
    for edge in 1..=4 {
        nodes.push((format!("edge{edge}"), Some("cloud".to_owned()), 1));
    }
    for access in 1..=16 {
        nodes.push((format!("ap{access}"), Some(format!("edge{}", (access - 1) / 4 + 1)), 2));
    }
    nodes
}

/// The extra data of a testbed.
pub fn extra() -> TestbedData {
    let tiers = ["cloud", "edge", "access points"];
    let nodes = tree().into_iter().enumerate().map(|(place, (id, _, tier))| {
        let users = if tier == 2 { place as u64 % 4 } else { 0 };
        (id, TestbedNode { tier: Some(tier), tier_name: Some(tiers[tier].to_owned()), users: Some(users) })
    });
    let applications = APPLICATIONS.iter().enumerate().map(|(place, id)| {
        let place = place as f64;
        let measured = TestbedApplication {
            requests_per_s: Some(10.0 + place),
            failed: Some(0),
            late_share: Some(0.012),
            p50_ms: Some(2.0 + place),
            p95_ms: Some(9.5 + place),
            p99_ms: Some(21.0),
        };
        ((*id).to_owned(), measured)
    });
    let facts = [("policy", "latency-aware"), ("speed", "60×")];
    TestbedData {
        title: Some("The paper's tree, 60 times as fast".to_owned()),
        facts: facts.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
        nodes: nodes.collect(),
        applications: applications.collect(),
        faults: vec!["the link edge2 – ap7 is cut".to_owned()],
        outcome: None,
    }
}

/// A picture in which all nodes except `ap16` answer, `edge4` drains and the link of `ap7` and `edge2` is down. It has
/// some instances, two accepted operations and an inhibited one at `now_ms`, data of a testbed, and a time series of
/// 90 seconds.
pub fn picture(now_ms: u64) -> Picture {
    let tree = tree();
    let mut picture = Picture::new((0..tree.len()).map(|place| format!("127.0.0.1:{}", 9_000 + place)).collect());
    for (source, (id, parent, tier)) in tree.iter().enumerate() {
        let capacity = [json!("unbounded"), json!(6), json!(3)][*tier].clone();
        let status = json!({
            "node": id, "version": "0.1.0", "capacity": capacity, "free": if *tier == 0 { capacity.clone() } else { json!(1) },
            "unreserved": 1, "evaluation_ms": 5000, "in_custody": 0, "offered": 0, "is_draining": id == "edge4", "acceptance_policy": null,
        });
        picture.answered(source, now_ms, Answer::json(Topic::Status, status));
        let children = tree.iter().filter(|(_, above, _)| above.as_ref() == Some(id)).map(|(child, ..)| child.clone());
        let links = parent.iter().cloned().chain(children).map(|neighbour| {
            let is_up = !(id == "ap7" && neighbour == "edge2" || id == "edge2" && neighbour == "ap7");
            json!({ "neighbour": neighbour, "is_up": is_up, "has_data": is_up, "round_trip_ms": 0.31 + source as f64 * 0.7 })
        });
        picture.answered(source, now_ms, Answer::json(Topic::Links, json!({ "links": links.collect::<Vec<_>>() })));
        picture.answered(
            source,
            now_ms,
            Answer::json(Topic::Instances, json!({ "instances": instances(source, *tier) })),
        );
        let journal = json!({ "journal": "4f0d6c31c2f5d1b00f4ee7a3a5c3ab11", "records": 120 + source, "fault": null });
        picture.answered(source, now_ms, Answer::json(Topic::Journal, journal));
        let hops = json!({ "copies": {}, "next_hops": { "video": [{ "neighbour": "cloud", "latency_quanta": 3 }] } });
        picture.answered(source, now_ms, Answer::json(Topic::Routes, hops));
        for (after, count) in [(0, 100), (1_000, 107 + source)] {
            let metrics = format!(
                "mario_requests_ingress_total {count}\nmario_requests_answered_here_total {count}\nmario_reservations 0\n"
            );
            picture.answered(source, now_ms + after, Answer::metrics(&metrics));
        }
    }
    picture.silent(20, now_ms, "cannot ask the node at 127.0.0.1:9020: connection refused");
    for (number, (operation, from, to, accepted)) in
        [("migrate", "edge1", "ap2", true), ("replicate", "edge3", "ap10", true), ("migrate", "edge4", "ap13", false)]
            .into_iter()
            .enumerate()
    {
        picture.happened(1, now_ms, &judged(number as u64 + 1, now_ms, operation, from, to, accepted));
    }
    picture.set_extra(extra(), now_ms);
    for second in 0..90 {
        picture.sample(now_ms - 90_000 + second * 1_000);
    }
    picture
}

fn instances(source: usize, tier: usize) -> Vec<Value> {
    let count = [2, 3, source % 3][tier];
    let instance = |place: usize| {
        let application = APPLICATIONS[(source + place) % APPLICATIONS.len()];
        let judged = |is_accepted: bool| {
            json!({
                "kind": "judged", "is_accepted": is_accepted,
                "request": {
                    "requester": { "agent": 1, "instance": "vi-1", "node": "edge1" }, "application": application,
                    "operation": "migrate", "target": "ap1",
                },
                "reason": "node ap1 has 0 units free, and 1 is needed",
            })
        };
        json!({
            "instance": format!("{}-{}", &application[..2], source * 10 + place), "application": application, "state": "owned", "epoch": 1,
            "copy": { "state": "healthy", "address": "127.0.0.1:20001", "open_requests": 1, "memory_bytes": 5_000_000, "cpu_time_ms": 1_400 },
            "hardware": 1, "max_rate": 40.0, "max_latency": 20.0, "evaluations": 17, "replications_left": 8, "is_pinned": place == 1,
            "is_anchor": place == 0,
            "facts": {
                "requests": [{ "neighbour": "self", "rate": 21.0, "latency": 3.0 }, { "neighbour": "ap1", "rate": 30.0, "latency": 31.0 }],
                "neighbours": ["cloud", "ap1"], "free": 1,
            },
            "decisions": [
                { "kind": "evaluated", "operation": "migrate", "target": "ap1", "has_failed": false }, judged(false),
                { "kind": "evaluated", "operation": "migrate", "target": "ap1", "has_failed": false }, judged(false),
                { "kind": "evaluated", "operation": null, "target": null, "has_failed": source == 3 && place == 0 },
            ],
        })
    };
    (0..count).map(instance).collect()
}

pub fn judged(number: u64, time_ms: u64, operation: &str, from: &str, to: &str, is_accepted: bool) -> Received<Event> {
    Received::read(judged_value(number, time_ms, operation, from, to, is_accepted)).expect("an event")
}

pub fn judged_value(number: u64, time_ms: u64, operation: &str, from: &str, to: &str, is_accepted: bool) -> Value {
    let requester = json!({ "agent": 1, "instance": format!("vi-{number}"), "node": from });
    let request = json!({ "requester": requester, "application": "video", "operation": operation, "target": to });
    let reason = (!is_accepted).then_some("its node has 0 units free, and 1 is needed");
    let report = json!({
        "kind": "judged", "request": request, "is_accepted": is_accepted, "reason": reason, "inhibited_by": (!is_accepted).then_some(to),
    });
    json!({ "number": number, "time_ms": time_ms, "event": "report", "report": report })
}
