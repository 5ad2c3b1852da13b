//! Recorded comparisons with the best placement.

use mario_audit::{Finding, FindingKind, Options, audit};

const TRACE: &str = include_str!("../traces/small.jsonl");

/// The findings in the small trace with this record after its cycle at 400, when one user is connected and there are
/// two instances. The other cycles have correct comparisons; at 200 and 600 the value of the best placement is `best`.
fn found(record: &str, best: &str) -> Vec<Finding> {
    found_in(TRACE, record, best)
}

/// Like [`found`], for a variant of the small trace.
fn found_in(trace: &str, record: &str, best: &str) -> Vec<Finding> {
    let search = if record.contains("greedy") { "greedy" } else { "exact" };
    let mut trace = trace.replace("\"mario_trace\":1", "\"mario_trace\":2");
    let others = [(200, "[1,0,1,9000000,1]", best), (600, "[1,1,1,0,2]", best), (800, "[1,1,1,0,1]", "[1,1,1,0,1]")];
    let others =
        others.map(|(time, actual, best)| (time, format!("[\"regret\",{time},\"{search}\",1,{actual},{best}]")));
    for (time, record) in others.into_iter().chain([(400, record.to_owned())]) {
        let cycle =
            trace.lines().find(|line| line.starts_with(&format!("[\"cycle\",{time},"))).expect("a cycle").to_owned();
        trace = trace.replace(&cycle, &format!("{cycle}\n{record}"));
    }
    audit(trace.as_bytes(), Options::default(), &mut |_| {}).expect("a trace").findings
}

const BEST: &str = "[1,1,1,0,1]";

#[test]
fn correct_comparisons_have_no_findings() {
    assert_eq!(found(r#"["regret",400,"exact",1,[1,0,1,3000000,2],[1,1,1,0,1]]"#, BEST), []);
    let as_good = "[1,1,1,0,2]";
    assert_eq!(found(r#"["regret",400,"greedy",1,[1,1,1,0,2],[1,1,1,0,2]]"#, as_good), [], "as good as the best");
}

#[test]
fn contradictory_comparisons_are_found() {
    for (record, expected) in [
        (r#"["regret",400,"exact",2,[1,0,1,3000000,2],[1,1,1,0,1]]"#, "1 connected"),
        (r#"["regret",400,"exact",1,[1,0,1,3000000,3],[1,1,1,0,1]]"#, "2 instances"),
        (r#"["regret",400,"exact",1,[1,1,1,0,2],[1,0,1,0,1]]"#, "a value no lower than that of the placement itself"),
        (r#"["regret",400,"exact",1,[1,0,1,1,2],[1,0,1,2,2]]"#, "a value no lower than that of the placement itself"),
        (r#"["regret",400,"exact",1,[1,0,1,0,2],[1,2,1,0,1]]"#, "at most 1 users served"),
        (r#"["regret",400,"exact",1,[1,0,1,0,2],[7,1,1,0,1]]"#, "at most"),
        (r#"["regret",400,"exact",1,[0,0,1,0,2],[1,1,1,0,1]]"#, "1 applications"),
        (r#"["regret",400,"exact",1,[1,0,0,0,2],[1,1,1,0,1]]"#, "1 users served"),
        (r#"["regret",401,"exact",1,[1,0,1,0,2],[1,1,1,0,1]]"#, "a comparison at 400"),
        (r#"["regret",400,"exact",1,[1,0,1,0,2],[1,1,1,0,0]]"#, "an instance of each application present"),
        (r#"["regret",400,"exact",1,[1,0,1,0,2],[1,1,1,7,1]]"#, "since neither users nor infrastructure changed"),
        (r#"["responses",500,0,0,0,0,[]]"#, "a comparison after every cycle"),
    ] {
        let found = found(record, BEST);
        let first = found.first().unwrap_or_else(|| panic!("{record} is taken for true"));
        assert!(first.kind == FindingKind::Regret && first.expected.contains(expected), "{record}: {first}");
    }
}

#[test]
fn the_best_placement_must_fit_on_the_nodes() {
    let is_said = |trace: &str, best: &str, words: &str| {
        let record = format!(r#"["regret",400,"exact",1,[1,0,1,3000000,2],{best}]"#);
        found_in(trace, &record, BEST).iter().any(|finding| finding.expected.contains(words))
    };
    // Three nodes of 5, 2 and 1 units: none is unbounded.
    let bounded = TRACE.replacen("\"unbounded\"", "5", 1).replace("\"unbounded\"", "4");
    assert!(!is_said(&bounded, "[1,1,1,0,8]", "at most 8 instances"));
    assert!(is_said(&bounded, "[1,1,1,0,9]", "at most 8 instances"));
    // An application that fits on no node, with a user who cannot be served.
    let large = r#""policy":0},{"id":"large","hardware":9,"max_rate":10,"max_latency":5,"kind":"WS","policy":0}]"#;
    let with_large = bounded
        .replace(r#""policy":0}]"#, large)
        .replace(r#"[{"id":1,"application":0}]"#, r#"[{"id":1,"application":0},{"id":2,"application":1}]"#)
        .replace("[\"handover\",0,0,null,2]", "[\"handover\",0,0,null,2]\n[\"handover\",0,1,null,2]");
    for (best, expected) in
        [("[2,1,1,0,3]", "at most 1 applications present"), ("[1,1,2,0,3]", "at most 1 users served")]
    {
        assert!(is_said(&with_large, best, expected), "{best}");
        assert!(!is_said(&with_large, BEST, expected), "{best}");
    }
}

#[test]
fn a_malformed_comparison_is_rejected() {
    for record in [
        r#"["regret",400,"best",1,[1,0,1,0,2],[1,0,1,0,2]]"#,
        r#"["regret",400,"exact",1,[1,0,1,0],[1,0,1,0,2]]"#,
        r#"["regret",400,"exact",1,[1,0,1,0,-2],[1,0,1,0,2]]"#,
        r#"["regret",400,"exact",1,[1,0,1,0,2]]"#,
    ] {
        let trace = format!("{}\n{record}\n", TRACE.lines().next().expect("a header"));
        let error = audit(trace.as_bytes(), Options::default(), &mut |_| {}).expect_err(record);
        assert!(error.to_string().starts_with("line 2 is not a record"), "{error}");
    }
}
