//! What the page says about a decision is what `mario policy explain` says about the same facts.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::{mario, stderr, stdout};

/// A run of the paper's scenario and the data of its page.
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

/// What an agent knew, as Prolog, from the page and the header.
fn facts(header: &Value, replay: &Value, instance: usize, decision: &Value) -> String {
    const OPERATIONS: [&str; 4] = ["undeploy", "migrate", "replicate", "deploy"];
    let name = |node: &Value| match node.as_i64() {
        Some(-1) => "self".to_owned(),
        Some(node) => header["nodes"][node as usize]["id"].as_str().expect("an id").to_owned(),
        None => node.as_str().expect("a name").to_owned(),
    };
    let (id, application) = (&replay["instances"][instance][0], replay["instances"][instance][1].as_u64());
    let node = &header["nodes"][decision[3].as_u64().expect("a node") as usize];
    let mut text = String::new();
    for service in header["applications"].as_array().expect("applications") {
        let [id, hardware, rate, latency] = ["id", "hardware", "max_rate", "max_latency"].map(|key| &service[key]);
        let _ = writeln!(text, "service({}, {hardware}, {rate}, {latency}).", id.as_str().expect("a name"));
    }
    let neighbours: Vec<String> = node["neighbours"].as_array().expect("neighbours").iter().map(name).collect();
    let own = node["id"].as_str().expect("an id");
    let free = if decision[4] == -1 { "inf".to_owned() } else { decision[4].to_string() };
    let _ = writeln!(text, "node({own}, {free}).\nnode({own}, {free}, [{}]).", neighbours.join(", "));
    let application = &header["applications"][application.expect("a place") as usize]["id"];
    let _ = writeln!(text, "serviceInstance({id}, {}, {own}).", application.as_str().expect("a name"));
    for fact in decision[5][0].as_array().into_iter().flatten() {
        let _ = writeln!(text, "requests({id}, {}, {}, {}).", name(&fact[0]), fact[1], fact[2]);
    }
    for wish in decision[5][1].as_array().into_iter().flatten() {
        let operation = OPERATIONS[wish[0].as_u64().expect("an operation") as usize];
        let _ = writeln!(text, "inhibited({operation}, {id}, {}).", name(&wish[1]));
    }
    text
}

/// An explanation of the page as the terminal shows it.
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
    let decisions = replay["decisions"].as_object().expect("decisions");
    let all = decisions.iter().flat_map(|(instance, list)| {
        list.as_array()
            .expect("a list")
            .iter()
            .map(move |decision| (instance.parse::<usize>().expect("a number"), decision))
    });
    let all: Vec<(usize, &Value)> = all.collect();
    let (mut silent, mut remembering) = (0, 0);
    for (instance, decision) in all.iter().step_by(all.len().div_ceil(24)) {
        fs::write(directory.join("facts.pl"), facts(&header, replay, *instance, decision)).expect("writable");
        let policy = "workload-and-latency-aware-with-memory.pl";
        let output = mario()
            .args(["policy", "explain", "--policy", policy, "--facts", "facts.pl"])
            .current_dir(&directory)
            .output()
            .expect("it runs");
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert_eq!(shown(&replay["explanations"], &decision[6]), stdout(&output), "{decision}");
        silent += usize::from(stdout(&output).starts_with("nop: "));
        remembering += usize::from(!decision[5][1].as_array().is_none_or(Vec::is_empty));
    }
    assert!(silent >= 3 && remembering >= 3, "{silent} asked for nothing, {remembering} remember something");
}
