//! `mario run --resume`: runs that were killed, interrupted or damaged.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Instant;

use mario_testing::Random;
use mario_testing::empty_directory;
use nix::sys::signal::Signal;

use crate::running::Running;
use crate::{run, stderr, stdout};

/// An empty directory for one test.
fn place(name: &str) -> PathBuf {
    empty_directory(env!("CARGO_TARGET_TMPDIR"), &format!("resume/{name}"))
}

/// The contents of all files in a directory, by name.
fn files(path: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(path).expect("a directory").map(|entry| entry.expect("an entry"));
    entries
        .map(|entry| (entry.file_name().into_string().expect("a name"), fs::read(entry.path()).expect("a file")))
        .collect()
}

/// Writes the paper's scenario with a much longer duration, nodes that fail at random, and one that leaves.
fn scenario(place: &Path) -> PathBuf {
    let path = place.join("long.toml");
    let text = "preset = \"paper\"\nduration = 400000\n\n[redeploy]\ndelay = 500\n\n\
        [[failures]]\nmean_time_between = 200000\nmean_repair = 3000\n\n\
        [[churn]]\nkind = \"leave\"\ntime = 150000\nnotice = 20000\nnode = \"n2lt0ln1\"\n";
    fs::write(&path, text).expect("writable");
    path
}

/// Kills a run at 3 to 6 random times, resumes it each time, with one or two threads, and asserts that it prints the
/// same and leaves the same files as an uninterrupted run.
fn killed_repeatedly(name: &str, options: &[&str], seed: u64) {
    let place = place(name);
    let scenario = scenario(&place);
    let scenario = scenario.to_str().expect("a name");
    let [whole, broken] = ["whole", "broken"].map(|name| place.join(name));
    let [shown, broken_shown] = [&whole, &broken].map(|path| path.to_str().expect("a name"));
    let began = Instant::now();
    let output = run(["run", scenario, "--out", shown].iter().chain(options));
    // The maximum time between kills depends on the speed of the machine, so that the run is killed several times.
    let pause = began.elapsed() / 6;
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let printed = stdout(&output);

    let pace = ["--checkpoint-every", "40cycles"];
    let arguments: Vec<&str> =
        ["run", scenario, "--out", broken_shown].iter().chain(options).chain(&pace).copied().collect();
    let mut running = Running::start(&arguments);
    let checkpoint = broken.join("checkpoint");
    running.until(|| checkpoint.exists());
    let (mut random, mut kills) = (Random::new(seed), 0);
    for number in 0..6_u64 {
        std::thread::sleep(pause.mul_f64(random.fraction()));
        if running.0.try_wait().expect("it is ours").is_some() {
            break;
        }
        running.signal(Signal::SIGKILL);
        assert_eq!(running.end().0, None, "a signal ended it");
        kills += 1;
        assert!(broken.join("PARTIAL").exists());
        let threads = (1 + number % 2).to_string();
        running = Running::start(
            &["run", "--resume", broken_shown, "--threads", &threads].iter().chain(&pace).copied().collect::<Vec<_>>(),
        );
    }
    drop(running);
    // The run must have been killed at least three times before it completed.
    assert!(kills > 2, "{kills} kills");
    let output = run(["run", "--resume", broken_shown]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(stdout(&output), printed);
    let [expected, found] = [files(&whole), files(&broken)];
    assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
    for (name, content) in &expected {
        assert!(found[name] == *content, "another {name}");
    }
}

#[test]
fn a_repeatedly_killed_run_with_messages_leaves_the_same_bytes() {
    killed_repeatedly("messages", &["--messages"], 4_101_842_887_655_102_017);
}

#[test]
fn a_repeatedly_killed_run_with_rates_leaves_the_same_bytes() {
    let options = ["--set", "network.fidelity=flow", "--trace", "operations"];
    killed_repeatedly("rates", &options, 88_172_645_463_325_252);
}

/// Starts a run that is too long to complete during the test, and waits until its trace has 500 kB. Returns the process
/// and the directory of the run.
fn endless(place: &Path) -> (Running, PathBuf) {
    let directory = place.join("run");
    let out = directory.to_str().expect("a name");
    let mut running = Running::start(&["run", "paper", "--set", "duration=100000000", "--out", out]);
    let trace = directory.join("trace.jsonl");
    running.until(|| fs::metadata(&trace).map_or(0, |file| file.len()) > 500_000);
    (running, directory)
}

#[test]
fn the_first_checkpoint_of_a_run_comes_soon() {
    let place = place("soon");
    let (mut running, directory) = endless(&place);
    running.until(|| directory.join("checkpoint").exists());
    running.signal(Signal::SIGKILL);
    assert_eq!(running.end().0, None, "a signal ended it");
    let written = || fs::metadata(directory.join("trace.jsonl")).map_or(0, |file| file.len());
    let before = written();
    let mut running = Running::start(&["run", "--resume", directory.to_str().expect("a name")]);
    running.until(|| written() > before);
    running.signal(Signal::SIGINT);
    let (code, message) = running.end();
    assert_eq!(code, Some(130), "{message}");
    assert!(message.contains("resuming at time") && message.contains("interrupted at time"), "{message}");
}

#[test]
fn an_interrupted_run_is_checkpointed_and_valid_up_to_its_end() {
    let place = place("interrupted");
    let (mut running, directory) = endless(&place);
    let shown = directory.to_str().expect("a name");
    let busy = run(["run", "--resume", shown]);
    assert_eq!(busy.status.code(), Some(2));
    assert!(stderr(&busy).contains("is going on"), "{}", stderr(&busy));
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGXCPU] {
        running.signal(signal);
        // Twice in a row, as `timeout` and similar programs signal a process and then its group.
        running.signal(signal);
        let (code, message) = running.end();
        assert_eq!(code, Some(130), "{message}");
        assert!(message.contains("interrupted at time"), "{message}");
        assert!(message.contains(&format!("mario run --resume {shown}")), "{message}");
        assert!(directory.join("PARTIAL").exists() && directory.join("checkpoint").exists());
        let trace = fs::read(directory.join("trace.jsonl")).expect("a trace");
        assert_eq!(trace.last(), Some(&b'\n'), "whole lines only");
        fs::remove_file(directory.join("PARTIAL")).expect("it was there");
        running = Running::start(&["run", "--resume", shown]);
        running.until(|| fs::metadata(directory.join("trace.jsonl")).is_ok_and(|file| file.len() > trace.len() as u64));
        assert!(directory.join("PARTIAL").exists(), "it is marked again");
    }
    running.signal(Signal::SIGINT);
    assert_eq!(running.end().0, Some(130));
    let audited = run(["audit", shown]);
    assert_eq!(audited.status.code(), Some(0), "{}{}", stdout(&audited), stderr(&audited));
    assert!(stdout(&audited).contains("interrupted"), "{}", stdout(&audited));
    let page = place.join("page.html");
    let reported = run(["report", shown, "--out", page.to_str().expect("a name")]);
    assert_eq!(reported.status.code(), Some(0), "{}", stderr(&reported));
    assert!(page.exists());
}

#[test]
fn a_run_under_nohup_survives_a_closed_terminal() {
    let place = place("nohup");
    let directory = place.join("run");
    let out = directory.to_str().expect("a name");
    let mut command = std::process::Command::new("sh");
    // Ignores SIGHUP, as `nohup` does.
    let script = "trap '' HUP; exec \"$@\"";
    let arguments = ["run", "paper", "--set", "duration=100000000", "--out", out];
    let command = command.args(["-c", script, "sh", env!("CARGO_BIN_EXE_mario")]).args(arguments);
    let command = command.stdout(Stdio::null()).stderr(Stdio::piped());
    let mut running = Running(command.spawn().expect("it runs"));
    let written = || fs::metadata(directory.join("trace.jsonl")).map_or(0, |file| file.len());
    running.until(|| written() > 100_000);
    running.signal(Signal::SIGHUP);
    let before = written();
    running.until(|| written() > before + 2_000_000);
    running.signal(Signal::SIGINT);
    let (code, message) = running.end();
    assert_eq!(code, Some(130), "{message}");
}

#[test]
fn resume_rejects_unusable_runs_precisely_and_leaves_them_unchanged() {
    let place = place("refused");
    let (mut running, directory) = endless(&place);
    running.signal(Signal::SIGINT);
    assert_eq!(running.end().0, Some(130));
    let shown = directory.to_str().expect("a name");
    let refused = |expected: &[&str]| {
        let before = files(&directory);
        let output = run(["run", "--resume", shown]);
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(expected.iter().all(|part| message.contains(part)), "{message}");
        assert!(files(&directory) == before, "nothing is lost");
    };
    let aside = place.join("aside");
    let spoil = |name: &str, spoil: &dyn Fn(&[u8]) -> Option<Vec<u8>>, expected: &[&str]| {
        let path = directory.join(name);
        fs::copy(&path, &aside).expect("it is there");
        match spoil(&fs::read(&path).expect("it is there")) {
            Some(content) => fs::write(&path, content).expect("writable"),
            None => fs::remove_file(&path).expect("it was there"),
        }
        refused(expected);
        fs::copy(&aside, &path).expect("writable");
    };
    let half = |bytes: &[u8]| Some(bytes[..bytes.len() / 2].to_vec());
    let flipped = |bytes: &[u8]| {
        let mut bytes = bytes.to_vec();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 4;
        Some(bytes)
    };
    let gone = |_: &[u8]| None;
    spoil("checkpoint", &half, &["checkpoint` is damaged", "start the run again"]);
    spoil("checkpoint", &flipped, &["checkpoint` is damaged", "--force"]);
    spoil("checkpoint", &|_| Some(Vec::new()), &["checkpoint` is damaged"]);
    spoil("checkpoint", &gone, &["was interrupted before its first checkpoint", "--checkpoint-every"]);
    spoil("checkpoint.scenario", &flipped, &["checkpoint.scenario` is damaged"]);
    spoil("checkpoint.scenario", &gone, &["checkpoint.scenario` is gone", "put the file back"]);
    spoil("trace.jsonl", &half, &["trace.jsonl` has", "when the run was saved", "put the file back"]);
    spoil("trace.jsonl", &flipped, &["trace.jsonl` is damaged", "not those that the run wrote", "put the file back"]);
    spoil("moves.csv", &flipped, &["moves.csv` is damaged", "put the file back"]);
    spoil("run.json", &flipped, &["run.json` is damaged", "put the file back"]);
    spoil("handovers.csv", &gone, &["handovers.csv` is gone", "put the file back"]);
    spoil("run.json", &gone, &["holds no run", "a directory that `mario run` has made"]);
    fs::write(directory.join("trace.jsonl.gz"), "").expect("writable");
    spoil("trace.jsonl", &gone, &["trace.jsonl` is gone", "gunzip"]);
    fs::remove_file(directory.join("PARTIAL")).expect("it was there");
    fs::remove_file(directory.join("checkpoint")).expect("it was there");
    fs::remove_file(directory.join("checkpoint.scenario")).expect("it was there");
    refused(&["was interrupted before its first checkpoint"]);
    fs::write(directory.join("summary.json"), "{}").expect("writable");
    refused(&["is complete", "mario report"]);
}
