//! Optional measures, user-defined metrics, figures of studies, and exported infrastructures.

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
        // The reason is at the end of a long line.
        ("bad=sh -c 'printf \"%0100d the reason\" 0 >&2; exit 3' sh", "0 the reason"),
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
    let labelled = |command: &str, out: &str, label: &str| {
        let out = directory.join(out);
        run([
            command.as_ref(),
            directory.as_os_str(),
            "--out".as_ref(),
            out.as_os_str(),
            "--label".as_ref(),
            label.as_ref(),
        ])
    };
    assert!(labelled("figures", "renamed", "latency-aware=ours").status.success());
    let svg = fs::read_to_string(directory.join("renamed/all-response.svg")).expect("a figure");
    assert!(svg.contains(">ours</text>") && !svg.contains("latency-aware"), "{svg}");
    assert!(labelled("report", "renamed.html", "latency-aware=ours").status.success());
    let page = fs::read_to_string(directory.join("renamed.html")).expect("a page");
    assert!(page.contains("workload-aware against ours") && !page.contains("latency-aware"), "{}", page.len());
    for wrong in ["nobody=ours", "latency-aware=", "latency-aware=workload-aware"] {
        let refused = labelled("figures", "refused", wrong);
        assert!(refused.status.code() == Some(2) && stderr(&refused).contains("hint"), "{}", stderr(&refused));
    }
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

/// The files of a scenario with two nodes, and two users of one application, which stays in the cloud. User `far` is 5
/// ms away from the cloud, and serving a request takes 1 ms.
const BY_HAND: [(&str, &str); 5] = [
    (
        "pair.gml",
        "graph [ node [ id 1 label \"cloud\" capacity 4 tier 0 access_point 1 region \"north\" ]\n\
         node [ id 2 label \"edge\" capacity 2 tier 1 access_point 1 ] edge [ source 1 target 2 latency 5 ] ]\n",
    ),
    (
        "users.json",
        r#"{"users": {"near": {"app": "a"}, "far": {"app": "a"}}, "steps": [{"step": 0, "node": {"near": "cloud", "far": "edge"}}]}"#,
    ),
    ("still.pl", "operation(_, _, _) :- fail.\n"),
    ("north.csv", "time,grams_per_kwh\n0,100\n1000,400\n"),
    (
        "hand.toml",
        r#"name = "hand"
duration = 4000
topology = { kind = "file", file = "pair.gml" }
mobility = { kind = "attachments", file = "users.json" }
workload = { kind = "periodic", period = 40 }
measures = { applications = true }
energy = { idle_watts = [100, 10], unit_watts = [5, 2], link_nanojoules_per_bit = 1000, size_bits = 8000 }
price = { unit_hour = [3600, 7200], gigabyte = 2 }
carbon = { grams_per_kwh = 360, region = [{ name = "north", file = "north.csv" }] }
[[application]]
id = "a"
hardware = 2
max_rate = 100
max_latency = 3
service_time = 1
policy = "still.pl"
"#,
    ),
];

/// The measures of [`BY_HAND`]. Each user sends 99 requests, one every 40 ms before the end; those of `far` pass one
/// link.
const EXPECTED: [(&str, f64); 13] = [
    ("application/a.throughput", 198.0 / 4.0),
    // All requests of `near` take 1 ms, and all of `far` 6 ms; up to 3 ms are tolerated.
    ("application/a.late_share", 0.5),
    // A percentile is the middle of its bin, here from 1 to 1 + 1/64 ms, but at most the maximum, here 6 ms.
    ("application/a.response_p50", 1.0 + 1.0 / 128.0),
    ("application/a.response_p95", 6.0),
    ("application/a.response_p99", 6.0),
    ("application/a.response_max", 6.0),
    ("application/a.instances_mean", 1.0),
    // 2 of the 4 units of the cloud are in use all the time.
    ("tier/0.utilisation", 0.5),
    // The cloud: 4 s at 100 W, and 2 units at 5 W each. The edge: 4 s at 10 W.
    ("node_joules", 440.0 + 40.0),
    // The 99 requests of `far` have 8000 bits each, at 1 µJ per bit.
    ("link_joules", 0.792),
    ("energy_joules", 480.792),
    // 2 units for 4 s at 1 per second, and 99 kB at 2 for 10⁹ bytes.
    ("money", 8.0 + 0.000_198),
    // In joules times g/kWh: the cloud has 110 W for 1 s at 100 and 3 s at 400, the edge 40 J and the link 0.792 J at
    // 360.
    ("carbon_grams", (110.0 * 1_300.0 + (40.0 + 0.792) * 360.0) / 3.6e6),
];

fn is_expected(name: &str, found: f64) -> bool {
    let expected = EXPECTED.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
    expected.is_some_and(|expected| (found - expected).abs() <= 1e-12 * expected)
}

fn hand_world(name: &str) -> (PathBuf, String) {
    let place = place(name);
    for (file, text) in BY_HAND {
        fs::write(place.join(file), text).expect("writable");
    }
    let scenario = place.join("hand.toml").to_string_lossy().into_owned();
    (place, scenario)
}

#[test]
fn a_run_and_its_page_have_the_measures_computed_by_hand_and_the_auditor_detects_wrong_ones() {
    let (place, scenario) = hand_world("hand-run");
    let directory = place.join("kept");
    let (code, printed, said) = mario(&["run", &scenario], &directory);
    assert_eq!(code, Some(0), "{said}");
    let text = fs::read_to_string(directory.join("measures.json")).expect("it is kept");
    let measured: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    for (name, _) in EXPECTED {
        let found = match name.split_once('.') {
            Some(("application/a", "instances_mean")) => &measured["applications"][0]["instances"]["mean"],
            Some(("application/a", measure)) => &measured["applications"][0][measure],
            Some((_, measure)) => &measured["tiers"][0][measure],
            None => &measured["consumption"][name],
        };
        assert!(found.as_f64().is_some_and(|found| is_expected(name, found)), "{name}: {found}");
    }
    let page = place.join("page.html");
    let reported = run(["report".as_ref(), directory.as_os_str(), "--out".as_ref(), page.as_os_str()]);
    assert!(reported.status.success(), "{}", stderr(&reported));
    let page = fs::read_to_string(page).expect("a page");
    for row in [
        r#"["a","198","0","49.50","0.5000","1.008","6.000","6.000","6.000","1.00""#,
        r#"["0","0.5000","440"]"#,
        r#"["energy","480.79","J"]"#,
        r#"["money","8.0002",""]"#,
        r#"["carbon","0.043801","g"]"#,
    ] {
        assert!(page.contains(row), "the page has no row {row}");
    }
    for part in ["480.79", "8.0002", "0.043801", "6.000", "0.5000"] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
    let audit = || {
        let output = run(["audit".as_ref(), directory.as_os_str()]);
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    assert_eq!(audit().0, Some(0));
    for (key, number, other) in [
        ("money", "8.000198", "8.000199"),
        ("carbon_grams", "0.0438", "0.0439"),
        ("link_joules", "0.79", "0.78"),
        ("response_p95", "6.0", "6.5"),
        ("late_share", "0.5", "0.25"),
        ("utilisation", "0.5", "0.75"),
    ] {
        let (old, new) = (format!("\"{key}\": {number}"), format!("\"{key}\": {other}"));
        assert!(text.contains(&old), "{old}: {text}");
        fs::write(directory.join("measures.json"), text.replacen(&old, &new, 1)).expect("writable");
        let (code, report) = audit();
        assert!(code == Some(1) && report.contains(key), "{key}: {report}");
    }
}

/// Returns the numbers of the first CSV row that starts with `begin`, with their column names.
fn row_of(csv: &str, begin: &str) -> Vec<(String, f64)> {
    let head = csv.lines().next().expect("a head").split(',');
    let row = csv.lines().find(|line| line.starts_with(begin)).expect("a row");
    let pairs = head.zip(row.split(','));
    pairs.filter_map(|(name, cell)| Some((name.to_owned(), cell.parse().ok()?))).collect()
}

#[test]
fn comparisons_and_sweeps_have_the_measures_computed_by_hand() {
    let (place, scenario) = hand_world("hand-study");
    let policy = place.join("still.pl").to_string_lossy().into_owned();
    let other = place.join("other.pl").to_string_lossy().into_owned();
    fs::copy(&policy, &other).expect("writable");
    let compared = place.join("compared");
    let arguments = ["compare", &scenario, "--policy", &policy, "--policy", &other, "--seeds", "1", "--keep-runs", "1"];
    let (code, printed, said) = mario(&arguments, &compared);
    assert_eq!(code, Some(0), "{said}");
    for row in ["energy, J ", "money ", "carbon, g ", "response time p95, a, ms ", "throughput, a, requests/s "] {
        assert!(printed.contains(&format!("\n{row}")), "{row}: {printed}");
    }
    // Small numbers keep three significant digits.
    assert!(printed.contains("0.0438"), "{printed}");
    let runs = fs::read_to_string(compared.join("runs.csv")).expect("a table of runs");
    let found = row_of(&runs, ",");
    for (name, _) in EXPECTED {
        let value = found.iter().find(|(known, _)| known == name).map(|(_, value)| *value);
        assert!(value.is_some_and(|value| is_expected(name, value)), "{name}: {value:?}");
    }
    let text = fs::read_to_string(compared.join("comparison.json")).expect("a comparison");
    let comparison: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let means = comparison["figures"].as_array().expect("figures");
    for name in ["energy_joules", "money", "carbon_grams", "application/a.late_share", "tier/0.utilisation"] {
        let row = means.iter().find(|row| row["figure"]["name"] == name).expect("it is compared");
        let mean = row["estimates"][1]["mean"].as_f64();
        assert!(mean.is_some_and(|mean| is_expected(name, mean)), "{name}: {mean:?}");
    }
    // A kept run has its measures, and passes the audit.
    for kept in fs::read_dir(compared.join("runs")).expect("runs are kept") {
        let kept = kept.expect("readable").path();
        assert!(kept.join("measures.json").is_file(), "{}", kept.display());
        let audited = run(["audit".as_ref(), kept.as_os_str()]);
        assert_eq!(audited.status.code(), Some(0), "{}", String::from_utf8_lossy(&audited.stdout));
    }
    let swept = place.join("swept");
    let arguments = ["sweep", &scenario, "--policy", &policy, "--key", "duration=4000,2000", "--seeds", "1"];
    let (code, printed, said) = mario(&arguments, &swept);
    assert!(code == Some(0) && printed.contains("480.792"), "{printed}{said}");
    let csv = fs::read_to_string(swept.join("sweep.csv")).expect("a table");
    for (name, _) in EXPECTED {
        let row = csv.lines().find(|line| line.starts_with("duration=4000,") && line.contains(&format!(",{name},")));
        let mean = row.and_then(|row| row.split(',').nth(4)).and_then(|cell| cell.parse::<f64>().ok());
        assert!(mean.is_some_and(|mean| is_expected(name, mean)), "{name}: {row:?}");
    }
    let figures = place.join("figures");
    let drawn = run(["figures".as_ref(), swept.as_os_str(), "--out".as_ref(), figures.as_os_str()]);
    assert!(drawn.status.success(), "{}", stderr(&drawn));
    let svg = fs::read_to_string(figures.join("energy_joules.svg")).expect("a figure");
    assert!(svg.contains(">energy, J</text>") && svg.contains(">duration, ms</text>"), "{svg}");
    assert!(fs::read(figures.join("carbon_grams.pdf")).expect("a figure").starts_with(b"%PDF-1.4"));
}

#[test]
fn a_reproduction_has_measures_among_its_results() {
    let directory = place("reproduction").join("kept");
    let keys = ["duration=400", "energy.idle_watts=[100,20]", "carbon.grams_per_kwh=360"];
    let arguments: Vec<&str> = ["reproduce"].into_iter().chain(keys.iter().flat_map(|key| ["--set", key])).collect();
    let (_, _, said) = mario(&arguments, &directory);
    // 85 nodes are up for 0.4 seconds: the cloud at 100 W, the others at 20 W; 360 g/kWh are a gram for 10,000 J.
    let joules = 0.4 * (100.0 + 84.0 * 20.0);
    let text = fs::read_to_string(directory.join("results.json")).unwrap_or_else(|error| panic!("{error}: {said}"));
    let results: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let found: Vec<&serde_json::Value> = measured_in(&results);
    assert_eq!(found.len(), 5, "one for each experiment: {text}");
    for measured in found {
        assert_eq!(measured["consumption"]["node_joules"].as_f64(), Some(joules));
        let grams = measured["consumption"]["carbon_grams"].as_f64().expect("there is a model");
        assert!((grams - joules / 1e4).abs() < 1e-12, "{grams}");
    }
    let csv = fs::read_to_string(directory.join("figures.csv")).expect("a table");
    let rows: Vec<&str> = csv.lines().filter(|line| line.contains("node_joules")).collect();
    assert!(rows.len() == 5 && rows.iter().all(|row| row.contains(&joules.to_string())), "{rows:?}");
}

/// The values of all keys `measured`, at any depth.
fn measured_in(value: &serde_json::Value) -> Vec<&serde_json::Value> {
    match value {
        serde_json::Value::Object(map) => map
            .iter()
            .flat_map(|(key, value)| if key == "measured" { vec![value] } else { measured_in(value) })
            .collect(),
        serde_json::Value::Array(list) => list.iter().flat_map(measured_in).collect(),
        _ => Vec::new(),
    }
}
