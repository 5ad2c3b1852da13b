//! Starts a node, for the first time or again, from the ledger of its journal.

use mario_domain::Time;

use super::{Agent, Retry, Start, StartError, State, Unconfirmed};
use crate::ids::{IdSource, WorkloadId};
use crate::input::Effect;
use crate::journal::{JournalRecord, Owned};
use crate::manager::Availability;

impl State {
    /// Returns the state of a node after a start. The effects kill copies that are not in the ledger, resume copies
    /// that must run, and adapt or stop copies that may not have been adapted or stopped before the crash. Agents
    /// continue from their snapshots, and the messages of open transfers are due to be resent at once.
    pub(crate) fn start(start: Start, now: Time, effects: &mut Vec<Effect>) -> Result<State, StartError> {
        let Start { config, mut ledger, new_journal, seed } = start;
        let (journal, boot) = match &ledger.boot {
            None => (new_journal, 0),
            Some((node, ..)) if *node != config.node => return Err(StartError::OtherNode(node.clone())),
            Some((_, journal, boot)) => (*journal, boot.saturating_add(1)),
        };
        let record = JournalRecord::Boot { node: config.node.clone(), journal, boot };
        ledger.apply(&record);
        effects.push(Effect::Journal(record));
        let mut state = State::new(config, ledger, IdSource::new(journal, boot, seed));
        let used = state.ledger.used();
        if state.manager.take(used).is_err() {
            return Err(StartError::TooSmall { used, capacity: state.config.capacity });
        }
        state.is_recovering = true;
        state.manager.set_availability(Availability::of_drain(state.ledger.is_draining));
        if state.ledger.outdated.is_some() {
            effects.push(Effect::Sweep { keep: Vec::new() });
            effects.extend(state.ledger.draining.keys().map(|workload| Effect::Stop(*workload)));
            return Ok(state);
        }
        // A new journal has nothing that could be out of date.
        state.is_unconfirmed = boot > 0 && state.config.unconfirmed != Unconfirmed::NotAsked;
        effects.push(Effect::Sweep { keep: state.ledger.workloads().collect() });
        let custody = state.ledger.custody.values().filter(|custody| custody.is_running).map(|custody| &custody.owned);
        let is_to_run = |owned: &&Owned| !owned.is_asleep() && !state.is_held_back(owned);
        for owned in state.ledger.owned.values().chain(custody).filter(is_to_run) {
            effects.push(owned.resume());
        }
        // A copy that was to be restarted in another flavour or version may not have been restarted before the crash.
        let kept = state.ledger.owned.values().chain(state.ledger.custody.values().map(|custody| &custody.owned));
        let is_to_adapt = |owned: &&Owned| state.ledger.shrinking.contains_key(&owned.workload) && !owned.is_asleep();
        let to_adapt: Vec<&Owned> = kept.filter(is_to_adapt).collect();
        let is_to_stop = |workload: &&WorkloadId| to_adapt.iter().all(|owned| owned.workload != **workload);
        effects.extend(to_adapt.iter().filter(|owned| !state.is_held_back(owned)).map(|owned| owned.adapt()));
        // The copy of a sleeping instance may not have been stopped before the crash.
        effects.extend(state.ledger.shrinking.keys().filter(is_to_stop).map(|workload| Effect::Stop(*workload)));
        effects.extend(state.ledger.draining.keys().map(|workload| Effect::Stop(*workload)));
        let first = now + state.config.timing.evaluation_period.unwrap_or_default();
        for (instance, owned) in &state.ledger.owned {
            state.agents.insert(instance.clone(), Agent::new(&owned.snapshot, first));
        }
        let open = state.ledger.custody.values().map(|custody| custody.transfer);
        let open = open.chain(state.ledger.grants.keys().copied()).chain(state.ledger.unforgotten());
        let after = state.config.timing.resend_after;
        state.retries = open.map(|transfer| (transfer, Retry { at: now, after })).collect();
        Ok(state)
    }
}

impl std::fmt::Display for StartError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            StartError::OtherNode(node) => write!(formatter, "the journal is that of node {node}"),
            StartError::TooSmall { used, capacity } => {
                write!(formatter, "the journal says that {used} is used, and the node has {capacity}")
            }
        }
    }
}

impl std::error::Error for StartError {}
