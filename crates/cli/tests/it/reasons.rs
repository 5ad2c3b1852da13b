//! What `mario run` prints about policies that fail, exhaust their budget or are replaced, and how
//! `mario policy explain --run` explains decisions.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use mario_testing::empty_directory;

use crate::{mario, run, stderr, stdout};

fn directory(name: &str) -> PathBuf {
    empty_directory(env!("CARGO_TARGET_TMPDIR"), &format!("reasons/{name}"))
}

fn policy(directory: &Path, text: &str) -> String {
    let path = directory.join("policy.pl");
    fs::write(&path, text).expect("writable");
    path.to_str().expect("a path of the workspace").to_owned()
}

/// Runs the paper's scenario for 2000 time units, and asserts success. Returns the standard error of the run and its
/// directory.
fn short_run(directory: &Path, more: &[&str]) -> (String, String) {
    let out = directory.join("run");
    let out = out.to_str().expect("a path of the workspace");
    let mut arguments = vec!["run", "paper", "--set", "duration=2000", "--out", out, "--force"];
    arguments.extend(more);
    let output = run(&arguments);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    (stderr(&output), out.to_owned())
}

/// The suggested command, without `mario`.
fn named_command(said: &str) -> Vec<String> {
    let line = said.lines().find_map(|line| line.split("mario policy explain").nth(1)).expect("a command is named");
    let words = line.split_whitespace().map(|word| word.trim_matches('`').to_owned());
    ["policy", "explain"].map(str::to_owned).into_iter().chain(words).collect()
}

#[test]
fn the_first_reason_is_reported_with_a_command_that_explains_it() {
    for (name, text, reason, explained) in [
        (
            "odd",
            "operation(move, I, self) :- requests(I, _, _, _).\n",
            "operation(move, 1, self) is not an operation",
            "move",
        ),
        (
            "unknown",
            "operation(undeploy, I, self) :- idel(I).\n",
            "unknown procedure idel/1",
            "no answer: the policy raised an exception: unknown procedure idel/1",
        ),
        (
            "nowhere",
            "operation(replicate, I, nowhere) :- requests(I, _, _, _).\n",
            "nowhere is not a valid target",
            "was inhibited",
        ),
    ] {
        let directory = directory(name);
        let (said, out) = short_run(&directory, &["--policy", &policy(&directory, text)]);
        assert!(said.contains(reason) && said.contains("first at time 300, instance 1"), "{said}");
        let command = named_command(&said);
        assert_eq!(command[2..], ["--run", &out, "--instance", "1", "--time", "300"], "{said}");
        let output = run(&command);
        let shown = stdout(&output);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(shown.starts_with("time 300: instance 1 on node n0lt0ln0"), "{shown}");
        assert!(shown.contains(explained), "{shown}");
    }
}

#[test]
fn a_decision_of_a_stored_run_is_explained_as_it_was_made() {
    let directory = directory("kept");
    let (said, out) = short_run(&directory, &["--policy", "workload-and-latency-aware"]);
    assert!(!said.contains("warning"), "{said}");
    let moves = fs::read_to_string(Path::new(&out).join("moves.csv")).expect("it was kept");
    let explain = |more: &[&str]| {
        let mut arguments = vec!["policy", "explain", "--run", &out];
        arguments.extend(more);
        let output = run(&arguments);
        (stdout(&output), stderr(&output), output.status.code())
    };
    // The explanation of the first operation of the run says that it was accepted.
    let row: Vec<&str> = moves.lines().nth(1).expect("something happened").split(',').collect();
    let (instance, time) = (row[0], row[2]);
    let (shown, _, code) = explain(&["--instance", instance, "--time", time]);
    assert_eq!(code, Some(0));
    assert!(shown.contains(&format!("time {time}: ")) && shown.contains("was accepted"), "{moves}\n{shown}");
    let (shown, _, code) = explain(&["--instance", instance, "--time", time, "--format", "json"]);
    assert!(code == Some(0) && shown.contains(r#""inhibited":null"#), "{shown}");
    // For an unknown instance, the error lists instances; for a time before the first evaluation, it names that
    // evaluation.
    let (_, said, code) = explain(&["--instance", "999999"]);
    assert!(code == Some(2) && said.contains("instances are 1, "), "{said}");
    let (_, said, code) = explain(&["--instance", "1", "--time", "10"]);
    assert!(code == Some(2) && said.contains("--time 300"), "{said}");
}

#[test]
fn a_trace_without_evaluations_cannot_be_explained() {
    let directory = directory("operations");
    let (_, out) = short_run(&directory, &["--trace", "operations"]);
    let output = run(["policy", "explain", "--run", &out, "--instance", "1"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("--trace full"), "{}", stderr(&output));
}

#[test]
fn a_budget_bounds_decisions_and_the_audit_uses_it() {
    let directory = directory("budget");
    // The policy first counts down from a thousand: too much for a budget of a hundred inferences, but not for the
    // default budget.
    let text = "operation(replicate, I, self) :- count(1000), requests(I, _, R, _), R > 1000000.\n\
        operation(undeploy, I, self) :- \\+ requests(I, _, _, _).\n\
        count(0) :- !.\ncount(N) :- M is N - 1, count(M).\n";
    let (said, out) = short_run(&directory, &["--policy", &policy(&directory, text), "--budget", "100"]);
    assert!(said.contains("it ran out of inferences"), "{said}");
    let audited = run(["audit", &out]);
    assert_eq!(audited.status.code(), Some(0), "{}", stdout(&audited));
    // Without the budget in its header, the trace claims a failure of a policy that would have answered.
    let trace = Path::new(&out).join("trace.jsonl");
    let told = fs::read_to_string(&trace).expect("it was kept");
    assert!(told.contains(r#""decision_budget":100,"#));
    let lie = directory.join("lie.jsonl");
    fs::write(&lie, told.replacen(r#""decision_budget":100,"#, "", 1)).expect("writable");
    let audited = run(["audit", lie.to_str().expect("a path of the workspace")]);
    assert_eq!(audited.status.code(), Some(1), "{}", stdout(&audited));
    let (said, _) = short_run(&directory, &["--policy", &policy(&directory, text)]);
    assert!(!said.contains("ran out"), "{said}");
}

#[test]
fn a_run_whose_policies_exhaust_their_budget_warns_early_without_a_terminal() {
    let directory = directory("endless");
    let text = "operation(undeploy, I, self) :- wait(I).\nwait(I) :- requests(I, _, _, _), wait(I).\n";
    let policy = policy(&directory, text);
    let out = directory.join("run");
    let said = directory.join("said.txt");
    let file = fs::File::create(&said).expect("writable");
    let mut child = mario()
        .args(["run", "paper", "--policy", &policy, "--out", out.to_str().expect("a path of the workspace")])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(file)
        .spawn()
        .expect("the binary was built and runs");
    let begun = Instant::now();
    let mut is_told = false;
    // Waits until the warning appears, the run ends, or 2 minutes have passed.
    while !is_told && begun.elapsed() < Duration::from_mins(2) && child.try_wait().expect("it is ours").is_none() {
        std::thread::sleep(Duration::from_millis(100));
        is_told =
            fs::read_to_string(&said).is_ok_and(|said| said.contains("use up their budget of 10000000 inferences"));
    }
    child.kill().expect("it is ours");
    child.wait().expect("it is ours");
    assert!(is_told, "{}", fs::read_to_string(&said).unwrap_or_default());
}

#[test]
fn reports_which_policies_a_choice_replaces() {
    let directory = directory("replaced");
    let scenario = directory.join("scenario.toml");
    let text = "preset = \"paper\"\nduration = 1000\n[[deploy]]\napplication = \"app1\"\npolicy = \"never-move\"\n";
    fs::write(&scenario, text).expect("writable");
    let scenario = scenario.to_str().expect("a path of the workspace");
    let out = directory.join("run");
    let out = out.to_str().expect("a path of the workspace");
    let said = |more: &[&str]| {
        let mut arguments = vec!["run", scenario, "--out", out, "--force"];
        arguments.extend(more);
        stderr(&run(&arguments))
    };
    let replaced = "note: --policy latency-aware replaces the policy `never-move` that [[deploy]] has for `app1`";
    assert!(said(&["--policy", "latency-aware"]).contains(replaced));
    assert!(!said(&["--policy", "app2=latency-aware"]).contains("replaces"));
    assert!(!said(&["--policy", "never-move"]).contains("replaces"));
    assert!(!said(&[]).contains("replaces"));
}

/// A policy that reads a key of `fact/3`, and a scenario whose nodes have a trust.
fn misspelt(directory: &Path, key: &str) -> (String, String) {
    let text = format!("operation(migrate, I, N) :- requests(I, N, _, _), N \\== self, fact(N, {key}, T), T > 100.\n");
    let scenario = directory.join("scenario.toml");
    fs::write(&scenario, "preset = \"paper\"\nduration = 2000\n[[nodes]]\ntier = 0\nfacts = { trust = 3 }\n")
        .expect("writable");
    (policy(directory, &text), scenario.to_str().expect("a path of the workspace").to_owned())
}

#[test]
fn a_misspelt_key_of_a_fact_is_named_when_a_scenario_is_run_compared_or_checked() {
    let directory = directory("key");
    let likely = "did you mean `trust`?";
    let (policy, scenario) = misspelt(&directory, "trsut");
    let out = directory.join("run");
    let out = out.to_str().expect("a path of the workspace");
    let in_run = ["run", &scenario, "--policy", &policy, "--out", out, "--force"];
    let in_study = ["compare", &scenario, "--policy", &policy, "--policy", "never-move", "--seeds", "1"];
    for arguments in [&in_run[..], &in_study] {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let said = stderr(&output);
        let warning = said.lines().find(|line| line.contains("facts with the key `trsut`")).expect("it is named");
        assert!(warning.starts_with("warning: "), "{arguments:?}: {said}");
        assert!(stderr(&output).contains(likely), "{arguments:?}: {}", stderr(&output));
    }
    let output = run(["policy", "check", &policy, "--scenario", &scenario]);
    let said = format!("{}{}", stdout(&output), stderr(&output));
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("unknown-key") && said.contains(likely), "{said}");

    let (policy, scenario) = misspelt(&directory, "trust");
    for arguments in [&in_run[..], &["policy", "check", &policy, "--scenario", &scenario]] {
        let output = run(arguments);
        let said = format!("{}{}", stdout(&output), stderr(&output));
        assert!(!said.contains("facts with the key"), "{arguments:?}: {said}");
    }
}

#[test]
fn a_run_without_any_proposal_says_so_and_why() {
    let directory = directory("silent");
    let (policy, scenario) = misspelt(&directory, "trsut");
    let out = directory.join("run");
    let out = out.to_str().expect("a path of the workspace");
    let output = run(["run", &scenario, "--policy", &policy, "--out", out]);
    let said = stderr(&output);
    assert!(said.contains("warning: no agent proposed an operation in the whole run"), "{said}");
    assert!(said.contains("did you mean `trust`?") && said.contains("mario policy explain --run"), "{said}");
    // Not only that nothing was proposed, but also where the clause failed.
    assert!(said.contains("came furthest, and failed at its goal 3: fact("), "{said}");
    let study = ["compare", &scenario, "--policy", &policy, "--policy", "never-move", "--seeds", "2"];
    let said = stderr(&run(study));
    assert!(
        said.contains(&format!("warning: with `{policy}`, no agent proposed an operation in all 2 runs")),
        "{said}"
    );
    assert!(!said.contains("with `never-move`"), "{said}");
    let output = run(["run", &scenario, "--policy", "never-move", "--out", out, "--force"]);
    assert!(!stderr(&output).contains("no agent proposed"), "{}", stderr(&output));
}

#[test]
fn a_call_of_an_undefined_predicate_is_named_even_if_no_run_reaches_it() {
    let directory = directory("unreached");
    let text = "operation(undeploy, I, self) :- requests(I, _, Rate, _), Rate > 1000000, idel(I).\n\
                operation(migrate, I, N) :- requests(I, N, _, _), N \\== self.\n";
    let policy = policy(&directory, text);
    let (said, _) = short_run(&directory, &["--policy", &policy]);
    let warning = said.lines().find(|line| line.contains("idel/1")).unwrap_or_else(|| panic!("{said}"));
    assert!(warning.starts_with("warning: ") && said.contains("policy.pl:1:"), "{said}");
}

#[test]
fn an_application_that_is_lost_to_its_users_is_named_with_both_remedies() {
    let directory = directory("absent");
    let policy = policy(&directory, "operation(undeploy, I, self) :- requests(I, _, _, _).\n");
    for fidelity in ["messages", "flow"] {
        let fidelity = format!("network.fidelity={fidelity}");
        let with = |more: &[&str]| {
            let all = ["--policy", "app1=never-move", "--policy", &policy, "--set", &fidelity];
            short_run(&directory, &[&all, more].concat()).0
        };
        let said = with(&[]);
        let warnings: Vec<&str> = said.lines().filter(|line| line.contains("had no instance from time ")).collect();
        assert!(!warnings.is_empty() && warnings.iter().all(|line| line.starts_with("warning: ")), "{said}");
        assert!(!said.contains("application `app1`") && !said.contains(": 0 requests"), "{said}");
        assert!(said.contains("`anchor = true`") && said.contains("[redeploy]"), "{said}");
        let redeployed = with(&["--set", "redeploy.delay=100"]);
        assert!(!redeployed.contains("had no instance"), "{redeployed}");
    }
    let study =
        ["compare", "paper", "--policy", &policy, "--policy", "never-move", "--seeds", "2", "--set", "duration=2000"];
    let said = stderr(&run(study));
    assert!(said.contains(&format!("warning: with `{policy}`, application `app")), "{said}");
    assert!(said.contains("had no instance left in 2 of 2 runs, first at time "), "{said}");
}
