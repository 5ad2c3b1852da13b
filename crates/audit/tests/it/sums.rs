//! Sums, outcomes and requests in a trace must be consistent with its header and its other records.

use mario_audit::{Finding, FindingKind, Options, audit};

const TRACE: &str = include_str!("../traces/small.jsonl");

/// The findings in the small trace with these replacements.
fn found(changes: &[(&str, &str)]) -> Vec<Finding> {
    let changed = changes.iter().fold(TRACE.to_owned(), |trace, (from, to)| {
        assert!(trace.contains(from), "{from} is in the trace");
        trace.replace(from, to)
    });
    audit(changed.as_bytes(), Options::default(), &mut |_| {}).expect("a trace").findings
}

/// The findings in the small trace with this routing and with these results of its clients: the number of lost
/// requests, and the sum and the histogram of the response times.
fn found_of_clients(lost: u64, sum: u64, histogram: &str, routing: &str) -> Vec<Finding> {
    found(&[
        (r#""routing":"nearest""#, &format!(r#""routing":"{routing}""#)),
        ("30,1,70,[[null,10],[7,20]]", &format!("30,{lost},{sum},{histogram}")),
        (r#"["client",1000,0,30,1,70]"#, &format!(r#"["client",1000,0,30,{lost},{sum}]"#)),
        (r#""lost":1"#, &format!(r#""lost":{lost}"#)),
    ])
}

#[test]
fn a_sum_is_within_the_bounds_of_its_bins_unless_a_mean_is_corrected() {
    let (late, mixed) = ("[[7,30]]", "[[null,10],[7,20]]");
    for (lost, sum, histogram, routing, expected) in [
        (0, 110, late, "nearest", None),
        (0, 90, late, "nearest", Some("at least 100.9")),
        (0, 130, late, "nearest", Some("at most 120")),
        (0, 90, mixed, "nearest", Some("at most 80")),
        // If traffic is simulated as rates, a negative correction is in the bin of 0: the bins are no lower bound.
        (0, 60, mixed, "nearest", None),
        // If requests are lost, a correction may be in no bin: the bins are no bound.
        (1, 90, mixed, "nearest", None),
        (1, 60, late, "nearest", None),
        (1, 90, late, "nearest", None),
        // With this routing, traffic is not simulated as rates, and nothing is corrected.
        (0, 60, mixed, "least-used", Some("at least 67")),
        (1, 90, mixed, "least-used", Some("at most 80")),
    ] {
        let found = found_of_clients(lost, sum, histogram, routing);
        let case = format!("{lost} lost, {sum} in sum, {histogram}, {routing}: {found:?}");
        match expected {
            None => assert!(found.is_empty(), "{case}"),
            Some(expected) => {
                assert!(found.len() == 1 && found[0].kind == FindingKind::Totals, "{case}");
                assert!(found[0].expected.contains(expected), "{case}");
            }
        }
    }
}

#[test]
fn an_application_without_an_instance_serves_nothing() {
    let idle =
        r#""kind":"WS","policy":0},{"id":"idle","hardware":1,"max_rate":10,"max_latency":5,"kind":"WS","policy":0}]"#;
    let served = "[[null,10],[7,20]]]\n[\"responses\",500,1,1,0,3.5,[[7,1]]]";
    let found = found(&[(r#""kind":"WS","policy":0}]"#, idle), ("[[null,10],[7,20]]]", served)]);
    assert!(found[0].expected.contains("never had an instance"), "{found:?}");
}

/// The small trace without evaluations, at the level of detail `operations`.
fn without_evaluations() -> String {
    let lines = TRACE.lines().filter(|line| !line.starts_with("[\"evaluation\""));
    lines.collect::<Vec<_>>().join("\n").replace(r#""detail":"full""#, r#""detail":"operations""#) + "\n"
}

#[test]
fn an_agent_is_not_judged_before_it_can_have_evaluated() {
    let truth = without_evaluations();
    let found = |trace: &str| audit(trace.as_bytes(), Options::default(), &mut |_| {}).expect("a trace").findings;
    assert_eq!(found(&truth), []);
    // The replica appeared at 400 and first evaluates at 600.
    let early = truth.replace(r#"["responses",500"#, "[\"cycle\",500,[[2,\"nop\"]]]\n[\"responses\",500");
    let found = found(&early);
    assert!(found[0].kind == FindingKind::Schedule && found[0].expected.contains("600"), "{found:?}");
}

#[test]
fn sequential_arbitration_has_no_target_self() {
    let truth = without_evaluations().replace(r#""arbitration":"managers""#, r#""arbitration":"sequential""#);
    let found = |target: &str| {
        let copy = format!(r#"[1,"replicate",{target},"accepted",2]"#);
        let trace = truth.replace(r#"[1,"replicate",2,"accepted",2]"#, &copy);
        audit(trace.as_bytes(), Options::default(), &mut |_| {}).expect("a trace").findings
    };
    assert_eq!(found("0"), []);
    assert!(found(r#""self""#)[0].kind == FindingKind::Target);
}

#[test]
fn requests_come_through_neighbours_with_nearest_routing() {
    let through = |neighbour: u32| format!(r#"["evaluation",600,2,2,0,[[{neighbour},5,0]],[],[]]"#);
    let of_own = r#"["evaluation",600,2,2,0,[["self",5,0]],[],[]]"#;
    assert_eq!(found(&[(of_own, &through(0))]), []);
    let found_with_nearest = found(&[(of_own, &through(1))]);
    assert!(found_with_nearest[0].kind == FindingKind::Requests, "{found_with_nearest:?}");
    let least_used = (r#""routing":"nearest""#, r#""routing":"least-used""#);
    assert_eq!(found(&[(of_own, &through(1)), least_used]), []);
}
