//! Lies about live nodes are detected. The trace is that of three daemons: an instance migrates from the first to the
//! second, and replicates onto the third.

mod anchors;
mod owners;

use mario_audit::reader::TraceReader;
use mario_audit::{Audit, AuditReport, FindingKind, Options};
use serde_json::{Value, json};

const TRAVELLED: &str = include_str!("live/travelled.jsonl");

fn lines() -> Vec<Value> {
    TRAVELLED.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn text(lines: &[Value]) -> String {
    let mut text = lines.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    text.push('\n');
    text
}

fn audit(lines: &[Value]) -> AuditReport {
    let text = text(lines);
    let reader = TraceReader::new(text.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    let audit = Audit::new(reader.header().clone(), Options::default());
    audit.read(reader, &mut |_| ()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The index of the nth live record of a kind, counted from 0.
fn find(lines: &[Value], kind: &str, nth: usize) -> usize {
    let is_it = |line: &Value| line[0] == "live" && line[4].get(kind).is_some();
    let mut found = lines.iter().enumerate().filter(|(_, line)| is_it(line)).map(|(place, _)| place);
    found.nth(nth).unwrap_or_else(|| panic!("there is no {kind} {nth}"))
}

/// The index of the nth record of a kind, counted from 0.
fn word(lines: &[Value], word: &str, nth: usize) -> usize {
    let mut found = lines.iter().enumerate().filter(|(_, line)| line[0] == word).map(|(place, _)| place);
    found.nth(nth).unwrap_or_else(|| panic!("there is no {word} {nth}"))
}

#[test]
fn a_correct_live_trace_has_no_findings() {
    let report = audit(&lines());
    assert!(report.is_clean(), "{report}");
    assert_eq!(report.unchecked, Vec::<String>::new());
    assert_eq!(report.counts.decisions, report.counts.evaluations);
    assert!(report.to_string().ends_with("nothing is wrong\n"));
}

#[test]
fn a_missing_or_repeated_journal_record_is_found() {
    let truth = lines();
    let numbered: Vec<usize> =
        (1..truth.len()).filter(|place| truth[*place][0] == "live" && truth[*place][3].is_u64()).collect();
    let mut left_out = 0;
    for place in &numbered {
        let is_last = numbered.iter().all(|other| other <= place || truth[*other][2] != truth[*place][2]);
        let mut lies = truth.clone();
        lies.remove(*place);
        // Without its first record, a journal counts as incomplete. Without its last one, it looks as if it had ended
        // earlier, which need not be found.
        if truth[*place][3] == 1 {
            let report = audit(&lies);
            assert!(
                report.unchecked.iter().any(|words| words.contains("before the first record")),
                "a part begins late:\n{report}"
            );
        } else if !is_last {
            left_out += 1;
            let report = audit(&lies);
            assert!(report.count(FindingKind::Journal) > 0, "without {}:\n{report}", truth[*place]);
        }
        let mut lies = truth.clone();
        lies.insert(*place, truth[*place].clone());
        let report = audit(&lies);
        assert!(report.count(FindingKind::Journal) > 0, "twice {}:\n{report}", truth[*place]);
    }
    assert!(left_out >= 13, "{left_out}");
}

#[test]
fn repeated_reservations_and_decisions_are_found() {
    let truth = lines();
    for (kind, expected) in [("prepare", FindingKind::Transfer), ("reserved", FindingKind::Transfer)] {
        let place = find(&truth, kind, 0);
        let mut lies = truth.clone();
        lies.insert(place, truth[place].clone());
        assert!(audit(&lies).count(expected) > 0, "{kind}");
    }
    for (kind, expected) in [("evaluation", FindingKind::Totals), ("cycle", FindingKind::Place)] {
        let place = word(&truth, kind, 0);
        let mut lies = truth.clone();
        lies.insert(place, truth[place].clone());
        assert!(audit(&lies).count(expected) > 0, "{kind}");
    }
}

type Lie = (&'static str, fn(&mut Vec<Value>), FindingKind);

/// Replaces a record by a record `peer` with the same number, which has no effect on instances.
fn silence(lines: &mut [Value], place: usize) {
    let node = lines[place][2].clone();
    lines[place][4] = json!({"peer": {"node": (node.as_u64().unwrap_or(0) + 1) % 3, "journal": "0"}});
}

const LIES: &[Lie] = &[
    (
        "an instance stays on the node that it left",
        |lines| {
            let at = find(lines, "custody", 0);
            silence(lines, at);
        },
        FindingKind::Ownership,
    ),
    (
        "an arriving instance never left",
        |lines| {
            let at = find(lines, "custody", 0);
            silence(lines, at);
        },
        FindingKind::Transfer,
    ),
    (
        "a taken offer was never made",
        |lines| {
            let at = find(lines, "offer", 0);
            silence(lines, at);
        },
        FindingKind::Transfer,
    ),
    (
        "a taken instance never arrived",
        |lines| {
            let at = find(lines, "own", 1);
            silence(lines, at);
            lines.remove(at + 1);
        },
        FindingKind::Ownership,
    ),
    (
        "it is taken before it arrives",
        |lines| {
            let at = find(lines, "taken", 0);
            let taken = lines.remove(at);
            lines.insert(find(lines, "own", 1), taken);
        },
        FindingKind::Ownership,
    ),
    (
        "it arrives before it leaves",
        |lines| {
            let at = find(lines, "custody", 0);
            let custody = lines.remove(at);
            lines.insert(at + 2, custody);
        },
        FindingKind::Transfer,
    ),
    (
        "it arrives on the wrong node",
        |lines| {
            let at = find(lines, "custody", 0);
            lines[at][4]["custody"]["target"] = json!(2);
        },
        FindingKind::Transfer,
    ),
    (
        "it arrives without a new epoch",
        |lines| {
            let at = find(lines, "own", 1);
            lines[at][4]["own"]["epoch"] = json!(1);
        },
        FindingKind::Epoch,
    ),
    (
        "it leaves with another epoch",
        |lines| {
            let at = find(lines, "custody", 0);
            lines[at][4]["custody"]["epoch"] = json!(7);
        },
        FindingKind::Epoch,
    ),
    (
        "it is owned again after its end",
        |lines| {
            let at = find(lines, "undeployed", 0);
            let (time, node, number) =
                (lines[at][1].clone(), lines[at][2].clone(), lines[at][3].as_u64().expect("a number"));
            let mut again = lines[find(lines, "own", 0)].clone();
            (again[1], again[2], again[3]) = (time, node, json!(number + 1));
            lines.insert(at + 2, again);
        },
        FindingKind::Ownership,
    ),
    (
        "a node is smaller than its copies",
        |lines| {
            let at = find(lines, "boot", 1);
            lines[at][4]["boot"]["capacity"] = json!(0);
        },
        FindingKind::Capacity,
    ),
    (
        "a reservation is larger than its node",
        |lines| {
            let at = find(lines, "reserved", 0);
            lines[at][4]["reserved"]["needed"] = json!(5);
        },
        FindingKind::Capacity,
    ),
    (
        "a start is missing",
        |lines| {
            let at = find(lines, "boot", 0);
            lines[at][4]["boot"]["boot"] = json!(3);
            let mut again = lines[at].clone();
            again[3] = json!(2);
            again[4]["boot"]["boot"] = json!(9);
            lines.insert(at + 1, again);
        },
        FindingKind::Journal,
    ),
    (
        "a reported state has more than its records",
        |lines| {
            let at = find(lines, "state", 0);
            lines[at][4]["state"]["taken"] = json!(["x.0.0"]);
        },
        FindingKind::Journal,
    ),
    (
        "a copy stops that never ran",
        |lines| {
            let at = find(lines, "stopped", 0);
            lines[at][4]["stopped"]["workload"] = json!("9.9");
        },
        FindingKind::Journal,
    ),
    (
        "an agent proposes for another instance",
        |lines| {
            let at = find(lines, "prepare", 0);
            lines[at][4]["prepare"]["operation"] = json!("replicate");
        },
        FindingKind::Proposal,
    ),
    (
        "an agent proposes from a node that it is not on",
        |lines| {
            let at = find(lines, "prepare", 0);
            lines[at][2] = json!(2);
        },
        FindingKind::Ownership,
    ),
    (
        "a transfer has an id of another node",
        |lines| {
            let at = find(lines, "prepare", 0);
            lines[at][4]["prepare"]["transfer"] = json!("0.0.0");
        },
        FindingKind::Transfer,
    ),
    (
        "an agent evaluates on another node",
        |lines| {
            let at = word(lines, "evaluation", 0);
            lines[at][3] = json!(2);
        },
        FindingKind::Ownership,
    ),
    (
        "an agent evaluates during its transfer",
        |lines| {
            let at = word(lines, "evaluation", 0);
            let evaluation = lines[at].clone();
            lines.insert(at + 2, evaluation);
        },
        FindingKind::Transfer,
    ),
    (
        "an agent sees more free hardware than its node has",
        |lines| {
            let at = word(lines, "evaluation", 0);
            lines[at][4] = json!(1);
        },
        FindingKind::Free,
    ),
    (
        "an agent sees requests through a node that is not a neighbour",
        |lines| {
            let at = word(lines, "evaluation", 0);
            lines[at][5] = json!([[2, 1, 1]]);
        },
        FindingKind::Requests,
    ),
    (
        "an agent decides differently",
        |lines| {
            let at = word(lines, "evaluation", 1);
            lines[at][7] = json!([["migrate", 0, 0]]);
        },
        FindingKind::Decision,
    ),
    (
        "an agent decides nothing",
        |lines| {
            let at = word(lines, "evaluation", 0);
            lines[at][7] = json!([]);
        },
        FindingKind::Decision,
    ),
    (
        "a cycle places an instance on another node",
        |lines| {
            let at = word(lines, "cycle", 1);
            lines[at][2][0][2] = json!(2);
        },
        FindingKind::Place,
    ),
    (
        "a migration is missing in the cycle",
        |lines| {
            let at = word(lines, "cycle", 1);
            lines.remove(at);
        },
        FindingKind::Place,
    ),
    (
        "another proposal is inhibited",
        |lines| {
            let at = (1..lines.len()).find(|at| lines[*at][2][0][3] == "inhibited").expect("one");
            lines[at][2][0][1] = json!("migrate");
        },
        FindingKind::Proposal,
    ),
    (
        "the totals count more than the records",
        |lines| {
            let at = word(lines, "end", 0);
            lines[at][2]["operations"] = json!(99);
        },
        FindingKind::Totals,
    ),
    (
        "the usage is more than agents saw",
        |lines| {
            let at = word(lines, "usage", 0);
            lines[at][4] = json!(99.5);
        },
        FindingKind::Totals,
    ),
    (
        "a link that is down is up",
        |lines| {
            lines.insert(1, json!(["link-up", 0, 0, 1]));
        },
        FindingKind::Context,
    ),
    (
        "a neighbour without a link",
        |lines| {
            let at = find(lines, "neighbours", 0);
            lines[at][4]["neighbours"]["up"] = json!([2]);
        },
        FindingKind::Context,
    ),
    (
        "an instance of an initial deployment",
        |lines| {
            lines.insert(1, json!(["deployed", 0, 7, 0, 0, 0]));
        },
        FindingKind::Header,
    ),
    (
        "another format",
        |lines| {
            lines[0]["mario_trace"] = json!(3);
        },
        FindingKind::Header,
    ),
    (
        "a policy that does not compile",
        |lines| {
            lines[0]["policies"][0]["files"][0][1] = json!("operation(");
        },
        FindingKind::Policy,
    ),
    (
        "time goes back",
        |lines| {
            let at = word(lines, "evaluation", 0);
            lines[at][1] = json!(0);
        },
        FindingKind::Time,
    ),
];

#[test]
fn detects_each_lie_about_live_nodes() {
    let truth = lines();
    for (name, lie, expected) in LIES {
        let mut lies = truth.clone();
        lie(&mut lies);
        assert_ne!(lies, truth, "{name} changes something");
        let report = audit(&lies);
        assert!(report.count(*expected) > 0, "{name}: expected {expected}\n{report}");
    }
    for kind in [FindingKind::Ownership, FindingKind::Epoch, FindingKind::Transfer, FindingKind::Journal] {
        assert!(LIES.iter().filter(|(.., expected)| *expected == kind).count() >= 2, "{kind}");
    }
}

#[test]
fn no_mutated_value_causes_a_panic() {
    // Each value of each record is replaced by each of six other values, one at a time.
    let truth = lines();
    let mut tried = 0;
    for place in 1..truth.len() {
        for pointer in pointers(&truth[place]) {
            for value in [json!(0), json!("x"), json!(null), json!([]), json!({}), json!(1e18)] {
                let mut lies = truth.clone();
                *lies[place].pointer_mut(&pointer).expect("it is there") = value;
                let text = text(&lies);
                if let Ok(reader) = TraceReader::new(text.as_bytes()) {
                    let options = Options { decisions: mario_audit::DecisionCheck::AsRecorded, ..Options::default() };
                    let _ = Audit::new(reader.header().clone(), options).read(reader, &mut |_| ());
                    tried += 1;
                }
            }
        }
    }
    assert!(tried > 1_000, "{tried}");
}

/// The JSON pointers of all values inside a value, at any depth.
fn pointers(value: &Value) -> Vec<String> {
    let mut all = Vec::new();
    let mut inside = |key: String, value: &Value| {
        all.push(format!("/{key}"));
        all.extend(pointers(value).into_iter().map(|pointer| format!("/{key}{pointer}")));
    };
    match value {
        Value::Array(values) => values.iter().enumerate().for_each(|(key, value)| inside(key.to_string(), value)),
        Value::Object(values) => {
            values.iter().for_each(|(key, value)| inside(key.replace('~', "~0").replace('/', "~1"), value));
        }
        _ => {}
    }
    all
}
