//! Scale to zero: dormant instances, which are asleep, or awake again while their copies start.
//!
//! Requests are routed to a sleeping instance as to any other. The data plane finds the instance in
//! [`Routes::dormant`](crate::seams::Routes::dormant), asks the node to wake it, and holds the request during the cold
//! start: until the copy serves, the node's manager inhibits the wake-up, or a timeout has passed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mario_colony::{Input, Owned};
use mario_domain::{ApplicationId, InstanceId};
use tokio::sync::mpsc;

use super::Event;
use super::core::Core;
use crate::api::CopyState;
use crate::seams::{DormantInstance, DormantState, WakeHandle};
use crate::traffic::RequestCounts;

/// The dormant instances of a node, as last published.
pub(crate) struct Sleepers {
    /// The queue of the core, for requests to wake an instance. The sender is weak, so that it does not keep the queue
    /// open.
    core: mpsc::WeakSender<Event>,
    known: BTreeMap<InstanceId, Sleeper>,
}

struct Sleeper {
    application: ApplicationId,
    state: DormantState,
    counts: Arc<RequestCounts>,
}

impl Sleepers {
    pub(crate) fn new(core: &mpsc::Sender<Event>) -> Sleepers {
        Sleepers { core: core.downgrade(), known: BTreeMap::new() }
    }

    /// Whether an instance sleeps or is waking, as last published.
    pub(crate) fn has(&self, instance: &InstanceId) -> bool {
        self.known.contains_key(instance)
    }

    /// Returns and resets the counts of client requests that would have reached an instance; `None` if it is not
    /// dormant.
    pub(crate) fn drain_counts(
        &self,
        instance: &InstanceId,
    ) -> Option<BTreeMap<(Option<mario_domain::NodeId>, u32), u64>> {
        self.known.get(instance).map(|sleeper| sleeper.counts.drain())
    }

    fn routes(&self) -> BTreeMap<ApplicationId, Vec<DormantInstance>> {
        let mut routes: BTreeMap<ApplicationId, Vec<DormantInstance>> = BTreeMap::new();
        for (instance, sleeper) in &self.known {
            routes.entry(sleeper.application.clone()).or_default().push(DormantInstance {
                instance: instance.clone(),
                state: sleeper.state,
                counts: Arc::clone(&sleeper.counts),
                wake_handle: self.wake_handle(instance.clone()),
            });
        }
        routes
    }

    /// Returns a handle that asks the core only once to wake the instance, however many client requests wait for it.
    fn wake_handle(&self, instance: InstanceId) -> WakeHandle {
        let (core, has_asked) = (self.core.clone(), AtomicBool::new(false));
        WakeHandle::new(move || {
            if has_asked.swap(true, Ordering::AcqRel) {
                return;
            }
            let asked = core
                .upgrade()
                .is_some_and(|core| core.try_send(Event::Input(Input::Requested(instance.clone()))).is_ok());
            // If the core's queue was full, the next call asks again.
            has_asked.store(asked, Ordering::Release);
        })
    }
}

impl Core {
    /// Publishes which instances are dormant, if that has changed.
    pub(crate) fn publish_dormant(&mut self) {
        let is_outdated = self.node.ledger().outdated().is_some();
        let state = |owned: &Owned| {
            // No request may wake an instance that may be on another node.
            if is_outdated {
                return None;
            }
            if owned.is_asleep() {
                let is_refused = self.node.wake_refused(&owned.instance).is_some();
                return Some(if is_refused { DormantState::Refused } else { DormantState::Asleep });
            }
            // Waking means that the instance slept before; a copy that starts for the first time does not count.
            let is_waking = self.sleepers.has(&owned.instance)
                && !matches!(self.copies.state(owned.workload), Some(CopyState::Healthy | CopyState::Ended));
            is_waking.then_some(DormantState::Waking)
        };
        let now: Vec<(InstanceId, ApplicationId, DormantState)> = (self.node.ledger().owned())
            .filter_map(|owned| Some((owned.instance.clone(), owned.descriptor.application.id.clone(), state(owned)?)))
            .collect();
        let is_same = now.len() == self.sleepers.known.len()
            && now.iter().all(|(instance, _, state)| {
                self.sleepers.known.get(instance).is_some_and(|known| known.state == *state)
            });
        if is_same {
            return;
        }
        let mut before = std::mem::take(&mut self.sleepers.known);
        for (instance, application, state) in now {
            let counts = before.remove(&instance).map(|sleeper| sleeper.counts).unwrap_or_default();
            self.sleepers.known.insert(instance, Sleeper { application, state, counts });
        }
        self.board.set_dormant(self.sleepers.routes());
    }
}
