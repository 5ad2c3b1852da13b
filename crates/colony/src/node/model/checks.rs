//! The invariants of the transfer, checked over all nodes of a world at once.

use std::collections::BTreeMap;

use super::World;
use super::member::{Member, Members};
use crate::ids::Epoch;

impl Members {
    /// The first violation found in a world; `None` if the invariants hold.
    pub(super) fn violation(&mut self, world: &World) -> Option<String> {
        let living = (0..world.members.len()).filter(|node| !world.is_lost[*node]);
        let living: Vec<(usize, Member)> =
            living.map(|node| (node, self.table[world.members[node] as usize].clone())).collect();
        for (node, member) in &living {
            let (used, capacity) = (copies(member), self.bounds.capacities[*node]);
            if used > capacity {
                return Some(format!("{used} copies on node {node}, which has room for {capacity}"));
            }
            if member.state.ledger != member.disk {
                return Some(format!("node {node} believes what is not on its disk"));
            }
        }
        let mut owners: BTreeMap<u16, usize> = BTreeMap::new();
        let mut custodians: BTreeMap<u16, Vec<Epoch>> = BTreeMap::new();
        for (_, member) in &living {
            for instance in member.disk.owned.keys() {
                *owners.entry(self.instance(instance)).or_default() += 1;
            }
            for (instance, custody) in &member.disk.custody {
                custodians.entry(self.instance(instance)).or_default().push(custody.owned.epoch);
            }
        }
        let first = self.bounds.owners.len() as u16;
        let known = owners.keys().chain(custodians.keys()).copied().max().unwrap_or(0).max(first);
        for instance in 0..=known {
            let count = owners.get(&instance).copied().unwrap_or(0);
            let epochs = custodians.get(&instance).cloned().unwrap_or_default();
            if count > 1 {
                return Some(format!("instance {instance} has {count} owners"));
            }
            let is_somewhere = count > 0 || !epochs.is_empty();
            let may_be_gone = world.ended.contains(&instance) || world.excused.contains(&instance);
            if instance < first && !is_somewhere && !may_be_gone {
                return Some(format!("instance {instance} is lost"));
            }
            if count > 0 && world.ended.contains(&instance) {
                return Some(format!("instance {instance} was undeployed and is owned again"));
            }
            let mut distinct = epochs.clone();
            distinct.sort_unstable();
            distinct.dedup();
            if distinct.len() != epochs.len() {
                return Some(format!("instance {instance} has two custodians in one epoch"));
            }
        }
        if world.epochs.contains(&Epoch(u32::MAX)) {
            return Some("an instance was taken in an epoch that is not its highest".to_owned());
        }
        self.runs_twice(world, &living)
    }

    /// Returns a violation if two copies of an exclusive application run at once. Checked only if there is one initial
    /// instance, and none was lost.
    fn runs_twice(&mut self, world: &World, living: &[(usize, Member)]) -> Option<String> {
        if !self.bounds.is_exclusive || self.bounds.owners.len() != 1 || !world.excused.is_empty() {
            return None;
        }
        let running: u64 = living.iter().map(|(_, member)| running_copies(member)).sum();
        (running > 1).then(|| format!("{running} copies of an application that may have one"))
    }

    pub(super) fn is_quiet(&self, world: &World) -> bool {
        let is_quiet = |node: usize| {
            let member = &self.table[world.members[node] as usize];
            world.is_lost[node] || member.state.is_quiet() && member.stopping.is_empty()
        };
        (0..world.members.len()).all(is_quiet)
    }
}

/// The number of copies that a node has or has reserved hardware for. Each needs one unit of hardware.
fn copies(member: &Member) -> u64 {
    let custody = member.disk.custody.values().filter(|custody| custody.is_running).count();
    let counts = [
        member.disk.owned.len(),
        custody,
        member.disk.draining.len(),
        member.state.incoming.len(),
        member.state.dropped.len(),
    ];
    counts.iter().sum::<usize>() as u64
}

/// The number of copies that may run on the machine of a node, including those that are being stopped.
fn running_copies(member: &Member) -> u64 {
    let owned = member.disk.owned.len();
    let custody = member.disk.custody.values().filter(|custody| custody.is_running).count();
    (owned + custody + member.disk.draining.len()) as u64
}
