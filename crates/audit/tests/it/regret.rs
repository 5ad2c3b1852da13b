//! What a trace says about the best placement.

use mario_audit::{Finding, FindingKind, Options, audit};

const TRACE: &str = include_str!("../traces/small.jsonl");

/// What is found in a trace that has this record after its cycle at 400, when one user is connected and there are two instances.
fn found(record: &str) -> Vec<Finding> {
    let cycle = "[\"cycle\",400,[[1,\"replicate\",2,\"accepted\",2]]]\n";
    let trace = TRACE.replace("\"mario_trace\":1", "\"mario_trace\":2").replace(cycle, &format!("{cycle}{record}\n"));
    assert!(trace.contains(record), "it is in the trace");
    audit(trace.as_bytes(), Options::default(), &mut |_| {}).expect("a trace").findings
}

#[test]
fn what_is_true_is_not_complained_about() {
    assert_eq!(found(r#"["regret",400,"exact",1,[1,0,1,3000000,2],[1,1,1,0,1]]"#), []);
    assert_eq!(found(r#"["regret",400,"greedy",1,[1,1,1,0,2],[1,1,1,0,2]]"#), [], "as good as the best");
}

#[test]
fn what_cannot_be_is_found() {
    for (record, expected) in [
        (r#"["regret",400,"exact",2,[1,0,1,3000000,2],[1,1,1,0,1]]"#, "1 connected"),
        (r#"["regret",400,"exact",1,[1,0,1,3000000,3],[1,1,1,0,1]]"#, "2 instances"),
        (r#"["regret",400,"exact",1,[1,1,1,0,2],[1,0,1,0,1]]"#, "one that is worth no less than the placement itself"),
        (r#"["regret",400,"exact",1,[1,0,1,1,2],[1,0,1,2,2]]"#, "one that is worth no less than the placement itself"),
        (r#"["regret",400,"exact",1,[1,0,1,0,2],[1,2,1,0,1]]"#, "at most 1 users served"),
        (r#"["regret",400,"exact",1,[1,0,1,0,2],[7,1,1,0,1]]"#, "at most"),
    ] {
        let found = found(record);
        let first = found.first().unwrap_or_else(|| panic!("{record} is taken for true"));
        assert!(first.kind == FindingKind::Regret && first.expected.contains(expected), "{record}: {first}");
    }
}

#[test]
fn a_record_of_another_shape_is_none() {
    for record in [
        r#"["regret",400,"best",1,[1,0,1,0,2],[1,0,1,0,2]]"#,
        r#"["regret",400,"exact",1,[1,0,1,0],[1,0,1,0,2]]"#,
        r#"["regret",400,"exact",1,[1,0,1,0,-2],[1,0,1,0,2]]"#,
        r#"["regret",400,"exact",1,[1,0,1,0,2]]"#,
    ] {
        let trace = format!("{}\n{record}\n", TRACE.lines().next().expect("a header"));
        let error = audit(trace.as_bytes(), Options::default(), &mut |_| {}).expect_err(record);
        assert!(error.to_string().starts_with("line 2 is no record"), "{error}");
    }
}
