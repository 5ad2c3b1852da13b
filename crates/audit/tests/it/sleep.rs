//! Sleep and waking are replayed, and lies about them are detected.

use mario_audit::{AuditReport, FindingKind};
use serde_json::json;

use crate::trace::audit_text;

/// Sleeps without requests, wakes with some, and replicates while asleep if a rate is above 5. The instance in the fact
/// `tired` also proposes to sleep while it is already asleep.
const SLEEPS: &str = "\
operation(sleep, I, self) :- \\+ asleep(I), \\+ requests(I, _, _, _).
operation(replicate, I, n2) :- asleep(I), requests(I, _, R, _), R > 5.
operation(wake, I, self) :- asleep(I), requests(I, _, _, _).
operation(sleep, I, self) :- asleep(I), fact(a, tired, I).
";

/// No instance wakes on a node with fewer than 3 units free.
const WATCHES: &str = "reject(request(wake, I, a, N, N), full) :- asleep(I), node(N, F), F < 3.\n";

/// Instances 1 and 2 are on n1, which has 5 units. An instance needs 2 awake and 1 asleep.
const TRUTH: &str = r#"["deployed",0,1,0,1,0]
["deployed",0,2,0,1,0]
["evaluation",10,1,1,1,[],[],[["sleep","self",0]]]
["evaluation",10,2,1,1,[],[],[["sleep","self",0]]]
["cycle",15,[[1,"sleep","accepted"],[2,"sleep","accepted"]]]
["woken",17,1,"accepted"]
["woken",18,2,"inhibited",{"node":"n1","rule":"acceptance","reason":"full"}]
["evaluation",20,1,1,2,[["self",2,0]],[],[]]
["evaluation",20,2,1,2,[["self",1,0]],[],[["wake","self",2],["sleep","self",3]]]
["cycle",25,[[1,"nop"],[2,"wake","self","inhibited",{"node":"n1","rule":"acceptance","reason":"full"}]]]
["woken",26,2,"inhibited",{"node":"n1","rule":"acceptance","reason":"full"}]
["evaluation",30,1,1,2,[],[],[["sleep","self",0]]]
["evaluation",30,2,1,2,[["self",7,0]],[["wake","self"]],[["replicate",2,1],["wake","self",2],["sleep","self",3]]]
["cycle",35,[[1,"sleep","accepted"],[2,"replicate",2,"accepted",3]]]
["evaluation",40,1,1,3,[],[],[]]
["evaluation",40,2,1,3,[["self",3,0]],[],[["wake","self",2],["sleep","self",3]]]
["cycle",45,[[1,"nop"],[2,"wake","accepted"]]]
["evaluation",45,3,2,4,[],[],[]]
["woken",46,3,"accepted"]
["evaluation",50,1,1,2,"same"]
["evaluation",50,2,1,2,[],[],[["sleep","self",0]]]
["cycle",51,[[3,"nop"],[1,"nop"],[2,"sleep","accepted"]]]
["evaluation",55,3,2,3,[["self",1,0]],[],[]]
["cycle",56,[[3,"nop"]]]
"#;

fn trace(format: u32, records: &str) -> String {
    let node = |id: &str, neighbours: &[usize]| json!({"id": id, "capacity": 5, "tier": 0, "neighbours": neighbours});
    let mut application = json!({
        "id": "a", "hardware": 2, "max_rate": 10, "max_latency": 5, "kind": "WS", "policy": 0,
    });
    application["sleep"] = json!({"keeps": 1, "start": 4});
    let mut watched = node("n1", &[0, 2]);
    watched["acceptance"] = json!(0);
    let header = json!({
        "mario_trace": format, "program": "by hand", "scenario": "sleep", "seed": 7, "duration": 1000, "step": 500,
        "evaluation_period": 10, "detail": "full", "observation": "arrivals", "routing": "nearest",
        "arbitration": "managers", "memory": "sliding", "applications": [application],
        "nodes": [node("n0", &[1]), watched, node("n2", &[1])],
        "facts": [{"subject": "a", "key": "tired", "value": 2}], "users": [],
        "policies": [{"name": "sleeps", "memory": 1, "files": [["sleeps.pl", SLEEPS]]}],
        "acceptances": [{"name": "watches", "memory": 0, "files": [["watches.pl", WATCHES]]}],
    });
    format!("{header}\n{records}")
}

fn audited(records: &str) -> AuditReport {
    audit_text(&trace(6, records))
}

#[test]
fn the_states_of_sleeping_instances_are_replayed() {
    let report = audited(TRUTH);
    assert!(report.is_clean(), "{report}");
    assert_eq!((report.counts.woken, report.counts.instances), (2, 3));
    assert_eq!(report.counts.operations["sleep"], 4);
    assert_eq!(report.counts.decisions, report.counts.evaluations);
}

#[test]
fn every_lie_about_sleep_is_detected_and_classified() {
    use FindingKind::{Decision, Free, Instance, Proposal, Reason, Sleep, Verdict};
    let refused = r#"["woken",18,2,"inhibited",{"node":"n1","rule":"acceptance","reason":"full"}]
"#;
    let again = format!("{refused}{}", refused.replace("18", "19"));
    for (what, truth, lie, kind) in [
        ("an awake instance is woken", r#"["cycle",15,"#, "[\"woken\",12,1,\"accepted\"]\n[\"cycle\",15,", Sleep),
        ("it is not woken", "[\"woken\",17,1,\"accepted\"]\n", "", Free),
        ("an unknown instance is woken", r#"["woken",46,3,"#, r#"["woken",46,9,"#, Instance),
        (
            "it is woken twice",
            "[\"woken\",17,1,\"accepted\"]\n",
            "[\"woken\",17,1,\"accepted\"]\n[\"woken\",17,1,\"accepted\"]\n",
            Sleep,
        ),
        ("asked again before an evaluation", refused, &again, Sleep),
        (
            "another reason",
            r#"["woken",18,2,"inhibited",{"node":"n1","rule":"acceptance","reason":"full"}]"#,
            r#"["woken",18,2,"inhibited",{"node":"n1","rule":"acceptance","reason":"late"}]"#,
            Reason,
        ),
        (
            "inhibited by hardware that is free",
            r#"["woken",18,2,"inhibited",{"node":"n1","rule":"acceptance","reason":"full"}]"#,
            r#"["woken",18,2,"inhibited",{"node":"n1","rule":"capacity","needed":1,"free":0}]"#,
            Verdict,
        ),
        (
            "inhibited by hardware although it fits",
            r#"["woken",46,3,"accepted"]"#,
            r#"["woken",46,3,"inhibited",{"node":"n2","rule":"capacity","needed":1,"free":0}]"#,
            Verdict,
        ),
        (
            "accepted although the acceptance policy rejects",
            r#"["woken",18,2,"inhibited",{"node":"n1","rule":"acceptance","reason":"full"}]"#,
            r#"["woken",18,2,"accepted"]"#,
            Verdict,
        ),
        (
            "a sleep that was not proposed",
            r#"[1,"nop"],[2,"wake","accepted"]"#,
            r#"[1,"sleep","accepted"],[2,"wake","accepted"]"#,
            Proposal,
        ),
        (
            "a sleeping instance falls asleep",
            r#"["cycle",25,[[1,"nop"],[2,"wake","self","inhibited",{"node":"n1","rule":"acceptance","reason":"full"}]]]"#,
            r#"["cycle",25,[[1,"nop"],[2,"sleep","accepted"]]]"#,
            Sleep,
        ),
        (
            "an awake instance wakes",
            r#"["cycle",51,[[3,"nop"],[1,"nop"],[2,"sleep","accepted"]]]"#,
            r#"["cycle",51,[[3,"nop"],[1,"nop"],[2,"wake","accepted"]]]"#,
            Sleep,
        ),
        (
            "inhibited as asleep although it is awake",
            r#"[1,"sleep","accepted"],[2,"sleep","accepted"]"#,
            r#"[1,"sleep","self","inhibited",{"node":"n1","rule":"asleep"}],[2,"sleep","accepted"]"#,
            Verdict,
        ),
        (
            "inhibited as unable to sleep although it can",
            r#"[1,"sleep","accepted"],[2,"sleep","accepted"]"#,
            r#"[1,"sleep","self","inhibited",{"node":"n1","rule":"sleepless"}],[2,"sleep","accepted"]"#,
            Verdict,
        ),
        (
            "inhibited by an impossible rule",
            r#"[2,"wake","self","inhibited",{"node":"n1","rule":"acceptance","reason":"full"}]"#,
            r#"[2,"wake","self","inhibited",{"node":"n1","rule":"awake"}]"#,
            Verdict,
        ),
        ("a sleeping instance keeps its hardware", r#"["evaluation",20,1,1,2,"#, r#"["evaluation",20,1,1,1,"#, Free),
        (
            "the replica of a sleeping instance is awake",
            r#"["evaluation",45,3,2,4,"#,
            r#"["evaluation",45,3,2,3,"#,
            Free,
        ),
        (
            "it decided as if it slept",
            r#"["evaluation",30,1,1,2,[],[],[["sleep","self",0]]]"#,
            r#"["evaluation",30,1,1,2,[],[],[]]"#,
            Decision,
        ),
        (
            "it decided as if it were awake",
            r#"["evaluation",40,1,1,3,[],[],[]]"#,
            r#"["evaluation",40,1,1,3,[],[],[["sleep","self",0]]]"#,
            Decision,
        ),
    ] {
        assert!(TRUTH.contains(truth), "{what}: the truth has no {truth}");
        let report = audited(&TRUTH.replacen(truth, lie, 1));
        assert!(report.findings.iter().any(|finding| finding.kind == kind), "{what}: expected {kind}:\n{report}");
    }
}

#[test]
fn sleep_requires_format_6() {
    for format in [3, 5] {
        let report = audit_text(&trace(format, TRUTH));
        let is_it = |finding: &mario_audit::Finding| {
            finding.kind == FindingKind::Header && finding.expected == "no sleep before format 6"
        };
        assert!(report.findings.iter().any(is_it), "{report}");
    }
}
