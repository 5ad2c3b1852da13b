//! `mario snapshot`, `mario replay`, and runs resumed from a snapshot.

use std::fs;
use std::path::{Path, PathBuf};

use mario_testing::empty_directory;

use crate::{mario, run, stderr, stdout};

/// An empty directory for one test.
fn place(name: &str) -> PathBuf {
    empty_directory(env!("CARGO_TARGET_TMPDIR"), &format!("snapshot/{name}"))
}

/// Runs mario in a directory, and asserts success. Returns standard output.
fn succeed(place: &Path, line: &str) -> String {
    let output = mario().args(line.split(' ')).current_dir(place).output().expect("it runs");
    assert!(output.status.success(), "{line}\n{}", stderr(&output));
    stdout(&output)
}

fn refuse(place: &Path, line: &str) -> String {
    let output = mario().args(line.split(' ')).current_dir(place).output().expect("it runs");
    assert_eq!(output.status.code(), Some(2), "{line}\n{}", stderr(&output));
    stderr(&output)
}

/// The records in the trace of a run, without its header.
fn records(place: &Path, run: &str) -> Vec<String> {
    let text = fs::read_to_string(place.join(run).join("trace.jsonl")).expect("a trace");
    text.lines().skip(1).map(str::to_owned).collect()
}

const SMALL: &str = "--set duration=6000 --set topology.size=4";

#[test]
fn a_snapshot_resumes_as_recorded_under_the_same_policy() {
    let place = place("same");
    let mine =
        "operation(replicate, I, N) :- requests(I, N, R, _), N \\== self, R > 3, \\+ inhibited(replicate, I, N).\n";
    fs::write(place.join("mine.pl"), mine).expect("writable");
    let ways = [
        ("--policy workload-and-latency-aware-with-memory", "full"),
        ("--policy mine.pl --seed 5", "full"),
        ("--policy popularity-with-cool-down --set network.fidelity=flow --seed 3", "operations"),
        ("--policy sustained-demand --set workload.kind=poisson --seed 9", "summary"),
    ];
    for (number, (way, detail)) in ways.into_iter().enumerate() {
        succeed(&place, &format!("run paper {SMALL} {way} --trace {detail} --out r{number}"));
        succeed(&place, &format!("snapshot r{number} --at 2710 --out s{number}.toml"));
        // A snapshot is self-contained: changing the policy file has no effect on it.
        fs::write(place.join("mine.pl"), "operation(undeploy, _, self).\n").expect("writable");
        succeed(&place, &format!("run s{number}.toml --trace {detail} --out again{number}"));
        assert_eq!(records(&place, &format!("r{number}")), records(&place, &format!("again{number}")), "{way}");
        fs::write(place.join("mine.pl"), mine).expect("writable");
    }
}

#[test]
fn another_policy_applies_from_the_snapshot_on() {
    let place = place("other");
    succeed(&place, &format!("run paper {SMALL} --policy workload-aware --out recorded"));
    let told = succeed(&place, "replay recorded --until 3000 --policy never-move --out replayed");
    let row = |title: &str| {
        let line = told.lines().find(|line| line.starts_with(title)).unwrap_or_else(|| panic!("{title}: {told}"));
        let numbers: Vec<u64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        (numbers[0], numbers[1])
    };
    assert_eq!(row("migrate").1 + row("replicate").1 + row("undeploy").1 + row("inhibited").1, 0, "{told}");
    assert!(row("migrate").0 + row("replicate").0 + row("inhibited").0 > 0, "{told}");
    succeed(&place, "audit replayed");
    let (recorded, replayed) = (records(&place, "recorded"), records(&place, "replayed"));
    let update = replayed.iter().position(|record| record.starts_with("[\"update\"")).expect("an update");
    assert_eq!(recorded[..update], replayed[..update]);
    // A report can be written of a run whose policy changes midway.
    succeed(&place, "report replayed --out report.html");
    succeed(&place, "snapshot recorded --at 3000 --out here.toml");
    let why = succeed(&place, "policy explain --snapshot here.toml --instance 1 --policy never-move");
    assert!(why.contains("policy never-move") && why.contains("proposes nothing"), "{why}");
    let why = succeed(&place, "policy explain --snapshot here.toml --instance 1");
    assert!(why.contains("policy workload-aware"), "{why}");
    let compared =
        succeed(&place, "compare here.toml --seeds 1 --policy workload-aware --policy never-move --format csv");
    assert!(compared.contains("never-move"), "{compared}");
}

#[test]
fn refuses_invalid_snapshots_and_replays_that_differ_from_the_trace() {
    let place = place("refused");
    succeed(&place, &format!("run paper {SMALL} --policy workload-aware --out recorded"));
    fs::write(place.join("mine.toml"), "duration = 1\n").expect("writable");
    for (line, said) in [
        ("snapshot recorded --at 100 --out mine.toml", "`mine.toml` is there already and is not a snapshot"),
        ("report recorded --animation mine.toml", "is not an animation"),
        ("snapshot recorded --at 0", "after 0 and before 6000"),
        ("snapshot recorded --at 6000", "after 0 and before 6000"),
        ("snapshot recorded --at 7000", "has no state at time 7000: it ends at 6000"),
        ("replay recorded --until 100 --policy latency-awre", "latency-awre"),
        ("replay recorded --until 100 --policy baseline:central-greedy", "cannot take over in the middle"),
        ("replay recorded --until 100 --policy app9=latency-aware", "app9"),
    ] {
        let told = refuse(&place, line);
        assert!(told.contains(said), "{line}: {told}");
    }
    succeed(&place, "snapshot recorded --at 3000 --out here.toml");
    let told = refuse(&place, "run here.toml --set workload.period=41");
    assert!(told.contains("does not lead to what was recorded"), "{told}");
    let told = refuse(&place, "compare here.toml --policy workload-aware --policy never-move");
    assert!(told.contains("--seeds 1"), "{told}");
    let trace = place.join("recorded/trace.jsonl");
    let text = fs::read_to_string(&trace).expect("a trace");
    let spoilt = text.replacen("[\"handover\",0,0,", "[\"handover\",0,1,", 1);
    assert_ne!(spoilt, text);
    fs::write(&trace, spoilt).expect("writable");
    let told = refuse(&place, "snapshot recorded --at 3000");
    assert!(told.contains("line ") && told.contains("of the trace is"), "{told}");
}

#[test]
fn a_trace_alone_yields_a_scenario_that_starts_at_the_snapshot() {
    let place = place("alone");
    succeed(&place, &format!("run paper {SMALL} --policy workload-aware --out recorded"));
    fs::remove_file(place.join("recorded/run.json")).expect("it was there");
    let text = succeed(&place, "snapshot recorded --at 3000");
    assert!(text.contains("# Not in this scenario:"), "{text}");
    fs::write(place.join("here.toml"), &text).expect("writable");
    succeed(&place, "run here.toml --policy latency-aware --out on");
    succeed(&place, "audit on");
    let deployed = records(&place, "on").iter().filter(|record| record.starts_with("[\"deployed\",0,")).count();
    assert_eq!(deployed, text.matches("[[deploy]]").count());
    let output = run([
        "replay",
        &place.join("recorded").display().to_string(),
        "--until",
        "3000",
        "--policy",
        "latency-aware",
        "--out",
        &place.join("replayed").display().to_string(),
    ]);
    assert!(output.status.success(), "{}", stderr(&output));
}
