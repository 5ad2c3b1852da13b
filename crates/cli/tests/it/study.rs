//! A user's own study: primary outcomes, units, overload, files with misspelt names, and a run repeated from its
//! `run.json`.

use std::fs;
use std::path::{Path, PathBuf};

use mario_testing::empty_directory;

use crate::{mario, run, stderr};

fn place(name: &str) -> PathBuf {
    empty_directory(env!("CARGO_TARGET_TMPDIR"), &format!("study/{name}"))
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path of text")
}

/// One instance that serves a request in 1 ms, and one user who sends two per ms.
fn overloaded(place: &Path) -> PathBuf {
    fs::write(
        place.join("two.json"),
        r#"{"nodes": [{"id": "cloud", "hardware": "unbounded", "tier": 0}, {"id": "ap", "hardware": 2, "tier": 1, "access_point": true}],
            "edges": [{"source": "cloud", "target": "ap", "latency": 2, "bandwidth": 4}]}"#,
    )
    .expect("writable");
    let scenario = "name = \"md1\"\nduration = 20_000\n[topology]\nkind = \"file\"\nfile = \"two.json\"\n[[application]]\n\
                    id = \"q\"\nmax_rate = 1000000\nmax_latency = \"100 ms\"\nservice_time = 1\nhome = \"ap\"\n\
                    policy = \"never-move\"\n[mobility]\nkind = \"static\"\nusers = 1\n[workload]\nkind = \"poisson\"\n\
                    period = 0.5\n[measures]\napplications = true\n";
    let path = place.join("md1.toml");
    fs::write(&path, scenario).expect("writable");
    path
}

#[test]
fn rates_serve_no_more_than_an_instance_can_and_say_what_waits() {
    let place = place("overload");
    let scenario = overloaded(&place);
    let with = |fidelity: &str| {
        let out = place.join(fidelity);
        let key = format!("network.fidelity={fidelity}");
        let output = run(["run", text(&scenario), "--set", &key, "--out", text(&out)]);
        assert!(output.status.success(), "{}", stderr(&output));
        let summary = fs::read_to_string(out.join("summary.json")).expect("a summary");
        let summary: serde_json::Value = serde_json::from_str(&summary).expect("JSON");
        let served = summary["served"].as_u64().expect("a number");
        (served, String::from_utf8_lossy(&output.stdout).into_owned(), stderr(&output))
    };
    let (served, shown, said) = with("flow");
    assert!((19_900..=20_000).contains(&served), "{served}");
    assert!(shown.contains(" unanswered at the end, over "), "{shown}");
    assert!(said.contains("overload: ") && said.contains("still wait for instances or links"), "{said}");
    assert!(shown.contains("p95, ms*") && shown.contains("of the mean response time of each user"), "{shown}");
    let (served, shown, said) = with("messages");
    assert!((19_900..=20_000).contains(&served), "{served}");
    assert!(shown.contains(" unanswered at the end, over ") && !said.contains("overload: "), "{shown}");
    assert!(!shown.contains("p95, ms*"), "{shown}");
}

#[test]
fn a_run_is_repeated_from_its_run_json() {
    let place = place("repeated");
    let policy = place.join("mine.pl");
    fs::write(&policy, "operation(migrate, I, N) :- requests(I, N, _, _), N \\== self, random(R), R > 0.5.\n")
        .expect("writable");
    let scenario = place.join("mine.toml");
    fs::write(&scenario, "preset = \"paper\"\nduration = 4000\n").expect("writable");
    let [first, again] = ["first", "again"].map(|name| place.join(name));
    let files = |directory: &Path| {
        let files = ["run.json", "trace.jsonl", "summary.json", "operations.csv", "moves.csv", "handovers.csv"];
        files.map(|name| fs::read_to_string(directory.join(name)).expect(name))
    };
    let made = run(["run", text(&scenario), "--policy", text(&policy), "--seed", "7", "--out", text(&first)]);
    assert!(made.status.success(), "{}", stderr(&made));
    // Only run.json is needed.
    fs::remove_file(&policy).expect("it is there");
    let repeated = run(["run", text(&first.join("run.json")), "--out", text(&again)]);
    assert!(repeated.status.success(), "{}", stderr(&repeated));
    assert!(files(&first) == files(&again), "not the same bytes");
    assert!(files(&first)[1].lines().count() > 100, "something happens");
    // Overrides work as for every scenario.
    let other = run(["run", text(&first.join("run.json")), "--seed", "8", "--out", text(&place.join("other"))]);
    assert!(other.status.success(), "{}", stderr(&other));
    assert!(files(&place.join("other"))[1] != files(&first)[1]);
}

#[test]
fn policies_keep_their_names_when_a_run_is_repeated_from_elsewhere() {
    let place = place("names");
    for directory in ["sub", "elsewhere"] {
        fs::create_dir(place.join(directory)).expect("writable");
    }
    let policy = "operation(migrate, I, N) :- requests(I, N, _, _), N \\== self.\n";
    for file in ["own.pl", "given.pl"] {
        fs::write(place.join("sub").join(file), policy).expect("writable");
    }
    let scenario = "preset = \"paper\"\nduration = 1000\n[[application]]\nid = \"app1\"\npolicy = \"own.pl\"\n";
    fs::write(place.join("sub/s.toml"), scenario).expect("writable");
    let make = |directory: &str, arguments: &[&str]| {
        let output = mario().current_dir(place.join(directory)).args(arguments).output().expect("it starts");
        assert!(output.status.success(), "{}", stderr(&output));
    };
    make("", &["run", "sub/s.toml", "--policy", "app2=sub/given.pl", "--out", "first"]);
    make("elsewhere", &["run", "../first/run.json", "--out", "again"]);
    make("elsewhere", &["run", "again/run.json", "--out", "third"]);
    for file in ["run.json", "trace.jsonl", "summary.json"] {
        let [first, again, third] = ["first", "elsewhere/again", "elsewhere/third"]
            .map(|run| fs::read_to_string(place.join(run).join(file)).expect("it is kept"));
        assert!(first == again && first == third, "{file}");
        assert!(file != "summary.json" || first.contains("sub/own.pl"), "{first}");
    }
}

#[test]
fn a_misspelt_file_is_missing_and_not_of_an_unknown_format() {
    let place = place("misspelt");
    let scenario = overloaded(&place);
    fs::write(place.join("gradient.pl"), "operation(migrate, I, N) :- requests(I, N, _, _).\n").expect("writable");
    let said = |arguments: &[&str]| {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        stderr(&output)
    };
    let policy = said(&[
        "scenario",
        "check",
        text(&scenario),
        "--set",
        &format!("application.q.policy={}", text(&place.join("gradeint.pl"))),
    ]);
    assert!(policy.contains("did you mean") && policy.contains("gradient.pl`?"), "{policy}");
    let topology = said(&[
        "scenario",
        "check",
        text(&scenario),
        "--set",
        &format!("topology.file={}", text(&place.join("two.jsno"))),
    ]);
    assert!(topology.contains("cannot read") && topology.contains("two.json`?"), "{topology}");
    let missing = said(&["run", text(&place.join("md1.tmol"))]);
    assert!(missing.contains("cannot read") && missing.contains("md1.toml`?"), "{missing}");
}

#[test]
fn declared_outcomes_are_tested_and_unknown_ones_refused() {
    let place = place("outcomes");
    let out = place.join("kept");
    let with = |figures: &[&str], out: &Path| {
        let study =
            ["compare", "paper", "--policy", "latency-aware", "--policy", "workload-aware", "--seeds", "9", "--set"];
        let arguments: Vec<&str> =
            study.into_iter().chain(["duration=2000", "--out", text(out)]).chain(figures.iter().copied()).collect();
        let output = run(&arguments);
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned(), stderr(&output))
    };
    let (code, shown, said) = with(&["--figure", "LS.response", "--figure", "all.migrate"], &out);
    assert_eq!(code, Some(0), "{said}");
    let csv = fs::read_to_string(out.join("comparison.csv")).expect("it is kept");
    let primary: Vec<&str> = csv.lines().filter(|line| line.contains(",primary,")).collect();
    assert!(primary.len() == 2 && csv.contains(",exploratory,"), "{csv}");
    assert!(shown.contains("primary:") && shown.contains("exploratory:") && shown.contains("Exploratory: "), "{shown}");
    let (code, _, said) = with(&["--figure", "LS.colour"], &place.join("other"));
    assert!(code == Some(2) && said.contains("there is no figure `LS.colour`"), "{said}");
    for kind in ["lost", "unanswered", "energy_joules", "application/ID.response_p95", "tier/NAME.utilisation"] {
        assert!(said.contains(kind), "{kind}: {said}");
    }
    for (wrong, meant) in [
        ("LS.respnse", "LS.response"),
        ("unansweerd", "unanswered"),
        ("application/video.respose_max", "application/video.response_max"),
    ] {
        let (_, _, said) = with(&["--figure", wrong], &place.join("other"));
        assert!(said.contains(&format!("did you mean `{meant}`?")), "{said}");
    }
    let figures = run(["figures", text(&out), "--figure", "LS.respnse"]);
    assert!(stderr(&figures).contains("did you mean `LS.response`?"), "{}", stderr(&figures));
    let label = "workload-aware=\u{7b56} B";
    let figures = run(["figures", text(&out), "--figure", "LS.response", "--label", label]);
    let said = stderr(&figures);
    assert!(said.contains("warning: the font of the PDFs does not have `\u{7b56}`, of `\u{7b56} B`"), "{said}");
    let figures = run(["figures", text(&out), "--figure", "LS.response", "--label", label, "--format", "svg"]);
    assert!(!stderr(&figures).contains("warning"), "{}", stderr(&figures));
}

#[test]
fn several_notes_about_a_scenario_take_one_line() {
    let place = place("notes");
    let scenario = place.join("late.toml");
    fs::write(&scenario, "preset = \"paper\"\nduration = 50\n[mobility]\nusers = 4\n").expect("writable");
    let notes = |arguments: &[&str]| {
        let output = run(arguments);
        assert!(output.status.success(), "{}", stderr(&output));
        stderr(&output).lines().filter(|line| line.starts_with("note: ")).map(str::to_owned).collect::<Vec<_>>()
    };
    let told = notes(&["run", text(&scenario), "--out", text(&place.join("run"))]);
    assert!(told.len() == 1 && told[0].contains("no agent evaluates") && told[0].contains("; "), "{told:?}");
    assert_eq!(notes(&["scenario", "check", text(&scenario)]), told);
}
