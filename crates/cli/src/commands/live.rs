//! `mario live`.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use mario_dashboard::{Dashboard, NodeSource};
use mario_frontend::Diagnostic;
use mario_frontend::result_directory::ResultDirectory;
use mario_frontend::warnings::notes;
use mario_live::identity::{Identity, application_id, node_id};
use mario_scenario::{NodeDescription, NodeIndex, Resolved, Scenario};
use mario_testbed::plan::PlannedNode;
use mario_testbed::{DashboardFeed, Options, Plan, Progress, Summary, run as run_colony, stop_signal};
use mario_trace::join::{ClientLog, ContextNode, RunContext};
use tokio::net::TcpListener;

use crate::commands::{dashboard, trace};
use crate::console::many;
use crate::live::{Format, failure, runtime};
use crate::scenarios::ScenarioArguments;
use crate::{Console, Failure, Outcome};

/// Arguments of `mario live`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  mario live
  mario live --for 60s --policy latency-aware
  mario live --nodes 5 --for 30s --chaos
  mario live --scenario scenario.toml --speed 100")]
pub struct Arguments {
    /// The number of nodes of the paper's tree
    #[arg(long, value_name = "N", default_value = "21", value_parser = ["5", "21", "85"], conflicts_with = "scenario")]
    pub nodes: String,
    /// Run this scenario instead: the name of a built-in scenario, or the path of a scenario file
    #[arg(long, value_name = "SCENARIO")]
    pub scenario: Option<PathBuf>,
    /// Override a key of the scenario, e.g. workload.period=80; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub overrides: Vec<String>,
    /// The policy of all applications, or with APP=POLICY of one application: a path, or the name of a built-in
    /// policy
    #[arg(long = "policy", value_name = "POLICY|APP=POLICY", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub policies: Vec<String>,
    /// The seed of the random number generator; by default, that of the scenario
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// How many time units of the scenario pass per second; latencies are not scaled: they stay in milliseconds
    #[arg(long, value_name = "UNITS", default_value_t = 200.0)]
    pub speed: f64,
    /// Stop after this time: a number with s, m or h, e.g. 90s; by default, the colony runs until Ctrl-C
    #[arg(long = "for", value_name = "DURATION", value_parser = parse_time)]
    pub length: Option<Duration>,
    /// Kill and restart daemons, and cut and heal links, at random times drawn from the seed
    #[arg(long)]
    pub chaos: bool,
    /// The port of the dashboard on 127.0.0.1; 0 takes any free port
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub port: u16,
    /// The directory for the run; by default, the first unused one of `runs/live-1`, `runs/live-2`, …
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// How to print the summary
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

pub(super) const LONG_ABOUT: &str = "Run a whole colony as processes on this machine, to try it out.

Each node of the scenario is a daemon, as `mario node` runs it, with its own journal and certificate. The links between the \
nodes have the latencies of the scenario, and the applications are small HTTP services. The users are open-loop clients: they \
send real HTTP requests from the access points and at the times that the scenario sets, whether or not earlier requests were \
answered. Everything listens on 127.0.0.1, and nothing needs to be installed.

--speed sets how fast the time of the scenario passes: at 200 units per second, the agents of the paper evaluate once a second, \
and users move every 10 seconds.

The command prints the address of a dashboard: the page of `mario dashboard`, with what the clients measure. It also prints a \
command for operators, with the address of a node and the certificate of an operator, for use with `mario app` and `mario node`.

The colony runs until --for is over, or until Ctrl-C or SIGTERM; then every process is stopped, and the exit code is 0, or 130 if it \
is stopped before clients send requests. The directory of the run has summary.json, \
trace.jsonl (for `mario audit` and `mario report`), and the configuration, journal and log of each node.";

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<Outcome, Failure> {
    let resolved = scenario(arguments)?;
    let plan = Plan::new(&resolved.scenario, arguments.speed).map_err(|fault| failure(&fault))?;
    let directory = ResultDirectory::named_or_free(arguments.out.as_deref(), "live")?;
    must_be_empty(&directory)?;
    for note in notes(&resolved).iter().chain(&plan.notes) {
        console.inform(format!("note: {note}"));
    }
    let binary = std::env::current_exe().map_err(|error| Failure::file("cannot find the own program", &error))?;
    let options = Options {
        binary,
        directory: std::path::absolute(&*directory)
            .map_err(|error| Failure::file(format!("cannot use `{}`", directory.display()), &error))?,
        length: arguments.length,
        chaos: arguments.chaos.then_some(plan.seed),
    };
    tell_plan(&plan, &resolved.scenario, arguments, console);
    let plan = Arc::new(plan);
    let feed = Arc::new(DashboardFeed::new(&plan));
    let runtime = runtime(2)?;
    let mut listener = Some(runtime.block_on(dashboard::listen(arguments.port))?);
    let mut progress = console.progress("live");
    let results = runtime.block_on(async {
        let stop = stop_signal().map_err(|fault| failure(&fault))?;
        let tell = |news: Progress| {
            if let (Progress::Prepared, Some(listener)) = (&news, listener.take()) {
                show_page(&options, &feed, listener, console);
            }
            show(&news, &mut progress, console);
            if matches!(news, Progress::Serving { .. }) {
                tell_operators(&directory, &feed, console);
            }
        };
        run_colony(&plan, &options, &feed, tell, stop).await.map_err(|fault| failure(&fault))
    });
    drop(progress);
    // Until the results are written, the dashboard is served, so that open pages receive the end of the run.
    let known = (&resolved.scenario, &*plan);
    let outcome = results.and_then(|results| finish(results, known, &options, &directory, arguments, console));
    runtime.shutdown_timeout(Duration::from_secs(1));
    outcome
}

/// Joins the traces of the nodes and what the clients saw, and writes and prints the summary.
fn finish(
    results: Option<(Summary, ClientLog)>,
    (scenario, plan): (&Scenario, &Plan),
    options: &Options,
    directory: &Path,
    arguments: &Arguments,
    console: &Console,
) -> Result<Outcome, Failure> {
    let Some((mut summary, clients)) = results else { return Err(Failure::Interrupted(Vec::new())) };
    let context = context(scenario, plan, clients);
    let data = plan.nodes.iter().map(|node| options.directory.join("nodes").join(&node.id).join("data"));
    let trace = options.directory.join("trace.jsonl");
    let joined = trace::join_directories(&data.collect::<Vec<_>>(), Some(&context), &trace)?;
    summary.set_traced(joined.evaluations, |id| joined.instances.get(id).copied().unwrap_or(0));
    summary.save(&options.directory).map_err(|fault| failure(&fault))?;
    match arguments.format {
        Format::Text => console.write_data(|stdout| stdout.write_all(text(&summary).as_bytes()))?,
        Format::Json => console.write_data(|stdout| {
            serde_json::to_writer_pretty(&mut *stdout, &summary)?;
            stdout.write_all(b"\n")
        })?,
    }
    console.inform(format!("kept in {0}; `mario audit {0}` and `mario report {0}` tell more", directory.display()));
    Ok(Outcome::Done)
}

/// What the trace has besides the records of the nodes: the scenario, and what the clients saw.
fn context(scenario: &Scenario, plan: &Plan, clients: ClientLog) -> RunContext {
    let ids = plan.applications.iter().filter_map(|planned| application_id(&planned.id).ok());
    let kinds = ids.zip(scenario.applications.iter().map(|application| application.kind.clone()));
    let node = |(planned, (_, described)): (&PlannedNode, (NodeIndex, &NodeDescription))| {
        let known = ContextNode {
            tier: planned.tier,
            position: described.position.map(|position| [position.latitude, position.longitude]),
            is_access_point: planned.is_access_point,
        };
        Some((node_id(&planned.id).ok()?, known))
    };
    RunContext {
        scenario: plan.name.clone(),
        seed: plan.seed,
        tiers: scenario.topology.tier_names().to_vec(),
        kinds: kinds.collect(),
        nodes: plan.nodes.iter().zip(scenario.topology.nodes()).filter_map(node).collect(),
        clients,
    }
}

/// Serves the dashboard of the colony in the background while the colony runs, and prints its address.
fn show_page(options: &Options, feed: &DashboardFeed, listener: TcpListener, console: &Console) {
    let address = listener.local_addr();
    // A page that cannot be served does not stop the colony.
    let (Ok(identity), Ok(address)) = (Identity::load_bundle(&options.directory.join("colony/operator.pem")), address)
    else {
        console.inform("note: there is no dashboard: its certificate or its port cannot be used");
        return;
    };
    let identity = Arc::new(identity);
    let sources = feed.operators().into_iter().map(|address| NodeSource::moving(Arc::clone(&identity), address));
    let dashboard = Dashboard::new(sources.collect(), Some(feed.picture()));
    tokio::spawn(async move { dashboard.serve(listener, std::future::pending()).await });
    console.inform(format!("dashboard: http://{address}/"));
}

/// Prints a command with which an operator can query the first node.
fn tell_operators(directory: &Path, feed: &DashboardFeed, console: &Console) {
    let Some(first) = feed.operators().into_iter().next() else { return };
    let certificate = directory.join("colony/operator.pem");
    let address = first.borrow().clone();
    console.inform(format!("as an operator: mario app list --node {address} --as {}", certificate.display()));
}

/// Returns the scenario that the arguments name: the paper's tree with the given number of nodes, or another scenario.
fn scenario(arguments: &Arguments) -> Result<Resolved, Failure> {
    let mut overrides = Vec::new();
    if arguments.scenario.is_none() {
        // `topology.size` is the number of access points per side of the grid.
        let size = match arguments.nodes.as_str() {
            "5" => 2,
            "85" => 8,
            _ => 4,
        };
        overrides.push(format!("topology.size={size}"));
    }
    overrides.extend(arguments.overrides.iter().cloned());
    let named = ScenarioArguments {
        scenario: arguments.scenario.clone().unwrap_or_else(|| "paper".into()),
        overrides,
        policies: arguments.policies.clone(),
        seed: arguments.seed,
        budget: None,
        attachments: None,
    };
    named.resolve()
}

/// Rejects a directory that is not empty, because it may have the journals and keys of another colony.
fn must_be_empty(directory: &Path) -> Result<(), Failure> {
    if fs::read_dir(directory).is_ok_and(|mut entries| entries.next().is_some()) {
        let diagnostic = Diagnostic::error(format!("cannot keep the colony: `{}` is not empty", directory.display()));
        return Err(Failure::input(diagnostic.hint("name another directory with --out")));
    }
    Ok(())
}

fn tell_plan(plan: &Plan, scenario: &Scenario, arguments: &Arguments, console: &Console) {
    let policies: std::collections::BTreeSet<&str> =
        scenario.policies.iter().map(|policy| policy.name.as_str()).collect();
    let end = match arguments.length {
        Some(length) => format!("for {} s", length.as_secs_f64()),
        None => "until Ctrl-C".to_owned(),
    };
    console.inform(format!(
        "{}: {}, {}, {}, {}; {} time units a second, agents evaluate every {} ms, {end}",
        plan.name,
        many(plan.nodes.len(), "node"),
        many(plan.applications.len(), "application"),
        many(plan.users.len(), "user"),
        policies.into_iter().collect::<Vec<_>>().join(", "),
        plan.speed,
        plan.evaluation.as_millis(),
    ));
}

fn show(news: &Progress, progress: &mut crate::console::Progress, console: &Console) {
    match news {
        Progress::Prepared => {}
        Progress::Starting { up, of } => progress.say(&format!("{up} of {of} daemons are listening")),
        Progress::Reaching { reached, of } => {
            progress.say(&format!("{reached} of {of} pairs of access point and application work"));
        }
        Progress::Serving { startup } => {
            console.inform(format!(
                "all daemons are serving after {:.1} s; Ctrl-C stops the colony",
                startup.as_secs_f64()
            ));
        }
        Progress::Happened { at, text } => console.inform(format!("{:6.1} s  {text}", at.as_secs_f64())),
        Progress::Running { at, requests, failed } => {
            progress.say(&format!("{:.0} s, {requests} client requests, {failed} failed", at.as_secs_f64()));
        }
        Progress::Stopping => progress.say("stopping every process"),
    }
}

/// The summary as text.
fn text(summary: &Summary) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        let _ = writeln!(text, "{name:24}{value}");
    };
    line("client requests", format!("{}, {} failed", summary.requests, summary.failed));
    for (reason, count) in &summary.failures {
        line("", format!("{count} {reason}"));
    }
    if let Some(times) = &summary.response_ms {
        let percentiles =
            format!("p50 {:.1}, p95 {:.1}, p99 {:.1}, max {:.1}", times.p50, times.p95, times.p99, times.max);
        line("response time, ms", percentiles);
    }
    line(
        "accepted",
        format!("{} migrate, {} replicate, {} undeploy", summary.migrate, summary.replicate, summary.undeploy),
    );
    line("inhibited", summary.inhibited.to_string());
    line("evaluations", format!("{}, {} without a valid answer", summary.evaluations, summary.evaluations_failed));
    line("instances at the end", summary.instances.to_string());
    if summary.kills + summary.cuts > 0 {
        line("faults", format!("{} daemons killed, {} links cut", summary.kills, summary.cuts));
    }
    line("memory of all processes", format!("{:.0} MB", summary.memory_bytes as f64 / 1e6));
    let _ = writeln!(
        text,
        "\n{:12}{:>10}{:>8}{:>10}{:>10}{:>11}",
        "application", "requests", "failed", "p50 ms", "p99 ms", "instances"
    );
    for application in &summary.applications {
        let of = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.1}"));
        let times = application.response_ms;
        let _ = writeln!(
            text,
            "{:12}{:>10}{:>8}{:>10}{:>10}{:>11}",
            application.id,
            application.requests,
            application.failed,
            of(times.map(|times| times.p50)),
            of(times.map(|times| times.p99)),
            application.instances,
        );
    }
    text
}

/// Parses a time from 1 s to 168 h, such as `90s`, `5m` or `1h`; without a unit, in seconds.
fn parse_time(text: &str) -> Result<Duration, String> {
    let (number, unit_s) = match text.strip_suffix(['s', 'm', 'h']) {
        Some(number) if text.ends_with('m') => (number, 60.0),
        Some(number) if text.ends_with('h') => (number, 3_600.0),
        Some(number) => (number, 1.0),
        None => (text, 1.0),
    };
    let seconds = number.parse::<f64>().ok().map(|number| number * unit_s);
    match seconds {
        Some(seconds) if (1.0..=604_800.0).contains(&seconds) => Ok(Duration::from_secs_f64(seconds)),
        _ => Err("write a time from 1s to 168h, such as 90s, 5m or 1h".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_parsed_with_their_unit() {
        assert_eq!(parse_time("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(parse_time("90"), Ok(Duration::from_secs(90)));
        assert_eq!(parse_time("1.5m"), Ok(Duration::from_secs(90)));
        assert_eq!(parse_time("2h"), Ok(Duration::from_hours(2)));
        for wrong in ["", "s", "0s", "-1s", "1d", "nan", "inf", "1e300h", "s5"] {
            assert!(parse_time(wrong).is_err(), "{wrong}");
        }
    }
}
