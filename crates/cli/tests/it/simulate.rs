//! `mario run`: what it writes, what it prints, and what it does not overwrite.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use mario_testing::empty_directory;
use serde_json::Value;

use crate::{mario, run, stderr, stdout};

/// An empty directory for one test.
fn place(name: &str) -> PathBuf {
    empty_directory(env!("CARGO_TARGET_TMPDIR"), &format!("run/{name}"))
}

fn simulate(directory: &Path, options: &[&str]) -> (Option<i32>, String, String) {
    let arguments = ["run", "paper", "--set", "duration=4000", "--out"].map(AsRef::as_ref);
    let rest = std::iter::once(directory.as_os_str()).chain(options.iter().map(AsRef::as_ref));
    let output = run(arguments.into_iter().chain(rest));
    (output.status.code(), stdout(&output), stderr(&output))
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("a directory");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn leaves_a_complete_directory_that_the_auditor_accepts() {
    let directory = place("complete").join("run");
    let (code, table, message) = simulate(&directory, &["--messages"]);
    assert_eq!(code, Some(0), "{message}");
    assert!(table.contains("replicate per movement") && table.contains("WS"), "{table}");
    let expected =
        ["handovers.csv", "messages.csv", "moves.csv", "operations.csv", "run.json", "summary.json", "trace.jsonl"];
    assert_eq!(names(&directory), expected);
    let audited = run(["audit".as_ref(), directory.as_os_str()]);
    assert_eq!(audited.status.code(), Some(0), "{}", stdout(&audited));
    let read = |name: &str| fs::read_to_string(directory.join(name)).expect("a file");
    let summary: Value = serde_json::from_str(&read("summary.json")).expect("JSON");
    let rows = read("messages.csv").lines().count() as u64 - 1;
    assert_eq!(summary["served"].as_u64(), Some(rows));
    let operations = read("operations.csv");
    assert!(operations.starts_with("time,undeploy,nop,migrate,replicate,inhibited\n300,"), "{operations}");
    let cycles = summary["groups"][0]["cycles"].as_array().expect("a list");
    let columns = ["time", "undeploy", "nop", "migrate", "replicate", "inhibited"];
    let row = |cycle: &Value| columns.map(|column| cycle[column].as_f64().expect("a number").to_string()).join(",");
    assert!(cycles.iter().map(row).eq(operations.lines().skip(1).map(str::to_owned)), "both tell the same cycles");
    let settings: Value = serde_json::from_str(&read("run.json")).expect("JSON");
    assert_eq!(settings["scenario"]["duration"], 4000);
    assert_eq!(settings["seed"], 1);
}

#[test]
fn the_same_scenario_and_seed_yield_the_same_bytes() {
    let place = place("same");
    for (name, options) in [("one", vec![]), ("two", vec!["--threads", "2"]), ("three", vec!["--no-reuse"])] {
        let (code, _, message) = simulate(&place.join(name), &options);
        assert_eq!(code, Some(0), "{message}");
    }
    for file in names(&place.join("one")) {
        let read = |name: &str| fs::read(place.join(name).join(&file)).expect("a file");
        assert!(read("one") == read("two") && read("one") == read("three"), "{file} differs");
    }
    let (code, _, _) = simulate(&place.join("other"), &["--seed", "2"]);
    assert_eq!(code, Some(0));
    let trace = |name: &str| fs::read(place.join(name).join("trace.jsonl")).expect("a file");
    assert_ne!(trace("one"), trace("other"));
}

#[test]
fn replaces_a_run_only_when_told_to_and_nothing_else() {
    let directory = place("existing");
    fs::write(directory.join("notes.txt"), "mine").expect("writable");
    let (code, _, message) = simulate(&directory, &[]);
    assert_eq!(code, Some(2), "{message}");
    assert!(message.contains("not empty") && message.contains("--force"), "{message}");
    assert_eq!(names(&directory), ["notes.txt"]);
    let (code, _, message) = simulate(&directory, &["--force", "--trace", "operations"]);
    assert_eq!(code, Some(0), "{message}");
    assert_eq!(fs::read_to_string(directory.join("notes.txt")).expect("still there"), "mine");
    let trace = fs::read_to_string(directory.join("trace.jsonl")).expect("a trace");
    assert!(trace.contains("\"cycle\"") && !trace.contains("\"evaluation\","), "no evaluations");
}

#[test]
fn a_scenario_that_cannot_run_leaves_no_directory() {
    let directory = place("impossible").join("run");
    let (code, _, message) = simulate(&directory, &["--policy", "no-such-policy"]);
    assert_eq!(code, Some(2), "{message}");
    assert!(message.contains("no-such-policy"), "{message}");
    assert!(!directory.exists());
    let (code, _, message) = simulate(&directory, &["--set", "topology.hardware=[1, 9, 6, 1]"]);
    assert_eq!(code, Some(2), "{message}");
    assert!(!directory.exists(), "{message}");
}

#[test]
fn messages_are_rejected_if_requests_are_simulated_as_rates() {
    let directory = place("flow").join("run");
    let (code, _, message) = simulate(&directory, &["--messages", "--set", "network.fidelity=flow"]);
    assert_eq!(code, Some(2), "{message}");
    assert!(message.contains("no messages to keep") && message.contains("network.fidelity"), "{message}");
    assert!(!directory.exists());
}

#[test]
fn long_names_of_kinds_stay_apart_in_the_summary() {
    let directory = place("kinds").join("run");
    let kind = "application.app1.kind=sensitive-to-workload";
    let (code, table, message) = simulate(&directory, &["--set", kind]);
    assert_eq!(code, Some(0), "{message}");
    let heads = table.lines().nth(3).expect("a row of heads").split_whitespace();
    assert_eq!(heads.collect::<Vec<_>>(), ["all", "sensitive-to-workload", "WS", "LS"], "{table}");
}

#[test]
fn the_policy_of_one_application_overrides_that_of_all_in_any_order() {
    let directory = place("policies");
    let orders = [["app1=workload-aware", "latency-aware"], ["latency-aware", "app1=workload-aware"]];
    for (number, [one, other]) in orders.into_iter().enumerate() {
        let (code, table, message) =
            simulate(&directory.join(number.to_string()), &["--policy", one, "--policy", other]);
        assert_eq!(code, Some(0), "{message}");
        assert_eq!(table.lines().nth(1), Some("policy: workload-aware, latency-aware"));
    }
}

#[test]
fn keeps_unnamed_runs_in_numbered_directories() {
    let place = place("numbered");
    for number in 1..=2 {
        let mut command = mario();
        let output =
            command.current_dir(&place).args(["run", "paper", "--set", "duration=400"]).output().expect("it runs");
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(stderr(&output).contains(&format!("runs/paper-{number}")), "{}", stderr(&output));
    }
    assert_eq!(names(&place.join("runs")), ["paper-1", "paper-2"]);
}

#[test]
fn prints_the_summary_as_json() {
    let directory = place("json").join("run");
    let (code, json, message) = simulate(&directory, &["--format", "json", "-q"]);
    assert_eq!((code, message.as_str()), (Some(0), ""));
    let printed: Value = serde_json::from_str(&json).expect("JSON");
    let kept = fs::read_to_string(directory.join("summary.json")).expect("a file");
    assert_eq!(printed, serde_json::from_str::<Value>(&kept).expect("JSON"));
    assert_eq!(printed["groups"][0]["group"], "all");
}

#[cfg(unix)]
#[test]
fn a_full_disk_is_a_clean_error_and_the_directory_is_marked() {
    let directory = place("full").join("run");
    // With a limit on the size of files, writing beyond it fails like writing to a full disk.
    let script = format!(
        "trap '' XFSZ; ulimit -f 64; exec {} run paper --out {}",
        env!("CARGO_BIN_EXE_mario"),
        directory.display()
    );
    let output = Command::new("bash").args(["-c", &script]).output().expect("a shell");
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(stderr(&output).contains("cannot write to"), "{}", stderr(&output));
    assert!(directory.join("PARTIAL").exists());
    assert!(!directory.join("summary.json").exists());
}

#[test]
fn a_summary_of_a_city_can_be_audited_and_shown() {
    let directory = place("summary").join("run");
    let words =
        ["run", "city", "--set", "mobility.users=100", "--set", "duration=12000", "--trace", "summary", "--out"];
    let output = run(words.map(OsStr::new).into_iter().chain([directory.as_os_str()]));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    for (file, is_there) in
        [("trace.jsonl", true), ("operations.csv", true), ("moves.csv", false), ("handovers.csv", false)]
    {
        assert_eq!(directory.join(file).exists(), is_there, "{file}");
    }
    let audited = run([OsStr::new("audit"), directory.as_os_str()]);
    assert_eq!(audited.status.code(), Some(0), "{}", stdout(&audited));
    assert!(stdout(&audited).contains("not checked: single instances and users"), "{}", stdout(&audited));
    let page = directory.join("page.html");
    let report = [OsStr::new("report"), directory.as_os_str(), OsStr::new("--out"), page.as_os_str()];
    let shown = run(report);
    assert_eq!(shown.status.code(), Some(0), "{}", stderr(&shown));
    assert!(page.exists());
}

#[test]
fn a_policy_that_does_not_answer_is_reported() {
    let place = place("failing");
    let ways = [
        ("loops", "operation(undeploy, I, self) :- operation(undeploy, I, self)."),
        ("raises", "operation(undeploy, _, self) :- throw(tired)."),
        ("invents", "operation(explode, I, self) :- serviceInstance(I, _, _)."),
        ("silent", "operation(undeploy, _, self) :- fail."),
        ("late", "operation(undeploy, _, self).\noperation(undeploy, _, self) :- throw(tired)."),
    ];
    for (name, text) in ways {
        let policy = place.join(format!("{name}.pl"));
        fs::write(&policy, text).expect("writable");
        for trace in ["full", "operations"] {
            let directory = place.join(format!("{name}-{trace}"));
            let policy = policy.to_str().expect("a name");
            let options = ["--policy", policy, "--trace", trace, "--set", "duration=900", "--verbose"];
            let (code, _, message) = simulate(&directory, &options);
            assert_eq!(code, Some(0), "{message}");
            assert!(message.contains("policies were evaluated for "), "{message}");
            let is_told = message.contains("gave no answer that an agent could follow");
            assert_eq!(is_told, !["silent", "late"].contains(&name), "{name} {trace}: {message}");
        }
    }
}

/// Writes a short variant of the paper's scenario whose access points have an acceptance policy with this text. Returns
/// its path.
fn owned(place: &Path, name: &str, text: &str) -> PathBuf {
    fs::write(place.join(format!("{name}.pl")), text).expect("writable");
    let mut scenario = "preset = \"paper\"\nduration = 900\n".to_owned();
    for node in 0..64 {
        scenario += &format!("[[node]]\nid = \"n3lt{}ln{}\"\nacceptance = \"{name}.pl\"\n", node / 8, node % 8);
    }
    let path = place.join(format!("{name}.toml"));
    fs::write(&path, scenario).expect("writable");
    path
}

#[test]
fn an_acceptance_policy_that_does_not_answer_is_reported() {
    let place = place("failing-owners");
    let ways = [
        ("raises", "accept(_) :- true, throw(tired).", Some(("nobody caught `tired`", "raises.pl:1:1"))),
        ("calls", "accept(R) :-\n    is_good(R).", Some(("is_good/1", "calls.pl:2:5"))),
        ("loops", "% Reject, for ever.\nreject(R, why) :- reject(R, why).", Some(("ran out of", "loops.pl:2:1"))),
        ("halts", "accept(_) :- halt.", Some(("it called halt", "halts.pl:1:1"))),
        ("gives", "reject(_, _).", Some(("it rejected without a reason", "gives.pl:1:1"))),
        ("refuses", "reject(_, never).", None),
        ("takes", "accept(_).", None),
    ];
    for (name, text, expected) in ways {
        let scenario = owned(&place, name, text);
        for trace in ["full", "summary"] {
            let directory = place.join(format!("{name}-{trace}"));
            let output = run([
                "run".as_ref(),
                scenario.as_os_str(),
                "--trace".as_ref(),
                trace.as_ref(),
                "--out".as_ref(),
                directory.as_os_str(),
            ]);
            let message = stderr(&output);
            assert_eq!(output.status.code(), Some(0), "{message}");
            let summary = fs::read_to_string(directory.join("summary.json")).expect("it is complete");
            let is_told = message.contains("that an acceptance policy was asked, it gave no valid answer");
            assert_eq!(is_told, expected.is_some(), "{name} {trace}: {message}");
            assert_eq!(summary.contains("failed_acceptances"), expected.is_some(), "{name} {trace}");
            if let Some((cause, place)) = expected {
                assert!(message.contains(cause) && message.contains(place), "{name} {trace}: {message}");
                assert!(summary.contains(cause), "{name} {trace}: {summary}");
            }
        }
        let trace = place.join(format!("{name}-full")).join("trace.jsonl");
        let audit = run(["audit".as_ref(), trace.as_os_str()]);
        assert_eq!(audit.status.code(), Some(0), "{}", stdout(&audit));
    }
}

#[test]
fn check_and_run_agree_on_the_initial_state() {
    let place = place("beginnings");
    let applications = "preset = \"paper\"\nduration = 900\nreset = [\"application\"]\n[[application]]\nid = \"one\"\nkind = \"WS\"\n\
                        hardware = 1\nmax_rate = 5\nmax_latency = 10\npolicy = \"never-move\"\n";
    let deploys = "[[deploy]]\napplication = \"one\"\nnode = \"n1lt0ln0\"\n\
                   [[deploy]]\napplication = \"one\"\nnode = \"n1lt0ln0\"\n";
    let owner = |policy: &str| format!("[[node]]\nid = \"n1lt0ln0\"\nacceptance = \"{policy}\"\n");
    fs::write(
        place.join("each.pl"),
        "reject(request(_, _, A, _, N), one_each) :- node(N, _), serviceInstance(_, A, N).",
    )
    .expect("writable");
    fs::write(place.join("broken.pl"), "accept(R) :-\n    is_good(R).").expect("writable");
    let full = "[[node]]\nid = \"n1lt0ln0\"\ncapacity = 1\n";
    let home = format!("home = \"n1lt0ln0\"\n{}", owner("broken.pl"));
    let cases = [
        ("each", format!("{deploys}{}", owner("each.pl")), ":16:8", "node n1lt0ln0 does not accept it: one_each"),
        ("broken", format!("{deploys}{}", owner("broken.pl")), ":13:8", "at broken.pl:2:5"),
        ("home", home, ":11:8", "at broken.pl:2:5"),
        ("full", format!("{deploys}{full}"), ":16:8", "node n1lt0ln0 has 0 free, and 1 is needed"),
    ];
    for (name, more, place_text, cause) in cases {
        let path = place.join(format!("{name}.toml"));
        fs::write(&path, format!("{applications}{more}")).expect("writable");
        let checked = run(["scenario".as_ref(), "check".as_ref(), path.as_os_str()]);
        let directory = place.join(name);
        let ran = run(["run".as_ref(), path.as_os_str(), "--out".as_ref(), directory.as_os_str()]);
        assert_eq!((checked.status.code(), ran.status.code()), (Some(2), Some(2)), "{}", stderr(&checked));
        assert_eq!(stderr(&checked), stderr(&ran), "{name}");
        assert!(!stdout(&checked).contains("no mistakes") && !directory.exists(), "{name}");
        let message = stderr(&checked);
        assert!(message.contains("cannot deploy application `one` at the beginning"), "{message}");
        assert!(message.contains(&format!("{name}.toml{place_text}")) && message.contains(cause), "{message}");
    }
}

#[test]
fn a_plan_that_ignores_owners_says_so() {
    let place = place("unasked");
    let path = owned(&place, "refuses", "reject(_, never).");
    let plan = ["--set", "management.strategy=central-greedy"];
    let checked = run(["scenario".as_ref(), "check".as_ref(), path.as_os_str(), plan[0].as_ref(), plan[1].as_ref()]);
    assert!(stderr(&checked).contains("acceptance policies of nodes are not asked"), "{}", stderr(&checked));
    let checked = run(["scenario".as_ref(), "check".as_ref(), path.as_os_str()]);
    assert_eq!(checked.status.code(), Some(0), "{}", stderr(&checked));
    assert!(!stderr(&checked).contains("not asked"), "{}", stderr(&checked));
}
