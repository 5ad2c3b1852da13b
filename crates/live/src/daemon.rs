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
//! | `answers`, `views`, `restarts` | answers to operators |
//! | `rollout` | deploys, updates and rollbacks of operators |
//! | `shadows` | shadow policies, evaluated for comparison with the policies in use |
//! | `signals` | which signals end the daemon |
//! | `certificates` | the expiry of the node's certificates |
//! | `room` | whether workloads can be started, e.g. whether the disk is full |
//! | `events`, `repeats`, `metrics` | events, summarised if they repeat, and counters for logs, operators and monitoring |

mod answers;
mod board;
mod certificates;
mod copies;
mod core;
mod documents;
mod dormant;
mod evaluations;
mod events;
mod metrics;
mod names;
mod repeats;
mod restarts;
mod rollout;
mod room;
mod routing;
mod shadows;
mod signals;
mod views;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use mario_colony::{Config, Effect, Input, JournalId, Knowledge, Node, Start, WorkloadId};
use mario_domain::{InstanceId, Time};
use mario_prolog::Engine;
use mario_trace::live::{PART_VERSION, PartHeader};
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};

use crate::admission::{Admission, LimitReport};
use crate::api::{Health, NodeEvent};
use crate::config::{LoadedFiles, NodeConfig};
use crate::descriptors;
use crate::error::LiveError;
use crate::journal::{DiskJournal, JournalState};
use crate::links::{LinkEvent, Links};
use crate::operators;
use crate::recorder::Recorder;
use crate::seams::{Driver, DriverContext, Forward};
use crate::traffic::{Forwarder, Ingress, TrafficLimits};
use crate::workloads::{Cgroups, Launcher, Ports, ProcessDriver};

pub(crate) use answers::{Answer, Json, Question, Refusal, not_here};
pub(crate) use copies::Copies;
pub(crate) use events::{Events, workload_text};
pub(crate) use rollout::OlderVersion;
pub(crate) use room::Room;
pub(crate) use shadows::ShadowCommand;
pub use signals::stop_signal;

use board::Board;
use certificates::Certificates;
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
    Explain(InstanceId, oneshot::Sender<Option<LastDecision>>),
    /// Asks whether the node can write its journal and start workloads.
    Health(oneshot::Sender<Health>),
    /// Asks for the metrics of the node.
    Metrics(oneshot::Sender<String>),
    /// Asks for the copy of an instance, to read its log. The reply is `None` if the instance is not on this node.
    Workload(InstanceId, oneshot::Sender<Option<WorkloadId>>),
    /// The daemon shuts down.
    Stop,
}

/// The last decision of an agent.
pub(crate) struct LastDecision {
    pub(crate) knowledge: Arc<Knowledge>,
    /// Whether its instance is an anchor: its manager inhibits an undeploy, whatever the policy proposes.
    pub(crate) is_anchor: bool,
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
    /// What happens to the workloads when the daemon stops.
    pub workloads_at_stop: WorkloadsAtStop,
}

/// What happens to workloads when their daemon stops.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum WorkloadsAtStop {
    /// They keep running, and the next daemon adopts them.
    #[default]
    Keep,
    /// They are ended. For colonies that do not outlive the process that runs them.
    End,
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

/// Runs a node until `stop` completes. `ready` is called with its addresses once the node listens on them. What happens
/// to workloads then is in `dependencies`.
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
    let events = Events::new();
    let mut tasks = signals::ignored(&events)?;
    let (node, journal, effects) = start_node(&config, &checked, engine)?;
    let recorder = recorder(&config, &checked, &node, &journal)?;
    let listeners = Listeners::bind(&config).await?;
    let addresses = listeners.addresses()?;
    let limits = raise_open_files(&config, &events);
    let (core_sender, inbox) = mpsc::channel(INBOX);
    let at_stop = dependencies.workloads_at_stop;
    let cgroups = Cgroups::detect(&format!("{:032x}", node.journal().0));
    let copies = copies(&config, &node, (dependencies, cgroups.clone()), core_sender.clone(), events.clone())?;
    let [for_links, for_operators] = ["links", "operators"].map(|listener| config.strangers(listener));
    let links =
        Links::new(&config, Arc::clone(&checked.identity), core_sender.clone(), events.clone(), for_links.clone());
    let board = Board::new(&config.node, copies.clone(), links.clone());
    let published = board.clone();
    copies.set_on_change(Box::new(move || published.publish()));
    let forwarder = Forwarder::new(Arc::clone(board.routes()), limits);

    let certificates = Certificates::watched(&checked.identity, config.identity.warn_days, &events, &mut tasks);
    publish_started(&events, &config, &node, &journal, checked.journal);
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
        certificates,
        has_initiative: checked.acceptance.as_ref().is_some_and(|acceptance| acceptance.has_initiative()),
    };
    let core = Core::new(parts, effects);
    let thread = core_thread(core, Handle::current(), inbox)?;

    let forward: Arc<dyn Forward> = Arc::new(forwarder.clone());
    links.run(listeners.links, &forward, &mut tasks)?;
    tasks.spawn(publish_repeated(events.clone()));
    tasks.spawn(copies.room().clone().watch());
    let (stop_sender, stopped) = tokio::sync::watch::channel(false);
    let ingress = Ingress::new(forwarder.clone(), checked.tls.clone());
    let admission = ingress.admission().clone();
    let ingress = tokio::spawn(async move { ingress.serve(listeners.ingress, stopped, LAST_REQUESTS).await });
    let ending = copies.clone();
    let admissions = reported(vec![admission, for_links, for_operators.clone()], &events);
    let api = operators::OperatorApi::new(core_sender.clone(), events.clone(), copies, forwarder, admissions, engine);
    let places = (for_operators, config.limits.operators_max as usize);
    operators::spawn(api, &checked.identity, listeners.operators, places, &mut tasks)?;
    ready(addresses);

    stop.await;
    events.publish(NodeEvent::Stopping);
    let _ = stop_sender.send(true);
    // Clients get their answers first. Requests forwarded by neighbours are served until the links are closed.
    let _ = ingress.await;
    tasks.shutdown().await;
    let _ = core_sender.send(Event::Stop).await;
    let _ = tokio::task::spawn_blocking(move || thread.join()).await;
    if at_stop == WorkloadsAtStop::End {
        ending.end_all().await;
    }
    cgroups.remove_all();
    Ok(())
}

/// Publishes the events of a start. `checked` is the state in which the check of the configuration found the journal.
fn publish_started(events: &Events, config: &NodeConfig, node: &Node, journal: &DiskJournal, checked: JournalState) {
    let (node, journal_id) = (config.node.clone(), format!("{:032x}", node.journal().0));
    events.publish(NodeEvent::Started {
        node: Some(node),
        journal: journal_id,
        records: crate::journal::Journal::count(journal),
    });
    publish_unclosed(events, [checked, journal.state()], journal);
}

/// Publishes an event if the journal was not closed when the daemon, or its check of the configuration, opened it.
fn publish_unclosed(events: &Events, found: [JournalState; 2], journal: &DiskJournal) {
    if found.contains(&JournalState::Unclosed) {
        let count = crate::journal::Journal::count(journal);
        let message = format!(
            "the journal was not closed, because its daemon or the machine ended suddenly: record {count} is the last \
             one found in it"
        );
        events.publish(NodeEvent::Fault { message });
    }
}

/// The listening sockets of a daemon.
struct Listeners {
    links: TcpListener,
    ingress: TcpListener,
    operators: TcpListener,
}

impl Listeners {
    async fn bind(config: &NodeConfig) -> Result<Listeners, LiveError> {
        Ok(Listeners {
            links: listen(config.links).await?,
            ingress: listen(config.ingress).await?,
            operators: listen(config.operators).await?,
        })
    }

    fn addresses(&self) -> Result<Addresses, LiveError> {
        let Listeners { links, ingress, operators } = self;
        Ok(Addresses { links: local(links)?, ingress: local(ingress)?, operators: local(operators)? })
    }
}

/// Creates the copies of a node with their drivers; none runs yet.
fn copies(
    config: &NodeConfig,
    node: &Node,
    (dependencies, cgroups): (DaemonDependencies, Cgroups),
    core: mpsc::Sender<Event>,
    events: Events,
) -> Result<Copies, LiveError> {
    let context = DriverContext {
        node: config.node.clone(),
        journal: node.journal(),
        directory: workload_directory(config)?,
        log_bytes_max: config.workloads.log_bytes_max,
    };
    let room = Room::new(context.directory.clone());
    let drivers = drivers(config, context, dependencies, cgroups);
    Ok(Copies::new(drivers, room, core, events, Handle::current()))
}

fn core_thread(core: Core, runtime: Handle, inbox: mpsc::Receiver<Event>) -> Result<JoinHandle<()>, LiveError> {
    let thread = std::thread::Builder::new().name("core".to_owned()).spawn(move || core.run(&runtime, inbox));
    thread.map_err(|error| LiveError::new("cannot start the thread of the node").caused_by(error))
}

/// Publishes the summaries of repeated events. Never completes.
async fn publish_repeated(events: Events) {
    loop {
        tokio::time::sleep(Duration::from_secs(1)).await;
        events.publish_repeated();
    }
}

/// Publishes an event when a limit of one of these listeners bites.
fn reported(admissions: Vec<Admission>, events: &Events) -> Vec<Admission> {
    for admission in &admissions {
        let events = events.clone();
        admission.report_to(move |report| {
            let LimitReport { listener, refused, replaced, silent, full, failed, last } = report;
            let listener = listener.to_owned();
            events.publish(NodeEvent::ConnectionsLimited { listener, refused, replaced, silent, full, failed, last });
        });
    }
    admissions
}

/// Raises the limit of open files, and publishes it with the number of clients that it allows. Returns the limits of the
/// data plane.
fn raise_open_files(config: &NodeConfig, events: &Events) -> TrafficLimits {
    let files = descriptors::raise_limit();
    let limits = &config.limits;
    let (operators, strangers) = (limits.operators_max as usize, limits.strangers_max as usize);
    let traffic = config.traffic_limits(files.clients_max(config.neighbours.len(), operators, strangers));
    events.publish(NodeEvent::OpenFiles {
        limit: files.limit,
        limit_before: files.before,
        clients_max: traffic.connections_max,
        clients_per_address_max: traffic.connections_per_address_max,
        is_enough: traffic.connections_max == limits.clients_max as usize,
    });
    traffic
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
    // A record is traced only after it is on disk.
    if let Some(noted) = last.filter(|last| *last > count) {
        return Err(crate::journal::cut_short(count, noted));
    }
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
    cgroups: Cgroups,
) -> BTreeMap<String, Arc<dyn Driver>> {
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
