//! The interfaces between the parts of the daemon: its loop, the data plane and the drivers of workloads.
//!
//! ```text
//! daemon     ── Driver: start, adopt, drain, stop ──────► drivers
//! daemon     ── Routes: a snapshot ─────────────────────► data plane
//! data plane ── RequestCounts: drained once per window ─► daemon
//! data plane ── DataLink: sends requests to neighbours ─► links
//! links      ── Forward: handles neighbours' requests ──► data plane
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

/// The body of a request or a response. The data plane streams bodies, and buffers only the start of a request's body,
/// for a retry.
pub type Body = BoxBody<Bytes, BodyError>;

// ---------------------------------------------------------------------------------------------------------------------
// Workloads.
// ---------------------------------------------------------------------------------------------------------------------

/// Runs copies of applications in one particular way, for example as processes.
///
/// Calls for different copies may be concurrent. Calls that start or end the same copy are sequential. A driver never
/// restarts a copy on its own.
pub trait Driver: Send + Sync {
    /// Starts a copy, and returns its address without waiting until it is healthy. Before the program runs, the driver
    /// writes a record to disk, by which [`Driver::running`] finds the copy again.
    fn start<'a>(&'a self, task: &'a Task) -> Pending<'a, Result<SocketAddr, DriverError>>;

    /// Adopts a copy that a previous daemon started, and returns its address. Returns `None` if no such copy runs, and
    /// also if it was started with another [shape](Task::shape); such a copy is drained first.
    fn adopt<'a>(&'a self, task: &'a Task) -> Pending<'a, Option<SocketAddr>>;

    /// Probes the health of a copy once.
    fn health<'a>(&'a self, task: &'a Task, address: SocketAddr) -> Pending<'a, Health>;

    /// Waits until a copy has exited. Returns how it ended.
    fn ended(&self, workload: WorkloadId) -> Pending<'_, String>;

    /// Asks a copy to finish its open requests and to exit, and waits until it is dead; kills it after `patience`, or
    /// at once if this driver neither started nor adopted it. The data plane has stopped sending it requests. Returns
    /// at once if the copy never ran.
    fn drain(&self, workload: WorkloadId, patience: Duration) -> Pending<'_, Result<(), DriverError>>;

    /// Kills a copy and waits until it is dead. Returns at once if the copy never ran.
    fn stop(&self, workload: WorkloadId) -> Pending<'_, Result<(), DriverError>>;

    /// Returns all copies of this node that may be running, whether this daemon or a previous one started them.
    fn running(&self) -> Pending<'_, Result<Vec<WorkloadId>, DriverError>>;

    /// Ends all copies that daemons of this node started under a former journal, with the same directory. Returns how
    /// many processes they had.
    fn end_former(&self) -> Pending<'_, Result<usize, DriverError>>;

    /// The current resource usage of a copy; `None` if it does not run, or the system does not report it.
    fn measure(&self, workload: WorkloadId) -> Option<Usage>;

    /// The last bytes of a copy's log, at most `bytes_max`, from the start of a line if possible.
    fn log(&self, workload: WorkloadId, bytes_max: usize) -> std::io::Result<Vec<u8>>;
}

/// What a driver needs to know about its node.
#[derive(Clone, Debug)]
pub struct DriverContext {
    /// The node.
    pub node: NodeId,
    /// The id of its journal, which is part of the mark of every process of its copies.
    pub journal: JournalId,
    /// The directory for records and logs. It exists, and no other daemon uses it.
    pub directory: PathBuf,
    /// The maximum size of the log of a copy, in bytes.
    pub log_bytes_max: u64,
}

/// A copy to run.
#[derive(Clone, Debug)]
pub struct Task {
    /// The copy.
    pub workload: WorkloadId,
    /// The instance whose copy this is.
    pub instance: InstanceId,
    /// The application.
    pub application: ApplicationId,
    /// How the application is run, as its owner signed it.
    pub run: Arc<Run>,
    /// A checksum of how the copy is run, and in which flavour. A copy that was started with another checksum must be
    /// restarted.
    pub shape: u32,
    /// Environment variables: those that the owner signed, values from the node's own store, and the identity and
    /// location of the copy. The driver adds more, such as `PORT`. The daemon never logs values from the store.
    pub environment: Arc<Vec<(String, String)>>,
}

/// How an application is run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Run {
    /// The name of the driver.
    pub driver: String,
    /// The program and its arguments, for drivers that run processes.
    pub command: Vec<String>,
    /// The path that returns a 2xx status when a copy is healthy. If absent, a copy is healthy when it accepts
    /// connections.
    pub health_path: Option<String>,
    /// How long a copy may take to become healthy.
    pub start_timeout: Duration,
    /// How long a copy may take to finish its open requests before it is stopped.
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
    /// This node could not probe it, e.g. for lack of file descriptors.
    Unknown(String),
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

/// A snapshot of the routes of client requests. The daemon stores a new one in an [`arc_swap::ArcSwap`] when copies,
/// dormant instances, links or announced routes change; each step of a request reads the newest one.
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
    /// The instances on this node that sleep or are waking.
    pub dormant: BTreeMap<ApplicationId, Vec<DormantInstance>>,
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
    /// object is created when the copy becomes healthy. To drain a copy, the daemon [closes](Backend::close) its
    /// backend, and waits until it is [empty](Backend::emptied) or the drain timeout has passed.
    pub backend: Arc<Backend>,
}

/// An instance on this node that sleeps or is waking.
#[derive(Clone, Debug)]
pub struct DormantInstance {
    /// The instance.
    pub instance: InstanceId,
    /// Whether it sleeps, or is waking.
    pub state: DormantState,
    /// The client requests that would have reached it in the current window.
    pub counts: Arc<RequestCounts>,
    /// Asks the node to wake it.
    pub wake_handle: WakeHandle,
}

/// Whether a dormant instance sleeps or is waking.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DormantState {
    /// It sleeps: a client request may wake it.
    Asleep,
    /// It sleeps, and the node's manager has inhibited its wake-up. The manager is not asked again before the agent's
    /// next evaluation.
    Refused,
    /// It was woken, and its copy starts.
    Waking,
}

/// Asks the node to wake an instance. Once the node has been asked, further calls have no effect.
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
    /// The latency that the link adds to a request, in quanta of `latency_quantum_ms` (in `node.toml`).
    pub latency_quanta: u32,
}

// ---------------------------------------------------------------------------------------------------------------------
// Links.
// ---------------------------------------------------------------------------------------------------------------------

/// The data link to a neighbour: an HTTP/2 connection over mutual TLS. A clone is a handle to the same connection.
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
    /// Creates a link that sends requests over an HTTP/2 connection.
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
    /// Answers a request. `link_quanta` is the latency that the link from the neighbour adds to it, in quanta.
    fn forward(&self, request: Request<Incoming>, from: &NodeId, link_quanta: u32) -> Pending<'_, Response<Body>>;
}
