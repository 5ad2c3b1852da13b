//! Traces written by hand, and the reports on them to the letter.

use crate::trace::audit_text;

/// A cloud, a node with room for two, and an access point with room for one whose owner takes no migrants.
pub const HEADER: &str = concat!(
    r#"{"mario_trace":1,"program":"by hand","scenario":"three nodes","seed":7,"duration":1000,"step":500,"#,
    r#""evaluation_period":200,"detail":"full","observation":"arrivals","routing":"nearest","arbitration":"managers","#,
    r#""memory":"sliding","applications":[{"id":"web","hardware":1,"max_rate":10,"max_latency":5,"kind":"WS","policy":0}],"#,
    r#""nodes":[{"id":"n0","capacity":"unbounded","tier":0,"neighbours":[1,2]},"#,
    r#"{"id":"n1","capacity":2,"tier":1,"neighbours":[0]},"#,
    r#"{"id":"n2","capacity":1,"tier":1,"neighbours":[0],"access_point":true,"acceptance":0}],"facts":[],"#,
    r#""policies":[{"name":"follow","memory":2,"files":[["policy.pl","#,
    r#""operation(undeploy, I, self) :- \\+ requests(I, _, _, _).\n"#,
    r#"operation(migrate, I, M) :- requests(I, M, R, _), M \\== self, R > 10, \\+ inhibited(migrate, I, M).\n"#,
    r#"operation(replicate, I, M) :- requests(I, M, R, _), R > 10."]]}],"#,
    r#""acceptances":[{"name":"locals","memory":0,"files":[["locals.pl","reject(request(migrate, _, _, _, n2), 'locals only')."]]}],"#,
    r#""users":[{"id":1,"application":0}]}"#
);

/// The user comes to n2; the instance may not follow, sends a replica, and goes when nobody needs it.
const RECORDS: &str = r#"["deployed",0,1,0,0,0]
["handover",0,0,null,2]
["evaluation",200,1,0,"unbounded",[[2,20,3]],[],[["migrate",2,1],["replicate",2,2]]]
["cycle",200,[[1,"migrate",2,"inhibited",{"node":"n2","rule":"acceptance","reason":"locals only"}]]]
["evaluation",400,1,0,"unbounded",[[2,20,3]],[["migrate",2]],[["replicate",2,2]]]
["cycle",400,[[1,"replicate",2,"accepted",2]]]
["responses",500,0,30,1,60.5,[[null,10],[7,20]]]
["evaluation",600,1,0,"unbounded",[],[["migrate",2]],[["undeploy","self",0]]]
["evaluation",600,2,2,0,[["self",5,0]],[],[]]
["cycle",600,[[1,"undeploy","accepted"],[2,"nop"],[null,"deploy",1,"accepted",3,0,0]]]
["node-leaving",650,1]
["node-down",700,1,"leave",[3]]
["evaluation",800,2,2,0,"same"]
["cycle",800,[[2,"nop"],[null,"deploy",1,"inhibited",{"node":"n1","rule":"down"},0]]]
["end",1000,{"evaluations":5,"operations":3,"inhibited":2,"handovers":1,"served":30,"lost":1,"instances":1}]
"#;

fn trace() -> String {
    format!("{HEADER}\n{RECORDS}")
}

#[test]
fn a_small_story_is_true_and_told_on_one_screen() {
    let expected = "\
three nodes, seed 7, 3 nodes, by by hand
  records                    15 (complete)
  evaluations                5
  decisions made again       5 (4 distinct)
  cycles                     4
  operations accepted        3 (deploy 1, replicate 1, undeploy 1)
  outside the neighbourhood  0
  operations inhibited       2 (acceptance 1, down 1)
  acceptances judged again   2
  agents without a proposal  2
  handovers                  1
  context changes            2
  client requests            30 served, 1 lost
  instances                  1 at the end, at most 2
nothing is wrong
";
    assert_eq!(audit_text(&trace()).to_string(), expected);
}

#[test]
fn a_finding_says_where_who_what_and_what_instead() {
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
            "line 13, time 700, instance 3: instance: expected it goes with node n1; found it is not listed",
        ),
        ("\"lost\":1", "\"lost\":2", "line 16, time 1000, lost: totals: expected 1; found 2"),
    ] {
        let text = trace();
        assert_eq!(text.matches(from).count(), 1, "{from}");
        let report = audit_text(&text.replace(from, to));
        assert_eq!(report.findings.first().map(ToString::to_string).as_deref(), Some(expected), "{report}");
    }
}

#[test]
fn a_report_is_json_for_programs() {
    let report = audit_text(&trace().replace("\"lost\":1", "\"lost\":2"));
    let json = serde_json::to_value(&report).expect("plain data");
    assert_eq!(json["found"], serde_json::json!({"totals": 1}));
    let finding = serde_json::json!({
        "kind": "totals", "line": 16, "time": 1000.0, "who": "lost", "expected": "1", "found": "2",
    });
    assert_eq!(json["findings"], serde_json::json!([finding]));
    assert_eq!(json["ending"], "complete");
    assert_eq!(json["counts"]["inhibited"], serde_json::json!({"acceptance": 1, "down": 1}));
}

#[test]
fn keeps_as_many_findings_as_wanted_and_counts_all() {
    use mario_audit::{Options, audit};
    let text = trace().replace("[2,\"nop\"]", "[99,\"nop\"]");
    let report = audit(text.as_bytes(), Options { limit: 1, ..Options::default() }, &mut |_| ()).expect("a trace");
    assert_eq!((report.findings.len(), report.total()), (1, 4));
    assert!(report.to_string().contains("\nand 3 more\n"), "{report}");
}
