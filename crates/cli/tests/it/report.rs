//! `mario report` and `mario view`: what they write, serve and reject.

mod beside;
mod explanations;
#[cfg(unix)]
mod interrupted;

use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use mario_testing::empty_directory;

use crate::{mario, run, stderr};

/// A small valid trace.
const TRACE: &str = include_str!("../../../audit/tests/traces/small.jsonl");

/// Creates an empty directory with this trace.
fn run_directory(name: &str, trace: &str) -> PathBuf {
    let directory = empty_directory(env!("CARGO_TARGET_TMPDIR"), &format!("report/{name}"));
    fs::write(directory.join("trace.jsonl"), trace).expect("writable");
    directory
}

fn report(directory: &Path, options: &[&str]) -> (Option<i32>, String) {
    let output = mario().arg("report").arg(directory).args(options).current_dir(directory).output().expect("it runs");
    (output.status.code(), stderr(&output))
}

#[test]
fn explanations_respect_the_budget() {
    let (header, records) = TRACE.split_once('\n').expect("a header");
    let mut header: serde_json::Value = serde_json::from_str(header).expect("JSON");
    header["policies"][0]["files"][0][1] = "operation(undeploy, I, self) :- repeat, atom(I), fail.".into();
    let directory = run_directory("endless", &format!("{header}\n{records}"));
    let (code, message) = report(&directory, &["--budget", "100000"]);
    assert_eq!(code, Some(0), "{message}");
    assert!(message.contains("the budget of 100000 inferences was used up: "), "{message}");
    assert!(message.contains("hint: the page marks them; allow more with --budget"), "{message}");
    let page = fs::read_to_string(directory.join("report.html")).expect("the page is written");
    let (code, _) = report(&directory, &["--budget", "100000"]);
    assert_eq!((code, fs::read_to_string(directory.join("report.html")).expect("a page") == page), (Some(0), true));
    let (code, message) = report(&directory, &["--no-explanations"]);
    assert_eq!(code, Some(0), "{message}");
}

#[test]
fn writes_one_page_and_replaces_it_the_next_time() {
    let directory = run_directory("page", TRACE);
    for _ in 0..2 {
        let (code, message) = report(&directory, &["--title", "Mine & yours"]);
        assert_eq!(code, Some(0), "{message}");
        assert!(message.starts_with("report.html (0."), "{message}");
    }
    let page = fs::read_to_string(directory.join("report.html")).expect("it was written");
    assert!(page.starts_with("<!doctype html>") && page.contains("<title>Mine &amp; yours</title>"));
    assert!(!page.contains("<!--fill"), "every place is filled");
}

#[test]
fn writes_every_figure_as_a_drawing_when_asked() {
    let directory = run_directory("drawings", TRACE);
    let (code, message) = report(&directory, &["--svg", "figures"]);
    assert_eq!(code, Some(0), "{message}");
    let names: Vec<String> = fs::read_dir(directory.join("figures"))
        .expect("it was made")
        .map(|entry| entry.expect("readable").file_name().to_string_lossy().into_owned())
        .collect();
    assert!(names.len() >= 9, "{names:?}");
    assert!(names.iter().any(|name| name.ends_with("-operations-all.svg")), "{names:?}");
    assert!(message.contains(&format!("{} figures in figures", names.len())), "{message}");
}

#[test]
fn reports_a_comparison_or_a_sweep_as_tables() {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("report-of-studies");
    let _ = fs::remove_dir_all(&place);
    fs::create_dir_all(&place).expect("the test's own directory is writable");
    let policies =
        ["--policy", "latency-aware", "--policy", "workload-aware", "--set", "duration=4000", "--seeds", "2"];
    for (command, keys, titles) in [
        ("compare", vec![], vec!["Policies compared", "workload-aware against latency-aware"]),
        ("sweep", vec!["--key", "topology.size=4,8"], vec!["topology.size=4", "topology.size=8"]),
    ] {
        let kept = place.join(command);
        let typed = [&[command, "paper"], policies.as_slice(), keys.as_slice()].concat();
        let output = mario().args(typed).arg("--out").arg(&kept).output().expect("the binary was built and runs");
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let page = place.join(format!("{command}.html"));
        let output = mario().arg("report").arg(&kept).arg("--out").arg(&page).output().expect("it runs");
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let page = fs::read_to_string(page).expect("a page");
        for title in titles {
            assert!(page.contains(title), "{command}: {title}");
        }
    }
    fs::write(place.join("compare/study.json"), "{").expect("writable");
    let output = mario().arg("report").arg(place.join("compare")).output().expect("it runs");
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("study.json"), "{}", stderr(&output));
}

#[test]
fn replaces_no_file_that_is_not_a_report() {
    let directory = run_directory("precious", TRACE);
    fs::write(directory.join("thesis.html"), "<html>years of work</html>").expect("writable");
    let (code, message) = report(&directory, &["--out", "thesis.html"]);
    assert_eq!(code, Some(2), "{message}");
    assert!(message.contains("`thesis.html` is there already and is not a report"), "{message}");
    assert_eq!(fs::read_to_string(directory.join("thesis.html")).expect("it is there"), "<html>years of work</html>");
}

#[test]
fn says_that_a_run_is_not_complete_and_shows_it() {
    let directory = run_directory("cut", &TRACE[..TRACE.len() - 40]);
    let (code, message) = report(&directory, &[]);
    assert_eq!(code, Some(0), "{message}");
    assert!(message.contains("is not complete; it is shown up to its last record"), "{message}");
}

#[test]
fn refuses_a_trace_of_a_newer_format_and_says_what_to_do() {
    let directory = run_directory("newer", &TRACE.replacen("\"mario_trace\":1", "\"mario_trace\":9", 1));
    let (code, message) = report(&directory, &[]);
    assert_eq!(code, Some(2), "{message}");
    assert!(
        message.contains("this trace has format 9") && message.contains("the version of mario that wrote it"),
        "{message}"
    );
    assert!(!directory.join("report.html").exists());
}

#[test]
fn a_directory_of_runs_is_expanded_to_all_of_them() {
    let directory = run_directory("many", TRACE);
    for name in ["a", "b"] {
        fs::create_dir_all(directory.join("all").join(name)).expect("writable");
        fs::write(directory.join("all").join(name).join("trace.jsonl"), TRACE).expect("writable");
    }
    let (code, message) = report(&directory, &["--out", "x.html"]);
    assert_eq!(code, Some(0), "{message}");
    let output = mario().args(["report", "all"]).current_dir(&directory).output().expect("it runs");
    assert_eq!(output.status.code(), Some(0));
    let page = fs::read_to_string(directory.join("report.html")).expect("it was written");
    assert!(
        page.contains(", all/a\"") && page.contains(", all/b\""),
        "runs of one name and seed are told apart by path"
    );
}

/// A server that is killed when this value is dropped.
struct View(Child);

impl Drop for View {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts `mario view` for a directory. Returns the server and its address.
fn view(directory: &Path) -> (View, String) {
    let child = mario().arg("view").arg(directory).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let mut view = View(child.expect("the binary was built"));
    let mut line = String::new();
    BufReader::new(view.0.stdout.take().expect("piped")).read_line(&mut line).expect("it says where");
    (view, line.trim().trim_start_matches("http://").trim_end_matches('/').to_owned())
}

fn get(address: &str, path: &str, host: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("it listens");
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    answer
}

#[test]
fn view_serves_the_page_locally_and_updates_it_as_the_trace_grows() {
    let cut = TRACE[..TRACE.len() - 1].rfind('\n').expect("several lines") + 1;
    let directory = run_directory("view", &TRACE[..cut]);
    let (_view, address) = view(&directory);
    assert!(address.starts_with("127.0.0.1:"), "{address}");

    let page = get(&address, "/", &address);
    assert!(
        page.starts_with("HTTP/1.1 200") && page.contains("data-source=\"live\""),
        "{}",
        &page[..200.min(page.len())]
    );
    let version = get(&address, "/version", &address);
    assert!(get(&address, "/data.json", &address).contains("\"is_complete\":false"));
    let mut trace = OpenOptions::new().append(true).open(directory.join("trace.jsonl")).expect("it is there");
    trace.write_all(&TRACE.as_bytes()[cut..]).expect("writable");
    assert_ne!(get(&address, "/version", &address), version);
    assert!(get(&address, "/data.json", &address).contains("\"is_complete\":true"));
    assert!(get(&address, "/", "evil.example").starts_with("HTTP/1.1 403"), "other names are not answered");
    assert!(get(&address, "/trace.jsonl", &address).starts_with("HTTP/1.1 404"));
}

#[test]
fn view_rejects_a_directory_without_a_run() {
    let directory = run_directory("nothing", TRACE);
    fs::remove_file(directory.join("trace.jsonl")).expect("it is there");
    let output = run(["view".as_ref(), directory.as_os_str()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("has no run in it"), "{}", stderr(&output));
}

#[test]
fn view_says_when_the_port_is_taken() {
    let directory = run_directory("taken", TRACE);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let port = taken.local_addr().expect("it has an address").port().to_string();
    let output = run(["view".as_ref(), directory.as_os_str(), "--port".as_ref(), port.as_ref()]);
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains(&format!("cannot listen on port {port} of 127.0.0.1")), "{}", stderr(&output));
}
