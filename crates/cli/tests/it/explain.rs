//! `mario policy explain`, as a user sees it and as `docs/explaining.md` shows it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::transcripts::words;
use crate::{mario, run, stderr, stdout};

const DOCUMENT: &str = include_str!("../../../../docs/explaining.md");

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn file(name: &str, text: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("explain");
    fs::create_dir_all(&directory).expect("the tests' own directory is writable");
    let path = directory.join(name);
    fs::write(&path, text).expect("the tests' own directory is writable");
    path
}

#[test]
fn prints_what_the_document_shows() {
    let mut blocks = 0;
    for block in DOCUMENT.split("```console\n").skip(1) {
        let block = block.split("```").next().expect("split gives one part at least");
        let (line, expected) = block.split_once('\n').expect("a command, then what it prints");
        let line = line.strip_prefix("$ mario ").expect("the command is mario");
        let output = mario().args(words(line)).current_dir(root()).output().expect("the binary was built and runs");
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert_eq!(stderr(&output), "");
        let printed = stdout(&output);
        assert!(printed == expected, "docs/explaining.md should show:\n{printed}");
        blocks += 1;
    }
    assert_eq!(blocks, 2);
}

fn example(more: &[&str]) -> std::process::Output {
    let policy = root().join("policies/workload-aware.pl");
    let facts = root().join("examples/video.pl");
    let mut arguments: Vec<&std::ffi::OsStr> =
        vec!["policy".as_ref(), "explain".as_ref(), "--policy".as_ref(), policy.as_ref()];
    arguments.extend(["--facts".as_ref(), facts.as_os_str()]);
    arguments.extend(more.iter().map(std::ffi::OsStr::new));
    run(arguments)
}

#[test]
fn prints_the_same_explanation_as_json() {
    let output = example(&["--format", "json"]);
    let object: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    assert_eq!(object["instance"], "s1");
    assert_eq!(object["proposals"], serde_json::json!([]));
    let replicate = &object["missed"][2];
    assert_eq!(replicate["operation"], "replicate");
    let miss = &replicate["clauses"][0];
    assert_eq!(miss["clause"]["number"], 3);
    let overloaded = &miss["steps"][0];
    assert_eq!((&overloaded["kind"], &overloaded["goal"]), (&"clause".into(), &1.into()));
    let compared = &overloaded["steps"][1];
    assert_eq!(compared["comparison"], serde_json::json!({"operator": ">", "left": 7.0, "right": 10.0}));
    let change = &miss["changes"][1];
    assert_eq!(change["proposes"], serde_json::json!(["replicate", "s1", "n41"]));
    let fact = serde_json::json!({"before": "requests(s1, n41, 1, 15)", "after": "requests(s1, n41, 5, 15)"});
    assert_eq!(change["facts"], serde_json::json!([fact]));
}

#[test]
fn uses_colour_only_if_wanted() {
    assert!(!stdout(&example(&[])).contains('\u{1b}'));
    assert!(stdout(&example(&["--color", "always"])).contains("\u{1b}["));
}

#[test]
fn writes_a_self_contained_escaped_page() {
    let policy = file("odd.pl", "operation(undeploy, I, self) :- requests(I, '<script>&\"', R, _), R < 1.\n");
    let facts = file("odd-facts.pl", "serviceInstance(s1, a, n1).\nrequests(s1, '<script>&\"', 3, 0).\n");
    let page = file("odd.html", "");
    let output = run([
        "policy".as_ref(),
        "explain".as_ref(),
        "--policy".as_ref(),
        policy.as_os_str(),
        "--facts".as_ref(),
        facts.as_ref(),
        "--html".as_ref(),
        page.as_ref(),
    ]);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(0), ""), "{}", stderr(&output));
    let text = fs::read_to_string(&page).expect("just written");
    assert!(text.starts_with("<!doctype html>") && text.ends_with("</html>\n"), "{text}");
    assert!(text.contains("would undeploy if the rate of the requests through &lt;script&gt;&amp;&quot;"), "{text}");
    assert!(text.contains("color-scheme: light dark") && text.contains("name=\"viewport\""), "{text}");
    for outside in ["<script", "http:", "https:", "src=", "@import", "url("] {
        assert!(!text.contains(outside), "{outside}: {text}");
    }
}

#[test]
fn explains_a_batch_line_by_line() {
    let services = file("services.pl", "service(1, 1, 5, 10).\n");
    let batch = file(
        "batch.jsonl",
        concat!(
            r#"{"si": 7, "app": 1, "node": "n0", "free_hw": {"n0": 8, "n1": 6}, "requests": [["n1", 6, 6]]}"#,
            "\n",
            r#"{"si": 8, "app": 1, "node": "n0", "free_hw": {"n0": 8, "n1": 6}, "requests": [["n1", 2, 6]]}"#,
            "\n",
        ),
    );
    let policy = root().join("policies/workload-aware.pl");
    let page = file("batch.html", "");
    let arguments = |more: &[&Path]| {
        let options = ["--policy", "--batch", "--services", "--html"];
        let paths = [policy.as_path(), &batch, &services].into_iter().chain(more.iter().copied());
        let mut words = vec![std::ffi::OsString::from("policy"), "explain".into()];
        for (option, path) in options.iter().zip(paths) {
            words.extend([(*option).into(), path.into()]);
        }
        run(words)
    };
    let output = arguments(&[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let lines: Vec<serde_json::Value> =
        stdout(&output).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0]["proposals"][0]["operation"], "migrate");
    assert_eq!(lines[1]["proposals"], serde_json::json!([]));
    assert_eq!(arguments(&[&page]).status.code(), Some(0));
    let text = fs::read_to_string(&page).expect("just written");
    for summary in ["line 1, instance 7: migrate n1", "line 2, instance 8: nop"] {
        assert!(text.contains(&format!("<details>\n<summary>{summary}</summary>\n")), "{text}");
    }
    assert_eq!(text.matches("</details>").count(), 2);
}

#[test]
fn a_policy_that_does_not_decide_exits_with_code_2() {
    let policy = file("gone.pl", "operation(undeploy, _, self) :- gone.\n");
    let facts = file("gone-facts.pl", "serviceInstance(s1, a, n1).\n");
    let words = ["policy", "explain", "--policy"].map(std::ffi::OsString::from);
    let output = run(words.into_iter().chain([policy.into(), "--facts".into(), facts.into()]));
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("did not decide") && stderr(&output).contains("gone/0"), "{}", stderr(&output));
}
