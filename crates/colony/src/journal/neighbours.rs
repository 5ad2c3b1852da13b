//! What a ledger has recorded about neighbours and their journals, and what neighbours know about its own.

use mario_domain::NodeId;

use super::{Evidence, Ledger, Outdated, PeerRecord};
use crate::ids::JournalId;
use crate::message::{HELD_MAX, HeldInstance, Hello};

/// The maximum number of journals that neighbours replaced and that are remembered. A further one replaces the oldest.
const FORMER_MAX: usize = 64;

impl Ledger {
    /// Remembers the journal that a neighbour had before, if it has another one now.
    pub(super) fn note_former(&mut self, node: &NodeId, before: Option<JournalId>, now: JournalId) {
        self.former.retain(|(_, journal)| *journal != now);
        if let Some(before) = before.filter(|before| *before != now) {
            if self.former.len() == FORMER_MAX {
                self.former.remove(0);
            }
            self.former.push((node.clone(), before));
        }
    }

    /// The neighbours that have introduced themselves, and what is recorded about each, in the order of their ids.
    pub fn peers(&self) -> impl Iterator<Item = (&NodeId, &PeerRecord)> {
        self.peers.iter()
    }

    /// The number of the last record in which an instance was handed over or offered to a neighbour, or taken from it;
    /// 0 if there is no such record.
    pub(crate) fn concerning(&self, neighbour: &NodeId) -> u64 {
        self.concerning.get(neighbour).copied().unwrap_or(0)
    }

    /// Whether this node knows a neighbour's journal: that of a peer, of the receiver of an open transfer, or of a node
    /// that was declared lost.
    pub fn has_met(&self, journal: JournalId) -> bool {
        self.peers.values().any(|peer| peer.journal == journal)
            || self.custody.values().any(|custody| custody.receiver == journal)
            || self.grants.values().any(|grant| grant.receiver == journal)
            || self.former.iter().any(|(_, former)| *former == journal)
            || self.lost.contains(&journal)
    }

    /// The journals that neighbours had before their present ones, and whether each was declared lost, the oldest
    /// first.
    pub fn former(&self) -> impl Iterator<Item = (&NodeId, JournalId, bool)> {
        self.former.iter().map(|(node, journal)| (node, *journal, self.lost.contains(journal)))
    }

    /// Whether an operator declared a journal lost.
    pub fn is_lost(&self, journal: JournalId) -> bool {
        self.lost.contains(&journal)
    }

    /// Why this journal must not be used any more; `None` unless it is an old copy.
    pub fn outdated(&self) -> Option<&Outdated> {
        self.outdated.as_ref()
    }

    /// The instances owned or in custody with their epochs, for a [`Hello`](crate::Hello).
    pub(crate) fn held(&self) -> Vec<HeldInstance> {
        let owned = self.owned.values();
        let held = owned.chain(self.custody.values().map(|custody| &custody.owned));
        let held = held.map(|owned| HeldInstance { instance: owned.instance.clone(), epoch: owned.epoch });
        held.take(HELD_MAX).collect()
    }

    /// Whether a neighbour has replaced a journal, and an operator declared it lost. One that was only declared lost may
    /// be in use: the operator may have been wrong.
    pub(crate) fn is_dead(&self, journal: JournalId) -> bool {
        self.lost.contains(&journal) && self.former.iter().any(|(_, former)| *former == journal)
    }

    /// What is recorded about a neighbour, for the hello to that neighbour.
    pub(crate) fn knows(&self, neighbour: &NodeId) -> Option<PeerRecord> {
        self.peers.get(neighbour).copied()
    }

    /// How a hello from a neighbour shows that this journal is an old copy; `None` if it does not.
    ///
    /// Sound: a neighbour learns numbers of this journal and epochs of instances only from messages, each of which was
    /// sent after its record was on disk here, and epochs only grow from owner to owner.
    pub(crate) fn evidence_in(&self, from: &NodeId, hello: &Hello) -> Option<Evidence> {
        let journal = self.boot.as_ref().map(|(_, journal, _)| *journal);
        if let Some(knows) = hello.knows.filter(|knows| Some(knows.journal) == journal) {
            if knows.is_rejected() {
                return Some(Evidence::Rejected);
            }
            let (known, own) = (knows.concerning, self.concerning(from));
            if known > own {
                return Some(Evidence::Exchange { known, own });
            }
            let (known, own) = (knows.sequence, self.sequence);
            if known > own {
                return Some(Evidence::Records { known, own });
            }
        }
        hello.held.iter().find_map(|held| {
            let own = self.owned.get(&held.instance)?.epoch;
            let evidence = Evidence::Epoch { instance: held.instance.clone(), known: held.epoch, own };
            (held.epoch > own).then_some(evidence)
        })
    }
}
