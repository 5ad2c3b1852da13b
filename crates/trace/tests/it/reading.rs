//! Traces are read and applied; malformed ones are rejected with the place and the reason.

use std::sync::Arc;

use mario_trace::reader::{ReadError, TraceReader, TraceRecord};
use mario_trace::{Change, State};

/// Two nodes, an application with a flavour, and a user.
const HEADER: &str = r#"{"mario_trace":8,"program":"by hand","scenario":"two nodes","seed":7,"duration":1000,"step":500,"evaluation_period":200,"detail":"full","observation":"arrivals","routing":"nearest","arbitration":"managers","memory":"sliding","applications":[{"id":"web","hardware":2,"max_rate":5,"max_latency":9,"kind":"all","policy":0,"flavours":[{"flavour":"large","hardware":2,"max_rate":5,"max_latency":9,"quality":2},{"flavour":"lite","hardware":1,"max_rate":3,"max_latency":9,"quality":1}]}],"nodes":[{"id":"n0","capacity":4,"neighbours":[1]},{"id":"n1","capacity":4,"neighbours":[0]}],"policies":[{"name":"p","files":[["p.pl","operation(undeploy, _, _) :- fail."]]}],"users":[{"id":1,"application":0}]}"#;

fn records(records: &[&str]) -> Result<Vec<TraceRecord>, ReadError> {
    let text = format!("{HEADER}\n{}\n", records.join("\n"));
    let mut reader = TraceReader::new(text.as_bytes())?;
    let mut read = Vec::new();
    while let Some(record) = reader.next_record()? {
        read.push(record);
    }
    Ok(read)
}

/// The changes that the records bring, as text, and the state after them.
fn applied(lines: &[&str]) -> (Vec<String>, State) {
    let header = Arc::clone(TraceReader::new(format!("{HEADER}\n").as_bytes()).expect("a header").header());
    let mut state = State::new(header);
    let mut changes = Vec::new();
    for record in records(lines).expect("valid records") {
        state.apply(&record, &mut |_, change: Change<'_>| {
            let text = format!("{change:?}");
            changes.push(text.split([' ', '{']).next().unwrap_or_default().to_owned());
        });
    }
    (changes, state)
}

#[test]
fn a_malformed_record_is_rejected_with_its_line_and_the_reason() {
    for (record, message) in [
        ("", "EOF while parsing a value"),
        ("7", "invalid type: integer `7`, expected a record, an array, at byte 1"),
        ("[]", "it ends before its kind, at byte 2"),
        ("[\"party\",0]", "unknown variant `party`, expected one of `deployed`"),
        ("[\"node-up\",0]", "invalid length 1, expected time, node, at byte 13"),
        ("[\"node-up\",0,1,2]", "trailing characters, at byte 16"),
        ("[\"node-up\",0,2]", "it names the node 2, and the header has 2 nodes"),
        ("[\"deployed\",0,1,1,0,0]", "it names the application 1, and the header has 1 applications"),
        ("[\"handover\",0,2,null,1]", "it names the user 2, and the header has 1 users"),
        (
            "[\"evaluation\",0,1,0,1,\"some\"]",
            "invalid value: string \"some\", expected a list of requests, or \"same\"",
        ),
        ("[\"evaluation\",0,1,0,1,\"same\",[]]", "trailing characters"),
        ("[\"evaluation\",0,1,0,1,[[0,-1,1]],[],[]]", "a rate or latency is not negative"),
        ("[\"evaluation\",0,1,0,1,[],[],[[\"migrate\",1]]]", "it ends before its clause"),
        ("[\"cycle\",0,[[null,\"nop\"]]]", "operators deploy and do nothing else"),
        ("[\"cycle\",0,[[1,\"deploy\",0,\"accepted\",2,0,0]]]", "agents do not deploy"),
        ("[\"cycle\",0,[[1,\"adapt\",1,\"accepted\"]]]", "the target of an adapt is a flavour"),
        ("[\"cycle\",0,[[1,\"migrate\",1,\"inhibited\",{\"node\":1,\"rule\":\"taste\"}]]]", "unknown variant `taste`"),
        (
            "[\"cycle\",0,[[1,\"migrate\",1,\"inhibited\",{\"node\":1,\"rule\":\"capacity\"}]]]",
            "missing field `needed`",
        ),
        ("[\"end\",0,{}]", "missing field `evaluations`"),
    ] {
        let error = records(&[record]).expect_err(record).to_string();
        let expected = format!("line 2 is not a record: {message}");
        assert!(error.starts_with(&expected), "{record}\n{error}\n{expected}");
    }
}

#[test]
fn a_file_that_is_not_a_trace_or_has_a_newer_format_is_rejected() {
    let refusal = |text: &str| TraceReader::new(text.as_bytes()).map(|_| ()).expect_err(text).to_string();
    for text in ["", "\n", "time,undeploy\n", "{}\n", "{\"mario_trace\":\"1\"}\n"] {
        assert_eq!(refusal(text), "this is not a trace: its first line is not a header", "{text:?}");
    }
    assert_eq!(refusal("{\"mario_trace\":9,\"nodes\":7}\n"), "this trace has format 9; this mario reads 1 to 8");
    assert_eq!(refusal("{\"mario_trace\":1"), "line 1 is not a header of a trace: it is cut off");
    let lost = HEADER.replace("\"neighbours\":[0]", "\"neighbours\":[9]") + "\n";
    assert_eq!(refusal(&lost), "line 1 is not a header of a trace: node n1 has the neighbour 9, and there are 2 nodes");
}

#[test]
fn a_truncated_last_line_is_not_a_record() {
    let text = format!("{HEADER}\n[\"node-down\",0,1,\"crash\",[]]\n[\"node-");
    let mut reader = TraceReader::new(text.as_bytes()).expect("a header");
    assert!(matches!(reader.next_record(), Ok(Some(TraceRecord::NodeDown(_)))));
    assert!(matches!(reader.next_record(), Ok(None)));
    assert!(reader.is_interrupted());
}

#[test]
fn a_replica_runs_like_its_parent_and_a_renamed_instance_keeps_its_body() {
    let (changes, state) = applied(&[
        r#"["deployed",0,1,0,0,0]"#,
        r#"["cycle",100,[[1,"adapt",{"flavour":"lite"},"accepted"]]]"#,
        r#"["cycle",200,[[1,"sleep","accepted"],[null,"deploy",1,"accepted",7,0,0]]]"#,
        r#"["cycle",300,[[1,"replicate",1,"accepted",2],[7,"undeploy","accepted"]]]"#,
        r#"["cycle",400,[[1,"migrate",1,"accepted",3],[2,"migrate",0,"accepted"]]]"#,
    ]);
    let expected = "Appeared Accepted Adapted Accepted Slept Appeared Accepted Appeared Accepted Left Accepted Moved Accepted Moved";
    assert_eq!(changes.join(" "), expected);
    let existing: Vec<_> = state.existing().map(|(_, one)| (one.id.to_string(), one.node, one.body)).collect();
    let [(two, Some(0), replica), (three, Some(1), renamed)] = &existing[..] else { panic!("{existing:?}") };
    assert_eq!((two.as_str(), three.as_str()), ("2", "3"));
    assert_eq!(replica, renamed);
    assert_eq!((renamed.flavour, renamed.is_asleep), (1, true));
}

#[test]
fn records_of_unknown_instances_change_nothing() {
    let (changes, state) = applied(&[
        r#"["cycle",100,[[1,"undeploy","accepted"],[2,"nop"],[3,"replicate",1,"accepted",4]]]"#,
        r#"["node-down",200,1,"crash",[9]]"#,
        r#"["woken",300,5,"accepted"]"#,
        r#"["owner",400,0,[["evicted",6,"room"]]]"#,
    ]);
    assert_eq!(changes, ["NodeDown"]);
    assert_eq!(state.instances(), []);
    assert_eq!(state.unreached(0), [1]);
}

#[test]
fn an_instance_of_a_live_node_is_as_its_records_say() {
    let owned = |instance: u32, rest: &str| {
        format!(
            r#"["live",10,0,1,{{"own":{{"instance":{instance},"epoch":1,"application":0,"needed":1,"workload":"1.1"{rest},"cause":"deployed"}}}}]"#
        )
    };
    let (changes, state) = applied(&[
        &owned(1, r#","flavour":1,"is_anchor":true"#),
        r#"["cycle",10,[[null,"deploy",0,"accepted",1,0,0]]]"#,
        r#"["live",20,0,2,{"slept":{"instance":1}}]"#,
        r#"["live",30,0,3,{"woke":{"instance":1}}]"#,
        r#"["live",40,0,4,{"anchored":{"instance":1,"is_anchor":false}}]"#,
        r#"["live",50,0,5,{"adapted":{"instance":1,"flavour":1}}]"#,
        r#"["live",60,0,6,{"drained":{"is_draining":true}}]"#,
    ]);
    assert_eq!(changes.join(" "), "Appeared Adapted Anchored Slept Woke Anchored Draining");
    let (_, instance) = state.existing().next().expect("an instance");
    assert_eq!((instance.body.flavour, instance.body.is_asleep, instance.body.is_anchor), (1, false, false));
}
