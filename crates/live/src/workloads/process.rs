//! The driver that runs workloads as processes.

mod listing;

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use mario_colony::WorkloadId;
use rustix::process::Signal;

use crate::seams::{Driver, DriverContext, DriverError, Health, Pending, Task, Usage};

use super::cgroup::Cgroups;
use super::driver_kind::DriverKind;
use super::former;
use super::health::{concerns_copy, probe};
use super::identity::{self, MARK, PLACE, Process, Stat};
use super::launch::{Confinement, Plan};
use super::logs::{LogBounds, tail};
use super::ports::Ports;
use super::record::{StartRecord, Workspace};
use super::settings::WorkloadSettings;
use super::starting::Starting;

/// How to run this program's binary as the shim, the exec stage or the sample service.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Launcher {
    /// The binary.
    pub binary: PathBuf,
    /// The arguments that make it call [`launch::main`](super::launch::main) with all further arguments.
    pub launch: Vec<String>,
    /// The arguments that make it call [`sample::main`](super::sample::main) with all further arguments.
    pub sample: Vec<String>,
}

/// Runs programs, and the sample service. A clone is a handle to the same driver.
#[derive(Clone, Debug)]
pub struct ProcessDriver {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    context: DriverContext,
    launcher: Launcher,
    cgroups: Cgroups,
    ports: Ports,
    copies: Mutex<BTreeMap<WorkloadId, Arc<Copy>>>,
    starting: Arc<Starting>,
}

/// A copy that this daemon started or adopted.
#[derive(Debug)]
struct Copy {
    record: StartRecord,
    shim: Process,
    /// The shim, if this daemon started it and has not waited for it yet.
    child: Mutex<Option<Child>>,
}

const PROBE_PATIENCE: Duration = Duration::from_secs(1);
/// How long killed processes may take to vanish, before the kill counts as failed.
pub(super) const KILL_PATIENCE: Duration = Duration::from_secs(10);
/// How long a shim may take to record the exit status of its program, before it is killed.
const NOTE_PATIENCE: Duration = Duration::from_secs(1);

impl ProcessDriver {
    /// Creates the driver of a node.
    pub fn new(context: DriverContext, launcher: Launcher, cgroups: Cgroups, ports: Ports) -> ProcessDriver {
        let copies = Mutex::new(BTreeMap::new());
        let starting = Arc::default();
        ProcessDriver { shared: Arc::new(Shared { context, launcher, cgroups, ports, copies, starting }) }
    }

    /// How the limits of a copy are enforced; empty if this daemon did not start or adopt the copy.
    pub fn enforcement(&self, workload: WorkloadId) -> Vec<super::Enforcement> {
        self.shared.copy(workload).map(|copy| copy.record.enforcement.clone()).unwrap_or_default()
    }

    /// The directory of a copy.
    pub fn workspace(&self, workload: WorkloadId) -> Workspace {
        Workspace::of(&self.shared.context.directory, workload)
    }

    async fn blocking<T: Send + 'static>(&self, work: impl FnOnce(&Shared) -> T + Send + 'static) -> T {
        let shared = Arc::clone(&self.shared);
        match tokio::task::spawn_blocking(move || work(&shared)).await {
            Ok(value) => value,
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        }
    }
}

impl Driver for ProcessDriver {
    fn start<'a>(&'a self, task: &'a Task) -> Pending<'a, Result<SocketAddr, DriverError>> {
        let task = task.clone();
        Box::pin(async move {
            let start = self.shared.starting.begin(task.workload);
            let work = move |shared: &Shared| {
                let _start = start;
                shared.start(&task)
            };
            self.blocking(work).await
        })
    }

    fn adopt<'a>(&'a self, task: &'a Task) -> Pending<'a, Option<SocketAddr>> {
        let (workload, shape, patience) = (task.workload, task.shape, task.run.drain_timeout);
        Box::pin(async move {
            let address = self.blocking(move |shared| shared.adopt(workload)).await?;
            let started = self.shared.copy(workload).and_then(|copy| copy.record.shape);
            if started.is_none_or(|started| started == shape) {
                return Some(address);
            }
            // If the copy cannot be ended, starting its replacement fails with an error.
            let _ = self.drain(workload, patience).await;
            None
        })
    }

    fn health<'a>(&'a self, task: &'a Task, address: SocketAddr) -> Pending<'a, Health> {
        Box::pin(async move {
            let Some(copy) = self.shared.copy(task.workload) else {
                return Health::Ended(self.shared.ended(task.workload));
            };
            if !copy.shim.is_alive() {
                return Health::Ended(self.shared.ended(task.workload));
            }
            if let Err(error) = probe(address, task.run.health_path.as_deref(), PROBE_PATIENCE).await {
                return if concerns_copy(&error) {
                    Health::Unhealthy(error.to_string())
                } else {
                    Health::Unknown(error.to_string())
                };
            }
            // Another program may have taken the port first, and answer instead of the copy.
            let is_own = self.blocking(move |shared| {
                shared.members(&copy).map(|members| identity::listens(&members, address.port()))
            });
            match is_own.await {
                Ok(Some(false)) => Health::Unhealthy(format!("another program listens on port {}", address.port())),
                _ => Health::Healthy,
            }
        })
    }

    fn ended(&self, workload: WorkloadId) -> Pending<'_, String> {
        Box::pin(async move {
            if let Some(copy) = self.shared.copy(workload) {
                while copy.shim.is_alive() {
                    if copy.shim.exited().await.is_err() {
                        // Out of file descriptors: retries a little later.
                        tokio::time::sleep(Duration::from_millis(200)).await;
                    }
                }
            }
            self.shared.ended(workload)
        })
    }

    fn drain(&self, workload: WorkloadId, patience: Duration) -> Pending<'_, Result<(), DriverError>> {
        Box::pin(async move {
            self.blocking(move |shared| shared.starting.wait(workload)).await;
            if let Some(copy) = self.shared.copy(workload) {
                let asked = Arc::clone(&copy);
                self.blocking(move |shared| shared.ask_to_end(&asked)).await;
                let _ = tokio::time::timeout(patience, copy.shim.exited()).await;
            }
            self.blocking(move |shared| shared.kill(workload)).await
        })
    }

    fn stop(&self, workload: WorkloadId) -> Pending<'_, Result<(), DriverError>> {
        Box::pin(self.blocking(move |shared| shared.kill(workload)))
    }

    fn running(&self) -> Pending<'_, Result<Vec<WorkloadId>, DriverError>> {
        Box::pin(self.blocking(Shared::running))
    }

    fn end_former(&self) -> Pending<'_, Result<usize, DriverError>> {
        Box::pin(self.blocking(|shared| {
            former::end(&shared.place(), &format!("{:032x}/", shared.context.journal.0), &shared.cgroups)
        }))
    }

    fn measure(&self, workload: WorkloadId) -> Option<Usage> {
        let copy = self.shared.copy(workload).filter(|copy| copy.shim.is_alive())?;
        let ticks_per_second = rustix::param::clock_ticks_per_second().max(1);
        let mut usage = Usage::default();
        for process in identity::marked("", Some(copy.record.pid)).ok()? {
            let Stat { cpu_ticks, memory_pages, .. } = process.stat();
            usage.cpu_time += Duration::from_millis(cpu_ticks.saturating_mul(1000) / ticks_per_second);
            usage.memory_bytes += memory_pages.saturating_mul(rustix::param::page_size() as u64);
        }
        Some(usage)
    }

    fn log(&self, workload: WorkloadId, bytes_max: usize) -> io::Result<Vec<u8>> {
        tail(&self.workspace(workload).logs(), bytes_max as u64)
    }
}

impl Shared {
    fn copy(&self, workload: WorkloadId) -> Option<Arc<Copy>> {
        self.copies.lock().unwrap_or_else(PoisonError::into_inner).get(&workload).cloned()
    }

    /// Describes how a copy ended. Called before its control groups are removed.
    fn ended(&self, workload: WorkloadId) -> String {
        let memory_limit = self.cgroups.memory_limit_that_killed(&name(workload));
        Workspace::of(&self.context.directory, workload).ended(memory_limit)
    }

    fn mark(&self, workload: WorkloadId) -> String {
        format!("{:032x}/{}.{}", self.context.journal.0, workload.boot, workload.counter)
    }

    fn start(&self, task: &Task) -> Result<SocketAddr, DriverError> {
        let settings =
            WorkloadSettings::of(&task.run).map_err(|fault| DriverError { attempted: fault.message, cause: None })?;
        let workspace = Workspace::of(&self.context.directory, task.workload);
        let is_taken = self.copy(task.workload).is_some_and(|copy| copy.shim.is_alive());
        let marked = identity::marked(&self.mark(task.workload), None).map_err(failed("cannot list processes"))?;
        if is_taken || !marked.is_empty() {
            return Err(DriverError { attempted: format!("{:?} runs already", task.workload), cause: None });
        }
        workspace.create().map_err(failed("cannot make the directory of a workload"))?;
        let no_port = || DriverError { attempted: "no port of the node's range is free".to_owned(), cause: None };
        let port = self.ports.take().ok_or_else(no_port)?;
        let launched = self.launch(task, &settings, &workspace, port);
        if launched.is_err() {
            self.ports.free(port);
            let _ = workspace.close();
            self.cgroups.remove(&name(task.workload));
        }
        let copy = launched?;
        self.copies.lock().unwrap_or_else(PoisonError::into_inner).insert(task.workload, Arc::new(copy));
        Ok(address(port))
    }

    fn launch(
        &self,
        task: &Task,
        settings: &WorkloadSettings,
        workspace: &Workspace,
        port: u16,
    ) -> Result<Copy, DriverError> {
        let environment = self
            .environment(task, settings, workspace, port)
            .map_err(failed("cannot write a private file of a workload"))?;
        let groups = self.cgroups.create(&name(task.workload), &settings.limits);
        let log_files = 4;
        let plan = Plan {
            workspace: workspace.path().to_owned(),
            launcher: std::iter::once(self.launcher.binary.clone())
                .chain(self.launcher.launch.iter().map(PathBuf::from))
                .collect(),
            command: self.command(task, port),
            environment,
            bounds: LogBounds {
                file_bytes_max: self.context.log_bytes_max.div_ceil(log_files),
                files_kept: log_files as u32 - 1,
            },
            confinement: Confinement {
                groups: groups.members,
                memory_bytes: groups.rlimit_memory_bytes,
                open_files_max: groups.rlimit_open_files_max,
                open_files_soft: crate::descriptors::limit_before(),
            },
        };
        let plan = serde_json::to_vec(&plan).map_err(|error| failed("cannot write a plan")(error.into()))?;
        let mut child = self.spawn_shim(task.workload).map_err(failed("cannot start the shim of a workload"))?;
        // The application does not run yet: the shim waits for its plan, and exits without one.
        let recorded = (|| {
            let pid = child.id().cast_signed();
            let shim = Stat::read(pid)
                .and_then(|stat| Process::open(pid, stat.started))
                .ok_or_else(|| io::Error::other("the shim is gone"))?;
            let record = StartRecord {
                workload: task.workload,
                instance: task.instance.clone(),
                application: task.application.clone(),
                pid,
                started: shim.started(),
                system_boot: identity::system_boot(),
                port,
                enforcement: groups.enforcement,
                shape: Some(task.shape),
            };
            workspace.write_start(&record)?;
            let mut pipe = child.stdin.take().ok_or_else(|| io::Error::other("the shim has no pipe"))?;
            pipe.write_all(&plan)?;
            Ok((shim, record))
        })();
        match recorded {
            Ok((shim, record)) => Ok(Copy { record, shim, child: Mutex::new(Some(child)) }),
            Err(error) => {
                drop(child.stdin.take());
                let _ = child.wait();
                Err(failed("cannot record the start of a workload")(error))
            }
        }
    }

    fn spawn_shim(&self, workload: WorkloadId) -> io::Result<Child> {
        Command::new(&self.launcher.binary)
            .args(&self.launcher.launch)
            .arg("shim")
            .env_clear()
            .env(MARK, self.mark(workload))
            .env(PLACE, self.place())
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
    }

    fn command(&self, task: &Task, port: u16) -> Vec<String> {
        if task.run.driver != DriverKind::Sample.name() {
            return task.run.command.clone();
        }
        let mut command = vec![self.launcher.binary.display().to_string()];
        command.extend(self.launcher.sample.iter().cloned());
        command.extend(["--listen".to_owned(), address(port).to_string()]);
        for key in ["work-us", "start-ms", "answer-bytes"] {
            if let Some(value) = task.run.settings.get(key) {
                command.extend([format!("--{key}"), value.clone()]);
            }
        }
        if task.run.settings.get("protocol").is_some_and(|protocol| protocol == "h2c") {
            command.push("--h2c".to_owned());
        }
        command
    }

    /// Returns the environment of the workload: the variables of the task, and those that the driver adds. Nothing is
    /// inherited from the daemon. Writes the values that are passed as files; the environment contains only their
    /// paths.
    fn environment(
        &self,
        task: &Task,
        settings: &WorkloadSettings,
        workspace: &Workspace,
        port: u16,
    ) -> io::Result<Vec<(String, String)>> {
        let mut environment = vec![("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned())];
        for (name, value) in task.environment.iter() {
            if settings.secret_files.contains(name) {
                let path = workspace.given().join(name);
                let mut file = OpenOptions::new().create_new(true).write(true).mode(0o600).open(&path)?;
                file.write_all(value.as_bytes())?;
                environment.push((format!("{name}_FILE"), path.display().to_string()));
            } else {
                environment.push((name.clone(), value.clone()));
            }
        }
        let own = [
            ("PORT", port.to_string()),
            ("MARIO_PORT", port.to_string()),
            ("MARIO_ADDRESS", address(port).to_string()),
            ("MARIO_NODE", self.context.node.to_string()),
            ("MARIO_INSTANCE", task.instance.to_string()),
            ("MARIO_APPLICATION", task.application.to_string()),
            (MARK, self.mark(task.workload)),
            (PLACE, self.place()),
        ];
        environment.retain(|(name, _)| own.iter().all(|(reserved, _)| name != reserved));
        environment.extend(own.map(|(name, value)| (name.to_owned(), value)));
        Ok(environment)
    }

    fn adopt(&self, workload: WorkloadId) -> Option<SocketAddr> {
        if let Some(copy) = self.copy(workload) {
            return copy.shim.is_alive().then(|| address(copy.record.port));
        }
        let workspace = Workspace::of(&self.context.directory, workload);
        let record = workspace.start_record().ok().flatten()?;
        if record.workload != workload || record.system_boot != identity::system_boot() {
            return None;
        }
        let shim = Process::open(record.pid, record.started)?;
        let port = record.port;
        self.ports.note(port);
        let copy = Arc::new(Copy { record, shim, child: Mutex::new(None) });
        self.copies.lock().unwrap_or_else(PoisonError::into_inner).insert(workload, copy);
        Some(address(port))
    }

    /// All processes of a copy: those of its session while the shim runs, and those with its mark in any session.
    fn members(&self, copy: &Copy) -> io::Result<Vec<Process>> {
        let session = copy.shim.is_alive().then_some(copy.record.pid);
        identity::marked(&self.mark(copy.record.workload), session)
    }

    fn ask_to_end(&self, copy: &Copy) {
        // If the processes cannot be listed now, they are killed at the deadline.
        for process in self.members(copy).unwrap_or_default() {
            if process.pid() != copy.record.pid {
                // A process that cannot be signalled is killed at the deadline.
                let _ = process.signal(Signal::TERM);
            }
        }
    }

    /// Kills all processes of a workload, even if this daemon neither started nor adopted it, and waits until they are
    /// gone. Then removes its control groups, its private files and its start record.
    fn kill(&self, workload: WorkloadId) -> Result<(), DriverError> {
        self.starting.wait(workload);
        let workspace = Workspace::of(&self.context.directory, workload);
        let copy = self.copy(workload);
        // If this daemon does not know the copy, its session is found through the start record, provided that the shim
        // still runs.
        let shim = match &copy {
            Some(_) => None,
            None => workspace.start_record().ok().flatten().and_then(|record| {
                let is_this_boot = record.system_boot == identity::system_boot();
                if is_this_boot { Process::open(record.pid, record.started) } else { None }
            }),
        };
        let shim = copy.as_ref().map(|copy| &copy.shim).or(shim.as_ref());
        let mark = self.mark(workload);
        let deadline = Instant::now() + KILL_PATIENCE;
        let mut shim_alone_since = None;
        loop {
            let session = shim.filter(|shim| shim.is_alive()).map(Process::pid);
            let mut members = identity::marked(&mark, session).map_err(failed("cannot list processes"))?;
            if members.is_empty() {
                break;
            }
            // The shim is killed last, and only if it does not end within `NOTE_PATIENCE`, so that it can record how
            // the program ended.
            if members.len() > 1 {
                members.retain(|process| Some(process.pid()) != session);
            } else if Some(members[0].pid()) == session
                && shim_alone_since.get_or_insert_with(Instant::now).elapsed() < NOTE_PATIENCE
            {
                wait_a_little(&members);
                continue;
            }
            for process in &members {
                process.signal(Signal::KILL).map_err(failed("cannot kill a process of a workload"))?;
            }
            if Instant::now() > deadline {
                let attempted = format!("cannot kill {workload:?}: {} of its processes remain", members.len());
                return Err(DriverError { attempted, cause: None });
            }
            wait_a_little(&members);
        }
        if let Some(copy) = &copy {
            if let Some(mut child) = copy.child.lock().unwrap_or_else(PoisonError::into_inner).take() {
                child.wait().map_err(failed("cannot wait for a shim"))?;
            }
            self.ports.free(copy.record.port);
        }
        self.cgroups.remove(&name(workload));
        workspace.close().map_err(failed("cannot note the end of a workload"))?;
        self.copies.lock().unwrap_or_else(PoisonError::into_inner).remove(&workload);
        self.prune();
        Ok(())
    }
}

/// The name of the directory and the control groups of a copy.
fn name(workload: WorkloadId) -> String {
    format!("{}.{}", workload.boot, workload.counter)
}

fn parse_name(name: &str) -> Option<WorkloadId> {
    let (boot, counter) = name.split_once('.')?;
    Some(WorkloadId { boot: boot.parse().ok()?, counter: counter.parse().ok()? })
}

fn address(port: u16) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, port))
}

pub(super) fn failed(attempted: &str) -> impl FnOnce(io::Error) -> DriverError {
    move |cause| DriverError { attempted: attempted.to_owned(), cause: Some(cause) }
}

/// Waits until one of the processes has ended, for at most 50 ms.
pub(super) fn wait_a_little(processes: &[Process]) {
    let deadline = Instant::now() + Duration::from_millis(50);
    while processes.iter().all(Process::is_alive) && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(1));
    }
}
