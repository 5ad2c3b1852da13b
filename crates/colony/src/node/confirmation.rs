//! A node asks its neighbours whether its journal is the latest one. Its disk may have been restored from a backup: then
//! its instances may live elsewhere, and ids that it would create may exist already.
//!
//! | state | from | what the node does |
//! |---|---|---|
//! | unconfirmed | a restart | runs its instances, see [`Unconfirmed`]; creates no ids |
//! | confirmed | the hello of a neighbour that has no evidence against the journal; a new journal; no neighbours | all |
//! | outdated | evidence in the hello of a neighbour, see [`Evidence`](crate::Evidence); recorded, for ever | stops all copies, and nothing more |

use mario_domain::{NodeId, Rule};

use super::config::Unconfirmed;
use super::{State, Step};
use crate::descriptor::Copies;
use crate::ids::{TransferId, WorkloadId};
use crate::input::{Effect, Input, TraceEvent};
use crate::journal::{Evidence, JournalRecord, Outdated, Owned};

/// Whether a node knows that its journal is the latest one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Confirmation {
    /// The node has restarted, and no neighbour has introduced itself since.
    Unconfirmed,
    /// A neighbour has confirmed the journal, or it needs no confirmation.
    Confirmed,
    /// The journal is an old copy.
    Outdated,
}

impl State {
    pub(crate) fn confirmation(&self) -> Confirmation {
        match (&self.ledger.outdated, self.is_unconfirmed) {
            (Some(_), _) => Confirmation::Outdated,
            (None, true) => Confirmation::Unconfirmed,
            (None, false) => Confirmation::Confirmed,
        }
    }

    /// Whether a copy must not run, because its application is exclusive and the journal is not confirmed.
    pub(super) fn is_held_back(&self, owned: &Owned) -> bool {
        self.is_unconfirmed
            && self.config.unconfirmed == Unconfirmed::AllButExclusive
            && owned.descriptor.copies == Copies::Exclusive
    }

    /// Why this node can create no instance now; `Ok` if it can.
    pub(super) fn can_create(&self) -> Result<(), Rule> {
        if self.is_recovering {
            return Err(Rule::Recovering);
        }
        // The boots of an old copy were counted before, so its new ids would not be new.
        if self.is_unconfirmed && self.config.unconfirmed == Unconfirmed::AllButExclusive {
            return Err(Rule::Unconfirmed);
        }
        Ok(())
    }

    /// The effect that makes a copy run after a start: it is resumed or, if it may still run as before its last change,
    /// adapted.
    pub(super) fn revive(&self, owned: &Owned) -> Effect {
        if self.ledger.shrinking.contains_key(&owned.workload) { owned.adapt() } else { owned.resume() }
    }
}

impl Step<'_> {
    /// Called when a neighbour without evidence against the journal has introduced itself: starts the copies that were
    /// held back.
    pub(super) fn confirm(&mut self, by: &NodeId) {
        if !self.state.is_unconfirmed {
            return;
        }
        let state = &*self.state;
        let held_back = state.ledger.owned.values().filter(|owned| !owned.is_asleep() && state.is_held_back(owned));
        let started: Vec<Effect> = held_back.map(|owned| state.revive(owned)).collect();
        self.state.is_unconfirmed = false;
        self.effects.extend(started);
        self.report(TraceEvent::Confirmed { by: by.clone() });
    }

    /// Called when a neighbour has evidence that the journal is an old copy: records it, drops all reservations, and
    /// stops all copies.
    pub(super) fn outdated(&mut self, by: &NodeId, evidence: Evidence) {
        let incoming: Vec<TransferId> = self.state.incoming.keys().copied().collect();
        for transfer in incoming {
            self.drop_reservation(transfer);
        }
        let custody = self.state.ledger.custody.values().filter(|custody| custody.is_running);
        let running = self.state.ledger.owned.values().chain(custody.map(|custody| &custody.owned));
        let running: Vec<WorkloadId> = running.map(|owned| owned.workload).collect();
        let state = &mut *self.state;
        state.is_unconfirmed = false;
        state.agents.clear();
        state.outgoing.clear();
        state.retries.clear();
        state.restarts.clear();
        state.stopping.clear();
        let outdated = Outdated { by: by.clone(), evidence };
        self.journal(JournalRecord::Outdated(outdated.clone()));
        self.effects.extend(running.into_iter().map(Effect::Stop));
        self.report(TraceEvent::Outdated(outdated));
    }

    /// Handles an input of a node whose journal is an old copy: only copies that end, and links, so that neighbours
    /// learn of it.
    pub(super) fn handle_outdated(&mut self, input: Input) {
        match input {
            Input::Stopped(workload) => self.stopped(workload),
            Input::Swept => self.state.is_recovering = false,
            Input::Neighbours(neighbours) => self.set_neighbours(neighbours),
            _ => {}
        }
    }
}
