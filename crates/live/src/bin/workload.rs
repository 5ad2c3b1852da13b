//! A program for the tests of this crate: like `mario`, it runs a node, or is a process of a workload, but it has no
//! other commands.

#![allow(clippy::disallowed_methods, reason = "a shell: files, clocks and the environment are its work")]

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use mario_live::config::{NodeConfig, check};
use mario_live::daemon::{self, DaemonDependencies, WorkloadsAtStop};
use mario_live::workloads::{Launcher, launch, sample};

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let Some((role, rest)) = arguments.split_first() else { return ExitCode::from(2) };
    match role.to_str() {
        Some("sample") => {
            let (code, problem) = sample::main(rest);
            if let Some(problem) = problem {
                eprintln!("{problem}");
            }
            ExitCode::from(code)
        }
        Some("node") => match rest {
            [config] => node(Path::new(config)),
            _ => ExitCode::from(2),
        },
        _ => ExitCode::from(launch::main(rest)),
    }
}

/// Runs a node as configured by a file, until SIGTERM or Ctrl-C.
fn node(path: &Path) -> ExitCode {
    let engine = mario_prolog::Engine::new();
    let text = std::fs::read_to_string(path).expect("the configuration can be read");
    let directory = path.parent().expect("it is in a directory");
    let prepared = NodeConfig::read("node.toml", &text, directory)
        .and_then(|config| check(&config, &engine).map(|checked| (config, checked)));
    let (config, checked) = match prepared {
        Ok(prepared) => prepared,
        Err(error) => {
            for mistake in &error.mistakes {
                eprintln!("{mistake}");
            }
            return ExitCode::from(2);
        }
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("threads");
    let binary = std::env::current_exe().expect("the own program");
    let [launch, sample] = ["launch", "sample"].map(|word| vec![word.to_owned()]);
    let dependencies =
        DaemonDependencies { launcher: Launcher { binary, launch, sample }, workloads_at_stop: WorkloadsAtStop::Keep };
    let result = runtime.block_on(async {
        let stop = daemon::stop_signal().expect("signals");
        let ready = |addresses: daemon::Addresses| {
            println!("{} {} {}", addresses.links, addresses.ingress, addresses.operators);
        };
        daemon::run(config, checked, &engine, dependencies, ready, stop).await
    });
    runtime.shutdown_background();
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            eprintln!("{}", fault.line());
            ExitCode::from(3)
        }
    }
}
