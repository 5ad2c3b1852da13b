//! The ids of journals, transfers, copies, reservations and deploys, and the epoch of an instance. `IdSource` creates
//! the ids of transfers, copies, reservations and instances.

use std::fmt;

use mario_domain::{InstanceId, mixed};
use serde::{Deserialize, Serialize};

/// The identity of a journal: 128 random bits, fixed at the node's first start. A node that lost its disk gets another
/// journal, so its neighbours treat it as another node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JournalId(pub u128);

/// The id of one transfer of an instance, created by the source: the source's journal, the number of its boot, and a
/// counter. Never reused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TransferId {
    /// The journal of the source.
    pub journal: JournalId,
    /// The number of the source's boot in which the transfer was created.
    pub boot: u32,
    /// Counts the transfers of this boot.
    pub counter: u32,
}

/// The id of one copy of an instance, created by the node on which the copy runs, and unique only on that node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct WorkloadId {
    /// The number of the node's boot in which the copy was created.
    pub boot: u32,
    /// Counts the copies of this boot.
    pub counter: u32,
}

/// The nonce of one reservation. It identifies the reservation that a message refers to; it is not a credential.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Token(pub u128);

/// Counts the changes of an instance's owner: 1 for the first owner, one more each time that a node takes the instance
/// over.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Epoch(pub u32);

/// The idempotency key of a deploy: a command with a key that the node still keeps is a repetition of the accepted
/// deploy with that key. Only the latest keys are kept.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DeployKey(pub u128);

impl Epoch {
    /// The epoch of the next owner.
    #[must_use]
    pub fn next(self) -> Epoch {
        Epoch(self.0.saturating_add(1))
    }
}

/// Creates ids for one node. The ids of transfers, copies and instances contain the number of the boot, so their
/// counters start at 0 in each boot and are not journalled.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct IdSource {
    pub(crate) journal: JournalId,
    pub(crate) boot: u32,
    transfers: u32,
    instances: u32,
    workloads: u32,
    tokens: Tokens,
}

/// A `SplitMix64` generator. Each token consists of two of its numbers.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Tokens {
    seed: u64,
}

impl IdSource {
    pub(crate) fn new(journal: JournalId, boot: u32, seed: u64) -> IdSource {
        // Journal and boot are mixed in, so that a shell that passes the same seed again does not repeat old tokens.
        let seed = seed ^ (journal.0 as u64) ^ ((journal.0 >> 64) as u64).rotate_left(17) ^ u64::from(boot) << 40;
        IdSource { journal, boot, transfers: 0, instances: 0, workloads: 0, tokens: Tokens { seed } }
    }

    pub(crate) fn transfer(&mut self) -> TransferId {
        TransferId { journal: self.journal, boot: self.boot, counter: count(&mut self.transfers) }
    }

    pub(crate) fn workload(&mut self) -> WorkloadId {
        WorkloadId { boot: self.boot, counter: count(&mut self.workloads) }
    }

    pub(crate) fn instance(&mut self) -> InstanceId {
        let counter = count(&mut self.instances);
        let name = format!("{:032x}-{}-{counter}", self.journal.0, self.boot);
        InstanceId::name(&name).expect("it has characters")
    }

    pub(crate) fn token(&mut self) -> Token {
        Token(u128::from(self.tokens.next()) << 64 | u128::from(self.tokens.next()))
    }
}

impl Tokens {
    fn next(&mut self) -> u64 {
        self.seed = self.seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed(self.seed)
    }
}

fn count(counter: &mut u32) -> u32 {
    let number = *counter;
    *counter = counter.wrapping_add(1);
    number
}

impl fmt::Debug for JournalId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "journal {:x}", self.0)
    }
}

impl fmt::Debug for TransferId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "transfer {:x}.{}.{}", self.journal.0, self.boot, self.counter)
    }
}

impl fmt::Debug for WorkloadId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "workload {}.{}", self.boot, self.counter)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Prints only the first 16 bits, because the text may end up in a log.
        write!(formatter, "token {:04x}…", self.0 >> 112)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn ids_of_other_journals_and_boots_differ() {
        let mut instances = BTreeSet::new();
        let mut transfers = BTreeSet::new();
        let sources = [(1, 0), (1, 1), (2, 0), (11, 0)];
        for (journal, boot) in sources {
            let mut source = IdSource::new(JournalId(journal), boot, 7);
            for _ in 0..100 {
                assert!(instances.insert(source.instance()) && transfers.insert(source.transfer()));
            }
        }
        assert_eq!(instances.len(), 400);
    }

    #[test]
    fn tokens_do_not_repeat_and_follow_from_the_seed() {
        let mut source = IdSource::new(JournalId(1), 0, 7);
        let tokens: BTreeSet<Token> = (0..1000).map(|_| source.token()).collect();
        assert_eq!(tokens.len(), 1000);
        assert!(tokens.contains(&IdSource::new(JournalId(1), 0, 7).token()));
        let others = [(JournalId(2), 0), (JournalId(1), 1), (JournalId(1 << 64), 0)];
        for (journal, boot) in others {
            assert!(!tokens.contains(&IdSource::new(journal, boot, 7).token()), "{journal:?}, boot {boot}");
        }
    }
}
