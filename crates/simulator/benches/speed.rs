//! Compares the speed of the simulator with that of the paper's prototype, YAFS and simpy, and the speed of the event
//! queue with that of the standard heap.
//!
//! `cargo bench -p mario-simulator --bench speed [-- runs|hops|queue|simpy]`

#![allow(clippy::disallowed_methods, reason = "a benchmark measures time")]

use std::collections::BinaryHeap;
use std::env;
use std::fs;
use std::hint::black_box;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use mario_domain::{Duration, Time};
use mario_scenario::{Document, Files, Resolved, Scenario};
use mario_simulator::{
    Detail, EventQueue, IfExists, NullRecorder, OutputOptions, Recorder, RunDirectory, RunOptions, RunStatistics,
    Simulation,
};

/// CPU seconds that the paper's prototype needs for its four runs on an idle machine.
const PROTOTYPE_SECONDS: f64 = 1_202.0;
/// The best measured rate of YAFS, the simulator that the prototype is built on, in link hops per second.
const YAFS_HOPS: f64 = 19_000.0;
const REPEATS: u32 = 10;

struct Disk;

impl Files for Disk {
    fn read(&mut self, path: &Path) -> Result<Vec<u8>, String> {
        fs::read(path).map_err(|error| error.to_string())
    }
}

/// CPU seconds used by this process, in steps of 0.01 s. Unlike wall time, they do not include the time of other
/// processes.
fn cpu_seconds() -> f64 {
    const TICKS_PER_SECOND: f64 = 100.0;
    let stat = fs::read_to_string("/proc/self/stat").expect("Linux");
    let fields: Vec<&str> = stat.rsplit(')').next().expect("fields").split_whitespace().collect();
    let ticks: f64 = [11, 12].iter().map(|field| fields[*field].parse::<f64>().expect("ticks")).sum();
    ticks / TICKS_PER_SECOND
}

fn measured<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let began = cpu_seconds();
    let result = work();
    (result, cpu_seconds() - began)
}

fn resolved(document: &Document) -> Resolved {
    document.resolve(&mut Disk).expect("a scenario")
}

fn simulate(scenario: &Scenario, recorder: &mut impl Recorder) -> RunStatistics {
    Simulation::new(scenario, RunOptions::default()).expect("it can be run").run(recorder)
}

/// Times the prototype's four runs, from parsing the scenario to writing the output files: with a trace of operations,
/// with a full trace, and with a full trace and all messages.
fn runs() {
    let runs =
        ["workload-aware", "latency-aware", "workload-and-latency-aware", "workload-and-latency-aware-with-memory"];
    let directory = env::temp_dir().join(format!("mario-speed-{}", std::process::id()));
    for (detail, messages) in [(Detail::Operations, false), (Detail::Full, false), (Detail::Full, true)] {
        let keep = OutputOptions { detail, messages };
        let ((), seconds) = measured(|| {
            for policy in runs.iter().cycle().take(runs.len() * REPEATS as usize) {
                let mut document = Document::preset("prototype").expect("a preset");
                document.set(&["mobility.kind=recorded".to_owned()]);
                document.set_policy(policy);
                let resolved = resolved(&document);
                let mut kept = RunDirectory::create(&directory, &resolved, keep, IfExists::Replace).expect("writable");
                let statistics = simulate(&resolved.scenario, kept.recorder());
                kept.complete(&resolved.scenario, statistics).expect("writable");
            }
        });
        let seconds = seconds / f64::from(REPEATS);
        println!(
            "runs: the prototype's four, trace {}{}: {seconds:.3} CPU s, {:.0} times less than the prototype's {PROTOTYPE_SECONDS}",
            detail.as_str(),
            if messages { " and messages" } else { "" },
            PROTOTYPE_SECONDS / seconds
        );
    }
    let _ = fs::remove_dir_all(&directory);
}

/// Measures link hops per CPU second with 10,000 users on a tree of 5,461 nodes.
fn hops() {
    let mut document = Document::preset("paper").expect("a preset");
    let overrides = ["mobility.users=10000", "mobility.first_users=10000", "topology.size=64", "duration=4000"];
    document.set(&overrides.map(str::to_owned));
    let resolved = resolved(&document);
    let (statistics, seconds) = measured(|| simulate(&resolved.scenario, &mut NullRecorder));
    let rate = statistics.hops as f64 / seconds;
    println!(
        "hops: {} with {} users in {seconds:.2} CPU s: {:.1} million a second, {:.0} times YAFS's {YAFS_HOPS}",
        statistics.hops,
        resolved.scenario.users.len(),
        rate / 1e6,
        rate / YAFS_HOPS
    );
}

/// Compares the event queue with the standard library's heap, with many events pending.
fn queue() {
    const PENDING: u32 = 1_000_000;
    const STEPS: u32 = 4_000_000;
    // A linear congruential generator. Both queues start it from the same state, so they get the same delays.
    let delay = |state: &mut u32| {
        *state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(*state >> 16) / 64.0
    };
    let (ours, our_seconds) = measured(|| {
        let (mut queue, mut state) = (EventQueue::default(), 1);
        (0..PENDING).for_each(|event| queue.schedule(Time::at(delay(&mut state)), event));
        for _ in 0..STEPS {
            let event = queue.next_before(Time::NEVER).expect("never empty");
            queue.schedule(queue.now() + Duration::of(delay(&mut state)), event);
        }
        queue.now()
    });
    let (theirs, their_seconds) = measured(|| {
        let (mut heap, mut state, mut now) = (BinaryHeap::new(), 1, 0_u64);
        let key = |time: f64, sequence: u32| std::cmp::Reverse((time.to_bits(), sequence));
        (0..PENDING).for_each(|event| heap.push((key(delay(&mut state), event), event)));
        for step in 0..STEPS {
            let (std::cmp::Reverse((time, _)), event) = heap.pop().expect("never empty");
            now = time;
            heap.push((key(f64::from_bits(time) + delay(&mut state), PENDING + step), black_box(event)));
        }
        f64::from_bits(now)
    });
    assert_eq!(ours.units().to_bits(), theirs.to_bits(), "both come to the same time");
    let nanoseconds = |seconds: f64| seconds * 1e9 / f64::from(STEPS + PENDING);
    println!(
        "queue: {:.0} ns an event with {PENDING} pending, the standard heap with a sequence number {:.0}: {:.1} times less",
        nanoseconds(our_seconds),
        nanoseconds(their_seconds),
        their_seconds / our_seconds
    );
}

/// Compares the CPU time of a run with that of simpy for the same messages over the same links. Skipped if python3 or
/// simpy is not installed.
fn simpy() {
    let mut document = Document::preset("paper").expect("a preset");
    // Agents never evaluate and users never move, so all routes lead to the cloud and never change.
    let still = ["agents.start=1000000", "mobility.steps=1", "mobility.first_users=51", "duration=20000"];
    document.set(&still.map(str::to_owned));
    let scenario = resolved(&document).scenario;
    let topology = &scenario.topology;
    let path = |user: u32| {
        let (_, access_point) = scenario.attachments.steps[0].iter().find(|(other, _)| other.0 == user).expect("there");
        let mut node = access_point.expect("connected");
        let mut links = Vec::new();
        while topology.node(node).tier > 0 {
            let up = topology.links_from(node).find(|(_, link)| topology.node(link.to).tier < topology.node(node).tier);
            let (index, link) = up.expect("a tree");
            links.push(serde_json::json!([index.0, link.latency.units()]));
            node = link.to;
        }
        links
    };
    let paths: Vec<_> = (0..scenario.users.len() as u32).map(path).collect();
    let world = serde_json::json!({"duration": scenario.duration.units(), "period": 40, "paths": paths});
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/simpy/tree.py");
    let child =
        Command::new("python3").arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let Ok(mut child) = child else {
        println!("simpy: skipped, there is no python3");
        return;
    };
    child.stdin.take().expect("piped").write_all(world.to_string().as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    let Ok(theirs) = serde_json::from_slice::<serde_json::Value>(&output.stdout) else {
        println!("simpy: skipped, python3 has no simpy");
        return;
    };
    let (statistics, seconds) = measured(|| {
        (1..REPEATS).for_each(|_| _ = black_box(simulate(&scenario, &mut NullRecorder)));
        simulate(&scenario, &mut NullRecorder)
    });
    assert_eq!(theirs["hops"].as_u64(), Some(statistics.hops), "both carry the same messages");
    let ratio = theirs["seconds"].as_f64().expect("a number") / (seconds / f64::from(REPEATS));
    println!(
        "simpy: {} hops, {ratio:.0} times less CPU time than simpy, though instances serve the requests too",
        statistics.hops
    );
}

fn main() {
    let wanted: Vec<String> = env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    for (name, part) in [("runs", runs as fn()), ("hops", hops), ("queue", queue), ("simpy", simpy)] {
        if wanted.is_empty() || wanted.iter().any(|word| word == name) {
            part();
        }
    }
}
