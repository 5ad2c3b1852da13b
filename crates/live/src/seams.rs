//! The interfaces between the parts of the daemon: its loop, the data plane and the drivers of workloads.
//!
//! ```text
//! daemon ── Driver: start, adopt, drain, stop ──► drivers
//! daemon ── Routes, a snapshot ─────────────────► data plane ── RequestCounts, drained once per window ──► daemon
//! links  ── DataLink: one HTTP/2 request ───────► data plane;   data plane ── Forward: what a neighbour asks ──► links
//! ```

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::combinators::BoxBody;
use hyper::body::Incoming;
use mario_colony::{JournalId, WorkloadId};
use mario_domain::{ApplicationId, InstanceId, NodeId};

pub use crate::traffic::{Backend, RequestCounts};
pub use crate::workloads::Protocol;

/// A boxed future, for traits that are used as objects.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The error of a body.
pub type BodyError = Box<dyn std::error::Error + Send + Sync>;

/// The body of a request or a response. It is never buffered on the way, except for a retry.
pub type Body = BoxBody<Bytes, BodyError>;

// ---------------------------------------------------------------------------------------------------------------------
// Workloads.
// ---------------------------------------------------------------------------------------------------------------------

/// Runs copies of applications in one particular way: as processes, in containers, or inside the daemon.
///
/// Each copy is handled by one task, so that calls for different copies are concurrent and those for one copy
/// sequential. A driver never restarts a copy on its own.
pub trait Driver: Send + Sync {
    /// Starts a copy, and returns its address without waiting until it is healthy. Before any of its processes runs,
    /// the driver writes a mark to disk by which [`Driver::running`] finds the copy again.
    fn start<'a>(&'a self, task: &'a Task) -> Pending<'a, Result<SocketAddr, DriverError>>;

    /// Adopts a copy that a previous daemon started. Returns `None` if it no longer runs. A copy that was started with
    /// another [shape](Task::shape) is drained and ended instead: it has to be restarted.
    fn adopt<'a>(&'a self, task: &'a Task) -> Pending<'a, Option<SocketAddr>>;

    /// Probes the health of a copy once.
    fn health<'a>(&'a self, task: &'a Task, address: SocketAddr) -> Pending<'a, Health>;

    /// Waits until a copy has exited. Returns how it ended.
    fn ended(&self, workload: WorkloadId) -> Pending<'_, String>;

    /// Asks a copy to finish its open requests and to exit, and waits until it is dead; kills it after `patience`. The
    /// data plane has stopped sending it requests. Returns at once if the copy never ran.
    fn drain(&self, workload: WorkloadId, patience: Duration) -> Pending<'_, Result<(), DriverError>>;

    /// Kills a copy and waits until it is dead. Returns at once if the copy never ran.
    fn stop(&self, workload: WorkloadId) -> Pending<'_, Result<(), DriverError>>;

    /// Returns every copy with a mark: all copies of this node that may be running, started by this daemon or a
    /// previous one. No other process is ever killed.
    fn running(&self) -> Pending<'_, Result<Vec<WorkloadId>, DriverError>>;

    /// The current resource usage of a copy, if the system reports it.
    fn measure(&self, workload: WorkloadId) -> Option<Usage>;

    /// The last bytes of a copy's log, at most `bytes_max`, from the start of a line if possible.
    fn log(&self, workload: WorkloadId, bytes_max: usize) -> std::io::Result<Vec<u8>>;
}

/// The settings of a driver.
#[derive(Clone, Debug)]
pub struct DriverContext {
    /// The node.
    pub node: NodeId,
    /// Its journal. Copies of another journal belong to another node, even if they are in the same directory.
    pub journal: JournalId,
    /// The directory for marks and logs. It exists, and no other daemon uses it.
    pub directory: PathBuf,
    /// The maximum size of the log of a copy, in bytes.
    pub log_bytes_max: u64,
}

/// A copy to run.
#[derive(Clone, Debug)]
pub struct Task {
    /// The copy.
    pub workload: WorkloadId,
    /// The instance that it is a copy of.
    pub instance: InstanceId,
    /// The application.
    pub application: ApplicationId,
    /// How the application is run, as its owner signed it.
    pub run: Arc<Run>,
    /// A checksum of how the copy is run, and in which flavour. A copy that was started with another checksum must be
    /// restarted.
    pub shape: u32,
    /// Environment variables: the identity and location of the copy, and the values that the descriptor requests from
    /// the node's own store. The driver adds `PORT`. Values never reach logs or messages.
    pub environment: Arc<Vec<(String, String)>>,
}

/// How an application is run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Run {
    /// The driver.
    pub driver: String,
    /// The program and its arguments, for drivers that run processes.
    pub command: Vec<String>,
    /// The path that returns a 2xx status when a copy is healthy. If absent, a copy is healthy when it accepts
    /// connections.
    pub health_path: Option<String>,
    /// How long a copy may take to become healthy.
    pub start_timeout: Duration,
    /// How long a copy may take to finish its open requests.
    pub drain_timeout: Duration,
    /// The maximum memory of a copy in bytes, enforced if the system supports it; `None` for unlimited.
    pub memory_bytes_max: Option<u64>,
    /// The maximum processor time of a copy, in thousandths of one core, enforced if the system supports it; `None` for
    /// unlimited.
    pub cpu_millis_max: Option<u64>,
    /// Further settings of the driver, as written.
    pub settings: BTreeMap<String, String>,
}

/// The health of a copy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Health {
    /// It serves.
    Healthy,
    /// It does not serve yet, or no longer serves.
    Unhealthy(String),
    /// It has ended.
    Ended(String),
}

/// The resource usage of a copy.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Usage {
    /// Processor time since it started.
    pub cpu_time: Duration,
    /// Memory now.
    pub memory_bytes: u64,
}

/// The failure of a driver.
#[derive(Debug)]
pub struct DriverError {
    /// What was attempted.
    pub attempted: String,
    /// The cause, if the system reported one.
    pub cause: Option<std::io::Error>,
}

impl fmt::Display for DriverError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.attempted)
    }
}

impl std::error::Error for DriverError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause.as_ref().map(|cause| cause as _)
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Routes.
// ---------------------------------------------------------------------------------------------------------------------

/// A snapshot of the routes of client requests. The daemon puts a new one into an [`arc_swap::ArcSwap`] whenever
/// something changes; each step of a request reads the newest one.
#[derive(Clone, Debug, Default)]
pub struct Routes {
    /// This node's name in the list of visited nodes of a request.
    pub node: String,
    /// The copies on this node that accept requests: healthy, and not draining.
    pub copies: BTreeMap<ApplicationId, Vec<LocalCopy>>,
    /// The next hops to an application, nearest first.
    pub next_hops: BTreeMap<ApplicationId, Vec<NextHop>>,
    /// Host names, in lower case, and their applications.
    pub hosts: BTreeMap<String, ApplicationId>,
    /// Path prefixes and their applications, the longest first. `/shop` is a prefix of `/shop` and `/shop/cart`, not of
    /// `/shopping`.
    pub prefixes: Vec<(String, ApplicationId)>,
    /// The instances on this node whose copies do not run: those that sleep, and those that are waking.
    pub dormant: BTreeMap<ApplicationId, Vec<Dormant>>,
    /// Whether every configured neighbour has sent its routes in its current session. Until then, a name that is
    /// unknown here may be known elsewhere.
    pub are_complete: bool,
}

/// A copy on this node that accepts requests.
#[derive(Clone, Debug)]
pub struct LocalCopy {
    /// The copy.
    pub workload: WorkloadId,
    /// The instance.
    pub instance: InstanceId,
    /// The address on which it listens.
    pub address: SocketAddr,
    /// The protocol that it speaks there.
    pub protocol: Protocol,
    /// The counts of its client requests in the current window, its open requests, and the connections to it. The
    /// object is created when the copy becomes healthy. A copy is drained once its backend was [closed](Backend::close)
    /// and [emptied](Backend::emptied).
    pub backend: Arc<Backend>,
}

/// An instance on this node whose copy does not run.
#[derive(Clone, Debug)]
pub struct Dormant {
    /// The instance.
    pub instance: InstanceId,
    /// Whether it sleeps, or is waking.
    pub state: DormantState,
    /// The client requests that would have reached it in the current window.
    pub counts: Arc<RequestCounts>,
    /// Asks the node to wake it.
    pub wake_handle: WakeHandle,
}

/// Why the copy of an instance does not run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DormantState {
    /// It sleeps: a client request may wake it.
    Asleep,
    /// It sleeps, and the node's manager has inhibited its wake-up. The manager is asked again after the next
    /// evaluation of the agent.
    Refused,
    /// It was woken, and its copy starts.
    Waking,
}

/// Asks the node to wake an instance. Several calls before it wakes count as one.
#[derive(Clone)]
pub struct WakeHandle(Arc<dyn Fn() + Send + Sync>);

impl WakeHandle {
    /// Creates a handle that calls `wake`.
    pub fn new(wake: impl Fn() + Send + Sync + 'static) -> WakeHandle {
        WakeHandle(Arc::new(wake))
    }

    /// Asks the node to wake the instance.
    pub fn wake(&self) {
        (self.0)();
    }
}

impl fmt::Debug for WakeHandle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("WakeHandle")
    }
}

/// A neighbour through which an application is reached.
#[derive(Clone, Debug)]
pub struct NextHop {
    /// The neighbour.
    pub neighbour: NodeId,
    /// The link to it.
    pub link: DataLink,
    /// The latency that the link adds to a request, in quanta.
    pub latency_quanta: u32,
}

// ---------------------------------------------------------------------------------------------------------------------
// Links.
// ---------------------------------------------------------------------------------------------------------------------

/// The data link to a neighbour: an open HTTP/2 connection over mutual TLS. Cheap to clone.
#[derive(Clone, Debug)]
pub struct DataLink(hyper::client::conn::http2::SendRequest<Body>);

/// Why a request failed on a link.
#[derive(Debug)]
pub enum LinkError {
    /// No byte of the request was sent: the link is down.
    NotSent(hyper::Error),
    /// The request, or a part of it, was sent, and no byte of a response arrived.
    NoResponse(hyper::Error),
}

impl DataLink {
    /// A link over a connection.
    pub fn new(sender: hyper::client::conn::http2::SendRequest<Body>) -> DataLink {
        DataLink(sender)
    }

    /// Whether the connection is up.
    pub fn is_open(&self) -> bool {
        !self.0.is_closed()
    }

    /// Sends one request and waits for the head of its response. Also waits while the neighbour accepts no more
    /// requests, which is HTTP/2's back-pressure.
    pub async fn send(&self, request: Request<Body>) -> Result<Response<Incoming>, LinkError> {
        let mut sender = self.0.clone();
        sender.ready().await.map_err(LinkError::NotSent)?;
        sender
            .send_request(request)
            .await
            .map_err(|error| if error.is_canceled() { LinkError::NotSent(error) } else { LinkError::NoResponse(error) })
    }
}

impl fmt::Display for LinkError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            LinkError::NotSent(_) => "the request was not sent: the link is down",
            LinkError::NoResponse(_) => "the neighbour did not answer",
        })
    }
}

impl std::error::Error for LinkError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            LinkError::NotSent(error) | LinkError::NoResponse(error) => Some(error),
        }
    }
}

/// Handles requests that neighbours forward. Called by `links`, which serves the connections.
pub trait Forward: Send + Sync {
    /// Answers a request. `link_quanta` is the latency that the link from the neighbour adds to it.
    fn forward(&self, request: Request<Incoming>, from: &NodeId, link_quanta: u32) -> Pending<'_, Response<Body>>;
}
