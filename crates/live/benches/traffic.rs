//! Measures the data plane. It asserts nothing about times.
//!
//! `cargo bench -p mario-live --bench traffic` prints
//!
//! 1. **processor time per request and hop**, compared with nginx in the same run. Both chain two proxies: a client
//!    speaks HTTP/1.1 to the first, the first speaks mutual TLS to the second (HTTP/2 with mario, HTTP/1.1 with nginx,
//!    which supports nothing newer upstream), and the second forwards to the sample service. Runs alternate, and the
//!    median is reported. Needs `nginx` on the search path; without it, only our figures are printed;
//! 2. the **resident memory** of each node's data plane after that;
//! 3. **failed requests while a copy moves**: an open loop of 10^5 requests over three nodes in one process, while the
//!    copy moves from node to node and route updates lag behind. The goal is 0.
//!
//! `-- --requests N` and `-- --rate N` change the third measurement, `-- --seconds N` the runs of the first.
//! `-- processor` selects the first two measurements, `-- moves` the third. Everything runs on loopback, and every
//! started process is stopped.

#![allow(clippy::disallowed_methods, reason = "a benchmark measures time")]

#[path = "../tests/it/nodes.rs"]
mod nodes;

#[path = "traffic/moves.rs"]
mod moves;
#[path = "traffic/processor.rs"]
mod processor;
#[path = "traffic/roles.rs"]
mod roles;

use std::ffi::OsString;

/// The same allocator as in the binary `mario`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The options of the bench.
struct Options {
    requests: u64,
    rate: u64,
    seconds: u64,
    only: Option<String>,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [role, rest @ ..] = arguments.as_slice() {
        match role.as_str() {
            "role-node" => return roles::node(rest),
            "role-sample" => {
                let rest: Vec<OsString> = rest.iter().map(OsString::from).collect();
                mario_live::workloads::sample::main(&rest);
                return;
            }
            _ => {}
        }
    }
    let value = |key: &str, otherwise: u64| {
        let at = arguments.iter().position(|argument| argument == key);
        at.and_then(|at| arguments.get(at + 1)?.parse().ok()).unwrap_or(otherwise)
    };
    let options = Options {
        requests: value("--requests", 100_000),
        rate: value("--rate", 1_500),
        seconds: value("--seconds", 5),
        only: arguments.iter().find(|argument| ["moves", "processor"].contains(&argument.as_str())).cloned(),
    };
    // A test runner asks for the list of tests, which is empty.
    if arguments.iter().any(|argument| argument == "--list") {
        return;
    }
    let wants = |part: &str| options.only.as_deref().is_none_or(|only| only == part);
    if wants("processor") {
        processor::compare(&options);
    }
    if wants("moves") {
        moves::count_failures(&options);
    }
}
