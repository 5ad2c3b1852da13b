//! Counts the client requests of an instance by last hop and latency. Counting takes no lock.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use mario_domain::NodeId;

/// The client requests of a copy or a dormant instance, by last hop and quantised latency, until the daemon drains
/// them.
///
/// Each last hop has its own table, so that a neighbour that forges latencies can only fill its own.
#[derive(Debug, Default)]
pub struct RequestCounts {
    own: HopCounts,
    hops: ArcSwap<Vec<(NodeId, Arc<HopCounts>)>>,
    folded: AtomicU64,
}

/// The requests from one last hop.
#[derive(Debug)]
struct HopCounts {
    table: ArcSwap<Table>,
    /// Replaced tables that a request may still hold and increment.
    retired: Mutex<Vec<Arc<Table>>>,
}

/// One entry per latency: the latency plus 1 in the upper bits, the number of requests in the lower bits. 0 marks a
/// free entry.
#[derive(Debug)]
struct Table([AtomicU64; RequestCounts::LATENCIES_MAX]);

const COUNT_BITS: u32 = 40;
const COUNT_MASK: u64 = (1 << COUNT_BITS) - 1;
const LATENCY_MAX: u32 = (1 << 24) - 2;
/// The maximum number of last hops with a table. It exceeds the maximum number of neighbours. Requests through any
/// further last hop would be counted in the last table.
const HOPS_MAX: usize = 1024;

impl RequestCounts {
    /// The size of the table of a last hop. Once it has this number of latencies, requests with other latencies are
    /// counted under the nearest one.
    pub const LATENCIES_MAX: usize = 64;

    /// Counts a request by its last hop, `None` for a client of this node, and its latency in quanta.
    pub fn count(&self, last_hop: Option<&NodeId>, latency_quanta: u32) {
        let is_folded = match last_hop {
            None => self.own.count(latency_quanta),
            Some(hop) => {
                let hops = self.hops.load();
                match hops.iter().find(|(known, _)| known == hop) {
                    Some((_, counts)) => counts.count(latency_quanta),
                    None => self.add_hop(hop).count(latency_quanta),
                }
            }
        };
        if is_folded {
            self.folded.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The number of requests counted under the nearest latency instead of their own, since this value was created.
    pub fn folded(&self) -> u64 {
        self.folded.load(Ordering::Relaxed)
    }

    #[cold]
    fn add_hop(&self, hop: &NodeId) -> Arc<HopCounts> {
        let added = Arc::new(HopCounts::default());
        self.hops.rcu(|hops| {
            let mut hops = Vec::clone(hops);
            if hops.len() < HOPS_MAX && hops.iter().all(|(known, _)| known != hop) {
                hops.push((hop.clone(), Arc::clone(&added)));
            }
            hops
        });
        let hops = self.hops.load();
        let known = hops.iter().find(|(known, _)| known == hop).or(hops.last());
        known.map_or(added, |(_, counts)| Arc::clone(counts))
    }

    /// Returns the counts by last hop and latency, and resets them.
    pub fn drain(&self) -> BTreeMap<(Option<NodeId>, u32), u64> {
        let mut drained = BTreeMap::new();
        self.own.drain(|latency, count| *drained.entry((None, latency)).or_default() += count);
        for (hop, counts) in self.hops.load().iter() {
            counts.drain(|latency, count| *drained.entry((Some(hop.clone()), latency)).or_default() += count);
        }
        drained
    }
}

impl Default for HopCounts {
    fn default() -> HopCounts {
        HopCounts { table: ArcSwap::from_pointee(Table::new()), retired: Mutex::default() }
    }
}

impl HopCounts {
    /// Counts a request. Returns whether it was counted under the nearest latency instead of its own.
    fn count(&self, latency: u32) -> bool {
        self.table.load().count(latency.min(LATENCY_MAX))
    }

    fn drain(&self, mut take: impl FnMut(u32, u64)) {
        let table = self.table.load_full();
        let latencies = table.drain(&mut take);
        let mut retired = self.retired.lock().unwrap_or_else(PoisonError::into_inner);
        retired.retain(|old| {
            // Checked before the counts are taken, because a table that no request holds now will not be incremented
            // later.
            let is_held = Arc::strong_count(old) > 1;
            old.drain(&mut take);
            is_held
        });
        // Starts an empty table if this one is more than half full, so that new latencies find room.
        if latencies > RequestCounts::LATENCIES_MAX / 2 {
            self.table.store(Arc::new(Table::new()));
            retired.push(table);
        }
    }
}

impl Table {
    fn new() -> Table {
        Table([const { AtomicU64::new(0) }; RequestCounts::LATENCIES_MAX])
    }

    fn count(&self, latency: u32) -> bool {
        let key = u64::from(latency) + 1;
        let begin = latency as usize % self.0.len();
        for step in 0..self.0.len() {
            let slot = &self.0[(begin + step) % self.0.len()];
            let mut seen = slot.load(Ordering::Relaxed);
            if seen == 0 {
                match slot.compare_exchange(0, key << COUNT_BITS | 1, Ordering::Relaxed, Ordering::Relaxed) {
                    Ok(_) => return false,
                    Err(taken) => seen = taken,
                }
            }
            if seen >> COUNT_BITS == key {
                slot.fetch_add(1, Ordering::Relaxed);
                return false;
            }
        }
        let distance = |slot: &&AtomicU64| (slot.load(Ordering::Relaxed) >> COUNT_BITS).abs_diff(key);
        if let Some(nearest) = self.0.iter().min_by_key(distance) {
            nearest.fetch_add(1, Ordering::Relaxed);
        }
        true
    }

    /// Takes the counts but keeps the latencies. Returns the number of latencies.
    fn drain(&self, take: &mut impl FnMut(u32, u64)) -> usize {
        let mut latencies = 0;
        for slot in &self.0 {
            let seen = slot.fetch_and(!COUNT_MASK, Ordering::Relaxed);
            if let Some(latency) = (seen >> COUNT_BITS).checked_sub(1) {
                latencies += 1;
                if seen & COUNT_MASK > 0 {
                    take(latency as u32, seen & COUNT_MASK);
                }
            }
        }
        latencies
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_counted_by_last_hop_and_latency_until_they_are_drained() {
        let counts = RequestCounts::default();
        let near = NodeId::name("near").unwrap();
        counts.count(Some(&near), 2);
        counts.count(Some(&near), 2);
        counts.count(None, 0);
        // 64 and 0 hash to the same entry.
        counts.count(None, 64);
        counts.count(None, u32::MAX);
        let drained: Vec<_> = counts.drain().into_iter().collect();
        assert_eq!(drained, [((None, 0), 1), ((None, 64), 1), ((None, LATENCY_MAX), 1), ((Some(near), 2), 2)]);
        assert!(counts.drain().is_empty());
    }

    #[test]
    fn forged_latencies_lose_no_request_and_fill_only_the_table_of_their_hop() {
        let counts = RequestCounts::default();
        let hostile = NodeId::name("hostile").unwrap();
        for latency in 0..3000 {
            counts.count(Some(&hostile), latency);
            counts.count(None, 7);
        }
        assert_eq!(counts.folded(), 3000 - RequestCounts::LATENCIES_MAX as u64);
        let drained = counts.drain();
        assert_eq!((drained.len(), drained.values().sum::<u64>()), (RequestCounts::LATENCIES_MAX + 1, 6000));
        assert_eq!(drained[&(None, 7)], 3000);
        // The next window has room for other latencies.
        counts.count(Some(&hostile), 9999);
        assert_eq!(counts.drain().into_iter().collect::<Vec<_>>(), [((Some(hostile), 9999), 1)]);
    }

    #[test]
    fn no_request_is_lost_between_threads_and_drains() {
        let counts = RequestCounts::default();
        let hops: Vec<NodeId> = (0..4).map(NodeId::number).collect();
        let mut seen = 0;
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|thread| {
                    let (counts, hops) = (&counts, &hops);
                    scope.spawn(move || {
                        for number in 0..20_000_u32 {
                            counts.count(hops.get((number % 5) as usize), (number / 8 + thread) % 100);
                        }
                    })
                })
                .collect();
            while threads.iter().any(|thread| !thread.is_finished()) {
                seen += counts.drain().values().sum::<u64>();
                std::thread::yield_now();
            }
        });
        // Counts in a replaced table are found at the next drain.
        seen += counts.drain().values().sum::<u64>() + counts.drain().values().sum::<u64>();
        assert_eq!(seen, 80_000);
    }
}
