//! The histories of agents are reconstructed from earlier records, and lies about them are detected.

use mario_audit::{AuditReport, FindingKind};
use serde_json::json;

use crate::trace::audit_text;

/// Reads the facts of an agent's history: `earlier`, `done` and `age`.
const LOOKS_BACK: &str = "\
:- remembers(requests, 2). :- remembers(operations, 2).
operation(migrate, I, M) :- requests(I, M, R, _), M \\== self, R > 5, earlier(1, I, M, P, _), P > 5.
operation(replicate, I, self) :- earlier(2, I, self, R, _), R > 5, \\+ done(_, I, replicate, _).
operation(undeploy, I, self) :- age(I, 5).
";

/// Instance 1 starts on n1, between n0 and n2. Each node has room for four instances.
const TRUTH: &str = r#"["deployed",0,1,0,1,0]
["evaluation",10,1,1,3,[[0,8,3]],[],[]]
["cycle",15,[[1,"nop"]]]
["evaluation",20,1,1,3,[[0,9,3]],[],[["migrate",0,0]]]
["cycle",25,[[1,"migrate",0,"accepted"]]]
["evaluation",30,1,0,3,[["self",7,0]],[],[]]
["cycle",35,[[1,"nop"]]]
["evaluation",40,1,0,3,[["self",7,0]],[],[]]
["cycle",45,[[1,"nop"]]]
["evaluation",50,1,0,3,[["self",7,0]],[],[["replicate","self",1]]]
["cycle",55,[[1,"replicate","self","accepted",2]]]
["evaluation",60,1,0,2,[["self",7,0]],[],[]]
["evaluation",65,2,0,2,[["self",7,0]],[],[]]
["cycle",66,[[1,"nop"],[2,"nop"]]]
["evaluation",70,1,0,2,[["self",7,0]],[],[]]
["evaluation",75,2,0,2,[["self",7,0]],[],[]]
["cycle",76,[[1,"nop"],[2,"nop"]]]
["evaluation",80,1,0,2,[["self",7,0]],[],[["replicate","self",1],["undeploy","self",2]]]
["evaluation",85,2,0,2,[["self",7,0]],[],[["replicate","self",1]]]
["cycle",86,[[1,"replicate","self","accepted",3],[2,"replicate","self","accepted",4]]]
["evaluation",90,1,0,0,[["self",7,0]],[],[]]
["evaluation",95,2,0,0,[["self",7,0]],[],[]]
"#;

/// A trace in this format, with this arbitration, with this policy for all agents, and with these records.
fn trace(format: u32, arbitration: &str, policy: &str, records: &str) -> String {
    let node = |id: &str, neighbours: &[usize]| json!({"id": id, "capacity": 4, "tier": 0, "neighbours": neighbours});
    let application = json!({"id": "a", "hardware": 1, "max_rate": 10, "max_latency": 5, "kind": "WS", "policy": 0});
    let header = json!({
        "mario_trace": format, "program": "by hand", "scenario": "remembering", "seed": 7, "duration": 1000, "step": 500,
        "evaluation_period": 10, "detail": "full", "observation": "arrivals", "routing": "nearest",
        "arbitration": arbitration, "memory": "sliding", "applications": [application],
        "nodes": [node("n0", &[1]), node("n1", &[0, 2]), node("n2", &[1])], "facts": [], "users": [],
        "policies": [{"name": "looks back", "memory": 0, "files": [["looks-back.pl", policy]]}],
    });
    format!("{header}\n{records}")
}

fn audited(records: &str) -> AuditReport {
    audit_text(&trace(3, "managers", LOOKS_BACK, records))
}

/// The report on the correct trace with one change.
fn report_with_lie(truth: &str, lie: &str) -> AuditReport {
    assert_eq!(TRUTH.matches(truth).count(), 1, "{truth}");
    audited(&TRUTH.replace(truth, lie))
}

#[test]
fn decisions_of_policies_that_look_back_are_recomputed() {
    let report = audited(TRUTH);
    assert!(report.is_clean(), "{report}");
    assert_eq!(report.counts.decisions, 13);
    assert_eq!(report.counts.decisions, report.counts.evaluations);
    assert!(!report.unchecked.iter().any(|words| words.contains("decisions")), "{:?}", report.unchecked);
}

#[test]
fn lies_about_the_history_of_an_agent_are_detected() {
    for (what, truth, lie) in [
        ("demand was high before, although it was not", "10,1,1,3,[[0,8,3]],[],[]]", "10,1,1,3,[[0,5,3]],[],[]]"),
        ("demand came through another neighbour before", "10,1,1,3,[[0,8,3]],[],[]]", "10,1,1,3,[[2,8,3]],[],[]]"),
        ("demand was not high before, although it was", r#"[[0,9,3]],[],[["migrate",0,0]]]"#, "[[0,9,3]],[],[]]"),
        (
            "the last evaluation counts as the one before it",
            r#"40,1,0,3,[["self",7,0]],[],[]]"#,
            r#"40,1,0,3,[["self",7,0]],[],[["replicate","self",1]]]"#,
        ),
        (
            "requests of two evaluations before are forgotten",
            r#"50,1,0,3,[["self",7,0]],[],[["replicate","self",1]]]"#,
            r#"50,1,0,3,[["self",7,0]],[],[]]"#,
        ),
        (
            "an operation is forgotten at once",
            r#"60,1,0,2,[["self",7,0]],[],[]]"#,
            r#"60,1,0,2,[["self",7,0]],[],[["replicate","self",1]]]"#,
        ),
        (
            "an operation is forgotten too early",
            r#"70,1,0,2,[["self",7,0]],[],[]]"#,
            r#"70,1,0,2,[["self",7,0]],[],[["replicate","self",1]]]"#,
        ),
        (
            "an operation is remembered for too long",
            r#"[["replicate","self",1],["undeploy","self",2]]]"#,
            r#"[["undeploy","self",2]]]"#,
        ),
        (
            "an agent's age continues after a migration",
            r#"60,1,0,2,[["self",7,0]],[],[]]"#,
            r#"60,1,0,2,[["self",7,0]],[],[["undeploy","self",2]]]"#,
        ),
        ("an agent does not age", r#"[["replicate","self",1],["undeploy","self",2]]]"#, r#"[["replicate","self",1]]]"#),
        (
            "a replica has the history of its parent",
            r#"65,2,0,2,[["self",7,0]],[],[]]"#,
            r#"65,2,0,2,[["self",7,0]],[],[["replicate","self",1]]]"#,
        ),
        (
            "a replica remembers the operations of its parent",
            r#"85,2,0,2,[["self",7,0]],[],[["replicate","self",1]]]"#,
            r#"85,2,0,2,[["self",7,0]],[],[]]"#,
        ),
    ] {
        let report = report_with_lie(truth, lie);
        let first = report.findings.first().map(|finding| finding.kind);
        assert_eq!(first, Some(FindingKind::Decision), "{what}:\n{report}");
    }
}

#[test]
fn an_inhibited_operation_is_not_in_the_history() {
    // If the replication was inhibited, it is not in the history, so the agent should propose it again.
    let inhibited = r#"[1,"replicate","self","inhibited",{"node":"n0","rule":"capacity","needed":1,"free":0}]"#;
    let report = report_with_lie(
        r#"["cycle",55,[[1,"replicate","self","accepted",2]]]"#,
        &format!(r#"["cycle",55,[{inhibited}]]"#),
    );
    assert!(report.count(FindingKind::Verdict) > 0, "{report}");
    assert!(report.count(FindingKind::Decision) > 0, "it asks again at once: {report}");
}

#[test]
fn an_evaluation_with_a_different_history_is_not_a_repetition() {
    let report =
        report_with_lie(r#"["evaluation",40,1,0,3,[["self",7,0]],[],[]]"#, r#"["evaluation",40,1,0,3,"same"]"#);
    assert_eq!(report.findings.first().map(|finding| finding.kind), Some(FindingKind::Memory), "{report}");

    let policy = ":- remembers(requests, 1).\noperation(undeploy, I, self) :- earlier(1, I, self, 3, _).\n";
    let records = r#"["deployed",0,1,0,1,0]
["evaluation",10,1,1,3,[["self",4,0]],[],[]]
["evaluation",20,1,1,3,[["self",4,0]],[],[]]
["evaluation",30,1,1,3,"same"]
["evaluation",40,1,1,3,[["self",3,0]],[],[]]
["evaluation",50,1,1,3,[["self",3,0]],[],[["undeploy","self",0]]]
["evaluation",60,1,1,3,"same"]
"#;
    let report = audit_text(&trace(3, "managers", policy, records));
    assert!(report.is_clean(), "the past of the third is that of the second: {report}");
    assert_eq!(report.counts.decisions, 6);
    let lie = records.replace(r#"20,1,1,3,[["self",4,0]],[],[]]"#, r#"20,1,1,3,"same"]"#);
    let report = audit_text(&trace(3, "managers", policy, &lie));
    assert_eq!(report.count(FindingKind::Memory), 1, "{report}");
    let lie = records.replace(r#"50,1,1,3,[["self",3,0]],[],[["undeploy","self",0]]]"#, r#"50,1,1,3,"same"]"#);
    let report = audit_text(&trace(3, "managers", policy, &lie));
    assert_eq!(report.findings.first().map(|finding| finding.kind), Some(FindingKind::Decision), "{report}");
}

#[test]
fn a_migration_to_a_new_id_starts_without_a_history() {
    let policy = ":- remembers(operations, 3).\noperation(migrate, I, n0) :- \\+ done(_, I, _, _), node(n1, _).\n\
                  operation(undeploy, I, self) :- done(_, I, migrate, _).\n";
    let records = |last: &str| {
        format!(
            "[\"deployed\",0,1,0,1,0]\n[\"evaluation\",10,1,1,3,[],[],[[\"migrate\",0,0]]]\n\
             [\"cycle\",15,[[1,\"migrate\",0,\"accepted\",2]]]\n[\"evaluation\",25,2,0,3,[],[],[{last}]]\n"
        )
    };
    let report = audit_text(&trace(3, "sequential", policy, &records("")));
    assert!(report.is_clean(), "{report}");
    let report = audit_text(&trace(3, "sequential", policy, &records(r#"["undeploy","self",1]"#)));
    assert_eq!(report.count(FindingKind::Decision), 1, "{report}");
}

#[test]
fn agents_in_older_formats_have_no_history() {
    // An older policy may define its own `age`.
    let policy = ":- dynamic age/2.\noperation(undeploy, I, self) :- age(I, 1).\n";
    let records = r#"["deployed",0,1,0,1,0]
["evaluation",10,1,1,3,[],[],[]]
["evaluation",20,1,1,3,"same"]
"#;
    for format in [1, 2] {
        let report = audit_text(&trace(format, "managers", policy, records));
        assert!(report.is_clean(), "format {format}: {report}");
        assert_eq!(report.counts.decisions, 2);
    }
    let report = audit_text(&trace(3, "managers", policy, records));
    assert!(report.count(FindingKind::Decision) > 0, "{report}");
}
