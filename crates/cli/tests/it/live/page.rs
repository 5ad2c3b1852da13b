//! The page of `mario live` in a real browser.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};

use serde_json::Value;

#[path = "../../../../report/tests/it/browser.rs"]
#[allow(dead_code, reason = "the tests of the report use more of it")]
mod browser;

use super::{directory, processes_below};
use crate::{mario, stderr};
use browser::Browser;

/// How late an arrival may appear on the page, in milliseconds. The limit is high, because the machine may be busy with
/// other tests.
const LATE_MS: f64 = 10_000.0;

/// A script that records when each line about an arrival appears in the log of the page.
const WATCH: &str = "(() => {
    window.seen = {};
    const note = () => document.querySelectorAll('.log-list li').forEach((line) => {
        if (line.dataset.kind !== 'arrived') return;
        const key = line.querySelector('.origin').textContent + ' ' + line.querySelector('.what').textContent;
        window.seen[key] ??= Date.now();
    });
    new MutationObserver(note).observe(document.querySelector('.log-list'), { childList: true });
    note();
    return 1;
})()";

/// A process of `mario live` that is interrupted when this value is dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let pid = nix::unistd::Pid::from_raw(self.0.id().cast_signed());
        let _ = nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT);
        let _ = self.0.wait();
    }
}

/// Returns the arrivals of instances from other nodes according to the journalled records in the nodes' traces: node,
/// instance, and time in milliseconds.
fn arrivals(out: &Path) -> Vec<(String, String, f64)> {
    let mut arrivals = Vec::new();
    for node in fs::read_dir(out.join("nodes")).expect("nodes").flatten() {
        let name = node.file_name().into_string().expect("a name");
        for part in fs::read_dir(node.path().join("data/trace")).into_iter().flatten().flatten() {
            for line in fs::read_to_string(part.path()).unwrap_or_default().lines() {
                let Ok(line) = serde_json::from_str::<Value>(line) else { continue };
                let own = &line[2]["own"];
                let is_journalled = line[1].as_u64().is_some() && own["cause"]["taken"].is_object();
                if let (true, Some(instance), Some(ms)) = (is_journalled, own["instance"].as_str(), line[0][0].as_f64())
                {
                    arrivals.push((name.clone(), instance.to_owned(), ms));
                }
            }
        }
    }
    arrivals
}

/// Checks that a snapshot of the nodes is a scenario that `mario run` can run.
fn the_colony_makes_a_scenario(browser: &Browser, out: &Path) {
    let addresses = browser.evaluate(
        "fetch('snapshot.json').then((answer) => answer.json()).then(({ nodes }) => nodes.map(({ address }) => address))",
    );
    let addresses: Vec<&str> = addresses.as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    assert_eq!(addresses.len(), 5, "{addresses:?}");
    let operator = out.join("colony/operator.pem");
    let scenario = out.join("now.toml");
    let output = mario()
        .arg("snapshot")
        .args(addresses.iter().flat_map(|address| ["--node", address]))
        .arg("--as")
        .arg(&operator)
        .arg("--out")
        .arg(&scenario)
        .output()
        .expect("it runs");
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).contains("Not in this scenario:"), "{}", stderr(&output));
    let text = fs::read_to_string(&scenario).expect("a scenario");
    assert!(text.matches("[[deploy]]").count() >= 6 && text.contains("workload-and-latency-aware.pl"), "{text}");
    let run = mario()
        .arg("run")
        .arg(&scenario)
        .args(["--policy", "latency-aware", "--out"])
        .arg(out.join("on"))
        .output()
        .expect("it runs");
    assert!(run.status.success(), "{}", stderr(&run));
}

#[test]
fn the_page_shows_a_real_colony_and_each_migration_soon_after_the_journal() {
    let Some(browser) = Browser::start(1280, 900) else { return };
    let out = directory("page");
    let child = mario()
        .args(["live", "--nodes", "5", "--speed", "400", "--out"])
        .arg(&out)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    let mut running = Running(child);
    let mut told = BufReader::new(running.0.stderr.take().expect("a pipe")).lines().map_while(Result::ok);
    let page = told.find_map(|line| line.strip_prefix("dashboard: ").map(str::to_owned)).expect("a page");
    // Standard error must be drained, or the colony would block on a full pipe.
    let rest = std::thread::spawn(move || told.count());
    browser.visit(&page);
    browser.wait_for("document.querySelectorAll('.stage .node').length === 5");
    browser.evaluate(WATCH);
    browser.wait_for("document.querySelectorAll('.stage .link').length === 4");
    browser.wait_for("document.querySelectorAll('.chip').length >= 6");
    browser.wait_for("document.querySelector('.applications')?.textContent.includes('app1')");
    browser.wait_for("Object.keys(window.seen).length >= 3");
    let seen = browser.evaluate("window.seen");
    let arrivals = arrivals(&out);
    let mut late: Vec<f64> = Vec::new();
    for (key, shown_ms) in seen.as_object().expect("an object") {
        let is_it = |(node, instance, _): &&(String, String, f64)| {
            let brief = format!("{}…{}", &instance[..6], &instance[32..]);
            key.starts_with(&format!("{node} ")) && (key.contains(&brief) || key.contains(instance.as_str()))
        };
        // An instance may arrive at a node several times. The last arrival before the line was shown counts.
        let before = arrivals.iter().filter(is_it).map(|(_, _, ms)| shown_ms.as_f64().expect("a time") - ms);
        late.push(before.filter(|late| *late >= 0.0).fold(f64::INFINITY, f64::min));
    }
    assert!(late.iter().all(|late| *late < LATE_MS), "{late:?}: {seen} {arrivals:?}");
    println!("shown after {late:?} ms");
    the_colony_makes_a_scenario(&browser, &out);
    drop(running);
    rest.join().expect("it reads");
    assert_eq!(processes_below(&out), Vec::<String>::new());
    fs::remove_dir_all(out).expect("it was there");
}
