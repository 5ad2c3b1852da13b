//! `mario policy`: decisions, measurements, tests and checks, as a user sees them.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::{run, stderr, stdout};

const FACTS: &str = "service(video, 4, 10, 25).\nnode(n42, 10).\nserviceInstance(s1, video, n42).\n\
    requests(s1, n41, 11, 30).\n";
const SERVICES: &str = "service(1, 1, 5, 10).\n";
const BATCH: &str = concat!(
    r#"{"si": 7, "app": 1, "node": "n0", "free_hw": {"n0": 8, "n1": 6}, "requests": [["n1", 6, 6]], "refused": []}"#,
    "\n\n",
    r#"{"t": 1, "si": "7", "app": 1, "node": "n0", "free_hw": {"n0": 8}, "requests": [], "refused": [], "ops": [1]}"#,
    "\n",
    r#"{"si": 8, "app": 1, "node": "n0", "free_hw": {"n0": 8, "n1": 6}, "requests": [["n1", 2, 6]]}"#,
    "\n",
);

fn file(name: &str, text: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("policy");
    fs::create_dir_all(&directory).expect("the tests' own directory is writable");
    let path = directory.join(name);
    fs::write(&path, text).expect("the tests' own directory is writable");
    path
}

fn shipped(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../policies").join(name)
}

/// Runs `mario policy`. Returns standard output, standard error and the exit code.
fn policy(command: &str, paths: &[(&str, &Path)], more: &[&str]) -> (String, String, Option<i32>) {
    let mut arguments: Vec<std::ffi::OsString> = vec!["policy".into(), command.into()];
    for (option, path) in paths {
        if !option.is_empty() {
            arguments.push(option.into());
        }
        arguments.push(path.into());
    }
    arguments.extend(more.iter().map(Into::into));
    let output = run(&arguments);
    (stdout(&output), stderr(&output), output.status.code())
}

#[test]
fn shows_what_an_agent_proposes_and_which_clause_says_so() {
    let policy_file = shipped("workload-and-latency-aware.pl");
    let facts = file("facts.pl", FACTS);
    let paths = [("--policy", policy_file.as_path()), ("--facts", facts.as_path())];
    let shown = policy_file.display();
    let (out, err, code) = policy("decide", &paths, &[]);
    assert_eq!((out, err, code), (format!("migrate s1 n41  {shown}:15\n"), String::new(), Some(0)));
    let (out, _, _) = policy("decide", &paths, &["--all"]);
    let lines: Vec<&str> = out.lines().map(|line| line.split("  ").next().expect("a line")).collect();
    assert_eq!(lines, ["migrate s1 n41", "migrate s1 n41", "replicate s1 n41", "replicate s1 n41"]);
    let (out, _, _) = policy("decide", &paths, &["--format", "json"]);
    assert!(out.contains(r#""ops":[["migrate","s1","n41"]]"#), "{out}");
    assert!(out.contains(r#""clause":2"#) && out.contains(r#""line":15"#), "{out}");
}

#[test]
fn the_shipped_example_proposes_nothing() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/video.pl");
    for name in ["workload-aware.pl", "latency-aware.pl", "workload-and-latency-aware.pl"] {
        let policy_file = shipped(name);
        let paths = [("--policy", policy_file.as_path()), ("--facts", example.as_path())];
        assert_eq!(policy("decide", &paths, &["--all"]), ("nop\n".to_owned(), String::new(), Some(0)));
    }
}

#[test]
fn decides_a_batch_line_by_line_compressed_or_not() {
    let policy_file = shipped("workload-aware.pl");
    let services = file("services.pl", SERVICES);
    let plain = file("batch.jsonl", BATCH);
    let compressed = plain.with_extension("jsonl.gz");
    let mut encoder = GzEncoder::new(File::create(&compressed).expect("writable"), Compression::fast());
    encoder.write_all(BATCH.as_bytes()).and_then(|()| encoder.finish()).expect("writable");
    for batch in [&plain, &compressed] {
        let paths =
            [("--policy", policy_file.as_path()), ("--batch", batch.as_path()), ("--services", services.as_path())];
        let (out, err, code) = policy("decide", &paths, &["--all"]);
        let expected = [
            r#"{"ops":[["migrate","7","n1"],["replicate","7","n1"]]}"#,
            r#"{"ops":[["undeploy","7","self"]]}"#,
            r#"{"ops":[]}"#,
        ];
        assert_eq!((out.lines().collect::<Vec<_>>(), err.as_str(), code), (expected.to_vec(), "", Some(0)));
        let (out, _, _) = policy("decide", &paths, &[]);
        assert!(out.starts_with("{\"ops\":[[\"migrate\",\"7\",\"n1\"]]}\n"), "{out}");
    }
}

#[test]
fn names_the_line_of_a_batch_that_is_wrong() {
    let policy_file = shipped("workload-aware.pl");
    for (bad, expected) in [
        ("{\"si\": 1}", "missing field `app`"),
        ("nonsense", "expected"),
        (r#"{"si":1,"app":1,"node":"n","free_hw":{},"requests":[]}"#, "`free_hw` must have"),
    ] {
        let batch = file("bad.jsonl", &format!("{BATCH}{bad}\n"));
        let paths = [("--policy", policy_file.as_path()), ("--batch", batch.as_path())];
        let (_, err, code) = policy("decide", &paths, &[]);
        assert_eq!(code, Some(2), "{err}");
        assert!(err.contains("line 5 of `") && err.contains(expected) && err.contains("\"free_hw\": {"), "{err}");
    }
}

#[test]
fn points_at_each_bad_fact() {
    let policy_file = shipped("workload-aware.pl");
    let facts = file("bad-facts.pl", "node(n42, 10).\nrequests(s1, N41, 5, 0).\nserviceInstance(s1).\n");
    let (_, err, code) = policy("decide", &[("--policy", &policy_file), ("--facts", &facts)], &[]);
    assert_eq!(code, Some(2));
    assert!(err.contains("bad-facts.pl:2:1\n2 | requests(s1, N41, 5, 0).\n"), "{err}");
    assert!(err.contains("argument 2 is the neighbour") && err.contains("did you mean serviceInstance/3?"), "{err}");
}

#[test]
fn asks_which_instance_is_meant() {
    let policy_file = shipped("workload-aware.pl");
    let facts = file("two.pl", &format!("{FACTS}serviceInstance(s2, video, n42).\n"));
    let paths = [("--policy", policy_file.as_path()), ("--facts", facts.as_path())];
    let (_, err, code) = policy("decide", &paths, &[]);
    assert!(code == Some(2) && err.contains("s1, s2") && err.contains("--instance"), "{err}");
    let (_, err, code) = policy("decide", &paths, &["--instance", "s3"]);
    assert!(code == Some(2) && err.contains("no instance `s3`"), "{err}");
    let (out, _, code) = policy("decide", &paths, &["--instance", "s2"]);
    assert!(code == Some(0) && out.starts_with("undeploy s2 self"), "{out}");
}

#[test]
fn warns_of_invalid_solutions_and_still_shows_them() {
    let policy_file = file("odd.pl", "operation(move, _, n41).\noperation(migrate, _, _).\n");
    let facts = file("facts-odd.pl", FACTS);
    let paths = [("--policy", policy_file.as_path()), ("--facts", facts.as_path())];
    let (out, err, code) = policy("decide", &paths, &["--all"]);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.starts_with("move s1 n41"), "{out}");
    assert_eq!(err.matches("is not an operation").count(), 2, "{err}");
    assert!(err.contains("odd.pl:1") && err.contains("unbound variable"), "{err}");
    let batch = file("odd.jsonl", BATCH);
    let (out, err, _) = policy("decide", &[("--policy", &policy_file), ("--batch", &batch)], &[]);
    assert!(out.contains(r#""invalid":[{"#) && out.contains(r#""fault":"a policy proposes"#), "{out}");
    assert!(err.contains("3 solutions are not operations, the first for line 1"), "{err}");
}

#[test]
fn a_policy_that_does_not_decide_exits_with_code_2() {
    let facts = file("facts-fault.pl", FACTS);
    let batch = file("fault.jsonl", BATCH);
    for (name, text, more, expected) in [
        ("loop.pl", "operation(undeploy, _, self) :- loop.\nloop :- loop.\n", &["--budget", "1000"][..], "inferences"),
        ("gone.pl", "operation(undeploy, _, self) :- gone.\n", &[], "gone/0"),
        ("halt.pl", "operation(undeploy, _, self) :- halt.\n", &[], "halt"),
    ] {
        let policy_file = file(name, text);
        let (_, err, code) = policy("decide", &[("--policy", &policy_file), ("--facts", &facts)], more);
        assert!(code == Some(2) && err.contains("did not decide") && err.contains(expected), "{err}");
        let (out, err, code) = policy("decide", &[("--policy", &policy_file), ("--batch", &batch)], more);
        assert!(code == Some(2) && err.contains("3 decisions failed") && err.contains("for line 1"), "{err}");
        assert_eq!(out.matches("\"error\":").count(), 3, "{out}");
        let (_, err, code) = policy("bench", &[("--policy", &policy_file), ("--facts", &facts)], more);
        assert!(code == Some(2) && err.contains("did not decide"), "{err}");
    }
}

#[test]
fn points_at_a_call_of_an_undefined_predicate() {
    let facts = file("facts-unknown.pl", FACTS);
    let library = file("words.pl", "crowded(I) :- idel(I).\nidle(I) :- \\+ requests(I, _, _, _).\n");
    let policy_file =
        file("unknown.pl", ":- ensure_loaded('words.pl').\noperation(undeploy, I, self) :- crowded(I).\n");
    let services = file("unknown-services.pl", SERVICES);
    let batch = file("unknown.jsonl", BATCH);
    for command in ["decide", "explain", "bench"] {
        let (out, err, code) = policy(command, &[("--policy", &policy_file), ("--facts", &facts)], &[]);
        assert_eq!((out.as_str(), code), ("", Some(2)), "{command}");
        assert!(err.contains(&format!("{}:1:15\n1 | crowded(I) :- idel(I).\n", library.display())), "{err}");
        assert!(err.contains("cause: unknown procedure idel/1\n"), "{err}");
        assert!(err.contains("hint: did you mean idle/1?\n") && !err.contains("existence_error"), "{err}");
        let paths =
            [("--policy", policy_file.as_path()), ("--batch", batch.as_path()), ("--services", services.as_path())];
        let (_, err, code) = policy(command, &paths, &[]);
        assert!(code == Some(2) && err.contains(":1:15\n"), "{command} {err}");
    }
}

#[test]
fn explain_reports_an_exhausted_budget_as_text_and_json() {
    let facts = file("facts-endless.pl", FACTS);
    let policy_file = file("endless.pl", "operation(undeploy, _, self) :- loop.\nloop :- loop.\n");
    let paths = [("--policy", policy_file.as_path()), ("--facts", facts.as_path())];
    let (out, err, code) = policy("explain", &paths, &["--budget", "1000"]);
    assert_eq!((out.as_str(), code), ("", Some(2)));
    assert!(err.contains("ran out of inferences") && err.contains("`--budget` allows more"), "{err}");
    let (out, _, _) = policy("explain", &paths, &["--budget", "1000", "--format", "json"]);
    assert!(out.contains(r#""error":"the policy ran out of inferences""#), "{out}");
}

#[test]
fn warns_of_an_application_without_a_descriptor() {
    let policy_file = shipped("workload-aware.pl");
    let facts =
        file("undescribed.pl", "node(n42, 10).\nserviceInstance(s1, video, n42).\nrequests(s1, n41, 11, 30).\n");
    let batch = file("undescribed.jsonl", BATCH);
    let services = file("other-services.pl", "service(2, 1, 5, 10).\n");
    for command in ["decide", "explain", "bench"] {
        let (_, err, code) = policy(command, &[("--policy", &policy_file), ("--facts", &facts)], &[]);
        assert!(code == Some(0) && err.contains("nothing is known about application `video`"), "{err}");
        assert!(err.contains("add `service(video, Hardware, MaxRate, MaxLatency).` to the facts"), "{err}");
        let (_, err, _) = policy(command, &[("--policy", &policy_file), ("--batch", &batch)], &[]);
        assert_eq!(err.matches("warning: ").count(), 1, "{err}");
        assert!(err.contains("application `1`") && err.contains("`--services FILE`"), "{err}");
        let paths =
            [("--policy", policy_file.as_path()), ("--batch", batch.as_path()), ("--services", services.as_path())];
        let (_, err, _) = policy(command, &paths, &[]);
        assert!(err.contains("other-services.pl`"), "{err}");
    }
}

#[test]
fn says_what_to_do_about_facts_without_an_instance() {
    let policy_file = shipped("workload-aware.pl");
    let facts = file("nobody.pl", SERVICES);
    for command in ["decide", "explain", "bench"] {
        let (_, err, code) = policy(command, &[("--policy", &policy_file), ("--facts", &facts)], &[]);
        assert!(code == Some(2) && err.contains("hint: say which instance"), "{err}");
    }
}

#[test]
fn rejects_an_acceptance_policy_where_an_agents_policy_belongs() {
    let facts = file("facts-acceptance.pl", FACTS);
    let acceptance = shipped("accept-what-fits.pl");
    for command in ["decide", "explain", "bench"] {
        let (_, err, code) = policy(command, &[("--policy", &acceptance), ("--facts", &facts)], &[]);
        assert!(code == Some(2) && err.contains("acceptance policy of a node's manager"), "{err}");
    }
}

#[test]
fn a_truncated_batch_exits_with_code_2() {
    let policy_file = shipped("workload-aware.pl");
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(BATCH.as_bytes()).expect("a vector");
    let whole = encoder.finish().expect("a vector");
    let cut = file("cut.jsonl.gz", "");
    fs::write(&cut, &whole[..whole.len() - 30]).expect("writable");
    let (_, err, code) = policy("decide", &[("--policy", &policy_file), ("--batch", &cut)], &[]);
    assert!(code == Some(2) && err.contains("cut.jsonl.gz") && err.contains("is it complete?"), "{err}");
}

#[test]
fn shows_what_is_wrong_with_a_policy() {
    let facts = file("facts-policy.pl", FACTS);
    let policy_file = file("broken.pl", "operation(migrate, I, N :- requests(I, N, _, _).\nnode(n1, 3).\n");
    let (_, err, code) = policy("decide", &[("--policy", &policy_file), ("--facts", &facts)], &[]);
    assert_eq!(code, Some(2));
    assert!(err.contains("broken.pl:1:") && err.contains("broken.pl:2:1"), "{err}");
    assert!(err.contains("facts of node/2 come from the host"), "{err}");
}

#[test]
fn measures_decisions() {
    let policy_file = shipped("workload-aware.pl");
    let batch = file("bench.jsonl", BATCH);
    let services = file("bench-services.pl", SERVICES);
    let paths = [("--policy", policy_file.as_path()), ("--batch", batch.as_path()), ("--services", services.as_path())];
    let (out, err, code) = policy("bench", &paths, &["--repeat", "10"]);
    assert_eq!((err.as_str(), code), ("", Some(0)));
    for part in [
        "30 decisions: 3 knowledge bases",
        "decisions per second",
        "inferences per decision",
        "slowest knowledge base: line ",
    ] {
        assert!(out.contains(part), "{out}");
    }
    let (out, _, _) = policy("bench", &paths, &["--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(json["decisions"], 3);
    assert!(json["decisions_per_second"].as_f64().is_some_and(|rate| rate > 0.0), "{out}");
}

#[test]
fn runs_the_tests_beside_every_shipped_policy() {
    let mut tables = 0;
    for entry in fs::read_dir(shipped("")).expect("it is there") {
        let path = entry.expect("it is readable").path();
        if path.to_string_lossy().ends_with(".test.pl") {
            let (out, err, code) = policy("test", &[("", &path)], &[]);
            assert_eq!(code, Some(0), "{out}{err}");
            assert!(out.ends_with(" passed, 0 failed\n") && !out.starts_with('0'), "{out}");
            tables += 1;
        }
    }
    assert!(tables >= 5);
    let (out, _, code) = policy("test", &[("", &shipped("workload-aware.pl"))], &[]);
    assert!(code == Some(0) && !out.starts_with('0'), "{out}");
}

#[test]
fn says_where_the_tests_of_a_policy_belong() {
    let (_, err, code) = policy("test", &[("", &shipped("library.pl"))], &[]);
    assert_eq!(code, Some(2));
    assert!(err.contains("there are no tests of `") && err.contains("library.test.pl`"), "{err}");
    assert_eq!(err.matches("error").count(), 1, "{err}");
    let table = file("kinds.test.pl", &format!("{FACTS}test(a, [], accepted).\n"));
    let (_, err, code) = policy("test", &[("", &table)], &[]);
    assert!(code == Some(2) && err.starts_with("error: cannot read the tests `"), "{err}");
    assert!(err.contains("the expected operations are a list") && err.contains("Request, Verdict"), "{err}");
}

#[test]
fn shows_how_proposals_differ_from_the_tests() {
    file("mine.pl", "operation(migrate, I, N) :- requests(I, N, _, _).\n");
    let table = file("mine.test.pl", &format!("{FACTS}\ntest('goes away', [], [operation(undeploy, s1, self)]).\n"));
    let (out, _, code) = policy("test", &[("", &table)], &[]);
    assert_eq!(code, Some(1));
    let expected = format!(
        "failed: goes away\n  at {}:6\n  - operation(undeploy, s1, self)  expected, not proposed\n  \
         + operation(migrate, s1, n41)  proposed, not expected, by ",
        table.display()
    );
    assert!(out.starts_with(&expected) && out.ends_with("mine.pl:1\n\n0 passed, 1 failed\n"), "{out}");
}

#[test]
fn checks_every_shipped_policy_and_finds_nothing() {
    let (out, err, code) = policy("check", &[("", &shipped("workload-aware.pl")), ("", &shipped("library.pl"))], &[]);
    assert_eq!((err.as_str(), code), ("", Some(0)), "{out}");
    assert!(out.contains("workload-aware.pl: no findings\n  explored 31624 worlds; "), "{out}");
    assert!(out.contains(" inferences each\n") && out.contains("allowed: no-operation in line "), "{out}");
    let (out, err, code) = policy("check", &[("", &shipped("workload-aware.test.pl"))], &[]);
    assert_eq!((out.as_str(), code), ("", Some(0)));
    assert!(err.contains("mario policy test"), "{err}");
}

#[test]
fn shows_findings_with_position_and_counterexample() {
    let restless = file(
        "restless.pl",
        "operation(migrate, I, N) :-\n    requests(I, N, Rate, _),\n    N \\== self.\noperation(undeploy, I, self) :- idel(I).\n\
         idle(I) :- \\+ requests(I, _, _, _).\n",
    );
    let (out, err, code) = policy("check", &[("", &restless)], &[]);
    assert_eq!((err.as_str(), code), ("", Some(1)), "{out}");
    let shown = restless.display();
    for part in [
        &format!("warning: singleton-variable: singleton variable `Rate`\n --> {shown}:2:20\n"),
        &format!("warning: unknown-predicate: idel/1 is not defined, so this raises an exception\n --> {shown}:4:33\n"),
        "hint: did you mean idle/1?\n",
        &format!(
            "warning: ping-pong: an instance migrates back to where it was, though no client moved\n --> {shown}:1:1\n"
        ),
        "  cycle 2: i1 on n2 hears requests: 5 from n1 (latency 3), 5 from its own node; asks to migrate to n1 (line 1); accepted",
        &format!("{shown}: 3 findings\n"),
    ] {
        assert!(out.contains(part), "{part}\n{out}");
    }
    let (out, _, code) = policy("check", &[("", &restless)], &["--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    let findings = json["files"][0]["findings"].as_array().expect("a list");
    let codes: Vec<&str> = findings.iter().filter_map(|finding| finding["finding"].as_str()).collect();
    assert_eq!((codes, code), (vec!["singleton-variable", "unknown-predicate", "ping-pong"], Some(1)));
    assert_eq!((&findings[1]["line"], &findings[1]["column"]), (&serde_json::json!(4), &serde_json::json!(33)));
    assert!(findings[2]["story"].as_array().is_some_and(|story| story.len() > 4));
}

#[test]
fn a_policy_that_cannot_be_checked_does_not_hide_findings_in_others() {
    let broken = file("unreadable.pl", "operation(migrate, I, N :- a.\nb.\nc :- ( d.\n");
    let fine = file("readable.pl", "operation(undeploy, I, self) :- \\+ requests(I, _, _, _).\n");
    let (out, err, code) = policy("check", &[("", &broken), ("", &fine)], &[]);
    assert_eq!(code, Some(2));
    assert!(err.contains("unreadable.pl:1:") && err.contains("unreadable.pl:3:"), "{err}");
    assert!(out.contains("readable.pl: no findings"), "{out}");
}
