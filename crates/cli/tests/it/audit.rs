//! `mario audit`: what it accepts, what it finds, and what it prints.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use mario_testing::previous_version;
use serde_json::Value;

use crate::{run, stderr, stdout};

/// A small valid trace.
const TRACE: &str = include_str!("../../../audit/tests/traces/small.jsonl");

fn directory(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("audit").join(name);
    fs::create_dir_all(&directory).expect("the test's own directory is writable");
    directory
}

fn file(name: &str, text: &str) -> PathBuf {
    let path = directory("files").join(name);
    fs::write(&path, text).expect("the test's own directory is writable");
    path
}

fn audit(path: &Path, options: &[&str]) -> (Option<i32>, String, String) {
    let arguments = ["audit".as_ref(), path.as_os_str()].into_iter().chain(options.iter().map(AsRef::as_ref));
    let output = run(arguments);
    (output.status.code(), stdout(&output), stderr(&output))
}

#[test]
fn reports_what_was_checked_in_a_valid_trace_without_findings() {
    let (code, report, message) = audit(&file("true.jsonl", TRACE), &[]);
    assert_eq!((code, message.as_str()), (Some(0), ""), "{report}");
    assert!(report.ends_with("nothing is wrong\n"), "{report}");
    assert!(report.contains("decisions recomputed       5 (4 computed)\n"), "{report}");
    assert!(report.lines().count() <= 24, "one screen\n{report}");
}

#[test]
fn takes_a_directory_and_a_compressed_trace() {
    let plain = directory("plain");
    fs::write(plain.join("trace.jsonl"), TRACE).expect("writable");
    let compressed = directory("compressed");
    let archive = File::create(compressed.join("trace.jsonl.gz")).expect("writable");
    let mut archive = GzEncoder::new(archive, Compression::fast());
    archive.write_all(TRACE.as_bytes()).and_then(|()| archive.finish().map(drop)).expect("writable");
    let expected = audit(&file("true-to-compress.jsonl", TRACE), &[]);
    for path in [plain, compressed.clone(), compressed.join("trace.jsonl.gz")] {
        assert_eq!(audit(&path, &[]), expected, "{}", path.display());
    }
}

#[test]
fn checks_a_truncated_archive_up_to_its_end() {
    let path = directory("cut").join("trace.jsonl.gz");
    let mut archive = GzEncoder::new(Vec::new(), Compression::fast());
    archive.write_all(TRACE.as_bytes()).expect("memory");
    let mut bytes = archive.finish().expect("memory");
    bytes.truncate(bytes.len() - 30);
    fs::write(&path, bytes).expect("writable");
    let (code, report, message) = audit(&path, &[]);
    assert_eq!(code, Some(0), "{report}{message}");
    assert!(report.contains("interrupted"), "{report}");
}

#[test]
fn findings_go_to_standard_output_with_exit_code_1() {
    let lie = file("lie.jsonl", &TRACE.replace("\"lost\":1", "\"lost\":2").replace("[2,\"nop\"]", "[9,\"nop\"]"));
    let (code, report, message) = audit(&lie, &["--limit", "1"]);
    assert_eq!((code, message.as_str()), (Some(1), ""));
    let first = "line 11, time 600, instance 9: instance: expected an instance that exists; found that it does nothing, \
                 although it never appeared\n";
    assert!(report.starts_with(first), "{report}");
    assert!(report.ends_with("5 findings: instance 2, proposal 2, totals 1\n"), "{report}");
    let (code, report, _) = audit(&lie, &["--format", "json"]);
    let report: Value = serde_json::from_str(&report).expect("JSON");
    assert_eq!((code, report["findings"].as_array().map(Vec::len)), (Some(1), Some(5)));
    assert_eq!(report["found"]["totals"], 1);
}

#[test]
fn decisions_are_not_recomputed_with_no_decisions() {
    let told =
        TRACE.replace("[[\"self\",5,0]]", "[[\"self\",50,0]]").replace("\"usage\",1000,0,5,5", "\"usage\",1000,0,5,14");
    let lie = file("decision.jsonl", &told);
    assert_eq!(audit(&lie, &[]).0, Some(1));
    let (code, report, _) = audit(&lie, &["--no-decisions"]);
    assert_eq!(code, Some(0), "{report}");
    assert!(report.contains("not checked: whether decisions follow from the facts: not requested\n"), "{report}");
}

#[test]
fn rejects_what_is_not_a_trace_with_place_and_remedy() {
    for (name, text, expected) in [
        (
            "newer.jsonl",
            TRACE.replace("\"mario_trace\":1", "\"mario_trace\":9"),
            "cause: this trace has format 9; this mario reads 1 to 8\nhint: use the version of mario that wrote it\n",
        ),
        (
            "table.csv",
            "time,undeploy,nop\n100,1,2\n".to_owned(),
            "is not a trace: its first line is not a header\nhint: `mario run` leaves a trace as trace.jsonl in the \
             directory of its results\n",
        ),
        (
            "broken.jsonl",
            TRACE.replace("[\"node-leaving\",650,1]", "[\"node-leaving\",650,7]"),
            "cause: line 12 is not a record: it names the node 7, and the header has 3 nodes\nhint: docs/trace.md describes \
             the format\n",
        ),
    ] {
        let (code, report, message) = audit(&file(name, &text), &[]);
        assert_eq!((code, report.as_str()), (Some(2), ""), "{message}");
        assert!(message.starts_with("error: ") && message.contains(name), "{message}");
        assert!(message.ends_with(expected), "{message}");
    }
}

/// The small trace with a policy that does not terminate.
fn endless() -> String {
    let (header, records) = TRACE.split_once('\n').expect("a header");
    let mut header: Value = serde_json::from_str(header).expect("JSON");
    header["policies"][0]["files"][0][1] = "operation(undeploy, I, self) :- repeat, atom(I), fail.".into();
    format!("{header}\n{records}")
}

#[test]
fn a_trace_whose_policies_exhaust_the_budget_is_rejected_after_all_other_findings() {
    let path = file("endless.jsonl", &endless());
    let (code, report, message) = audit(&path, &["--budget", "100000"]);
    assert_eq!(code, Some(2), "{report}{message}");
    assert!(
        report
            .contains("not checked: decisions from line 4 on: the policies of the trace used up the budget of 100000"),
        "{report}"
    );
    let expected = "take too long to decide from line 4 on: they have used all of 100000 inferences\nhint: allow more with \
                    --budget, or take decisions as recorded with --no-decisions\n";
    assert!(message.starts_with("error: the policies in `") && message.ends_with(expected), "{message}");
    let (code, report, message) = audit(&path, &["--budget", "100000", "--format", "json"]);
    let report: Value = serde_json::from_str(&report).expect("JSON");
    assert_eq!((code, &report["spent_at"]), (Some(2), &Value::from(4)), "{message}");
    assert_eq!(audit(&path, &["--no-decisions"]).0, Some(0));
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_an_audit_and_a_report_at_once() {
    use std::os::unix::process::ExitStatusExt;
    let path = file("interrupted.jsonl", &endless());
    for command in ["audit", "report"] {
        let mut child = crate::mario();
        child.arg(command).arg(&path).args(["--budget", &u64::MAX.to_string()]).current_dir(directory("files"));
        let mut child = child.stdout(std::process::Stdio::null()).spawn().expect("it runs");
        // With this budget, the policy of the trace runs practically for ever.
        std::thread::sleep(std::time::Duration::from_millis(300));
        let id = nix::unistd::Pid::from_raw(child.id() as i32);
        nix::sys::signal::kill(id, nix::sys::signal::Signal::SIGINT).expect("it is there");
        let status = child.wait().expect("it ends");
        assert_eq!(status.signal(), Some(2), "{command}: {status}");
    }
}

#[test]
fn the_directory_of_a_run_is_checked_against_its_trace() {
    let directory = directory("run");
    let _ = fs::remove_dir_all(&directory);
    let made = run(["run", "paper", "--set", "duration=4000", "--out"]
        .map(std::ffi::OsString::from)
        .into_iter()
        .chain([directory.clone().into_os_string()]));
    assert_eq!(made.status.code(), Some(0), "{}", stderr(&made));
    let (code, report, message) = audit(&directory, &[]);
    assert_eq!((code, message.as_str()), (Some(0), ""), "{report}");
    let checked = "checked against the trace: operations.csv, moves.csv, handovers.csv, run.json, summary.json\n";
    assert!(report.contains(checked), "{report}");
    assert!(report.contains("not checked: `hops` in summary.json: "), "{report}");
    let summary = directory.join("summary.json");
    let text = fs::read_to_string(&summary).expect("a summary");
    fs::write(&summary, text.replacen("\"movements\": ", "\"movements\": 1", 1)).expect("writable");
    let (code, report, _) = audit(&directory, &[]);
    assert_eq!(code, Some(1), "{report}");
    assert!(report.starts_with("summary.json, line 1, groups[0].movements: summary: expected "), "{report}");
    // The trace alone is still valid.
    assert_eq!(audit(&directory.join("trace.jsonl"), &[]).0, Some(0));
}

/// Traces that an earlier version wrote, of a simulated and of a live run.
#[test]
fn traces_of_the_previous_version_are_read_audited_and_reported() {
    for name in ["simulated.jsonl.gz", "live.jsonl.gz"] {
        let trace = previous_version(name);
        let (code, report, message) = audit(&trace, &[]);
        assert_eq!(code, Some(0), "{name}: {report}{message}");
        assert!(report.ends_with("nothing is wrong\n"), "{name}: {report}");
        let page = directory(name).join("report.html");
        let output = run(["report".as_ref(), trace.as_os_str(), "--out".as_ref(), page.as_os_str()]);
        assert!(output.status.success(), "{name}: {}", stderr(&output));
        assert!(fs::metadata(&page).expect("a page").len() > 10_000, "{name}");
    }
}
