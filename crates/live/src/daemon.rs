//! The daemon: [`mario_colony::Node`] with links, copies, clients and operators around it.
//!
//! | file | what is in it |
//! |---|---|
//! | `core` | the thread that owns the node and its journal, and compacts the journal |
//! | `evaluations` | evaluations of agents, and of the owner's policy for evictions and shrinks |
//! | `copies` | starts, watches and stops copies of applications |
//! | `dormant` | sleeping instances, which client requests wake |
//! | `documents` | verifies and caches descriptions of applications |
//! | `board`, `routing`, `names` | the routes of client requests, and the host names and path prefixes |
//! | `answers` | answers to operators |
//! | `rollout` | deploys, updates and rollbacks of operators |
//! | `shadows` | shadow policies, evaluated for comparison with the policies in use |
//! | `events`, `repeats`, `metrics` | events, summarised if they repeat, and counters for logs, operators and monitoring |

mod answers;
mod board;
mod copies;
mod core;
mod documents;
mod dormant;
mod evaluations;
mod events;
mod metrics;
mod names;
mod repeats;
mod rollout;
mod routing;
mod shadows;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mario_colony::{Config, Effect, Input, JournalId, Knowledge, Node, Start};
use mario_domain::{InstanceId, Time};
use mario_prolog::Engine;
use mario_trace::live::{PART_VERSION, PartHeader};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use crate::config::{LoadedFiles, NodeConfig};
use crate::error::LiveError;
use crate::journal::DiskJournal;
use crate::links::{LinkEvent, Links};
use crate::operators;
use crate::recorder::Recorder;
use crate::seams::{Driver, DriverContext, Forward};
use crate::traffic::{Forwarder, Ingress};
use crate::workloads::{Cgroups, Launcher, Ports, ProcessDriver};

pub(crate) use answers::{Answer, Question, Refusal};
pub(crate) use copies::Copies;
pub(crate) use events::{Events, NodeEvent, workload_text};
pub(crate) use rollout::OlderVersion;
pub(crate) use shadows::ShadowCommand;

use board::Board;
use core::{Core, Parts};
use documents::Documents;
use dormant::Sleepers;
use names::NameBook;
use shadows::Shadows;

/// The capacity of the core's queue, in events.
const INBOX: usize = 1_024;

/// How long open client requests may take to finish at shutdown.
const LAST_REQUESTS: Duration = Duration::from_secs(10);

/// An event for the core.
pub(crate) enum Event {
    /// An event of links.
    Link(LinkEvent),
    /// An input for the node: a report about a copy or the sweep, or a client request for a sleeping instance.
    Input(Input),
    /// An operator's request.
    Ask(Ask),
    /// Asks for the knowledge on which an instance's agent based its last decision, to explain that decision to an
    /// operator. The reply is `None` if the agent has not decided on this node.
    Explain(InstanceId, oneshot::Sender<Option<Arc<Knowledge>>>),
    /// The daemon shuts down.
    Stop,
}

/// A request of an operator, and the channel for its answer.
pub(crate) struct Ask {
    pub(crate) question: Question,
    pub(crate) reply: oneshot::Sender<Answer>,
}

/// What the daemon needs in addition to its configuration.
#[derive(Clone, Debug)]
pub struct DaemonDependencies {
    /// How this binary starts the processes of workloads.
    pub launcher: Launcher,
}

/// The addresses on which a daemon listens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Addresses {
    /// For neighbours.
    pub links: SocketAddr,
    /// For clients.
    pub ingress: SocketAddr,
    /// For operators.
    pub operators: SocketAddr,
}

/// Runs a node until `stop` completes. `ready` is called with its addresses once the node listens on them. Workloads
/// keep running after the node has stopped.
pub async fn run(
    config: NodeConfig,
    checked: LoadedFiles,
    engine: &Engine,
    dependencies: DaemonDependencies,
    ready: impl FnOnce(Addresses),
    stop: impl Future<Output = ()> + Send,
) -> Result<(), LiveError> {
    let config = Arc::new(config);
    let start = Instant::now();
    let (node, journal, effects) = start_node(&config, &checked, engine)?;
    let recorder = recorder(&config, &checked, &node, &journal)?;
    let (links_listener, ingress_listener, operators_listener) =
        (listen(config.links).await?, listen(config.ingress).await?, listen(config.operators).await?);
    let addresses = Addresses {
        links: local(&links_listener)?,
        ingress: local(&ingress_listener)?,
        operators: local(&operators_listener)?,
    };

    let events = Events::new();
    let (core_sender, inbox) = mpsc::channel(INBOX);
    let runtime = tokio::runtime::Handle::current();
    let context = DriverContext {
        node: config.node.clone(),
        journal: node.journal(),
        directory: workload_directory(&config)?,
        log_bytes_max: config.workloads.log_bytes_max,
    };
    let copies =
        Copies::new(drivers(&config, context, dependencies), core_sender.clone(), events.clone(), runtime.clone());
    let links = Links::new(&config, Arc::clone(&checked.identity), core_sender.clone(), events.clone());
    let board = Board::new(&config.node, copies.clone(), links.clone());
    let published = board.clone();
    copies.set_on_change(Box::new(move || published.publish()));
    let forwarder = Forwarder::new(Arc::clone(board.routes()), crate::traffic::TrafficLimits::default());

    publish_started(&events, &config, &node, &journal);
    let parts = Parts {
        sleepers: Sleepers::new(&core_sender),
        shadows: shadows(&config, engine, &events),
        config: Arc::clone(&config),
        node,
        journal: Box::new(journal),
        links: links.clone(),
        copies: copies.clone(),
        board,
        documents: Documents::new(Arc::clone(&checked.identity)),
        names: NameBook::new(&checked.identity.certified().colony),
        events: events.clone(),
        recorder,
        start,
        has_initiative: checked.acceptance.as_ref().is_some_and(|acceptance| acceptance.has_initiative()),
    };
    let core = Core::new(parts, effects);
    let thread = std::thread::Builder::new()
        .name("core".to_owned())
        .spawn(move || core.run(&runtime, inbox))
        .map_err(|error| LiveError::new("cannot start the thread of the node").caused_by(error))?;

    let mut tasks = JoinSet::new();
    let forward: Arc<dyn Forward> = Arc::new(forwarder.clone());
    links.run(links_listener, &forward, &mut tasks)?;
    let repeated = events.clone();
    tasks.spawn(async move {
        loop {
            tokio::time::sleep(Duration::from_secs(1)).await;
            repeated.publish_repeated();
        }
    });
    let (stop_sender, stopped) = tokio::sync::watch::channel(false);
    let ingress = Ingress::new(forwarder.clone(), checked.tls.clone());
    let ingress = tokio::spawn(async move { ingress.serve(ingress_listener, stopped, LAST_REQUESTS).await });
    let api = operators::OperatorApi::new(core_sender.clone(), events.clone(), copies, forwarder, engine);
    operators::spawn(api, &checked.identity, operators_listener, &mut tasks)?;
    ready(addresses);

    stop.await;
    events.publish(NodeEvent::Stopping);
    let _ = stop_sender.send(true);
    // Clients get their answers first. Requests forwarded by neighbours are served until the links are closed.
    let _ = ingress.await;
    tasks.shutdown().await;
    let _ = core_sender.send(Event::Stop).await;
    let _ = tokio::task::spawn_blocking(move || thread.join()).await;
    Ok(())
}

fn publish_started(events: &Events, config: &NodeConfig, node: &Node, journal: &DiskJournal) {
    let (node, journal_id) = (config.node.clone(), format!("{:032x}", node.journal().0));
    events.publish(NodeEvent::Started { node, journal: journal_id, records: crate::journal::Journal::count(journal) });
}

/// Loads the stored shadow policies, and publishes an event for each that cannot be used.
fn shadows(config: &NodeConfig, engine: &Engine, events: &Events) -> Shadows {
    let (shadows, faults) = Shadows::open(&config.data, engine);
    for fault in faults {
        events.publish(NodeEvent::Fault { message: fault.line() });
    }
    shadows
}

/// Opens the journal and starts a node with its ledger. Also returns the first effects.
fn start_node(
    config: &NodeConfig,
    checked: &LoadedFiles,
    engine: &Engine,
) -> Result<(Node, DiskJournal, Vec<Effect>), LiveError> {
    let (journal, ledger) = DiskJournal::open(&config.data, &config.node)?;
    let colony = Config {
        node: config.node.clone(),
        capacity: config.capacity,
        facts: config.facts.clone(),
        acceptance: checked.acceptance.clone(),
        catalogue: Vec::new(),
        budget: crate::BUDGET,
        timing: config.colony_timing(),
        limits: NodeConfig::colony_limits(),
        unconfirmed: config.unconfirmed(),
    };
    let starting = Start {
        config: Arc::new(colony),
        ledger,
        new_journal: JournalId(crate::random::random_id()),
        seed: crate::random::number(),
    };
    let mut effects = Vec::new();
    let node = Node::start(engine, starting, Time::at(0.0), &mut effects)
        .map_err(|error| LiveError::new(format!("cannot start node {}", config.node)).caused_by(error))?;
    Ok((node, journal, effects))
}

/// Opens the recorder of the node's part of the trace, and adds the journal records after the last one in the trace.
/// The trace has a gap if the journal no longer has all of them, or if the trace has no record of a journal that is not
/// empty.
fn recorder(
    config: &NodeConfig,
    checked: &LoadedFiles,
    node: &Node,
    journal: &DiskJournal,
) -> Result<Recorder, LiveError> {
    let header = PartHeader {
        mario_trace_part: PART_VERSION,
        program: concat!("mario ", env!("CARGO_PKG_VERSION")).to_owned(),
        colony: checked.identity.certified().colony.clone(),
        node: config.node.clone(),
        journal: format!("{:032x}", node.journal().0),
        part: 0,
        capacity: config.capacity,
        neighbours: config.neighbours.iter().map(|neighbour| neighbour.id.clone()).collect(),
        facts: config.facts.clone(),
        has_acceptance: checked.acceptance.is_some(),
        evaluation_ms: config.timing.evaluation_ms,
        decision_budget: crate::BUDGET.inferences,
    };
    let (mut recorder, last) = Recorder::open(&config.data, header, config.trace.bytes_max);
    let count = crate::journal::Journal::count(journal);
    let missing = match last {
        Some(last) => journal.records_after(last)?,
        // The trace has no record of this journal, which is a gap unless the journal is empty.
        None => (count == 0).then(Vec::new),
    };
    if let Some(missing) = missing {
        recorder.catch_up(&missing);
    }
    Ok(recorder)
}

/// Returns a future that completes on SIGTERM or Ctrl-C.
pub fn stop_signal() -> std::io::Result<impl Future<Output = ()> + Send> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        Ok(async move {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
        })
    }
    #[cfg(not(unix))]
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
    })
}

/// Creates the directory of the drivers. Returns its absolute path, because workloads run in other directories.
fn workload_directory(config: &NodeConfig) -> Result<PathBuf, LiveError> {
    let directory = config.data.join("workloads");
    let made = std::path::absolute(&directory).and_then(|path| std::fs::create_dir_all(&path).map(|()| path));
    made.map_err(|error| LiveError::new(format!("cannot make the directory {}", directory.display())).caused_by(error))
}

/// Returns the configured drivers by name. All names share one [`ProcessDriver`].
fn drivers(
    config: &NodeConfig,
    context: DriverContext,
    dependencies: DaemonDependencies,
) -> BTreeMap<String, Arc<dyn Driver>> {
    let cgroups = Cgroups::detect(&format!("{:032x}", context.journal.0));
    let ports = Ports::new(config.workloads.ports_min..=config.workloads.ports_max, crate::random::number());
    // The sample service runs as a process too: it is this executable.
    let driver: Arc<dyn Driver> = Arc::new(ProcessDriver::new(context, dependencies.launcher, cgroups, ports));
    config.workloads.drivers.iter().map(|name| (name.clone(), Arc::clone(&driver))).collect()
}

async fn listen(address: SocketAddr) -> Result<TcpListener, LiveError> {
    TcpListener::bind(address)
        .await
        .map_err(|error| LiveError::new(format!("cannot listen on {address}")).caused_by(error))
}

fn local(listener: &TcpListener) -> Result<SocketAddr, LiveError> {
    listener.local_addr().map_err(|error| LiveError::new("cannot tell where the node listens").caused_by(error))
}
