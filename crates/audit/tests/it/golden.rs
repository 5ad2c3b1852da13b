//! Handwritten traces, and the exact reports on them.

use crate::trace::audit_text;

/// A cloud, a node with room for two instances, and an access point with room for one, whose owner accepts no
/// migrations. A user arrives at the access point. The instance in the cloud may not migrate, so it replicates, and
/// undeploys itself when it has no requests. An operator deploys an instance on the second node, which then leaves.
pub const SMALL: &str = include_str!("../traces/small.jsonl");

/// The header of the small trace.
pub fn header() -> &'static str {
    SMALL.lines().next().expect("a header")
}

#[test]
fn the_small_trace_is_correct_and_its_report_fits_one_screen() {
    let expected = "\
three nodes, seed 7, 3 nodes, by by hand
  records                    17 (complete)
  evaluations                5
  decisions recomputed       5 (4 computed)
  cycles                     4
  operations accepted        3 (deploy 1, replicate 1, undeploy 1)
  outside the neighbourhood  0
  operations inhibited       2 (acceptance 1, down 1)
  acceptances recomputed     2
  agents without a proposal  2
  handovers                  1
  context changes            2
  client requests            30 served, 1 lost
  instances                  1 at the end, at most 2
checked: values that the trace records more than once, and decisions recomputed from the facts that agents saw
taken as recorded: names, kinds and positions, the seed and the program, and texts that no decision depends on
taken as recorded: the paths of client requests: through which neighbour, with which latency, and when they were served or lost
taken as recorded: the access points of users, and the times of events of users, nodes, links and managers, within the bounds of other times
nothing is wrong
";
    assert_eq!(audit_text(SMALL).to_string(), expected);
}

#[test]
fn a_finding_states_place_subject_found_and_expected_content() {
    for (from, to, expected) in [
        (
            "[[\"self\",5,0]],[],[]]",
            "[[\"self\",50,0]],[],[]]",
            "line 10, time 600, instance 2: decision: expected replicate self (clause 2); found no solution",
        ),
        (
            "[2,\"nop\"],[null,\"deploy\",1,\"accepted\",3,0,0]",
            "[2,\"nop\"],[null,\"deploy\",2,\"accepted\",3,0,0]",
            "line 11, time 600, the operator: capacity: expected room for 1; found 0 free on node n2",
        ),
        (
            "[1,\"replicate\",2,\"accepted\",2]",
            "[1,\"replicate\",1,\"accepted\",2]",
            "line 7, time 400, instance 1: proposal: expected replicate n2; found replicate n1",
        ),
        (
            "\"reason\":\"locals only\"",
            "\"reason\":\"full\"",
            "line 5, time 200, instance 1: reason: expected the policy of node n2 says no: it does not accept it: locals only; \
             found no: it does not accept it: full",
        ),
        (
            "[[2,20,3]],[[\"migrate\",2]],[[\"replicate\",2,2]]",
            "[[2,20,3]],[],[[\"migrate\",2,1],[\"replicate\",2,2]]",
            "line 6, time 400, instance 1: memory: expected it remembers migrate n2; found it remembers nothing",
        ),
        (
            "\"rule\":\"down\"",
            "\"rule\":\"leaving\"",
            "line 15, time 800, the operator: reason: expected node n1 is down; found inhibited: node n1: it is about to leave",
        ),
        (
            "\"leave\",[3]",
            "\"leave\",[]",
            "line 13, time 700, instance 3: instance: expected it is lost with node n1; found it is not listed",
        ),
        ("\"lost\":1", "\"lost\":2", "line 18, time 1000, lost: totals: expected 1; found 2"),
    ] {
        assert_eq!(SMALL.matches(from).count(), 1, "{from}");
        let report = audit_text(&SMALL.replace(from, to));
        assert_eq!(report.findings.first().map(ToString::to_string).as_deref(), Some(expected), "{report}");
    }
}

#[test]
fn a_report_is_json_for_programs() {
    let report = audit_text(&SMALL.replace("\"lost\":1", "\"lost\":2"));
    let json = serde_json::to_value(&report).expect("plain data");
    assert_eq!(json["found"], serde_json::json!({"totals": 1}));
    let finding = serde_json::json!({
        "kind": "totals", "line": 18, "time": 1000.0, "who": "lost", "expected": "1", "found": "2",
    });
    assert_eq!(json["findings"], serde_json::json!([finding]));
    assert_eq!(json["ending"], "complete");
    assert_eq!(json["counts"]["inhibited"], serde_json::json!({"acceptance": 1, "down": 1}));
}

#[test]
fn keeps_findings_up_to_the_limit_and_counts_all() {
    use mario_audit::{Options, audit};
    let text = SMALL.replace("[2,\"nop\"]", "[99,\"nop\"]");
    let report = audit(text.as_bytes(), Options { limit: 1, ..Options::default() }, &mut |_| ()).expect("a trace");
    assert_eq!((report.findings.len(), report.total()), (1, 4));
    assert!(report.to_string().contains("\nand 3 more\n"), "{report}");
}

#[test]
fn the_page_lists_every_kind_of_finding() {
    let page = include_str!("../../../../docs/auditing.md");
    for kind in mario_audit::FindingKind::ALL {
        let row = format!("| `{kind}` | {} |\n", kind.meaning());
        assert!(page.contains(&row), "docs/auditing.md has no row\n{row}");
    }
}
