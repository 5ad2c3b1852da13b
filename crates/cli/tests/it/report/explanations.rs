//! The page of a report explains a decision as `mario policy explain` does.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::{mario, stderr, stdout};

/// Runs the paper's scenario, writes its report, and writes the files of its policy. Returns the directory, the header
/// of the trace, and the data of the page.
fn reported() -> (PathBuf, Value, Value) {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("report").join("explanations");
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).expect("the test's own directory is writable");
    let policy = "workload-and-latency-aware-with-memory";
    let settings = ["run", "paper", "--policy", policy, "--set", "memory.cycles=3", "--set", "duration=6000"];
    for arguments in [&[&settings[..], &["--out", "run"]].concat()[..], &["report", "run"]] {
        let output = mario().args(arguments).current_dir(&directory).output().expect("it runs");
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    }
    let trace = fs::read_to_string(directory.join("run/trace.jsonl")).expect("a trace");
    let header: Value = serde_json::from_str(trace.lines().next().expect("a header")).expect("JSON");
    for file in header["policies"][0]["files"].as_array().expect("files") {
        let (name, text) = (file[0].as_str().expect("a name"), file[1].as_str().expect("a text"));
        fs::write(directory.join(name), text).expect("writable");
    }
    let page = fs::read_to_string(directory.join("report.html")).expect("a page");
    let (_, data) = page.split_once("id=\"data\">").expect("the page holds its data");
    let (data, _) = data.split_once("</script>").expect("its end");
    (directory, header, serde_json::from_str(data).expect("JSON"))
}

/// Converts a table of the page, which is stored by column, to records. A column of lists has a nested table.
fn records(table: &Value) -> Vec<Value> {
    let mut records = vec![json!({}); table["length"].as_u64().expect("a length") as usize];
    for (name, column) in table["columns"].as_object().expect("columns") {
        let values = match column {
            Value::Array(values) => values.clone(),
            lists => {
                let mut rows = self::records(&lists["rows"]).into_iter();
                let lengths = lists["lengths"].as_array().expect("lengths").iter().filter_map(Value::as_u64);
                lengths.map(|length| rows.by_ref().take(length as usize).collect()).collect()
            }
        };
        records.iter_mut().zip(values).for_each(|(record, value)| record[name] = value);
    }
    records
}

/// Returns the facts of an agent in Prolog, reconstructed from the page and the header.
fn facts(header: &Value, replay: &Value, decision: &Value) -> String {
    const OPERATIONS: [&str; 4] = ["undeploy", "migrate", "replicate", "deploy"];
    let instance = decision["instance"].as_u64().expect("an instance") as usize;
    let name = |node: &Value| match node {
        Value::Null => "self".to_owned(),
        Value::String(name) => name.clone(),
        node => header["nodes"][node.as_u64().expect("a node") as usize]["id"].as_str().expect("an id").to_owned(),
    };
    let (id, application) = (&replay["instances"][instance][0], replay["instances"][instance][1].as_u64());
    let node = &header["nodes"][decision["node"].as_u64().expect("a node") as usize];
    let mut text = String::new();
    for service in header["applications"].as_array().expect("applications") {
        let [id, hardware, rate, latency] = ["id", "hardware", "max_rate", "max_latency"].map(|key| &service[key]);
        let _ = writeln!(text, "service({}, {hardware}, {rate}, {latency}).", id.as_str().expect("a name"));
    }
    let neighbours: Vec<String> = node["neighbours"].as_array().expect("neighbours").iter().map(name).collect();
    let own = node["id"].as_str().expect("an id");
    let free = decision["free"].as_u64().map_or_else(|| "inf".to_owned(), |free| free.to_string());
    let _ = writeln!(text, "node({own}, {free}).\nnode({own}, {free}, [{}]).", neighbours.join(", "));
    let application = &header["applications"][application.expect("a place") as usize]["id"];
    let _ = writeln!(text, "serviceInstance({id}, {}, {own}).", application.as_str().expect("a name"));
    for fact in decision["requests"].as_array().into_iter().flatten() {
        let (neighbour, rate, latency) = (name(&fact["neighbour"]), &fact["rate"], &fact["latency"]);
        let _ = writeln!(text, "requests({id}, {neighbour}, {rate}, {latency}).");
    }
    for proposal in decision["inhibited"].as_array().into_iter().flatten() {
        let operation = OPERATIONS[proposal["operation"].as_u64().expect("an operation") as usize];
        let _ = writeln!(text, "inhibited({operation}, {id}, {}).", name(&proposal["target"]));
    }
    text
}

/// Returns an explanation of the page in the format of the terminal.
fn shown(explanations: &Value, case: &Value) -> String {
    let parts = explanations["all"][case.as_u64().expect("a place") as usize].as_array().expect("parts");
    let part = |part: &Value| {
        let mut text = String::new();
        for line in explanations["parts"][part.as_u64().expect("a place") as usize].as_array().expect("lines") {
            let line = &explanations["lines"][line.as_u64().expect("a place") as usize];
            let number = |place: usize| line.get(place).map_or(0, |number| number.as_u64().expect("a number") as usize);
            let word = |place: usize| explanations["texts"][number(place)].as_str().expect("a text");
            let mark = match number(1) {
                2 => "| ",
                6 => "=> ",
                _ => "",
            };
            let before = if word(3).is_empty() { String::new() } else { format!("{} ", word(3)) };
            let after = if word(4).is_empty() { String::new() } else { format!(", {}", word(4)) };
            let place = if word(5).is_empty() { String::new() } else { format!("  {}", word(5)) };
            let _ = writeln!(text, "{}{before}{mark}{}{after}{place}", "  ".repeat(number(0)), word(2));
        }
        text
    };
    parts.iter().map(part).collect::<Vec<String>>().join("\n")
}

#[test]
fn the_page_explains_as_the_command_does() {
    let (directory, header, data) = reported();
    let replay = &data["runs"][0]["replay"];
    let all = records(&replay["decisions"]);
    let (mut silent, mut remembering) = (0, 0);
    for decision in all.iter().step_by(all.len().div_ceil(24)) {
        fs::write(directory.join("facts.pl"), facts(&header, replay, decision)).expect("writable");
        let policy = "workload-and-latency-aware-with-memory.pl";
        let output = mario()
            .args(["policy", "explain", "--policy", policy, "--facts", "facts.pl"])
            .current_dir(&directory)
            .output()
            .expect("it runs");
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert_eq!(shown(&replay["explanations"], &decision["explanation"]), stdout(&output), "{decision}");
        silent += usize::from(stdout(&output).starts_with("nop: "));
        remembering += usize::from(!decision["inhibited"].as_array().is_none_or(Vec::is_empty));
    }
    assert!(silent >= 3 && remembering >= 3, "{silent} asked for nothing, {remembering} remember something");
}

/// A policy that uses all facts of an agent's history: `earlier`, `done` and `age`.
const LOOKS_BACK: &str = "\
:- dynamic requests/4, earlier/5, done/4, age/2.
:- remembers(requests, 2). :- remembers(operations, 3).
operation(replicate, I, M) :-
    requests(I, M, _, _), M \\== self, earlier(1, I, M, _, _), earlier(2, I, M, _, _), \\+ done(_, I, replicate, _).
operation(migrate, I, M) :- age(I, A), A >= 3, requests(I, M, R, _), M \\== self, R > 4.
";

#[test]
fn the_page_and_the_command_explain_decisions_that_look_back_as_they_were_made() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("report").join("looking-back");
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).expect("the test's own directory is writable");
    fs::write(directory.join("looks-back.pl"), LOOKS_BACK).expect("writable");
    let mario = |arguments: &[&str]| {
        let output = mario().args(arguments).current_dir(&directory).output().expect("it runs");
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", stderr(&output));
        stdout(&output)
    };
    mario(&["run", "paper", "--policy", "looks-back.pl", "--set", "duration=4000", "--out", "run"]);
    mario(&["report", "run"]);
    let page = fs::read_to_string(directory.join("report.html")).expect("a page");
    let (_, data) = page.split_once("id=\"data\">").expect("the page holds its data");
    let data: Value = serde_json::from_str(data.split_once("</script>").expect("its end").0).expect("JSON");
    let replay = &data["runs"][0]["replay"];
    let trace = fs::read_to_string(directory.join("run/trace.jsonl")).expect("a trace");
    let records: Vec<Value> = trace.lines().skip(1).map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let evaluations: Vec<&Value> =
        records.iter().filter(|record| record[0] == "evaluation" && record[5].is_array()).collect();
    let decisions = self::records(&replay["decisions"]);
    let mut told = [0; 3];
    for evaluation in evaluations.iter().step_by(evaluations.len().div_ceil(40)) {
        let (time, instance) = (evaluation[1].to_string(), evaluation[2].to_string());
        let text = mario(&["policy", "explain", "--run", "run", "--instance", &instance, "--time", &time]);
        // The first solution of the policy is its decision.
        let first =
            evaluation[7][0][0].as_str().map_or("nop: ".to_owned(), |operation| format!("{operation} {instance}"));
        let (_, explained) = text.split_once("\n\n").unwrap_or(("", &text));
        assert!(text.contains(&format!("\n{first}")), "{evaluation}\n{text}");
        for (count, fact) in told.iter_mut().zip(["earlier(", "done(", "age("]) {
            *count += usize::from(explained.contains(&format!("fact {fact}")));
        }
        let number = replay["instances"].as_array().expect("instances").iter().position(|one| one[0] == evaluation[2]);
        let is_of_instance = |decision: &&Value| decision["instance"].as_u64() == number.map(|number| number as u64);
        let when = evaluation[1].as_f64().expect("a time");
        let within =
            |decision: &&Value| decision["first"].as_f64() <= Some(when) && Some(when) <= decision["last"].as_f64();
        let decision = decisions.iter().filter(is_of_instance).find(within).expect("the page has it");
        let shown = shown(&replay["explanations"], &decision["explanation"]);
        assert!(text.contains(shown.trim()), "{evaluation}\n{shown}\n{text}");
    }
    assert!(told.iter().all(|count| *count > 2), "{told:?}");
}
