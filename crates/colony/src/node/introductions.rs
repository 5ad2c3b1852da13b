//! Neighbours introduce themselves with a hello when their links come up.

use std::sync::Arc;

use mario_domain::NodeId;

use super::{Incoming, NeighbourFacts, State, Step};
use crate::ids::TransferId;
use crate::input::{Effect, TraceEvent};
use crate::journal::{JournalRecord, PeerRecord};
use crate::message::{Hello, Message};

impl Step<'_> {
    /// Reports the neighbours that agents see, and those of them whose facts are known.
    fn report_neighbours(&mut self) {
        let up = self.state.neighbours.clone();
        let introduced = up.iter().filter(|node| self.state.neighbour_facts.contains_key(node)).cloned().collect();
        self.report(TraceEvent::Neighbours { up, introduced });
    }

    /// Sets the neighbours whose links work: reports them, and sends a hello to each new one.
    pub(super) fn set_neighbours(&mut self, neighbours: Vec<NodeId>) {
        let before = std::mem::replace(&mut self.state.neighbours, neighbours);
        self.report_neighbours();
        let new = self.state.neighbours.iter().filter(|neighbour| !before.contains(neighbour));
        for neighbour in new.cloned().collect::<Vec<_>>() {
            let knows = self.state.ledger.knows(&neighbour);
            self.say_hello(&neighbour, knows);
        }
    }

    fn say_hello(&mut self, neighbour: &NodeId, knows: Option<PeerRecord>) {
        let State { ledger, outgoing, .. } = &*self.state;
        let open = ledger.custody.values().map(|custody| custody.transfer);
        let hello = Hello {
            journal: self.state.ids.journal,
            sequence: ledger.sequence,
            concerning: ledger.concerning(neighbour),
            open: open.chain(ledger.grants.keys().copied()).chain(outgoing.keys().copied()).collect(),
            facts: self.state.config.facts.clone(),
            knows,
            // The instances of an old copy prove nothing.
            held: if ledger.outdated.is_some() { Vec::new() } else { ledger.held() },
        };
        let message = Message::Hello(hello);
        self.effects.push(Effect::Send { to: neighbour.clone(), receiver: None, message });
    }

    /// Handles the introduction of a neighbour. If it shows that this node's own journal is an old copy, stops
    /// everything. Rejects the neighbour if its journal lost records or is dead, and tells it so. Otherwise
    /// ends an earlier rejection, stores the neighbour's facts and journal, drops the reservations for transfers that
    /// the neighbour no longer lists as open, and resends open messages to it.
    pub(super) fn greeted(&mut self, from: &NodeId, hello: Hello) {
        if let Some(evidence) = self.state.ledger.evidence_in(from, &hello) {
            return self.outdated(from, evidence);
        }
        let known = self.state.ledger.peers.get(from).copied();
        let is_older = known.is_some_and(|known| {
            known.journal == hello.journal && (known.sequence > hello.sequence || known.concerning > hello.concerning)
        });
        if is_older || self.state.ledger.is_dead(hello.journal) {
            if self.state.refused.insert(from.clone()) {
                // With this number, the journal stays rejected however many records it gets later.
                let (node, sequence) = (from.clone(), u64::MAX);
                if is_older {
                    self.journal(JournalRecord::Peer { node, journal: hello.journal, sequence });
                }
                self.report(TraceEvent::RefusedPeer(from.clone()));
                self.say_hello(from, Some(PeerRecord { journal: hello.journal, sequence, concerning: 0 }));
            }
            return;
        }
        self.state.refused.remove(from);
        self.confirm(from);
        let facts = NeighbourFacts(Arc::new(hello.facts));
        if self.state.neighbour_facts.insert(from.clone(), facts).is_none() {
            self.report_neighbours();
        }
        if known.is_none_or(|known| known.journal != hello.journal || known.sequence != hello.sequence) {
            self.journal(JournalRecord::Peer { node: from.clone(), journal: hello.journal, sequence: hello.sequence });
        }
        // The source will never hand over an instance by a transfer that it no longer knows.
        let is_dead = |incoming: &Incoming, transfer: &TransferId| {
            incoming.sender == hello.journal && !hello.open.contains(transfer)
        };
        let State { incoming, .. } = &*self.state;
        let dead: Vec<TransferId> = incoming
            .iter()
            .filter(|(transfer, place)| is_dead(place, transfer))
            .map(|(transfer, _)| *transfer)
            .collect();
        for transfer in dead {
            self.drop_reservation(transfer);
        }
        self.send_again_to(from);
    }
}
