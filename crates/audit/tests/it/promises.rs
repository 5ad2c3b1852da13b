//! Acceptance policies see the reservations of the same cycle, also when the auditor recomputes their answers.

use mario_audit::{AuditReport, FindingKind};
use serde_json::json;

use crate::trace::audit_text;

/// Accepts at most one instance of each application.
const ONE_EACH: &str = "reject(request(_, _, App, _, To), one_each) :- node(To, _), serviceInstance(_, App, To).";

/// Rejects requests once there are three instances on the node. The reason is the list of their ids.
const NAMES_THREE: &str = "reject(request(_, _, _, _, To), Is) :- node(To, _), \
                           findall(I, serviceInstance(I, _, _), Is), length(Is, L), L >= 3.";

/// A trace at the level of detail `operations`: n0 is linked to n1, which has this acceptance policy, and to n2. Nine
/// instances fit on each node. Instances 1, 2, … start on the nodes `first`. The cycles are at 100, 200, ….
fn trace(arbitration: &str, policy: &str, first: &[usize], cycles: &[&str]) -> String {
    let node = |id: &str, neighbours: &[usize]| json!({"id": id, "capacity": 9, "tier": 0, "neighbours": neighbours});
    let mut nodes = [node("n0", &[1, 2]), node("n1", &[0]), node("n2", &[0])];
    nodes[1]["acceptance"] = 0.into();
    let application =
        |id: &str| json!({"id": id, "hardware": 1, "max_rate": 10, "max_latency": 5, "kind": "WS", "policy": 0});
    let header = json!({
        "mario_trace": 1, "program": "by hand", "scenario": "promises", "seed": 7, "duration": 1000, "step": 500,
        "evaluation_period": 100, "detail": "operations", "observation": "arrivals", "routing": "nearest",
        "arbitration": arbitration, "memory": "sliding", "applications": [application("a"), application("b")],
        "nodes": nodes, "facts": [], "users": [],
        "policies": [{"name": "any", "memory": 0, "files": [["any.pl", "operation(undeploy, _, self)."]]}],
        "acceptances": [{"name": "owner", "memory": 0, "files": [["owner.pl", policy]]}],
    });
    let mut lines = vec![header.to_string()];
    lines.extend(first.iter().zip(1..).map(|(node, id)| format!("[\"deployed\",0,{id},0,{node},0]")));
    lines.extend(cycles.iter().zip(1..).map(|(outcomes, number)| format!("[\"cycle\",{},[{outcomes}]]", number * 100)));
    lines.join("\n") + "\n"
}

fn no(reason: &str) -> String {
    format!("\"inhibited\",{{\"node\":\"n1\",\"rule\":\"acceptance\",\"reason\":\"{reason}\"}}")
}

fn audited(arbitration: &str, policy: &str, first: &[usize], cycles: &[&str]) -> AuditReport {
    audit_text(&trace(arbitration, policy, first, cycles))
}

/// Checks that a cycle is correct, and that the auditor reports a finding of this kind if `lie` replaces `truth`.
fn check(arbitration: &str, first: &[usize], cycle: &str, truth: &str, lie: &str, kind: FindingKind) {
    assert_eq!(cycle.matches(truth).count(), 1, "{cycle}");
    let report = audited(arbitration, ONE_EACH, first, &[cycle]);
    assert!(report.is_clean(), "{cycle}\n{report}");
    assert!(report.counts.acceptances > 0, "{cycle}");
    let lie = cycle.replace(truth, lie);
    let report = audited(arbitration, ONE_EACH, first, &[&lie]);
    assert!(report.count(kind) > 0, "{lie}\n{report}");
}

#[test]
fn a_limit_holds_within_a_cycle() {
    let no = no("one_each");
    let migrated = format!("[1,\"migrate\",1,\"accepted\"],[2,\"migrate\",1,{no}]");
    let second = format!("[2,\"migrate\",1,{no}]");
    check("managers", &[0, 0], &migrated, &second, "[2,\"migrate\",1,\"accepted\"]", FindingKind::Verdict);
    let first = "[1,\"migrate\",1,\"accepted\"]";
    check("managers", &[0, 0], &migrated, first, &format!("[1,\"migrate\",1,{no}]"), FindingKind::Reason);
    let copied = format!("[1,\"replicate\",1,\"accepted\",3],[2,\"replicate\",1,{no}]");
    let second = format!("[2,\"replicate\",1,{no}]");
    check("managers", &[0, 0], &copied, &second, "[2,\"replicate\",1,\"accepted\",4]", FindingKind::Verdict);
    let moved = format!("[2,\"migrate\",1,\"accepted\",3],[1,\"migrate\",1,{no}]");
    let second = format!("[1,\"migrate\",1,{no}]");
    check("sequential", &[0, 0], &moved, &second, "[1,\"migrate\",1,\"accepted\",4]", FindingKind::Verdict);
}

#[test]
fn a_deploy_counts_before_agents() {
    let no = no("one_each");
    let deployed = format!("[null,\"deploy\",1,\"accepted\",2,0,0],[1,\"migrate\",1,{no}]");
    let second = format!("[1,\"migrate\",1,{no}]");
    check("managers", &[0], &deployed, &second, "[1,\"migrate\",1,\"accepted\"]", FindingKind::Verdict);
    check("sequential", &[0], &deployed, &second, "[1,\"migrate\",1,\"accepted\",3]", FindingKind::Verdict);
    let other = "[null,\"deploy\",1,\"accepted\",2,1,0],[1,\"migrate\",1,\"accepted\"]";
    assert!(audited("managers", ONE_EACH, &[0], &[other]).is_clean(), "another application is not counted");
}

#[test]
fn leaving_instances_are_visible_until_the_cycle_ends() {
    let no = no("one_each");
    let left = format!("[1,\"migrate\",0,\"accepted\"],[2,\"migrate\",1,{no}]");
    let second = format!("[2,\"migrate\",1,{no}]");
    check("managers", &[1, 0], &left, &second, "[2,\"migrate\",1,\"accepted\"]", FindingKind::Verdict);
    let next = "[2,\"migrate\",1,\"accepted\"]";
    assert!(audited("managers", ONE_EACH, &[1, 0], &[&left, next]).is_clean(), "there is room in the next cycle");
    let in_sequence = "[1,\"migrate\",0,\"accepted\",3],[2,\"migrate\",1,\"accepted\",4]";
    let came = "[2,\"migrate\",1,\"accepted\",4]";
    check("sequential", &[1, 0], in_sequence, came, &second, FindingKind::Reason);
}

#[test]
fn a_reservation_without_an_id_has_a_placeholder_name() {
    let no = |seen: &str| no(seen);
    let first = format!(
        "[null,\"deploy\",1,\"accepted\",4,0,0],[1,\"migrate\",1,\"accepted\"],[2,\"replicate\",1,\"accepted\",5],\
         [3,\"migrate\",1,{}]",
        no("[promised_1,1,promised_2]")
    );
    let second = format!("[3,\"migrate\",1,{}]", no("[4,1,5]"));
    let report = audited("managers", NAMES_THREE, &[0, 0, 0], &[&first, &second]);
    assert!(report.is_clean(), "{report}");
    let lie = first.replace("promised_2", "5");
    assert!(audited("managers", NAMES_THREE, &[0, 0, 0], &[&lie, &second]).count(FindingKind::Reason) == 1);
}

#[test]
fn the_initial_deployment_is_checked_against_acceptance_policies() {
    for arbitration in ["managers", "sequential"] {
        assert!(audited(arbitration, ONE_EACH, &[0, 0, 1, 2], &[]).is_clean());
        let report = audited(arbitration, ONE_EACH, &[0, 1, 1], &[]);
        let expected = "line 4, time 0, instance 3: verdict: expected the policy of node n1 says no: \
                        it does not accept it: one_each; found an instance of the initial deployment";
        assert_eq!(report.findings.iter().map(ToString::to_string).collect::<Vec<_>>(), [expected], "{arbitration}");
    }
    let names = "reject(_, Is) :- findall(I, serviceInstance(I, _, _), Is), Is = [_, _ | _].";
    let report = audited("managers", names, &[1, 1, 1], &[]);
    assert!(report.to_string().contains("[promised_1,promised_2]"), "{report}");
    let report = audited("sequential", names, &[1, 1, 1], &[]);
    assert!(report.to_string().contains("[1,2]"), "{report}");
}

#[test]
fn with_a_plan_acceptance_policies_are_not_checked_and_the_report_says_so() {
    let cycle = "[1,\"migrate\",1,\"accepted\"],[2,\"migrate\",1,\"accepted\"]";
    let report = audited("central", ONE_EACH, &[0, 0], &[cycle]);
    assert!(report.is_clean(), "{report}");
    assert!(report.unchecked.iter().any(|words| words.contains("their own policies")), "{report}");
}

#[test]
fn a_node_may_keep_an_instance_under_both_arbitrations() {
    let policy = "reject(request(undeploy, _, _, _, _), stay).";
    for arbitration in ["managers", "sequential"] {
        let kept = format!("[1,\"undeploy\",\"self\",{}]", no("stay"));
        let report = audited(arbitration, policy, &[1], &[&kept]);
        assert!(report.is_clean() && report.counts.acceptances == 2, "{arbitration}\n{report}");
        let report = audited(arbitration, policy, &[1], &["[1,\"undeploy\",\"accepted\"]"]);
        assert_eq!(report.count(FindingKind::Verdict), 1, "{arbitration}\n{report}");
    }
}

/// A trace at the level of detail `summary` does not record which nodes are absent at the start, so the neighbours that
/// a manager saw are unknown.
#[test]
fn a_trace_of_counts_does_not_check_the_initial_acceptance() {
    let crowded = "reject(request(_, _, _, _, To), crowded) :- node(To, _, [_ | _]).";
    let told = trace("managers", crowded, &[1], &[]);
    assert!(!audit_text(&told).is_clean());
    let counted = told.replace("\"detail\":\"operations\"", "\"detail\":\"summary\"");
    let report = audit_text(&counted);
    assert!(report.is_clean(), "{report}");
}
