//! Traces of counts: instances by application and tier instead of one by one.

use std::collections::BTreeMap;

use mario_domain::Capacity;

use super::Audit;
use crate::finding::FindingKind;
use crate::reader::{Clients, Counted, Detail, Gone, Handovers, Header, Placed};

/// How many instances of each application there are in each tier.
pub(super) struct Tiers {
    instances: BTreeMap<(u32, u32), u64>,
    /// The hardware of each tier.
    rooms: BTreeMap<u32, u64>,
}

impl Tiers {
    pub(super) fn new(header: &Header) -> Tiers {
        let mut rooms: BTreeMap<u32, u64> = BTreeMap::new();
        for node in &header.nodes {
            let room = rooms.entry(node.tier).or_default();
            *room = room.saturating_add(match node.capacity {
                Capacity::Bounded(hardware) => hardware.as_units(),
                Capacity::Unbounded => u64::MAX,
            });
        }
        Tiers { instances: BTreeMap::new(), rooms }
    }

    pub(super) fn add(&mut self, application: u32, tier: u32) {
        *self.instances.entry((application, tier)).or_default() += 1;
    }

    fn of(&self, application: u32) -> u64 {
        self.instances
            .range((application, 0)..=(application, u32::MAX))
            .fold(0, |sum, (_, count)| sum.saturating_add(*count))
    }

    fn all(&self) -> u64 {
        self.instances.values().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// The same tiers with other instances in them.
    fn with(&self, placed: &[Placed]) -> Tiers {
        let mut tiers = Tiers { instances: BTreeMap::new(), rooms: self.rooms.clone() };
        for Placed { application, tier, instances } in placed {
            let count = tiers.instances.entry((*application, *tier)).or_default();
            *count = count.saturating_add(*instances);
        }
        tiers
    }
}

impl Audit {
    /// How many instances there are.
    pub(super) fn alive(&self) -> u64 {
        if self.header.detail == Detail::Summary { self.tiers.all() } else { self.world.alive() }
    }

    pub(super) fn handovers(&mut self, record: &Handovers) {
        for (_, count) in &record.moves {
            self.counts.handovers = self.counts.handovers.saturating_add(*count);
        }
    }

    pub(super) fn clients(&mut self, record: &Clients) {
        let (served, lost) = self.clients.unwrap_or_default();
        self.clients = Some((served.saturating_add(record.served), lost.saturating_add(record.lost)));
        let users = self.header.users.iter().filter(|user| user.application == record.application).count() as u64;
        if record.users > users {
            let who = self.application_text(record.application);
            self.find(FindingKind::Totals, who, format!("at most {users} users"), record.users.to_string());
        }
    }

    /// A cycle: as many instances of each application as its operations leave, and in each tier no more than it holds.
    pub(super) fn counted(&mut self, record: &Counted) {
        self.has_begun = true;
        self.counts.cycles += 1;
        let after = self.tiers.with(&record.placed);
        let mut expected: BTreeMap<u32, u64> = (0..self.header.applications.len() as u32)
            .map(|application| (application, self.tiers.of(application)))
            .collect();
        let mut refused = 0_u64;
        for counts in &record.outcomes {
            self.counts.nops = self.counts.nops.saturating_add(counts.nop);
            let accepted = [
                ("undeploy", counts.undeploy),
                ("migrate", counts.migrate),
                ("replicate", counts.replicate),
                ("deploy", counts.deployed),
            ];
            for (name, count) in accepted.into_iter().filter(|(_, count)| *count > 0) {
                let sum = self.counts.operations.entry(name).or_default();
                *sum = sum.saturating_add(count);
            }
            refused = refused.saturating_add(counts.inhibited).saturating_add(counts.not_deployed);
            let before = self.tiers.of(counts.application);
            let more = counts.replicate.saturating_add(counts.deployed);
            if counts.undeploy > before {
                let who = self.application_text(counts.application);
                let found = format!("{} undeploys", counts.undeploy);
                self.find(FindingKind::Instance, who, format!("at most {before} instances to go"), found);
            }
            expected.insert(counts.application, before.saturating_add(more).saturating_sub(counts.undeploy));
        }
        for (application, expected) in expected {
            let found = after.of(application);
            if expected != found {
                let who = self.application_text(application);
                self.find(FindingKind::Instance, who, format!("{expected} instances"), found.to_string());
            }
        }
        let mut named = 0_u64;
        for (rule, count) in &record.rules {
            named = named.saturating_add(*count);
            let sum = self.counts.inhibited.entry(rule.as_str()).or_default();
            *sum = sum.saturating_add(*count);
        }
        if named != refused {
            self.find(
                FindingKind::Totals,
                "the rules",
                format!("reasons for {refused} inhibitions"),
                named.to_string(),
            );
        }
        self.tiers = after;
        self.require_room_in_tiers();
    }

    pub(super) fn gone(&mut self, record: &Gone) {
        for Placed { application, tier, instances } in &record.placed {
            let there = self.tiers.instances.entry((*application, *tier)).or_default();
            if let Some(left) = there.checked_sub(*instances) {
                *there = left;
                continue;
            }
            let expected = format!("at most {there} instances in tier {tier} to go");
            *there = 0;
            let who = self.application_text(*application);
            self.find(FindingKind::Instance, who, expected, instances.to_string());
        }
    }

    fn require_room_in_tiers(&mut self) {
        let mut used: BTreeMap<u32, u64> = BTreeMap::new();
        for ((application, tier), instances) in &self.tiers.instances {
            let units = self.needed(*application).as_units().saturating_mul(*instances);
            let sum = used.entry(*tier).or_default();
            *sum = sum.saturating_add(units);
        }
        for (tier, used) in used {
            let room = self.tiers.rooms.get(&tier).copied().unwrap_or(0);
            if used > room {
                let who = format!("tier {tier}");
                self.find(FindingKind::Capacity, who, format!("at most {room} units in use"), used.to_string());
            }
        }
    }

    fn application_text(&self, application: u32) -> String {
        format!("application {}", self.header.applications[application as usize].id)
    }
}
