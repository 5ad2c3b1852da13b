//! Service graphs: a handwritten trace, and variants of it with one lie each.

use mario_audit::{Finding, FindingKind, Options, audit};

/// Application 0 has a user. For each request it calls 1 twice in sequence, then 1 once and 2 three times in parallel.
/// Applications 1 and 2 have no users.
const HEADER: &str = r#"{"mario_trace":7,"program":"by hand","scenario":"calls","seed":1,"duration":400,"step":400,"evaluation_period":200,
"detail":"full","observation":"arrivals","routing":"nearest","arbitration":"managers","memory":"sliding","applications":[
{"id":"front","hardware":1,"max_rate":5,"max_latency":10,"kind":"any","policy":0},
{"id":"middle","hardware":1,"max_rate":5,"max_latency":10,"kind":"any","policy":0},
{"id":"back","hardware":1,"max_rate":5,"max_latency":10,"kind":"any","policy":0}],
"calls":[{"caller":0,"stage":0,"order":"sequence","application":1,"requests":2},
{"caller":0,"stage":1,"order":"parallel","application":1,"requests":1},
{"caller":0,"stage":1,"order":"parallel","application":2,"requests":3}],"traffic":"messages",
"nodes":[{"id":"n","capacity":9,"tier":0,"neighbours":[],"access_point":true}],"facts":[],
"policies":[{"name":"still","memory":0,"files":[["still.pl","operation(undeploy, _, _) :- fail.\n"]]}],"acceptances":[],
"users":[{"id":"u","application":0}]}"#;

/// Four requests, the last of which is in transit when the run ends. Each of the others took 8: 1 for itself, twice 2
/// for the sequential calls, and 3 for the slowest parallel call.
const RECORDS: &str = r#"["deployed",0,1,0,0,0]
["deployed",0,2,1,0,0]
["deployed",0,3,2,0,0]
["handover",0,0,null,0]
["evaluation",300,1,0,6,[["self",3,0]],[],[]]
["evaluation",300,2,0,6,[["self",9,0]],[],[]]
["evaluation",300,3,0,6,[["self",9,0]],[],[]]
["cycle",300,[[1,"nop"],[2,"nop"],[3,"nop"]]]
["responses",400,0,3,0,24,[[12,3]]]
["responses",400,1,10,0,20,[[4,10]]]
["responses",400,2,9,0,27,[[6,9]]]
["calls",400,0,8,7,0,14]
["calls",400,1,3,3,0,6]
["calls",400,2,9,9,0,27]
["usage",400,0,1,0.6]
["usage",400,1,1,1.8]
["usage",400,2,1,1.8]
["client",400,0,3,0,24]
["end",400,{"evaluations":3,"operations":0,"inhibited":0,"handovers":1,"served":22,"lost":0,"instances":3}]
"#;

fn found(header: &str, records: &str) -> Vec<Finding> {
    let text = format!("{}\n{records}", header.replace('\n', ""));
    audit(text.as_bytes(), Options::default(), &mut |_| {}).expect("a trace").findings
}

#[test]
fn a_correct_trace_with_calls_has_no_findings() {
    assert_eq!(found(HEADER, RECORDS), []);
}

#[test]
fn every_rule_about_calls_detects_a_lie() {
    for (from, to, expected) in [
        // No more requests of a call are served or lost than were sent.
        ("[\"calls\",400,0,8,7,0,14]", "[\"calls\",400,0,8,7,2,14]", "at most 8 requests served or lost"),
        // A request is served only after all its calls.
        ("[\"calls\",400,0,8,7,0,14]", "[\"calls\",400,0,6,5,0,14]", "at most 2 requests served"),
        // Parallel requests are sent together.
        ("[\"calls\",400,2,9,9,0,27]", "[\"calls\",400,2,10,9,0,27]", "a multiple of 3 requests"),
        // The two calls of a stage start together.
        (
            "[\"calls\",400,2,9,9,0,27]",
            "[\"calls\",400,2,12,9,0,27]",
            "calls of one stage that started equally often: 3 times",
        ),
        // A stage starts when the previous one has been answered.
        (
            "[\"calls\",400,1,3,3,0,6]\n[\"calls\",400,2,9,",
            "[\"calls\",400,1,4,3,0,6]\n[\"calls\",400,2,12,",
            "a next stage that started at most 3 times",
        ),
        // Sums must equal the sums of the records `responses`.
        ("[\"calls\",400,1,3,3,0,6]", "[\"calls\",400,1,3,3,0,7]", "clients whose response times add up to 20"),
        ("[\"calls\",400,0,8,7,0,14]", "[\"calls\",400,0,8,6,1,14]", "clients with 10 requests served and 0 lost"),
        // A request is served only after all its calls, including those of the last stage.
        ("[\"calls\",400,2,9,9,0,27]", "[\"calls\",400,2,9,8,0,24]", "at most 2 requests served"),
        // The agents of an application that is only called see no more requests than were sent to it.
        ("300,3,0,6,[[\"self\",9,0]]", "300,3,0,6,[[\"self\",10,0]]", "agents that saw at most the 9 requests"),
        // Each call has one record, in order, at the end, with a possible sum of response times.
        ("[\"calls\",400,1,3,3,0,6]\n", "", "the record `calls` of index 1"),
        ("[\"calls\",400,2,9,9,0,27]\n", "", "3 records `calls`, as the header says"),
        ("[\"calls\",400,2,", "[\"calls\",399,2,", "totals of the whole run, at 400"),
        ("0,8,7,0,14]", "0,8,7,0,-14]", "response times that 7 requests can have"),
    ] {
        assert!(RECORDS.contains(from), "{from}");
        let findings = found(HEADER, &RECORDS.replacen(from, to, 1));
        assert!(findings.iter().any(|finding| finding.expected.contains(expected)), "{to}: {findings:?}");
    }
}

#[test]
fn served_requests_take_at_least_as_long_as_their_calls() {
    // Nothing is in transit: the fourth request was not sent.
    let whole = RECORDS
        .replacen("[\"calls\",400,0,8,7,0,14]", "[\"calls\",400,0,6,6,0,12]", 1)
        .replacen("[\"responses\",400,1,10,0,20,[[4,10]]]", "[\"responses\",400,1,9,0,18,[[4,9]]]", 1)
        .replacen("\"served\":22", "\"served\":21", 1);
    assert_eq!(found(HEADER, &whole), []);
    let fast = whole
        .replacen("[\"responses\",400,0,3,0,24,[[12,3]]]", "[\"responses\",400,0,3,0,20,[[10,3]]]", 1)
        .replacen("[\"client\",400,0,3,0,24]", "[\"client\",400,0,3,0,20]", 1);
    let findings = found(HEADER, &fast);
    assert!(findings.iter().all(|finding| finding.kind == FindingKind::Calls), "{findings:?}");
    // Three client requests of at least 7 each: twice 2 for the sequential calls, and 3 for the parallel ones.
    assert!(findings.iter().any(|finding| finding.expected.contains("at least 21 in total")), "{findings:?}");
}

#[test]
fn an_invalid_call_graph_is_found_in_the_header() {
    for (from, to, expected) in [
        ("\"mario_trace\":7", "\"mario_trace\":3", "no calls"),
        (",\"traffic\":\"messages\"", "", "`traffic` if and only if there are calls"),
        ("\"application\":2,\"requests\":3", "\"application\":0,\"requests\":3", "no application that calls itself"),
        ("\"requests\":3", "\"requests\":0", "at least one request"),
        ("\"stage\":0", "\"stage\":1", "calls in the order of applications and stages"),
        ("\"order\":\"parallel\"", "\"order\":\"sequence\"", "only one in a sequential stage"),
        ("\"routing\":\"nearest\"", "\"routing\":\"least-used\"", "the routing `nearest`"),
    ] {
        assert!(HEADER.contains(from), "{from}");
        let findings = found(&HEADER.replacen(from, to, 1), RECORDS);
        assert!(findings.iter().any(|finding| finding.expected.contains(expected)), "{to}: {findings:?}");
    }
    let lost = HEADER.replacen("\"application\":2,\"requests\"", "\"application\":9,\"requests\"", 1).replace('\n', "");
    let refused = audit(format!("{lost}\n{RECORDS}").as_bytes(), Options::default(), &mut |_| {});
    assert!(refused.is_err(), "an unknown application");
}
