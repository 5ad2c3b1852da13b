//! `mario bench scale`.

use std::env;
use std::io;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use clap::{Args, ValueEnum};
use mario_domain::Time;
use mario_experiments::scale::{
    DEFAULT_NODES, Growth, MeasureError, NoSuchTree, ScaleConfig, ScaleMeasurement, Size, measure, table,
};
use mario_frontend::Diagnostic;

use mario_frontend::runs::run_failure;

use crate::interruptions::interruptions;
use crate::scenarios::{Disk, failure};
use crate::{Console, Failure, Outcome};

/// Arguments of `mario bench scale`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  mario bench scale
  mario bench scale --nodes 85,1365,21845 --threads 2
  mario bench scale --nodes 85,1365 --policy latency-aware --format json")]
pub struct Arguments {
    /// The numbers of nodes, one per run: 1, 5, 21, 85, 341, 1365 and so on
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = DEFAULT_NODES)]
    pub nodes: Vec<u64>,
    /// The policy of all applications: the path of a file, the name of a built-in policy, or baseline:NAME
    #[arg(long, value_name = "POLICY", default_value = "workload-and-latency-aware", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub policy: String,
    /// The seed of the random number generator
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// How many threads evaluate agents; the runs are the same with any number
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: u16,
    /// What grows with the number of nodes
    #[arg(long, value_name = "WHAT", default_value = "town")]
    pub growth: WhatGrows,
    /// How to print the result
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: TableFormat,
    /// Measure one size in this process and print its object; the parent process passes this option to its children
    #[arg(long, hide = true)]
    pub here: bool,
}

/// What grows with the number of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WhatGrows {
    /// The area: it has more districts, each like the town of the paper.
    Town,
    /// The density: the same 4 by 4 km have more access points, so that users change between them more often.
    Density,
}

/// How to print the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TableFormat {
    /// A table for people.
    Text,
    /// A list with an object for each size.
    Json,
}

pub(super) const LONG_ABOUT: &str = "Measure how the cost of a run grows with the size of its world.

For each size, a process runs the paper's scenario on a tree with that number of nodes, with 2.86 users per node, for the \
full 52,000 time units; client requests are simulated as rates, not one by one. The table has a \
line for each size: the numbers of nodes and users, the mean number of agents, the number of management cycles, `asked` (how many \
decisions were due: one per agent and cycle), `evaluated` (how many of them evaluated a policy; the others reused a known \
decision), the CPU time of the run divided by the decisions, the peak memory of the process, and `wall s` (the elapsed time of the \
run). The last line compares the largest size with the smallest.

CPU time is that of all threads during the run, without building the world. Each size runs at least three times, and until a \
second of CPU time has been measured. The minimum CPU time is shown; memory and elapsed time are those of the first run.";

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<Outcome, Failure> {
    let mut sizes = Vec::new();
    for nodes in &arguments.nodes {
        sizes.push(Size::with_nodes(*nodes).map_err(|error| no_such_tree(&error))?);
    }
    if arguments.here {
        return here(arguments, &sizes, console);
    }
    // Resolves the smallest scenario first, so that an unusable policy is reported before anything is measured.
    let smallest = Size::with_nodes(1).map_err(|error| no_such_tree(&error))?;
    scale_config(arguments, smallest).document().resolve(&mut Disk).map_err(|error| failure(&error))?;
    let interrupted = interruptions()?;
    let mut measured = Vec::new();
    for size in sizes {
        console.inform(format!("{} nodes, {} users", size.nodes(), size.users()));
        match apart(arguments, size, &interrupted) {
            Ok(size) => measured.push(size),
            Err(failure) => {
                // Prints the sizes measured so far.
                if !measured.is_empty() {
                    print(&measured, arguments.format, console)?;
                }
                return Err(failure);
            }
        }
    }
    print(&measured, arguments.format, console)?;
    Ok(Outcome::Done)
}

fn print(measured: &[ScaleMeasurement], format: TableFormat, console: &Console) -> Result<(), Failure> {
    console.write_data(|stdout| match format {
        TableFormat::Text => stdout.write_all(table(measured).as_bytes()),
        TableFormat::Json => {
            serde_json::to_writer_pretty(&mut *stdout, measured)?;
            stdout.write_all(b"\n")
        }
    })?;
    Ok(())
}

fn scale_config(arguments: &Arguments, size: Size) -> ScaleConfig {
    ScaleConfig {
        size,
        policy: arguments.policy.clone(),
        seed: arguments.seed,
        threads: usize::from(arguments.threads),
        growth: match arguments.growth {
            WhatGrows::Town => Growth::Town,
            WhatGrows::Density => Growth::Density,
        },
    }
}

/// Measures the sizes in this process, and prints an object for each.
fn here(arguments: &Arguments, sizes: &[Size], console: &Console) -> Result<Outcome, Failure> {
    // The parent process holds the write end of standard input. If the parent ends, the copy ends, and so does this
    // process.
    thread::spawn(|| {
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        std::process::exit(1);
    });
    for size in sizes {
        let mut bar = None;
        let measured = measure(&scale_config(arguments, *size), &mut Disk, &mut |now, end, requests| {
            bar.get_or_insert_with(|| console.progress_bar(end, Time::ZERO, 0)).at(now, requests);
        });
        drop(bar);
        let measured = measured.map_err(|error| match error {
            MeasureError::Run(error) => run_failure(&error),
            MeasureError::NoUsage => Failure::Environment(vec![Diagnostic::error(error.to_string())]),
        })?;
        console.write_data(|stdout| {
            serde_json::to_writer(&mut *stdout, &measured)?;
            stdout.write_all(b"\n")
        })?;
    }
    Ok(Outcome::Done)
}

/// Measures a size in a separate process, so that its peak memory is not mixed with that of other sizes.
fn apart(arguments: &Arguments, size: Size, interrupted: &AtomicBool) -> Result<ScaleMeasurement, Failure> {
    /// How often to check whether the child is done or the user has interrupted.
    const POLL_INTERVAL: Duration = Duration::from_millis(20);
    let environment = |error: &dyn std::error::Error| {
        let title = format!("cannot measure {} nodes in a process of their own", size.nodes());
        Failure::Environment(vec![Diagnostic::error(title).caused_by(error)])
    };
    let program = env::current_exe().map_err(|error| environment(&error))?;
    let growth = arguments.growth.to_possible_value().expect("every value has a word");
    let mut child = Command::new(program)
        .args(["bench", "scale", "--here", "--policy", &arguments.policy, "--growth", growth.get_name()])
        .args(["--nodes", &size.nodes().to_string(), "--seed", &arguments.seed.to_string()])
        .args(["--threads", &arguments.threads.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| environment(&error))?;
    let held = child.stdin.take();
    while !interrupted.load(Ordering::Relaxed) && child.try_wait().map_err(|error| environment(&error))?.is_none() {
        thread::sleep(POLL_INTERVAL);
    }
    if interrupted.load(Ordering::Relaxed) {
        let _ = child.kill();
    }
    let output = child.wait_with_output().map_err(|error| environment(&error))?;
    drop(held);
    if interrupted.load(Ordering::Relaxed) {
        let title = format!("measuring was interrupted at {} nodes", size.nodes());
        return Err(Failure::Interrupted(vec![Diagnostic::error(title)]));
    }
    if !output.status.success() {
        let title = format!("measuring {} nodes ended early: {}", size.nodes(), output.status);
        let hint = "if the system ended it, it had too little memory: omit the largest size";
        return Err(Failure::Environment(vec![Diagnostic::error(title).hint(hint)]));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| environment(&error))
}

fn no_such_tree(error: &NoSuchTree) -> Failure {
    let hint = match (error.below, error.above) {
        (Some(below), Some(above)) => format!("the nearest full trees have {} and {}", below.nodes(), above.nodes()),
        (Some(below), None) => format!("the largest that is measured has {}", below.nodes()),
        (None, _) => "the smallest is a single node: --nodes 1".to_owned(),
    };
    Failure::input(Diagnostic::error(error.to_string()).hint(hint))
}
