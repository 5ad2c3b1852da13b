//! Runs a colony: starts its processes, injects faults, reports progress, and stops every process.

use std::collections::BTreeMap;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mario_live::LiveError;
use mario_live::api::{Deployed, Instance, Instances};
use mario_live::identity::Identity;
use mario_live::operators::{Client, DEPLOY_KEY, Method};
use mario_trace::join::ClientLog;
use tokio::sync::watch;

use crate::chaos::{self, PlannedFault};
use crate::clients::{Clients, FailedRequest, IngressState, Tally, wait_until_served};
use crate::daemons::{Daemons, ListenAddresses};
use crate::directory::{Directory, make, write};
use crate::feed::{DashboardFeed, outcome_words};
use crate::memory::check_available_memory;
use crate::plan::Plan;
use crate::reach::FaultHistory;
use crate::relay::Relays;
use crate::summary::{Ending, Operations, Summary};

/// The maximum time until every access point reaches every application that has users.
const SERVING: Duration = Duration::from_mins(5);
/// How often progress is reported.
pub(crate) const TICK: Duration = Duration::from_millis(500);
/// How often nodes are queried for their instances in a run with faults.
const ASK: Duration = Duration::from_secs(2);
/// How long a node may take until it accepts a deploy. At first, it may still be searching for processes that a
/// previous daemon left running.
const DEPLOY: Duration = Duration::from_secs(30);

/// The options of a run.
#[derive(Clone, Debug)]
pub struct Options {
    /// The program `mario`, which runs the daemons.
    pub binary: PathBuf,
    /// The directory of the colony. It must either not exist or be empty.
    pub directory: PathBuf,
    /// How long clients send requests; with `None`, until `stop` completes.
    pub length: Option<Duration>,
    /// The seed of the injected faults; with `None`, there are none.
    pub chaos: Option<u64>,
}

/// The progress of a colony.
#[derive(Clone, PartialEq, Debug)]
pub enum Progress {
    /// The directory is written; `colony/operator.pem` in it is the certificate of an operator with all roles.
    Prepared,
    /// Daemons are starting.
    Starting {
        /// How many of them listen.
        up: usize,
        /// How many there are in total.
        of: usize,
    },
    /// Access points are finding routes to the applications.
    Reaching {
        /// How many pairs of access point and application work.
        reached: usize,
        /// How many there are in total.
        of: usize,
    },
    /// Clients start to send requests.
    Serving {
        /// How long the startup took.
        startup: Duration,
    },
    /// A fault began or ended.
    Happened {
        /// The time since the clients started.
        at: Duration,
        /// A description of the event.
        text: String,
    },
    /// The colony is running.
    Running {
        /// The time since the clients started.
        at: Duration,
        /// Client requests that have ended so far.
        requests: u64,
        /// Those that failed.
        failed: u64,
    },
    /// The colony is being stopped.
    Stopping,
}

/// Runs a colony until `options.length` has passed or `stop` completes, and writes the results into its directory. When
/// this returns, every process of the colony has ended. Also returns what the clients saw, for the trace. Returns `None`
/// if `stop` completed before clients were started.
pub async fn run(
    plan: &Arc<Plan>,
    options: &Options,
    feed: &Arc<DashboardFeed>,
    mut tell: impl FnMut(Progress),
    stop: impl Future<Output = ()>,
) -> Result<Option<(Summary, ClientLog)>, LiveError> {
    let begin = Instant::now();
    check_available_memory(plan.nodes.len() as u64)?;
    make(&options.directory)?;
    let directory = Directory::new(&options.directory);
    let relays = Relays::start(plan).await?;
    let address = |from: usize, to: usize| relays.address(plan, from, to).expect("they are linked");
    directory.write(plan, address)?;
    tell(Progress::Prepared);
    let mut daemons =
        Daemons::new(options.binary.clone(), directory.clone(), plan.nodes.iter().map(|node| node.id.clone()))?;
    let mut colony = Colony {
        plan: Arc::clone(plan),
        directory,
        relays,
        ingresses: plan.nodes.iter().map(|_| watch::channel(IngressState::default()).0).collect(),
        operators: vec![None; plan.nodes.len()],
        reach: Arc::new(FaultHistory::new(plan)),
        feed: Arc::clone(feed),
        faults: Vec::new(),
        kills: 0,
        cuts: 0,
    };
    let outcome = colony.live(&mut daemons, options, begin, &mut tell, stop).await;
    let told = outcome.as_ref().map(|ended| ended.as_ref().map(|ended| (ended.tallies.as_slice(), ended.duration)));
    feed.end(&outcome_words(told, &options.directory));
    tell(Progress::Stopping);
    daemons.end().await;
    let Some(mut ended) = outcome? else { return Ok(None) };
    for node in &plan.nodes {
        let log = colony.directory.log(&node.id);
        ended
            .operations
            .add_log(&log)
            .map_err(|error| LiveError::new(format!("cannot read the log {}", log.display())).caused_by(error))?;
    }
    let summary = Summary::new(&Ending {
        plan,
        tallies: &ended.tallies,
        operations: ended.operations,
        instances: &ended.instances,
        startup: ended.startup,
        duration: ended.duration,
        kills: colony.kills,
        cuts: colony.cuts,
        memory_bytes: ended.memory_bytes,
    });
    summary.save(&options.directory)?;
    save_failed(&options.directory, &ended.failed)?;
    Ok(Some((summary, ended.log)))
}

/// Returns a future that completes on SIGINT (Ctrl-C), SIGTERM or SIGHUP (the terminal closes).
pub fn stop_signal() -> Result<impl Future<Output = ()> + Send, LiveError> {
    use tokio::signal::unix::{SignalKind, signal};
    let listen = |kind| signal(kind).map_err(|error| LiveError::new("cannot listen for signals").caused_by(error));
    let mut terminate = listen(SignalKind::terminate())?;
    let mut interrupt = listen(SignalKind::interrupt())?;
    let mut hangup = listen(SignalKind::hangup())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
            _ = hangup.recv() => {}
        }
    })
}

/// Writes `failed.jsonl` with a line for each recorded failed request, unless there are none.
fn save_failed(directory: &Path, failed: &[FailedRequest]) -> Result<(), LiveError> {
    if failed.is_empty() {
        return Ok(());
    }
    let mut text = String::new();
    for request in failed {
        text += &serde_json::to_string(request)
            .map_err(|error| LiveError::new("cannot write the failed requests down").caused_by(error))?;
        text.push('\n');
    }
    write(&directory.join("failed.jsonl"), text.as_bytes())
}

struct Colony {
    plan: Arc<Plan>,
    directory: Directory,
    relays: Relays,
    ingresses: Vec<watch::Sender<IngressState>>,
    operators: Vec<Option<std::net::SocketAddr>>,
    reach: Arc<FaultHistory>,
    feed: Arc<DashboardFeed>,
    /// Open faults, with their descriptions.
    faults: Vec<(chaos::Fault, String)>,
    kills: u64,
    cuts: u64,
}

/// The results when the clients have ended. `operations` is filled in later, from the logs.
struct Ended {
    tallies: Vec<Tally>,
    failed: Vec<FailedRequest>,
    log: ClientLog,
    operations: Operations,
    instances: BTreeMap<String, usize>,
    startup: Duration,
    duration: Duration,
    memory_bytes: u64,
}

impl Colony {
    async fn live(
        &mut self,
        daemons: &mut Daemons,
        options: &Options,
        begin: Instant,
        tell: &mut impl FnMut(Progress),
        stop: impl Future<Output = ()>,
    ) -> Result<Option<Ended>, LiveError> {
        let mut stop = pin!(stop);
        let plan = Arc::clone(&self.plan);
        let ingresses: Vec<_> = self.ingresses.iter().map(watch::Sender::subscribe).collect();
        let starting = async {
            tell(Progress::Starting { up: 0, of: plan.nodes.len() });
            let mut up = 0;
            daemons
                .start_all(|node, listens| {
                    self.is_up(node, listens);
                    up += 1;
                    tell(Progress::Starting { up, of: plan.nodes.len() });
                })
                .await?;
            for deploy in plan.deploys.iter().filter(|deploy| deploy.at.is_zero()) {
                self.deploy(deploy.application, deploy.node).await?;
            }
            let served = wait_until_served(&plan, &ingresses, SERVING, |reached, of| {
                tell(Progress::Reaching { reached, of });
            });
            if !served.await {
                return Err(LiveError::new("not every access point reaches every application")
                    .caused_by(format!("five minutes have passed; the logs are below {}", options.directory.display()))
                    .hint("see whether the machine has room for it, or take fewer nodes with `--nodes 5`"));
            }
            Ok(())
        };
        tokio::select! {
            started = starting => started?,
            () = &mut stop => return Ok(None),
        }
        let startup = begin.elapsed();
        tell(Progress::Serving { startup });
        let mut clients = Clients::start(&self.plan, ingresses, &self.reach);
        let result = self.serve(daemons, options, &clients, tell, stop).await;
        clients.end().await;
        let duration = result?;
        let (instances, memory_bytes) = (self.instances().await, Daemons::memory_bytes());
        let operations = Operations::default();
        let (tallies, failed, log) = (clients.tallies(), clients.failed(), clients.log(duration));
        Ok(Some(Ended { tallies, failed, log, operations, instances, startup, duration, memory_bytes }))
    }

    /// Runs the colony while clients send requests: makes the later deploys, injects faults and reports progress.
    /// Returns how long it ran.
    async fn serve(
        &mut self,
        daemons: &mut Daemons,
        options: &Options,
        clients: &Clients,
        tell: &mut impl FnMut(Progress),
        mut stop: impl Future<Output = ()> + Unpin,
    ) -> Result<Duration, LiveError> {
        let begin = Instant::now();
        let faults_until = options.length.unwrap_or(Duration::from_hours(24));
        let faults = options.chaos.map_or_else(Vec::new, |seed| chaos::draw(&self.plan, seed, faults_until));
        let mut faults = faults.into_iter().peekable();
        let deploys = self.plan.deploys.clone();
        let mut deploys = deploys.into_iter().filter(|deploy| !deploy.at.is_zero()).peekable();
        let (mut told, mut asked) = (Instant::now(), Instant::now());
        let mut sent_before = vec![0; self.plan.applications.len()];
        loop {
            let at = begin.elapsed();
            if options.length.is_some_and(|length| at >= length) {
                return Ok(at);
            }
            while let Some(deploy) = deploys.next_if(|deploy| deploy.at <= at) {
                self.deploy(deploy.application, deploy.node).await?;
            }
            while let Some(PlannedFault { fault, .. }) = faults.next_if(|planned| planned.at <= at) {
                // Instances are queried before the fault, because some nodes cannot be queried afterwards.
                self.note_hosts().await;
                let text = self.enact(daemons, fault).await?;
                self.remember(fault, &text);
                tell(Progress::Happened { at, text });
            }
            if options.chaos.is_some() && asked.elapsed() >= ASK {
                asked = Instant::now();
                self.note_hosts().await;
            }
            if told.elapsed() >= TICK {
                told = Instant::now();
                let (requests, failed) = clients.counts();
                tell(Progress::Running { at, requests, failed });
                let tallies = clients.tallies();
                let faults: Vec<String> = self.faults.iter().map(|(_, text)| text.clone()).collect();
                self.feed.show(&self.plan, at, &tallies, &sent_before, &faults);
                sent_before = tallies.iter().map(|tally| tally.requests).collect();
                self.check_that_all_run(daemons, at)?;
            }
            let next =
                [faults.peek().map(|planned| planned.at), deploys.peek().map(|deploy| deploy.at), options.length];
            let next = next.into_iter().flatten().min().map_or(TICK, |next| next.saturating_sub(at).min(TICK));
            tokio::select! {
                () = tokio::time::sleep(next.max(Duration::from_millis(1))) => {}
                () = &mut stop => return Ok(begin.elapsed()),
            }
        }
    }

    /// Fails if a daemon has ended without being killed by an injected fault.
    fn check_that_all_run(&self, daemons: &mut Daemons, at: Duration) -> Result<(), LiveError> {
        for (place, node) in self.plan.nodes.iter().enumerate() {
            if self.ingresses[place].borrow().ingress.is_some() && !daemons.runs(place) {
                return Err(LiveError::new(format!(
                    "the daemon of node {} ended unexpectedly after {} s",
                    node.id,
                    at.as_secs()
                ))
                .hint(format!("its log is {}", self.directory.log(&node.id).display())));
            }
        }
        Ok(())
    }

    /// Adds a fault to the list of open faults, or removes it when it ends.
    fn remember(&mut self, fault: chaos::Fault, text: &str) {
        use chaos::Fault::{Cut, Heal, Kill, Start};
        match fault {
            Kill { .. } | Cut { .. } => self.faults.push((fault, text.to_owned())),
            Start { node } => self.faults.retain(|(known, _)| *known != Kill { node }),
            Heal { link } => self.faults.retain(|(known, _)| *known != Cut { link }),
        }
    }

    fn is_up(&mut self, node: usize, listens: ListenAddresses) {
        self.relays.set_target(node, Some(listens.links));
        self.operators[node] = Some(listens.operators);
        self.feed.set_operators(node, listens.operators);
        self.ingresses[node].send_modify(|state| state.ingress = Some(listens.ingress));
    }

    /// Injects or ends a fault, and returns a description. The start of a fault is recorded before it begins, its end
    /// after it has ended.
    async fn enact(&mut self, daemons: &mut Daemons, fault: chaos::Fault) -> Result<String, LiveError> {
        let breaks = matches!(fault, chaos::Fault::Kill { .. } | chaos::Fault::Cut { .. });
        if breaks {
            self.reach.note(Instant::now(), fault);
        }
        let text = self.perform(daemons, fault).await?;
        if !breaks {
            self.reach.note(Instant::now(), fault);
        }
        Ok(text)
    }

    async fn perform(&mut self, daemons: &mut Daemons, fault: chaos::Fault) -> Result<String, LiveError> {
        let plan = Arc::clone(&self.plan);
        let ends = |link: usize| (&plan.nodes[plan.links[link].a].id, &plan.nodes[plan.links[link].b].id);
        Ok(match fault {
            chaos::Fault::Kill { node } => {
                self.ingresses[node]
                    .send_modify(|state| *state = IngressState { ingress: None, killed: state.killed + 1 });
                self.relays.set_target(node, None);
                self.operators[node] = None;
                daemons.kill(node).await;
                self.kills += 1;
                format!("the daemon of node {} is killed", plan.nodes[node].id)
            }
            chaos::Fault::Start { node } => {
                let listens = daemons.start(node).await?;
                self.is_up(node, listens);
                format!("the daemon of node {} runs again", plan.nodes[node].id)
            }
            chaos::Fault::Cut { link } => {
                self.relays.set_cut(link, true);
                self.cuts += 1;
                let (a, b) = ends(link);
                format!("the link between {a} and {b} is cut")
            }
            chaos::Fault::Heal { link } => {
                self.relays.set_cut(link, false);
                let (a, b) = ends(link);
                format!("the link between {a} and {b} works again")
            }
        })
    }

    /// Deploys an application on a node, with the rights of an operator. Fails if the node does not run, inhibits the
    /// deploy, or is not ready within [`DEPLOY`].
    async fn deploy(&self, application: usize, node: usize) -> Result<(), LiveError> {
        let document = self.directory.sign(&self.plan.applications[application])?;
        let client = self.client(node)?;
        let key = format!("{:032x}", mario_live::random_id());
        let deadline = Instant::now() + DEPLOY;
        loop {
            let headers = [(DEPLOY_KEY, key.as_str())];
            let reply = client.ask(Method::POST, "/v1/instances", &headers, document.clone()).await?;
            match reply.known::<Deployed>() {
                Ok(_) => return Ok(()),
                // The node may still be searching for processes that a previous daemon left running.
                Err(_) if reply.status == 503 && Instant::now() < deadline => {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                Err(fault) => {
                    let id = &self.plan.applications[application].id;
                    let attempted = format!("cannot deploy {id} on node {}", self.plan.nodes[node].id);
                    return Err(LiveError::new(attempted).caused_by(fault));
                }
            }
        }
    }

    /// The number of instances on all nodes that answer, by application.
    async fn instances(&self) -> BTreeMap<String, usize> {
        let mut instances = BTreeMap::new();
        for node in 0..self.plan.nodes.len() {
            for application in self.hosted(node).await.unwrap_or_default() {
                *instances.entry(application).or_default() += 1;
            }
        }
        instances
    }

    /// Records which nodes have instances of which applications, to explain failed requests.
    async fn note_hosts(&self) {
        for node in 0..self.plan.nodes.len() {
            if let Some(hosted) = self.hosted(node).await {
                let place = |id: &String| self.plan.applications.iter().position(|application| application.id == *id);
                self.reach.set_hosted(Instant::now(), node, &hosted.iter().filter_map(place).collect());
            }
        }
    }

    /// The application of each instance that a node owns; `None` if the node does not answer.
    async fn hosted(&self, node: usize) -> Option<Vec<String>> {
        let reply = self.client(node).ok()?.ask(Method::GET, "/v1/instances", &[], Vec::new()).await.ok()?;
        let Instances { instances } = reply.known().ok()?;
        let owned = instances.iter().filter_map(Instance::owned);
        Some(owned.map(|owned| owned.application.to_string()).collect())
    }

    fn client(&self, node: usize) -> Result<Client, LiveError> {
        let address = self.operators[node]
            .ok_or_else(|| LiveError::new(format!("the daemon of node {} does not run", self.plan.nodes[node].id)))?;
        let identity = Identity::load_bundle(&self.directory.operator())?;
        Client::new(&identity, &address.to_string())
    }
}
