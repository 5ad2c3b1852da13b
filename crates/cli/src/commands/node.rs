//! `mario node …`.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use mario_diagnostics::printable_line;
use mario_frontend::Diagnostic;
use mario_live::LiveError;
use mario_live::api::{
    CertificateStatus, DrainRequest, Drained, Explanation, ExplanationLine, Instance, Instances, JournalStatus,
    LineRole, Link, Links, Lost, OwnedInstance, Peer, Received, Status, Word,
};
use mario_live::config::{NodeConfig, check, schema_text};
use mario_live::daemon::{self, DaemonDependencies, WorkloadsAtStop};
use mario_live::operators::Method;
use mario_live::workloads::{Launcher, launch, sample};
use serde::Serialize;

use crate::commands::app::{copy_text, find};
use crate::input::directory;
use crate::live::{
    NodeArguments as Asking, NodesArguments, Shown, config_failure, engine, failure, json_text, lines, runtime, table,
    unknown_text,
};
use crate::{Console, Failure, Outcome, read_text};

/// Arguments of `mario node`.
#[derive(Clone, Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "Examples:
  mario node --config node.toml
  mario node check node.toml
  mario node status --node 127.0.0.1:7441 --as ada.pem
  mario node explain 30b0-0-2 --node 127.0.0.1:7441 --as ada.pem
  mario node drain --node 127.0.0.1:7441 --as ada.pem"
)]
pub struct Arguments {
    /// Run a node as configured by this file, until SIGTERM or Ctrl-C; its workloads keep running after that
    #[arg(long, value_name = "FILE", required = true)]
    pub config: Option<PathBuf>,
    /// End with the process that holds the other end of the standard input, and end the workloads too. For `mario live`,
    /// whose daemons must not outlive it
    #[arg(long, hide = true, requires = "config")]
    pub until_stdin_closes: bool,
    /// The subcommand.
    #[command(subcommand)]
    pub command: Option<Command>,
}

pub(crate) const LONG_ABOUT: &str = "Run a node of a colony, or query a running one.

With --config, the command runs the daemon of one node until SIGTERM or Ctrl-C. The daemon talks to its neighbours, hosts \
agents, starts and stops workloads (the processes of the instances), and forwards client requests. Its state is in a journal in its data directory, and survives \
a crash. When the daemon stops, workloads keep running, and the next daemon on the same data directory adopts them. A daemon \
logs JSON lines to standard error.";

/// A subcommand of `mario node`.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// List everything that would keep a node from starting.
    Check(CheckArguments),
    /// Print the JSON schema of node.toml.
    Schema(SchemaArguments),
    /// Show a node: hardware, links, journal.
    Status(StatusArguments),
    /// Explain the last decision of an instance's agent.
    Explain(ExplainArguments),
    /// Migrate every instance to a neighbour, and accept no new ones.
    Drain(DrainArguments),
    /// Tell a node that one of its neighbours will never come back.
    Lost(LostArguments),
}

/// Arguments of `mario node check`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  mario node check node.toml")]
pub struct CheckArguments {
    /// The configuration file of the node
    #[arg(value_name = "FILE")]
    pub config: PathBuf,
}

/// Arguments of `mario node schema`.
#[derive(Clone, Copy, Debug, Args)]
#[command(after_help = "Examples:
  mario node schema > node.schema.json")]
pub struct SchemaArguments {}

/// Arguments of `mario node status`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  mario node status --node 127.0.0.1:7441 --as ada.pem
  mario node status --node 127.0.0.1:7441 --node 127.0.0.1:7451 --as ada.pem
  mario node status --node 127.0.0.1:7441 --as ada.pem --format json")]
pub struct StatusArguments {
    #[command(flatten)]
    pub nodes: NodesArguments,
}

/// Arguments of `mario node explain`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  mario node explain 30b0-0-2 --node 127.0.0.1:7441 --as ada.pem
  mario node explain 30b0-0-2 --node 127.0.0.1:7441 --as ada.pem --format json

The node evaluates the policy again with the facts of the last evaluation. It prints the proof of the agent's proposal and, for \
each operation that the agent did not propose, where the clauses failed and which change of facts would make one succeed.")]
pub struct ExplainArguments {
    /// The id of the instance, as `mario app list` shows it. Its first part may be shortened, as in 30b0-0-2; 30b0
    /// alone is enough if only one id begins with it. The id of the application will also do, if the node hosts only
    /// one instance of it
    #[arg(value_name = "INSTANCE")]
    pub instance: String,
    #[command(flatten)]
    pub node: Asking,
}

/// Arguments of `mario node drain`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  mario node drain --node 127.0.0.1:7441 --as ada.pem
  mario node drain --undo --node 127.0.0.1:7441 --as ada.pem

Each instance is offered to the neighbours in turn until one accepts it. `mario app list` shows the instances that are left: no \
neighbour has accepted them yet, or they are pinned.")]
pub struct DrainArguments {
    /// Accept new instances again
    #[arg(long)]
    pub undo: bool,
    #[command(flatten)]
    pub node: Asking,
}

/// Arguments of `mario node lost`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  mario node lost 4f0d6c31c2f5d1b00f4ee7a3a5c3ab11 --node 127.0.0.1:7441 --as ada.pem

Run this command for every neighbour of the lost node: --node names the neighbour. Instances that the neighbour was handing \
over to the lost node, and whose arrival was not confirmed, continue at the neighbour under new ids. This cannot be undone: if \
the lost node has begun a new journal and comes back with this one, its neighbours reject it, and its copies stop. \
`mario node status` shows the journals of neighbours, also those that were replaced.")]
pub struct LostArguments {
    /// The id of the lost node's journal: 32 hexadecimal digits
    #[arg(value_name = "JOURNAL")]
    pub journal: String,
    #[command(flatten)]
    pub node: Asking,
}

/// The internal command with which the daemon runs its own executable to start and watch a workload.
const LAUNCH: &str = "workload-launch";

/// The internal command with which the daemon runs its own executable as a sample service.
const SAMPLE: &str = "workload-sample";

/// The commands that may start long-lived processes; `node` also has subcommands that end soon.
pub(crate) const LONG_LIVED: [&str; 3] = ["node", LAUNCH, SAMPLE];

/// If this process was started as a process of a workload, runs it and returns the exit code; otherwise returns `None`.
pub(crate) fn workload_process(typed: &[OsString]) -> Option<u8> {
    let (word, rest) = (typed.get(1)?, typed.get(2..)?);
    if word == LAUNCH {
        return Some(launch::main(rest));
    }
    if word != SAMPLE {
        return None;
    }
    let (code, problem) = sample::main(rest);
    if let Some(problem) = problem {
        let _ = writeln!(std::io::stderr(), "{problem}");
    }
    Some(code)
}

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<Outcome, Failure> {
    match (&arguments.command, &arguments.config) {
        (None, Some(config)) => serve(config, arguments.until_stdin_closes, console),
        (None, None) => Err(Failure::input(Diagnostic::error("missing `--config <FILE>`"))),
        (Some(Command::Check(CheckArguments { config })), _) => {
            let config = read(config)?;
            check(&config, engine()).map_err(|error| config_failure(&error))?;
            console.inform(format!("node {} can start", config.node));
            Ok(Outcome::Done)
        }
        (Some(Command::Schema(SchemaArguments {})), _) => {
            console.write_data(|stdout| stdout.write_all(schema_text().as_bytes()))?;
            Ok(Outcome::Done)
        }
        (Some(Command::Status(StatusArguments { nodes })), _) => status(nodes, console),
        (Some(Command::Explain(ExplainArguments { instance, node })), _) => {
            let instance = find(node, instance)?;
            let path = format!("/v1/instances/{instance}/explanation");
            node.show(console, Method::GET, &path, Vec::new(), explanation)?;
            Ok(Outcome::Done)
        }
        (Some(Command::Drain(DrainArguments { undo, node })), _) => {
            let body = json_text(&DrainRequest { is_draining: !undo }).into_bytes();
            let accepts =
                if *undo { "the node accepts new instances again" } else { "the node accepts no new instances" };
            node.show(console, Method::PUT, "/v1/drain", body, |drained: &Drained| {
                format!("{accepts}; instances on it: {}\n", drained.left.len())
            })?;
            Ok(Outcome::Done)
        }
        (Some(Command::Lost(LostArguments { journal, node })), _) => {
            if journal.len() != 32 || u128::from_str_radix(journal, 16).is_err() {
                let fault = LiveError::new(format!("`{journal}` is not the id of a journal"));
                return Err(failure(&fault.hint("write its 32 hexadecimal digits, as `mario node status` shows them")));
            }
            node.show(console, Method::POST, &format!("/v1/lost/{journal}"), Vec::new(), |_: &Lost| {
                format!("journal {journal} is lost\n")
            })?;
            Ok(Outcome::Done)
        }
    }
}

/// The node's explanation, as lines of text.
fn explanation(answer: &Explanation) -> String {
    let part = |lines: &Vec<ExplanationLine>| lines.iter().map(explanation_line).collect::<String>();
    let parts: Vec<String> = answer.parts.iter().map(part).collect();
    let mut text = parts.join("\n");
    if let Some(error) = &answer.error {
        text += &format!("\nthe policy ended with an error: {}\n", printable_line(error));
    }
    if answer.is_anchor && text.starts_with("undeploy") {
        text += "\nthe instance is an anchor: its node inhibits an undeploy that its policy proposes\n";
    }
    if !answer.is_complete {
        text += "\nthere may be more: the explanation took all that it may cost\n";
    }
    text
}

fn explanation_line(line: &ExplanationLine) -> String {
    let ExplanationLine { depth, look, before, text, after, place } = line;
    let printed = |text: &str| Some(printable_line(text).into_owned()).filter(|text| !text.is_empty());
    let mark = match look {
        Word::Known(LineRole::Code) => "| ",
        Word::Known(LineRole::Change) => "=> ",
        _ => "",
    };
    let before = printed(before).map(|before| before + " ").unwrap_or_default();
    let after = printed(after).map(|after| format!(", {after}")).unwrap_or_default();
    let place = place.as_deref().and_then(printed).map(|place| format!("  {place}")).unwrap_or_default();
    let depth = (*depth).min(64);
    format!("{:2$}{before}{mark}{}{after}{place}\n", "", printed(text).unwrap_or_default(), depth * 2)
}

/// What `mario node status` shows of a node.
#[derive(Serialize)]
struct Overview {
    status: Received<Status>,
    links: Vec<Link>,
    peers: Vec<Peer>,
    /// The instances whose copies are down.
    down: Vec<OwnedInstance>,
    /// What only newer versions know, as lines of text.
    #[serde(skip)]
    unknown: String,
}

fn status_of(node: &Asking) -> Result<Overview, LiveError> {
    let get = |path: &str| node.try_ask(Method::GET, path, &[], Vec::new());
    let status: Received<Status> = get("/v1/status")?.received()?;
    let links: Received<Links> = get("/v1/links")?.received()?;
    let journal: Received<JournalStatus> = get("/v1/journal")?.received()?;
    let Instances { instances } = get("/v1/instances")?.known()?;
    let unknown = [unknown_text(&status), unknown_text(&links), unknown_text(&journal)].concat();
    let down = instances.iter().filter_map(Instance::owned).filter(|owned| owned.is_down()).cloned().collect();
    Ok(Overview { status, links: links.known.links, peers: journal.known.peers, down, unknown })
}

fn status(nodes: &NodesArguments, console: &Console) -> Result<Outcome, Failure> {
    nodes.show_each(console, status_of, overview_text)?;
    Ok(Outcome::Done)
}

fn overview_text(Overview { status, links, peers, down, unknown }: &Overview) -> String {
    let status = &status.known;
    let mut text = lines(&[
        ("node", &status.node),
        ("version", &status.version),
        ("uptime ms", &status.uptime_ms),
        ("journal", &status.journal),
        ("journal fault", &status.journal_fault),
        ("confirmation", &status.confirmation),
        ("outdated", &status.outdated),
        ("trace fault", &status.trace_fault),
        ("workload fault", &status.workload_fault),
        ("id fault", &status.id_fault),
        ("is draining", &status.is_draining),
        ("capacity", &status.capacity),
        ("free", &status.free),
        ("instances", &status.instances),
        ("in custody", &status.in_custody),
        ("draining copies", &status.draining_copies),
        ("copies down", &status.copies_down),
    ]);
    text += "\n";
    let row = |link: &Link| {
        // To a hundredth of a millisecond.
        let round_trip = link.round_trip_ms.map(|round_trip| format!("{round_trip:.2}"));
        let state = [link.is_up.word(), link.has_data.word(), round_trip.word(), link.fault.word()];
        let [is_up, has_data, round_trip, fault] = state;
        [link.neighbour.word(), link.address.word(), is_up, has_data, round_trip, fault]
    };
    text += &table(["NEIGHBOUR", "ADDRESS", "UP", "DATA", "ROUND TRIP MS", "FAULT"], links.iter().map(row));
    text += "\n";
    let row = |peer: &Peer| [peer.node.word(), peer.journal.word(), peer.sequence.word(), peer.state.word()];
    text += &table(["NEIGHBOUR", "JOURNAL", "RECORDS", "STATE"], peers.iter().map(row));
    for CertificateStatus { certificate, expires_in_s, warning } in &status.certificates {
        text += &match warning {
            Some(warning) => format!("\nwarning: {warning}\n"),
            None => {
                let days = expires_in_s.div_euclid(86_400);
                format!("\nthe certificate of the {} expires in {days} days\n", certificate.word())
            }
        };
    }
    for instance in down {
        let (id, application) = (instance.instance.word(), instance.application.word());
        text += &format!("\ninstance {id} of {application} is down: {}\n", copy_text(instance));
    }
    text + unknown
}

/// Returns a receiver that completes when the standard input ends: its sender is dropped.
fn stdin_closed() -> tokio::sync::oneshot::Receiver<()> {
    let (open, closed) = tokio::sync::oneshot::channel();
    // A thread of its own, because a read of the standard input cannot be cancelled.
    std::thread::spawn(move || {
        let _open = open;
        let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
    });
    closed
}

fn read(path: &Path) -> Result<NodeConfig, Failure> {
    let source = read_text(path)?;
    NodeConfig::read(&source.name, &source.text, &directory(path)).map_err(|error| config_failure(&error))
}

fn serve(path: &Path, until_stdin_closes: bool, console: &Console) -> Result<Outcome, Failure> {
    let config = read(path)?;
    let checked = check(&config, engine()).map_err(|error| config_failure(&error))?;
    let threads = std::thread::available_parallelism().map_or(2, std::num::NonZero::get).clamp(1, 8);
    let runtime = runtime(threads)?;
    let node = config.node.clone();
    let console = console.clone();
    let binary = std::env::current_exe().map_err(|error| Failure::file("cannot find the own program", &error))?;
    let [launch, sample] = [LAUNCH, SAMPLE].map(|word| vec![word.to_owned()]);
    let workloads_at_stop = if until_stdin_closes { WorkloadsAtStop::End } else { WorkloadsAtStop::Keep };
    let dependencies = DaemonDependencies { launcher: Launcher { binary, launch, sample }, workloads_at_stop };
    let result = runtime.block_on(async {
        let stop = daemon::stop_signal().map_err(|error| {
            Failure::Environment(vec![Diagnostic::error("cannot listen for signals").caused_by(&error)])
        })?;
        let closed = until_stdin_closes.then(stdin_closed);
        let stop = async move {
            match closed {
                Some(closed) => tokio::select! {
                    () = stop => {}
                    _ = closed => {}
                },
                None => stop.await,
            }
        };
        let ready = |addresses: daemon::Addresses| {
            let line = format!(
                "node {node}: links {}, clients {}, operators {}\n",
                addresses.links, addresses.ingress, addresses.operators
            );
            let _ = console.write_data(|stdout| stdout.write_all(line.as_bytes()));
        };
        daemon::run(config, checked, engine(), dependencies, ready, stop).await.map_err(|fault| failure(&fault))
    });
    // Workloads do not run on this runtime, so there is nothing to wait for.
    runtime.shutdown_background();
    result.map(|()| Outcome::Done)
}
