//! Results that cannot be written, and results that are written concurrently.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use flate2::Compression;
use flate2::write::GzEncoder;
use mario_testing::empty_directory;

use crate::{mario, run, stderr};

/// An empty directory for one test.
fn place(name: &str) -> PathBuf {
    empty_directory(env!("CARGO_TARGET_TMPDIR"), &format!("outputs/{name}"))
}

fn names(place: &Path) -> Vec<String> {
    let entries = fs::read_dir(place).expect("a directory").map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<String> = entries.map(|name| name.to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Runs mario with files limited to `blocks` blocks. Writing beyond the limit fails like writing to a full disk.
fn run_limited(blocks: u32, place: &Path, arguments: &[&str]) -> Output {
    let script = format!("ulimit -f {blocks}; exec \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &script, "sh", env!("CARGO_BIN_EXE_mario")]).args(arguments).current_dir(place);
    command.output().expect("a shell")
}

#[test]
fn a_page_that_does_not_fit_on_disk_leaves_the_old_one() {
    let place = place("page");
    let made = mario().args(["run", "paper", "--set", "duration=2000", "--out", "run"]).current_dir(&place).output();
    assert_eq!(made.expect("it runs").status.code(), Some(0));
    let report = |blocks: u32| run_limited(blocks, &place, &["report", "run", "--out", "page.html"]);
    let output = report(40);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(stderr(&output).contains("cannot write `page.html`"), "{}", stderr(&output));
    assert_eq!(names(&place), ["run"], "nothing is left in part");
    assert_eq!(report(1 << 20).status.code(), Some(0));
    let former = fs::read(place.join("page.html")).expect("a page");
    assert_eq!(report(40).status.code(), Some(3));
    assert!(fs::read(place.join("page.html")).expect("a page") == former);
    assert_eq!(names(&place), ["page.html", "run"]);
}

#[test]
fn a_run_whose_trace_does_not_fit_says_so_and_stays_partial() {
    let place = place("trace");
    let output = run_limited(200, &place, &["run", "paper", "--out", "run"]);
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(3), "{message}");
    assert!(message.contains("cannot write to `run`") && message.contains("ulimit -f"), "{message}");
    assert!(place.join("run/PARTIAL").exists() && !place.join("run/summary.json").exists());
}

#[test]
fn concurrent_unnamed_runs_get_different_directories() {
    let place = place("at-once");
    let start = |_| {
        let mut command = mario();
        let command = command.args(["run", "paper", "--set", "duration=2000"]).current_dir(&place);
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it runs")
    };
    let runs: Vec<Child> = (0..4).map(start).collect();
    for run in runs {
        let output = run.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    }
    assert_eq!(names(&place.join("runs")), ["paper-1", "paper-2", "paper-3", "paper-4"]);
    for name in names(&place.join("runs")) {
        assert!(place.join("runs").join(name).join("summary.json").exists());
    }
}

#[test]
fn a_run_that_cannot_begin_leaves_no_directory() {
    let place = place("not-begun");
    let output = mario().args(["run", "paper", "--set", "topology.size=0"]).current_dir(&place).output();
    assert_eq!(output.expect("it runs").status.code(), Some(2));
    assert!(names(&place).is_empty());
}

#[test]
fn a_trace_that_decompresses_beyond_the_size_limit_is_refused() {
    use std::io::Write;
    let place = place("bomb");
    let path = place.join("trace.jsonl.gz");
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(b"{\"mario_trace\":2,\"program\":\"").expect("memory");
    let mebibyte = vec![b'x'; 1 << 20];
    (0..300).for_each(|_| encoder.write_all(&mebibyte).expect("memory"));
    fs::write(&path, encoder.finish().expect("memory")).expect("writable");
    for command in ["audit", "report"] {
        let output = run([command, path.to_str().expect("a name")]);
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains("no text compresses so well"), "{message}");
    }
}
