//! Malformed traces are rejected with the position and the reason; random changes cause no panic.

use std::io::{self, BufRead, BufReader, Read};

use mario_audit::reader::{Arbitration, Cause, Memory, Outcome, ReadError, Target, TraceReader, TraceRecord, Verdict};
use mario_audit::{DecisionCheck, Options, audit};
use mario_testing::Random;

use crate::golden::header;
use crate::trace::audit_text;
use crate::world::{Rules, generate};

fn refusal(text: &str) -> String {
    match audit(text.as_bytes(), Options::default(), &mut |_| ()) {
        Ok(report) => panic!("expected a refusal, got\n{report}"),
        Err(error) => error.to_string(),
    }
}

/// The error for a record after a valid header.
fn record_refusal(record: &str) -> String {
    refusal(&format!("{}\n{record}\n", header()))
}

#[test]
fn rejects_files_that_are_not_traces() {
    for text in ["", "\n", "time,undeploy,nop\n1,2,3\n", "[1,2]\n", "{}\n", "{\"mario_trace\":\"1\"}\n", "{nonsense}\n"]
    {
        assert_eq!(refusal(text), "this is not a trace: its first line is not a header", "{text:?}");
    }
    assert_eq!(refusal("{\"mario_trace\":1"), "line 1 is not a header of a trace: it is cut off");
}

#[test]
fn rejects_a_newer_format_by_its_number() {
    let newer = header().replace("\"mario_trace\":1", "\"mario_trace\":9");
    assert_eq!(refusal(&newer), "this trace has format 9; this mario reads 1 to 8");
    // Everything else may have changed in a newer format.
    assert_eq!(refusal("{\"mario_trace\":9,\"nodes\":7}\n"), "this trace has format 9; this mario reads 1 to 8");
}

#[test]
fn reports_errors_in_a_header() {
    let change = |from: &str, to: &str| {
        assert!(header().contains(from), "{from}");
        refusal(&format!("{}\n", header().replace(from, to)))
    };
    for (from, to, message) in [
        ("\"seed\":7", "\"seed\":\"7\"", "invalid type: string \"7\", expected u64"),
        ("\"seed\":7,", "", "missing field `seed`"),
        ("managers", "anarchy", "unknown variant `anarchy`, expected one of `managers`, `sequential`, `central`"),
        ("\"neighbours\":[0]", "\"neighbours\":[9]", "node n1 has the neighbour 9, and there are 3 nodes"),
        ("\"neighbours\":[0]", "\"neighbours\":[1]", "node n1 is its own neighbour"),
        ("\"policy\":0", "\"policy\":4", "application web has the policy 4, and there are 1 policies"),
        ("\"application\":0", "\"application\":4", "user 1 uses the application 4, and there are 1 applications"),
        ("\"acceptance\":0", "\"acceptance\":4", "node n2 has the policy 4 of managers, and there are 1 of them"),
        ("sliding", "periodic", "with a periodic memory, `forgets_every` is at least 1"),
        ("[\"policy.pl\",", "7, [\"policy.pl\",", "invalid type: integer `7`, expected a tuple of size 2"),
    ] {
        assert_eq!(change(from, to), format!("line 1 is not a header of a trace: {message}"));
    }
}

#[test]
fn reports_errors_in_a_record() {
    for (record, message) in [
        ("", "EOF while parsing a value"),
        ("7", "invalid type: integer `7`, expected a record, an array, at byte 1"),
        ("[]", "a record ends before its kind, at byte 2"),
        ("[\"party\",0]", "`party` is not a kind of record, at byte 8"),
        ("[\"node-up\"]", "a record ends before its time, at byte 11"),
        ("[\"node-up\",0]", "an event of a node ends before its node, at byte 13"),
        ("[\"node-up\",0,1,2]", "an event of a node has more elements than it should, at byte 17"),
        ("[\"node-up\",0,3]", "it names the node 3, and the header has 3 nodes"),
        ("[\"node-up\",0,-3]", "invalid value: integer `-3`, expected u32, at byte 15"),
        ("[\"deployed\",0,1,1,0,0]", "it names the application 1, and the header has 1 applications"),
        ("[\"deployed\",0,1,0,0,1]", "it names the policy 1, and the header has 1 policies"),
        ("[\"handover\",0,2,null,1]", "it names the user 2, and the header has 1 users"),
        ("[\"evaluation\",0,1,0,\"lots\",\"same\"]", "invalid value: string \"lots\", expected a capacity"),
        (
            "[\"evaluation\",0,1,0,1,\"some\"]",
            "invalid value: string \"some\", expected a list of requests, or \"same\"",
        ),
        ("[\"evaluation\",0,1,0,1,\"same\",[]]", "an evaluation has more elements than it should"),
        ("[\"evaluation\",0,1,0,1,[[8,1,1]],[],[]]", "it names the node 8, and the header has 3 nodes"),
        ("[\"evaluation\",0,1,0,1,[[0,-1,1]],[],[]]", "a rate or latency is not negative"),
        ("[\"evaluation\",0,1,0,1,[],[[\"deploy\",1]],[]]", "this is not an operation of an agent"),
        ("[\"evaluation\",0,1,0,1,[],[],[[\"migrate\",1]]]", "a solution ends before its clause"),
        ("[\"cycle\",0,[[1,\"nop\",1]]]", "an outcome has more elements than it should"),
        ("[\"cycle\",0,[[null,\"nop\"]]]", "operators deploy and do nothing else"),
        ("[\"cycle\",0,[[1,\"deploy\",0,\"accepted\",2,0,0]]]", "this is not an operation of an agent"),
        ("[\"cycle\",0,[[1,\"migrate\",{\"node\":1},\"accepted\"]]]", "an unknown target has one key, `unknown`"),
        ("[\"cycle\",0,[[1,\"migrate\",1,\"perhaps\"]]]", "`perhaps` is not a verdict, `accepted` or `inhibited`"),
        ("[\"cycle\",0,[[1,\"migrate\",1,\"inhibited\",{\"node\":1,\"rule\":\"taste\"}]]]", "`taste` is not a rule"),
        (
            "[\"cycle\",0,[[1,\"migrate\",1,\"inhibited\",{\"node\":1,\"rule\":\"capacity\"}]]]",
            "the rule `capacity` has no `needed`",
        ),
        ("[\"node-down\",0,1,\"fire\",[]]", "`fire` is not why a node is down: `absent`, `crash` or `leave`"),
        ("[\"end\",0,{}]", "missing field `evaluations`"),
    ] {
        let refusal = record_refusal(record);
        let expected = format!("line 2 is not a record: {message}");
        assert!(refusal.starts_with(&expected), "{record}\n{refusal}\n{expected}");
    }
}

#[test]
fn parses_every_kind_of_record() {
    let lines = [
        header(),
        r#"["cycle",1.5,[[1,"migrate",{"unknown":"x"},"accepted"],["b","replicate","self","accepted","c"]]]"#,
        r#"["node-down",2,1,"absent",[]]"#,
    ];
    let text = lines.join("\n") + "\n";
    let mut reader = TraceReader::new(text.as_bytes()).expect("a trace");
    assert_eq!(reader.header().arbitration, Arbitration::Managers);
    assert_eq!(reader.header().memory, Memory::Sliding);
    let Ok(Some(TraceRecord::Cycle(cycle))) = reader.next_record() else { panic!("a cycle") };
    assert_eq!((cycle.time.to_bits(), reader.line()), (1.5_f64.to_bits(), 2));
    let [Outcome::Judged { proposal, verdict, .. }, Outcome::Judged { instance, verdict: Verdict::Accepted(new), .. }] =
        cycle.outcomes.as_slice()
    else {
        panic!("two outcomes")
    };
    assert_eq!(proposal.target, Target::Unknown(mario_domain::Id::name("x").expect("a name")));
    assert_eq!(*verdict, Verdict::Accepted(None));
    assert_eq!((instance.to_string(), new.as_ref().map(ToString::to_string)), ("b".to_owned(), Some("c".to_owned())));
    let Ok(Some(TraceRecord::NodeDown(down))) = reader.next_record() else { panic!("a node") };
    assert_eq!(down.cause, Cause::Absent);
    assert!(matches!(reader.next_record(), Ok(None)));
    assert!(!reader.is_interrupted());
}

/// A reader that yields its text, then fails with an error of this kind.
struct Failing<'a>(&'a [u8], io::ErrorKind);

impl Read for Failing<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer)? {
            0 => Err(self.1.into()),
            count => Ok(count),
        }
    }
}

#[test]
fn distinguishes_a_truncated_archive_from_a_read_error() {
    let text = format!("{}\n[\"node-down\",0,1,\"crash\",[]]\n[\"node-", header());
    let input = |kind| BufReader::new(Failing(text.as_bytes(), kind));
    let mut reader = TraceReader::new(input(io::ErrorKind::UnexpectedEof)).expect("a header");
    assert!(matches!(reader.next_record(), Ok(Some(_))));
    assert!(matches!(reader.next_record(), Ok(None)));
    assert!(reader.is_interrupted());
    let error = audit(input(io::ErrorKind::PermissionDenied), Options::default(), &mut |_| ()).expect_err("it fails");
    assert!(matches!(error, ReadError::Io { line: 2, .. }));
    assert_eq!(error.to_string(), "cannot read the trace after line 2");
}

#[test]
fn does_not_read_a_large_file_of_another_kind() {
    struct Endless;
    impl Read for Endless {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            unreachable!("only the buffer is read")
        }
    }
    impl BufRead for Endless {
        fn fill_buf(&mut self) -> io::Result<&[u8]> {
            Ok(&[0; 16])
        }

        fn consume(&mut self, _: usize) {
            unreachable!("nothing is consumed")
        }
    }
    assert!(matches!(TraceReader::new(Endless), Err(ReadError::NotATrace)));
}

/// The header of a correct trace, and its first records: at most 6,000 bytes of them.
fn short_trace(seed: u64, rules: Rules) -> Vec<u8> {
    let text = generate(seed, rules).to_string();
    let header = text.find('\n').expect("a header");
    let end = text[..header + 6000].rfind('\n').expect("a line");
    text.as_bytes()[..=end].to_vec()
}

/// Changes, removes or copies bytes at one place; in half of the cases changes only a digit, so that more traces stay
/// readable.
fn garble_bytes(bytes: &mut Vec<u8>, random: &mut Random) {
    // An invalid header hides all other errors, so the header is changed in one of eight cases only.
    let header = bytes.iter().position(|byte| *byte == b'\n').expect("a header");
    let place = if random.one_in(8) { random.below(header) } else { header + random.below(bytes.len() - header) };
    match random.below(8) {
        0 => bytes[place] = random.number() as u8,
        1 => bytes[place] = b"0123456789,[]\"-.e"[random.below(17)],
        2 => drop(bytes.remove(place)),
        3 => {
            let length = random.below(40).min(bytes.len() - place);
            let copied = bytes[place..place + length].to_vec();
            let to = random.below(bytes.len());
            bytes.splice(to..to, copied);
        }
        _ => {
            if let Some(digit) = bytes[place..].iter_mut().find(|byte| byte.is_ascii_digit()) {
                *digit = b'0' + random.below(10) as u8;
            }
        }
    }
}

/// Copies, removes or swaps records after the header.
fn garble_records(bytes: &mut Vec<u8>, random: &mut Random) {
    let mut lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    if lines.len() < 3 {
        return;
    }
    let (one, other) = (1 + random.below(lines.len() - 1), 1 + random.below(lines.len() - 1));
    match random.below(3) {
        0 => lines.insert(one, lines[other]),
        1 => drop(lines.remove(one)),
        _ => lines.swap(one, other),
    }
    *bytes = lines.concat();
}

#[test]
fn random_changes_are_rejected_or_reported_without_a_panic() {
    let truths = [short_trace(1, Rules::Default), short_trace(2, Rules::Prototype)];
    let mut random = Random::new(5);
    let mut readable = 0;
    for round in 0..600 {
        let mut bytes = truths[round % 2].clone();
        for _ in 0..=random.below(4) {
            if random.one_in(2) {
                garble_records(&mut bytes, &mut random);
            } else {
                garble_bytes(&mut bytes, &mut random);
            }
        }
        let decisions = if random.one_in(4) { DecisionCheck::Recompute } else { DecisionCheck::AsRecorded };
        if audit(bytes.as_slice(), Options { limit: 5, decisions, ..Options::default() }, &mut |_| ()).is_ok() {
            readable += 1;
        }
    }
    assert!(readable > 150, "{readable} of them could be read");
}

#[test]
fn numbers_of_any_size_cause_no_panic() {
    let huge = u64::MAX;
    let text = format!(
        "{}\n[\"deployed\",0,1,0,0,0]\n[\"deployed\",0,2,0,0,0]\n[\"responses\",0,0,{huge},{huge},1e308,[[null,{huge}],[1,{huge}]]]\n\
         [\"responses\",1,0,{huge},{huge},1e308,[]]\n",
        header().replace("\"hardware\":1", &format!("\"hardware\":{huge}"))
    );
    let report = audit_text(&text);
    assert!(!report.is_clean());
}
