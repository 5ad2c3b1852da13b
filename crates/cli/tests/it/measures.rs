//! Optional measures, user-defined metrics, and figures of studies.

use std::fs;
use std::path::{Path, PathBuf};

use mario_testing::empty_directory;

use crate::{run, stderr};

fn place(name: &str) -> PathBuf {
    empty_directory(env!("CARGO_TARGET_TMPDIR"), &format!("measures/{name}"))
}

fn mario(arguments: &[&str], directory: &Path) -> (Option<i32>, String, String) {
    let output = run(arguments.iter().map(AsRef::as_ref).chain(["--out".as_ref(), directory.as_os_str()]));
    (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned(), stderr(&output))
}

#[test]
fn optional_measures_are_printed_stored_and_audited() {
    let directory = place("run").join("kept");
    let keys =
        ["duration=4000", "measures.applications=true", "energy.idle_watts=[100,20]", "carbon.grams_per_kwh=250"];
    let arguments: Vec<&str> = ["run", "paper"].into_iter().chain(keys.iter().flat_map(|key| ["--set", key])).collect();
    let (code, printed, said) = mario(&arguments, &directory);
    assert_eq!(code, Some(0), "{said}");
    for part in ["p95, ms", "late, share", "utilisation", "energy of nodes", "carbon"] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
    let text = fs::read_to_string(directory.join("measures.json")).expect("it is kept");
    let measured: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    // 85 nodes are up for 4 seconds: the cloud at 100 W, the others at 20 W.
    assert_eq!(measured["consumption"]["energy_joules"].as_f64(), Some(4.0 * (100.0 + 84.0 * 20.0)));
    let audit = |directory: &Path| {
        let output = run(["audit".as_ref(), directory.as_os_str()]);
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (code, report) = audit(&directory);
    assert!(code == Some(0) && report.contains("measures.json"), "{report}");
    fs::write(directory.join("measures.json"), text.replacen("\"energy_joules\": 7", "\"energy_joules\": 8", 1))
        .expect("writable");
    let (code, report) = audit(&directory);
    assert!(code == Some(1) && report.contains("consumption.energy_joules"), "{report}");
}

#[cfg(unix)]
#[test]
fn a_comparison_joins_a_metric_and_its_figures_are_drawn() {
    let directory = place("study").join("kept");
    let study = [
        "compare",
        "paper",
        "--policy",
        "latency-aware",
        "--policy",
        "workload-aware",
        "--seeds",
        "2",
        "--set",
        "duration=600",
    ];
    let with = |metric: &'static str| study.into_iter().chain(["--metric", metric]).collect::<Vec<_>>();
    let (code, printed, said) = mario(&with("four=sh -c 'echo 4' sh"), &directory);
    assert_eq!(code, Some(0), "{said}");
    assert!(printed.contains("four") && printed.contains("4.000 ± 0.000"), "{printed}");
    for (metric, expected) in [
        ("bad=sh -c 'echo four' sh", "the program printed `four`"),
        ("bad=sh -c 'exit 3' sh", "exit status: 3"),
        ("bad=no-such-program-here", "cannot start `no-such-program-here`"),
    ] {
        let (code, _, said) = mario(&with(metric), &place("bad").join("kept"));
        assert!(code == Some(2) && said.contains(expected) && said.contains("hint"), "{metric}: {said}");
    }
    let drawn = directory.join("drawn");
    let output = run(["figures".as_ref(), directory.as_os_str(), "--out".as_ref(), drawn.as_os_str()]);
    assert!(output.status.success(), "{}", stderr(&output));
    let svg = fs::read_to_string(drawn.join("metric-four.svg")).expect("a figure");
    assert!(svg.contains("latency-aware") && svg.contains(">four</text>"), "{svg}");
    assert!(fs::read(drawn.join("all-response.pdf")).expect("a figure").starts_with(b"%PDF-1.4"));
    let again = run(["figures".as_ref(), directory.as_os_str(), "--figure".as_ref(), "all.colour".as_ref()]);
    assert!(again.status.code() == Some(2) && stderr(&again).contains("all.colour"), "{}", stderr(&again));
}

#[test]
fn an_exported_infrastructure_is_read_back_to_the_same_run() {
    let place = place("graphml");
    let shown = run(["scenario", "show", "paper", "--graphml"]);
    assert!(shown.status.success(), "{}", stderr(&shown));
    fs::write(place.join("paper.graphml"), &shown.stdout).expect("writable");
    let file = place.join("read.toml");
    let text =
        "preset = \"paper\"\n[topology]\nkind = \"file\"\nfile = \"paper.graphml\"\n[mobility]\nkind = \"recorded\"\n";
    fs::write(&file, text).expect("writable");
    let trace = |scenario: &Path, name: &str, more: &[&str]| {
        let directory = place.join(name);
        let arguments =
            ["run".as_ref(), scenario.as_os_str(), "--set".as_ref(), "duration=3000".as_ref(), "--out".as_ref()];
        let all = arguments.into_iter().chain([directory.as_os_str()]).chain(more.iter().map(AsRef::as_ref));
        let output = run(all);
        assert!(output.status.success(), "{}", stderr(&output));
        let trace = fs::read_to_string(directory.join("trace.jsonl")).expect("a trace");
        trace.lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    let own = trace(Path::new("paper"), "own", &["--set", "mobility.kind=recorded"]);
    let read = trace(&file, "read", &[]);
    assert!(own == read && own.len() > 100, "all but the header is the same");
}
