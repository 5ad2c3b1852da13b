//! Copies of applications. Each copy has a supervisor, an asynchronous task that starts, watches and stops it.

mod supervisor;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use mario_colony::{Input, WorkloadId};
use mario_domain::{ApplicationId, InstanceId};
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

use super::events::workload_text;
use super::room::Room;
use super::{Event, Events};
use crate::api::{CopyState, CopyStatus, NodeEvent, Word};
use crate::seams::{Backend, Driver, LocalCopy, Protocol, Task};
use crate::workloads::protocol;

use supervisor::Supervisor;

/// How long the processes of all copies may take to end when the daemon takes them along.
const END_PATIENCE: Duration = Duration::from_secs(8);

/// All copies of a node. A clone is a handle to the same set.
#[derive(Clone)]
pub(crate) struct Copies {
    drivers: Arc<BTreeMap<String, Arc<dyn Driver>>>,
    table: Arc<Mutex<BTreeMap<WorkloadId, Copy>>>,
    core: mpsc::Sender<Event>,
    events: Events,
    runtime: Handle,
    counts: Arc<CopyCounts>,
    room: Room,
    /// Called when a supervisor has changed the state of its copy, because the routes depend on it.
    on_change: Arc<OnceLock<Box<dyn Fn() + Send + Sync>>>,
}

/// Counters of copies, for metrics.
#[derive(Debug, Default)]
pub(crate) struct CopyCounts {
    /// Health probes that this node could not make, e.g. for lack of file descriptors.
    pub(crate) probes_failed: AtomicU64,
}

struct Copy {
    orders: mpsc::UnboundedSender<Order>,
    instance: Option<InstanceId>,
    application: Option<ApplicationId>,
    driver: Option<String>,
    state: CopyState,
    address: Option<SocketAddr>,
    protocol: Protocol,
    /// The shape of the copy's last task, if it had one: see [`Task::shape`].
    shape: Option<u32>,
    /// The copy's state in the data plane, replaced whenever the copy becomes healthy.
    backend: Arc<Backend>,
}

enum Order {
    /// Start the copy. With `may_run`, try to adopt a running one first.
    Run {
        task: Box<Task>,
        may_run: bool,
    },
    /// Let the copy finish its open requests, and restart it with this task.
    Adapt {
        task: Box<Task>,
    },
    /// Let the copy finish its open requests, and stop it.
    Drain,
    Stop,
}

impl Copies {
    pub(crate) fn new(
        drivers: BTreeMap<String, Arc<dyn Driver>>,
        room: Room,
        core: mpsc::Sender<Event>,
        events: Events,
        runtime: Handle,
    ) -> Copies {
        Copies {
            drivers: Arc::new(drivers),
            table: Arc::default(),
            core,
            events,
            runtime,
            counts: Arc::default(),
            room,
            on_change: Arc::default(),
        }
    }

    /// The room for workloads.
    pub(crate) fn room(&self) -> &Room {
        &self.room
    }

    /// The counters of copies.
    pub(crate) fn counts(&self) -> &CopyCounts {
        &self.counts
    }

    /// Sets the callback for state changes of copies. Only the first call has an effect.
    pub(crate) fn set_on_change(&self, on_change: Box<dyn Fn() + Send + Sync>) {
        let _ = self.on_change.set(on_change);
    }

    /// Returns whether this node has the driver of a copy. If not, reports that the copy failed to start.
    fn can_run(&self, task: &Task) -> bool {
        let can_run = self.has_driver(&task.run.driver);
        if !can_run {
            self.not_started(task.workload, format!("this node has no driver `{}`", task.run.driver));
        }
        can_run
    }

    /// Runs a copy, or reports that it failed to start if this node lacks its driver. With `may_run`, a running copy is
    /// adopted if possible.
    pub(crate) fn run(&self, task: Task, may_run: bool) {
        let workload = task.workload;
        if !self.can_run(&task) {
            return;
        }
        let mut table = self.table();
        let copy = table.entry(workload).or_insert_with(|| self.spawn(workload));
        copy.set_task(&task);
        copy.state = CopyState::Starting;
        let _ = copy.orders.send(Order::Run { task: Box::new(task), may_run });
    }

    /// Restarts a copy with another description or flavour, after its open requests. A copy that already has the same
    /// shape is left as it is, and reported as adapted. If this node lacks the driver, reports that the copy failed to
    /// start.
    pub(crate) fn adapt(&self, task: Task) {
        let workload = task.workload;
        if !self.can_run(&task) {
            return;
        }
        let mut table = self.table();
        let copy = table.entry(workload).or_insert_with(|| self.spawn(workload));
        if copy.shape == Some(task.shape) {
            let core = self.core.clone();
            self.runtime.spawn(async move {
                let _ = core.send(Event::Input(Input::Adapted(workload))).await;
            });
            return;
        }
        copy.state = CopyState::Draining;
        copy.shape = Some(task.shape);
        let _ = copy.orders.send(Order::Adapt { task: Box::new(task) });
    }

    pub(crate) fn not_started(&self, workload: WorkloadId, cause: String) {
        self.events
            .publish(NodeEvent::Fault { message: format!("copy {} cannot run: {cause}", workload_text(workload)) });
        let core = self.core.clone();
        self.runtime.spawn(async move {
            let _ = core.send(Event::Input(Input::NotStarted { workload, cause })).await;
        });
    }

    /// Lets a copy finish its open requests, within its drain timeout, and stops it.
    pub(crate) fn drain(&self, workload: WorkloadId) {
        self.order(workload, Order::Drain);
    }

    /// Stops a copy at once.
    pub(crate) fn stop(&self, workload: WorkloadId) {
        self.order(workload, Order::Stop);
    }

    fn order(&self, workload: WorkloadId, order: Order) {
        let mut table = self.table();
        let copy = table.entry(workload).or_insert_with(|| self.spawn(workload));
        copy.state = CopyState::Draining;
        let _ = copy.orders.send(order);
    }

    /// Kills every copy that a previous daemon left running, except for those in `keep`, and then reports the sweep as
    /// complete.
    pub(crate) fn sweep(&self, keep: Vec<WorkloadId>) {
        let copies = self.clone();
        self.runtime.spawn(async move {
            for (name, driver) in &*copies.drivers {
                loop {
                    match sweep_driver(driver.as_ref(), &keep).await {
                        Ok(0) => break,
                        Ok(processes) => break copies.events.publish(NodeEvent::OrphansEnded { processes }),
                        // Retries, because the node accepts no new instance until the sweep is complete.
                        Err(message) => {
                            copies.events.publish(NodeEvent::Fault { message: format!("driver `{name}`: {message}") });
                            sleep(Duration::from_secs(1)).await;
                        }
                    }
                }
            }
            let _ = copies.core.send(Event::Input(Input::Swept)).await;
        });
    }

    /// Ends all copies, and returns when their processes are gone, or after [`END_PATIENCE`].
    pub(crate) async fn end_all(&self) {
        let known: Vec<WorkloadId> = self.table().keys().copied().collect();
        for workload in known {
            self.stop(workload);
        }
        let ending = async {
            for driver in self.drivers.values() {
                // Nothing is left to report an error to but the log.
                if let Err(message) = sweep_driver(driver.as_ref(), &[]).await {
                    self.events.publish(NodeEvent::Fault { message });
                }
            }
        };
        let _ = timeout(END_PATIENCE, ending).await;
    }

    /// The copies that accept requests, by application.
    pub(crate) fn serving(&self) -> BTreeMap<ApplicationId, Vec<LocalCopy>> {
        let mut serving: BTreeMap<ApplicationId, Vec<LocalCopy>> = BTreeMap::new();
        for (workload, copy) in &*self.table() {
            let (CopyState::Healthy, Some(address)) = (copy.state, copy.address) else { continue };
            let (Some(instance), Some(application)) = (&copy.instance, &copy.application) else { continue };
            serving.entry(application.clone()).or_default().push(LocalCopy {
                workload: *workload,
                instance: instance.clone(),
                address,
                protocol: copy.protocol,
                backend: Arc::clone(&copy.backend),
            });
        }
        serving
    }

    /// Returns and resets the request counts of an instance; `None` if its copy is not healthy.
    pub(crate) fn drain_counts(
        &self,
        instance: &InstanceId,
    ) -> Option<BTreeMap<(Option<mario_domain::NodeId>, u32), u64>> {
        let table = self.table();
        let copy =
            table.values().find(|copy| copy.instance.as_ref() == Some(instance) && copy.state == CopyState::Healthy)?;
        Some(copy.backend.counts.drain())
    }

    /// The state of a copy; `None` if the copy is unknown.
    pub(crate) fn state(&self, workload: WorkloadId) -> Option<CopyState> {
        self.table().get(&workload).map(|copy| copy.state)
    }

    /// The state and resource usage of a copy, for operators; `None` if the copy is unknown.
    pub(crate) fn status(&self, workload: WorkloadId) -> Option<CopyStatus> {
        let table = self.table();
        let copy = table.get(&workload)?;
        let usage = copy.driver.as_ref().and_then(|driver| self.drivers.get(driver)?.measure(workload));
        Some(CopyStatus {
            workload: workload_text(workload),
            state: Word::Known(copy.state),
            driver: copy.driver.clone(),
            address: copy.address,
            open_requests: copy.backend.open_requests(),
            cpu_time_ms: usage.map(|usage| usage.cpu_time.as_millis() as u64),
            memory_bytes: usage.map(|usage| usage.memory_bytes),
        })
    }

    /// The end of the log of a copy, at most `bytes_max` bytes; `None` if the copy or its driver is unknown.
    pub(crate) fn log(&self, workload: WorkloadId, bytes_max: usize) -> Option<std::io::Result<Vec<u8>>> {
        let driver = self.table().get(&workload)?.driver.clone()?;
        Some(self.drivers.get(&driver)?.log(workload, bytes_max))
    }

    /// Whether the node has a driver with this name.
    pub(crate) fn has_driver(&self, name: &str) -> bool {
        self.drivers.contains_key(name)
    }

    fn table(&self) -> MutexGuard<'_, BTreeMap<WorkloadId, Copy>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn spawn(&self, workload: WorkloadId) -> Copy {
        let (sender, orders) = mpsc::unbounded_channel();
        let supervisor = Supervisor { copies: self.clone(), workload, driver: None, patience: Duration::from_secs(30) };
        self.runtime.spawn(supervisor.run(orders));
        Copy {
            orders: sender,
            instance: None,
            application: None,
            driver: None,
            state: CopyState::Starting,
            address: None,
            protocol: Protocol::default(),
            shape: None,
            backend: Arc::default(),
        }
    }
}

/// Kills every copy that is not to be kept. Returns how many processes of former journals were killed.
async fn sweep_driver(driver: &dyn Driver, keep: &[WorkloadId]) -> Result<usize, String> {
    let running = driver.running().await.map_err(|error| error.to_string())?;
    for workload in running.into_iter().filter(|workload| !keep.contains(workload)) {
        driver.stop(workload).await.map_err(|error| error.to_string())?;
    }
    driver.end_former().await.map_err(|error| error.to_string())
}

impl Copy {
    /// Records the task that the copy should run.
    fn set_task(&mut self, task: &Task) {
        self.instance = Some(task.instance.clone());
        self.application = Some(task.application.clone());
        self.driver = Some(task.run.driver.clone());
        self.protocol = protocol(&task.run.settings).unwrap_or_default();
        self.shape = Some(task.shape);
    }
}
