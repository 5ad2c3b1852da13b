//! The actions of nodes' owners are recomputed, and lies about them are detected.

use mario_audit::{AuditReport, FindingKind};
use serde_json::json;

use crate::trace::audit_text;

/// Instance 2 migrates when its agent has one evaluation left.
const HEEDS_NOTICE: &str = "operation(migrate, I, n2) :- leave(I, 1), I == 2.\n";

/// If the node has no free hardware and no instance is under notice, announces the eviction of all instances that run
/// in the flavour `full`. Shrinks each of them to `lite` when its agent has one evaluation left.
const OWNER: &str = "\
evict(I, full) :- node(_, 0), running(I, full), \\+ leave(_, _).
shrink(I, lite, tight) :- leave(I, 1), running(I, full).
";

/// Instances 1 and 2 fill n1, the only node with an owner's policy. It is between n0 and n2.
const TRUTH: &str = r#"["deployed",0,1,0,1,0]
["deployed",0,2,0,1,0]
["evaluation",10,1,1,0,[],[],[]]
["evaluation",10,2,1,0,[],[],[]]
["cycle",15,[[1,"nop"],[2,"nop"]]]
["owner",15,1,[["leave",1,2,"full"],["leave",2,2,"full"]]]
["evaluation",20,1,1,0,[],[],[]]
["evaluation",20,2,1,0,[],[],[]]
["cycle",25,[[1,"nop"],[2,"nop"]]]
["owner",25,1,[["shrunk",1,{"flavour":"lite"},"tight"],["shrunk",2,{"flavour":"lite"},"tight"]]]
["evaluation",30,1,1,2,[],[],[]]
["evaluation",30,2,1,2,[],[],[["migrate",2,0]]]
["cycle",35,[[1,"nop"],[2,"migrate",2,"accepted"]]]
["owner",35,1,[["evicted",1,"full"]]]
["evaluation",40,2,2,3,[],[],[]]
["cycle",45,[[2,"nop"]]]
["evaluation",50,2,2,3,"same"]
["cycle",55,[[2,"nop"]]]
"#;

fn trace(format: u32, notice: Option<u32>, records: &str) -> String {
    let node = |id: &str, neighbours: &[usize]| json!({"id": id, "capacity": 4, "tier": 0, "neighbours": neighbours});
    let flavour = |name: &str, units: u32| json!({"flavour": name, "hardware": units, "max_rate": 10, "max_latency": 5, "quality": 1});
    let application = json!({
        "id": "a", "hardware": 2, "max_rate": 10, "max_latency": 5, "kind": "WS", "policy": 0,
        "flavours": [flavour("full", 2), flavour("lite", 1)],
    });
    let mut owned = node("n1", &[0, 2]);
    owned["acceptance"] = json!(0);
    let mut header = json!({
        "mario_trace": format, "program": "by hand", "scenario": "owners", "seed": 7, "duration": 1000, "step": 500,
        "evaluation_period": 10, "detail": "full", "observation": "arrivals", "routing": "nearest",
        "arbitration": "managers", "memory": "sliding", "applications": [application],
        "nodes": [node("n0", &[1]), owned, node("n2", &[1])], "facts": [], "users": [],
        "policies": [{"name": "heeds-notice", "memory": 0, "files": [["heeds-notice.pl", HEEDS_NOTICE]]}],
        "acceptances": [{"name": "owner", "memory": 0, "files": [["owner.pl", OWNER]]}],
    });
    if let Some(notice) = notice {
        header["notice"] = json!(notice);
    }
    format!("{header}\n{records}")
}

fn audited(records: &str) -> AuditReport {
    audit_text(&trace(5, Some(2), records))
}

#[test]
fn the_decisions_of_owners_are_recomputed() {
    let report = audited(TRUTH);
    assert!(report.is_clean(), "{report}");
    assert_eq!((report.counts.evicted, report.counts.shrunk, report.counts.instances), (1, 2, 1));
    assert_eq!(report.counts.decisions, report.counts.evaluations);
    // Two instances of the initial deployment, the migration, and the owner's decisions after four of five cycles:
    // nothing is recorded after the last one.
    assert_eq!(report.counts.acceptances, 7);
}

#[test]
fn every_lie_about_owners_is_detected_and_classified() {
    use FindingKind::{Decision, Instance, Memory, Owner, Place, Reason};
    let announced = r#"["owner",15,1,[["leave",1,2,"full"],["leave",2,2,"full"]]]
"#;
    let evicted = r#"["owner",35,1,[["evicted",1,"full"]]]
"#;
    let shrunk = r#"["shrunk",1,{"flavour":"lite"},"tight"],"#;
    let cycle = r#"["cycle",15,[[1,"nop"],[2,"nop"]]]
"#;
    for (what, truth, lie, kind) in [
        ("no eviction is announced", announced, "", Owner),
        ("one eviction is not announced", r#"["leave",1,2,"full"],"#, "", Owner),
        (
            "in another order",
            r#"["leave",1,2,"full"],["leave",2,2,"full"]"#,
            r#"["leave",2,2,"full"],["leave",1,2,"full"]"#,
            Owner,
        ),
        ("a longer notice", r#"["leave",1,2,"full"]"#, r#"["leave",1,3,"full"]"#, Owner),
        ("another reason", r#"["leave",1,2,"full"]"#, r#"["leave",1,2,"old"]"#, Owner),
        ("by the owner of another node", r#"["owner",15,1,"#, r#"["owner",15,0,"#, Owner),
        ("before the cycle", &format!("{cycle}{announced}"), &format!("{announced}{cycle}"), Owner),
        ("announced twice", announced, &format!("{announced}{announced}"), Owner),
        ("one is not shrunk", shrunk, "", Owner),
        (
            "shrunk to its current flavour",
            r#"["shrunk",1,{"flavour":"lite"}"#,
            r#"["shrunk",1,{"flavour":"full"}"#,
            Owner,
        ),
        (
            "shrunk for another reason",
            r#"["shrunk",1,{"flavour":"lite"},"tight"]"#,
            r#"["shrunk",1,{"flavour":"lite"},"full"]"#,
            Owner,
        ),
        ("it is not evicted", evicted, "", Owner),
        ("evicted for another reason", r#"["evicted",1,"full"]"#, r#"["evicted",1,"tight"]"#, Reason),
        (
            "an instance that moved is evicted too",
            r#"[["evicted",1,"full"]]"#,
            r#"[["evicted",1,"full"],["evicted",2,"full"]]"#,
            Owner,
        ),
        ("another instance is evicted", r#"["evicted",1,"full"]"#, r#"["evicted",9,"full"]"#, Owner),
        ("evicted and still judged", r#"["cycle",45,[[2,"nop"]]]"#, r#"["cycle",45,[[2,"nop"],[1,"nop"]]]"#, Instance),
        ("the agent did not see the notice", r#"[["migrate",2,0]]]"#, "[]]", Decision),
        (
            "the agent saw the notice too early",
            r#"["evaluation",20,2,1,0,[],[],[]]"#,
            r#"["evaluation",20,2,1,0,[],[],[["migrate",2,0]]]"#,
            Decision,
        ),
        (
            "the record says `same` although a notice is new",
            r#"["evaluation",20,1,1,0,[],[],[]]"#,
            r#"["evaluation",20,1,1,0,"same"]"#,
            Memory,
        ),
        (
            "an owner without initiative announces an eviction",
            r#"["evaluation",40,2,2,3,[],[],[]]"#,
            r#"["owner",36,2,[["leave",2,2,"full"]]]"#,
            Owner,
        ),
        ("it did not migrate", r#"["evaluation",40,2,2,3,[],[],[]]"#, r#"["evaluation",40,2,1,3,[],[],[]]"#, Place),
    ] {
        assert_eq!(TRUTH.matches(truth).count(), 1, "{what}");
        let report = audited(&TRUTH.replace(truth, lie));
        let first = report.findings.first().map(|finding| finding.kind);
        assert_eq!(first, Some(kind), "{what}: {report}");
    }
}

#[test]
fn early_and_unannounced_evictions_are_found() {
    let early = TRUTH.replace(r#"["owner",25,1,["#, r#"["owner",25,1,[["evicted",1,"full"],"#);
    assert_eq!(audited(&early).findings[0].kind, FindingKind::Owner, "{}", audited(&early));
    let at_once = TRUTH.replace(r#"[["leave",1,2,"full"],"#, r#"[["evicted",1,"full"],"#);
    assert_eq!(audited(&at_once).findings[0].kind, FindingKind::Owner, "{}", audited(&at_once));
}

#[test]
fn owners_require_format_5_and_a_notice() {
    for (format, notice) in [(5, None), (3, Some(2)), (5, Some(0))] {
        let report = audit_text(&trace(format, notice, ""));
        assert_eq!(report.findings[0].kind, FindingKind::Header, "{report}");
    }
    let others = audit_text(&trace(5, Some(3), TRUTH));
    assert_eq!(others.findings[0].kind, FindingKind::Owner, "{others}");
}
