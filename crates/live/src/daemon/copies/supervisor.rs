//! The supervisor of one copy: starts it, watches it, and stops it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use mario_colony::{Input, WorkloadId};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

use super::{Copies, Event, Order, workload_text};
use crate::api::{CopyState, NodeEvent, Word};
use crate::seams::{Driver, Health, Task};

/// How often a starting copy is probed.
const ASK_EVERY: Duration = Duration::from_millis(50);
/// How often a healthy copy is probed.
const WATCH_EVERY: Duration = Duration::from_secs(5);
/// After this number of failed probes in a row, a healthy copy is killed.
const FAILURES_MAX: u32 = 3;

/// Supervises one copy: carries out its orders one at a time. A newer order cancels an order to run.
pub(super) struct Supervisor {
    pub(super) copies: Copies,
    pub(super) workload: WorkloadId,
    pub(super) driver: Option<Arc<dyn Driver>>,
    pub(super) patience: Duration,
}

impl Supervisor {
    pub(super) async fn run(mut self, mut orders: mpsc::UnboundedReceiver<Order>) {
        let mut next = orders.recv().await;
        while let Some(order) = next.take() {
            match order {
                Order::Run { task, may_run } => {
                    self.driver = self.copies.drivers.get(&task.run.driver).cloned();
                    self.patience = task.run.drain_timeout;
                    let Some(driver) = self.driver.clone() else { break };
                    next = tokio::select! {
                        biased;
                        order = orders.recv() => order,
                        () = self.keep_running(&*driver, &task, may_run) => orders.recv().await,
                    };
                }
                Order::Adapt { task } => {
                    self.changed(CopyState::Draining, None);
                    self.end(true).await;
                    self.tell(Input::Adapted(self.workload)).await;
                    if let Some(copy) = self.copies.table().get_mut(&self.workload) {
                        copy.set_task(&task);
                        copy.state = CopyState::Starting;
                    }
                    next = orders.try_recv().ok().or(Some(Order::Run { task, may_run: false }));
                }
                Order::Drain => {
                    self.changed(CopyState::Draining, None);
                    self.end(true).await;
                    self.tell(Input::Stopped(self.workload)).await;
                    next = orders.recv().await;
                }
                Order::Stop => {
                    self.changed(CopyState::Draining, None);
                    self.end(false).await;
                    self.tell(Input::Stopped(self.workload)).await;
                    next = orders.recv().await;
                }
            }
        }
    }

    /// Starts or adopts a copy, and watches it. When the copy fails to start, ends or becomes unhealthy, kills it and
    /// reports the cause.
    async fn keep_running(&self, driver: &dyn Driver, task: &Task, may_run: bool) {
        let cause = match self.start(driver, task, may_run).await {
            Ok(address) => {
                self.changed(CopyState::Healthy, Some(address));
                self.tell(Input::Healthy(self.workload)).await;
                self.watch(driver, task, address).await
            }
            Err(cause) => cause,
        };
        self.give_up(driver, cause).await;
    }

    async fn start(&self, driver: &dyn Driver, task: &Task, may_run: bool) -> Result<SocketAddr, String> {
        let adopted = if may_run { driver.adopt(task).await } else { None };
        let address = match adopted {
            Some(address) => address,
            None => {
                let started = driver.start(task).await;
                self.copies.room.started(started.as_ref().map(|_| ()));
                started.map_err(|error| format!("cannot start: {}", with_cause(&error)))?
            }
        };
        let mut left = task.run.start_timeout;
        let mut can_probe = true;
        loop {
            let began = Instant::now();
            let health = driver.health(task, address).await;
            self.note_probe(&health, &mut can_probe);
            match health {
                Health::Healthy => return Ok(address),
                Health::Ended(cause) => return Err(cause),
                Health::Unhealthy(cause) if left.is_zero() => {
                    let waited = task.run.start_timeout.as_millis();
                    return Err(format!("not healthy {waited} ms after its start: {cause}"));
                }
                Health::Unhealthy(_) | Health::Unknown(_) => sleep(ASK_EVERY).await,
            }
            // While this node cannot probe, the copy does not lose time for its start.
            if can_probe {
                left = left.saturating_sub(began.elapsed());
            }
        }
    }

    /// Counts a probe that this node could not make, and publishes the first one of several in a row.
    fn note_probe(&self, health: &Health, can_probe: &mut bool) {
        let Health::Unknown(cause) = health else {
            *can_probe = true;
            return;
        };
        self.copies.counts.probes_failed.fetch_add(1, Ordering::Relaxed);
        if std::mem::replace(can_probe, false) {
            let workload = workload_text(self.workload);
            let message = format!("cannot probe copy {workload}, which is left as it is: {cause}");
            self.copies.events.publish(NodeEvent::Fault { message });
        }
    }

    /// Waits until a copy ends or fails [`FAILURES_MAX`] probes in a row. Returns the cause. A probe that this node
    /// could not make says nothing about the copy.
    async fn watch(&self, driver: &dyn Driver, task: &Task, address: SocketAddr) -> String {
        let watched = async {
            let (mut failures, mut can_probe) = (0, true);
            loop {
                sleep(WATCH_EVERY).await;
                let health = driver.health(task, address).await;
                self.note_probe(&health, &mut can_probe);
                match health {
                    Health::Healthy => failures = 0,
                    Health::Ended(cause) => return cause,
                    Health::Unhealthy(cause) => {
                        failures += 1;
                        if failures == FAILURES_MAX {
                            return format!("failed {FAILURES_MAX} health probes in a row: {cause}");
                        }
                    }
                    Health::Unknown(_) => {}
                }
            }
        };
        tokio::select! {
            cause = driver.ended(self.workload) => cause,
            cause = watched => cause,
        }
    }

    async fn give_up(&self, driver: &dyn Driver, cause: String) {
        self.changed(CopyState::Ended, None);
        let message = format!("copy {} is down: {cause}", workload_text(self.workload));
        self.copies.events.publish(NodeEvent::Fault { message });
        if let Err(error) = driver.stop(self.workload).await {
            self.copies.events.publish(NodeEvent::Fault { message: with_cause(&error) });
        }
        self.tell(Input::NotStarted { workload: self.workload, cause }).await;
    }

    /// Stops the copy, and returns when it is dead. With `waits`, first waits until its open requests have ended, for
    /// at most `patience`, and then gives it as long again to exit. Retries if the driver cannot confirm the death,
    /// because hardware that may still be in use must not be reserved again.
    async fn end(&self, waits: bool) {
        if waits {
            let backend = self.copies.table().get(&self.workload).map(|copy| Arc::clone(&copy.backend));
            if let Some(backend) = backend {
                let _ = timeout(self.patience, backend.emptied()).await;
            }
        }
        let drivers: Vec<Arc<dyn Driver>> = match &self.driver {
            Some(driver) => vec![Arc::clone(driver)],
            // This supervisor was never ordered to run the copy, so the driver is unknown. All drivers are asked to end
            // the copy, which has no effect on drivers that do not run it.
            None => self.copies.drivers.values().cloned().collect(),
        };
        for driver in drivers {
            loop {
                let ended = if waits {
                    driver.drain(self.workload, self.patience).await
                } else {
                    driver.stop(self.workload).await
                };
                match ended {
                    Ok(()) => break,
                    Err(error) => {
                        self.copies.events.publish(NodeEvent::Fault { message: with_cause(&error) });
                        sleep(Duration::from_secs(1)).await;
                    }
                }
            }
        }
        self.changed(CopyState::Ended, None);
    }

    fn changed(&self, state: CopyState, address: Option<SocketAddr>) {
        let instance = {
            let mut table = self.copies.table();
            let Some(copy) = table.get_mut(&self.workload) else { return };
            (copy.state, copy.address) = (state, address);
            if state == CopyState::Healthy {
                copy.backend = Arc::default();
            } else {
                copy.backend.close();
            }
            copy.instance.clone()
        };
        if let Some(instance) = instance {
            let state = Word::Known(state);
            self.copies.events.publish(NodeEvent::Copy { workload: workload_text(self.workload), instance, state });
        }
        // The routes are updated before the copy is ended, so that a draining copy gets no more requests.
        if let Some(on_change) = self.copies.on_change.get() {
            on_change();
        }
    }

    async fn tell(&self, input: Input) {
        let is_over = matches!(input, Input::Stopped(_));
        let _ = self.copies.core.send(Event::Input(input)).await;
        if is_over {
            // Removes the copy, unless a further order has changed its state in the meantime.
            let mut table = self.copies.table();
            if table.get(&self.workload).is_some_and(|copy| copy.state == CopyState::Ended) {
                table.remove(&self.workload);
            }
        }
    }
}

fn with_cause(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        text += &format!(": {next}");
        cause = next.source();
    }
    text
}
