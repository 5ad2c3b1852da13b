//! Tests that the parts of live nodes are merged into one trace, with causes before effects.

use std::collections::BTreeMap;
use std::io::{self, BufRead};
use std::path::{Path, PathBuf};

use mario_domain::{ApplicationId, Duration, Id, NodeId};
use mario_testing::{assert_same_text, previous_text};
use mario_trace::join::{ClientLog, ContextNode, JoinProblem, Joined, RunContext, join, join_run};

/// Files in memory.
struct Files(BTreeMap<PathBuf, String>);

impl Files {
    fn new(files: &[(&str, String)]) -> Files {
        Files(files.iter().map(|(name, text)| (PathBuf::from(name), text.clone())).collect())
    }

    fn join(&self, directories: &[&[&str]]) -> Result<(String, Joined), mario_trace::join::JoinError> {
        self.join_with(directories, None)
    }

    fn join_with(
        &self,
        directories: &[&[&str]],
        run: Option<&RunContext>,
    ) -> Result<(String, Joined), mario_trace::join::JoinError> {
        let directories: Vec<Vec<PathBuf>> =
            directories.iter().map(|names| names.iter().map(PathBuf::from).collect()).collect();
        let open = |path: &Path| -> io::Result<Box<dyn BufRead>> {
            let text = self.0.get(path).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
            Ok(Box::new(io::Cursor::new(text.clone().into_bytes())))
        };
        let (trace, joined) = match run {
            Some(run) => join_run(&directories, run, &open, Vec::new())?,
            None => join(&directories, &open, Vec::new())?,
        };
        Ok((String::from_utf8(trace).expect("text"), joined))
    }
}

fn header(node: &str, neighbour: &str) -> String {
    format!(
        "{{\"mario_trace_part\":1,\"program\":\"mario\",\"colony\":\"harbour\",\"node\":\"{node}\",\"journal\":\"{node}{node}\",\"part\":1,\
         \"capacity\":2,\"neighbours\":[\"{neighbour}\"],\"facts\":[],\"has_acceptance\":false,\"evaluation_ms\":100,\"decision_budget\":1000}}\n"
    )
}

const APPLICATION: &str = "{\"application\":{\"application\":{\"id\":\"shop\",\"hardware\":1,\"max_rate\":1,\"max_latency\":1},\
    \"facts\":[],\"policy\":\"p\",\"memory\":0,\"files\":[[\"p.pl\",\"operation(a, b, c).\"]]}}";

fn own(epoch: u32, cause: &str) -> String {
    format!(
        "{{\"own\":{{\"instance\":\"i\",\"epoch\":{epoch},\"application\":0,\"needed\":1,\"workload\":\"0.0\",\"cause\":{cause}}}}}"
    )
}

/// The parts of two nodes between which an instance migrates. The clock of `b` is ten seconds behind.
fn skewed() -> Files {
    let a = [
        header("a", "b"),
        format!("[[20000,0],null,{APPLICATION}]\n"),
        format!("[[20000,1],1,{}]\n", own(1, "\"deployed\"")),
        "[[20005,0],2,{\"custody\":{\"instance\":\"i\",\"epoch\":1,\"transfer\":\"aa.0.0\",\"target\":\"b\",\"is_running\":true}}]\n".to_owned(),
        "[[20009,0],3,{\"taken\":{\"transfer\":\"aa.0.0\"}}]\n".to_owned(),
    ];
    let b = [
        header("b", "a"),
        format!("[[10000,0],null,{APPLICATION}]\n"),
        format!("[[10007,0],1,{}]\n", own(2, "{\"taken\":{\"transfer\":\"aa.0.0\",\"from\":\"a\"}}")),
        "[[10011,0],2,{\"forgotten\":{\"transfer\":\"aa.0.0\"}}]\n".to_owned(),
    ];
    Files::new(&[("a/1", a.concat()), ("b/1", b.concat())])
}

/// The kinds of the live records of a trace, in order.
fn kinds(trace: &str) -> Vec<String> {
    let kind = |line: &str| {
        let value: serde_json::Value = serde_json::from_str(line).expect("JSON");
        value[4].as_object().and_then(|object| object.keys().next().cloned())
    };
    trace.lines().skip(1).filter_map(kind).collect()
}

#[test]
fn an_arrival_comes_after_its_departure_even_if_clocks_disagree() {
    let (trace, joined) = skewed().join(&[&["a/1"], &["b/1"]]).expect("parts");
    assert_eq!(kinds(&trace), ["own", "custody", "own", "taken", "forgotten"], "{trace}");
    assert!(joined.reordered > 0 && joined.unordered == 0, "{joined:?}");
    // The joined trace has the deploy and the migration as ordinary cycles.
    let cycles: Vec<&str> = trace.lines().filter(|line| line.starts_with("[\"cycle\"")).collect();
    assert_eq!(
        cycles,
        [
            "[\"cycle\",10000,[[null,\"deploy\",0,\"accepted\",\"i\",0,0]]]",
            "[\"cycle\",10005,[[\"i\",\"migrate\",1,\"accepted\"]]]"
        ]
    );
    let (other, _) = skewed().join(&[&["b/1"], &["a/1"]]).expect("parts");
    assert_eq!(trace, other, "the order in which directories are given makes no difference");
}

#[test]
fn a_node_without_parts_is_listed_and_a_truncated_line_is_skipped() {
    let mut files = skewed();
    let text = files.0.get_mut(Path::new("a/1")).expect("it is there");
    text.truncate(text.len() - 5);
    let (trace, joined) = files.join(&[&["a/1"]]).expect("parts");
    assert_eq!(kinds(&trace), ["own", "custody"], "{trace}");
    assert_eq!(joined.silent.iter().map(ToString::to_string).collect::<Vec<_>>(), ["b"]);
}

#[test]
fn a_malformed_part_is_rejected_with_its_line() {
    let good = skewed();
    let mut bad = Files::new(&[
        ("empty", String::new()),
        ("text", "hello\n".to_owned()),
        ("newer", header("a", "b").replace("_part\":1", "_part\":5")),
        ("wrong", header("a", "b") + "[[1,0],1,{\"owns\":{}}]\n"),
        ("unknown", header("a", "b") + &format!("[[1,0],1,{}]\n", own(1, "\"deployed\""))),
    ]);
    bad.0.extend(good.0);
    let problem = |directories: &[&[&str]]| {
        let error = bad.join(directories).expect_err("refused");
        (error.line, error.problem)
    };
    assert!(matches!(problem(&[&["empty"]]), (_, JoinProblem::NotAPart)));
    assert!(matches!(problem(&[&["text"]]), (1, JoinProblem::NotAPart)));
    assert!(matches!(problem(&[&["newer"]]), (1, JoinProblem::Version(5))));
    assert!(matches!(problem(&[&["wrong"]]), (2, JoinProblem::Record(_))));
    // The record refers to an application that the part does not describe.
    assert!(matches!(problem(&[&["unknown"]]), (2, JoinProblem::Record(_))));
    assert!(matches!(problem(&[&["a/1", "b/1"]]), (1, JoinProblem::Mixed { .. })));
    assert!(matches!(problem(&[&["nowhere"]]), (0, JoinProblem::Io(_))));
    assert!(matches!(problem(&[]), (0, JoinProblem::Empty)));
}

fn node(id: &str) -> NodeId {
    NodeId::name(id).expect("a name")
}

/// What is known of a run of the nodes `a` and `b`: one user, who moves, and whose second request fails.
fn known() -> RunContext {
    let shop = ApplicationId::name("shop").expect("a name");
    let ann = Id::name("ann").expect("a name");
    let mut clients = ClientLog::new(10_002, 3.0, vec![(shop.clone(), 2.0)], vec![(ann, 0)]);
    clients.moved(0.0, 0, Some(node("a")));
    clients.moved(4.0, 0, Some(node("b")));
    clients.answered(1.0, 0, Duration::of(2.5));
    clients.failed(5.0, 0);
    let place = |tier| ContextNode { tier, position: Some([43.7, f64::from(tier)]), is_access_point: true };
    RunContext {
        scenario: "harbour at noon".to_owned(),
        seed: 7,
        tiers: ["cloud", "quay"].map(str::to_owned).to_vec(),
        kinds: BTreeMap::from([(shop, "LS".to_owned())]),
        nodes: BTreeMap::from([(node("a"), place(1)), (node("b"), place(0))]),
        clients,
    }
}

#[test]
fn a_run_has_the_users_of_its_scenario_and_what_their_requests_came_to() {
    let (trace, _) = skewed().join_with(&[&["a/1"], &["b/1"]], Some(&known())).expect("parts");
    let header: serde_json::Value = serde_json::from_str(trace.lines().next().expect("a header")).expect("JSON");
    assert_eq!(
        (&header["scenario"], &header["seed"], &header["step"]),
        (&"harbour at noon".into(), &7.into(), &3.0.into())
    );
    assert_eq!(header["users"], serde_json::json!([{"id": "ann", "application": 0}]));
    assert_eq!(header["applications"][0]["kind"], "LS");
    assert_eq!([&header["nodes"][0]["tier"], &header["nodes"][1]["tier"]], [1, 0]);
    let of_clients: Vec<&str> = trace
        .lines()
        .filter(|line| {
            ["handover", "responses", "client", "latency"].iter().any(|kind| line.starts_with(&format!("[\"{kind}\"")))
        })
        .collect();
    // The clients started 2 ms after the first record. The end is that of the last record.
    assert_eq!(
        of_clients,
        [
            "[\"handover\",0,0,null,0]",
            "[\"responses\",5,0,1,0,2.5,[[5,1]]]",
            "[\"handover\",6,0,0,1]",
            "[\"responses\",8,0,0,1,0,[]]",
            "[\"client\",10009,0,1,1,2.5]",
            "[\"latency\",10009,0,1,2.5,[[80,1]]]",
        ]
    );
    assert!(trace.lines().last().expect("an end").contains("\"handovers\":2,\"served\":1,\"lost\":1"), "{trace}");
}

#[test]
fn the_node_with_the_most_hardware_is_the_top_of_nodes_without_tiers() {
    let mut files = skewed();
    let cloud = files.0.get_mut(Path::new("b/1")).expect("it is there");
    *cloud = cloud.replacen("\"capacity\":2", "\"capacity\":900", 1);
    let (trace, _) = files.join(&[&["a/1"], &["b/1"]]).expect("parts");
    let header: serde_json::Value = serde_json::from_str(trace.lines().next().expect("a header")).expect("JSON");
    assert_eq!([&header["nodes"][0]["tier"], &header["nodes"][1]["tier"]], [1, 0]);
}

#[test]
fn parts_of_previous_versions_are_joined_to_the_same_bytes_as_by_those_versions() {
    for (parts, joined) in [
        (&["data-a/trace/00000001.jsonl.gz"][..], "data-a/joined.jsonl.gz"),
        (&["parts-3/n0.jsonl.gz", "parts-3/n1.jsonl.gz"], "parts-3/joined.jsonl.gz"),
    ] {
        let files: Vec<(&str, String)> = parts.iter().map(|name| (*name, previous_text(name))).collect();
        let directories: Vec<[&str; 1]> = parts.iter().map(|name| [*name]).collect();
        let directories: Vec<&[&str]> = directories.iter().map(<[&str; 1]>::as_slice).collect();
        let (trace, _) = Files::new(&files).join(&directories).expect("parts");
        // The version of the program is part of the header.
        let of_its_version = |text: &str| text.replacen(concat!("mario ", env!("CARGO_PKG_VERSION")), "mario 0.1.0", 1);
        assert_same_text(&of_its_version(&trace), &previous_text(joined), joined);
    }
}
