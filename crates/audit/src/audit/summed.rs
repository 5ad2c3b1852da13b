//! Checks traces of counts, which record instances by application and tier instead of individually.

use std::collections::BTreeMap;

use mario_domain::{Capacity, Hardware};

use super::Audit;
use crate::finding::FindingKind;
use crate::reader::{Counted, Detail, Gone, Handovers, Header, OutcomeCounts, Placed};

/// The number of instances of each application in each tier, and the hardware of the tiers.
pub(super) struct Tiers {
    instances: BTreeMap<(u32, u32), u64>,
    /// The total hardware of each tier, in units; `u64::MAX` if unbounded.
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

    pub(super) fn of(&self, application: u32) -> u64 {
        self.instances
            .range((application, 0)..=(application, u32::MAX))
            .fold(0, |sum, (_, count)| sum.saturating_add(*count))
    }

    pub(super) fn in_tier(&self, application: u32, tier: u32) -> u64 {
        self.instances.get(&(application, tier)).copied().unwrap_or(0)
    }

    /// How many more instances of an application there are than before, summed over the tiers that have more.
    fn more_than(&self, before: &Tiers, application: u32) -> u64 {
        let here = self.instances.range((application, 0)..=(application, u32::MAX));
        let more = here.map(|(key, count)| count.saturating_sub(before.instances.get(key).copied().unwrap_or(0)));
        more.fold(0, u64::saturating_add)
    }

    fn all(&self) -> u64 {
        self.instances.values().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// The same tiers with other instances.
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
    /// The number of existing instances.
    pub(super) fn alive(&self) -> u64 {
        if self.header.detail == Detail::Summary { self.tiers.all() } else { self.world.alive() }
    }

    pub(super) fn handovers(&mut self, record: &Handovers) {
        for (application, count) in &record.moves {
            self.counts.handovers = self.counts.handovers.saturating_add(*count);
            if *count > 0 && self.sums.users_of(*application) == 0 {
                let who = self.application_text(*application);
                self.find(FindingKind::Handover, who, "no moves: it has no users", count.to_string());
            }
        }
        self.require_each_once(record.moves.iter().map(|(application, count)| ((*application, 0), *count)));
    }

    /// Checks that the keys of the rows ascend without duplicates, and that no count is zero.
    fn require_each_once(&mut self, rows: impl Iterator<Item = ((u32, u32), u64)>) {
        let mut last = None;
        let mut is_true = true;
        for (key, count) in rows {
            is_true &= last.is_none_or(|last| last < key) && count > 0;
            last = Some(key);
        }
        if !is_true {
            let expected = "each application and tier once, in order, with a count above 0";
            self.find(FindingKind::Totals, "the counts", expected, "others");
        }
    }

    /// Checks a cycle: the instances of each application must follow from its operations, and fit into each tier, and
    /// the rules must account for all inhibitions.
    pub(super) fn counted(&mut self, record: &Counted) {
        self.counts.cycles += 1;
        let accepted = self.counts.accepted();
        let after = self.tiers.with(&record.placed);
        let mut expected: BTreeMap<u32, u64> = (0..self.header.applications.len() as u32)
            .map(|application| (application, self.tiers.of(application)))
            .collect();
        let mut refused = 0_u64;
        for counts in &record.outcomes {
            self.counts.nops = self.counts.nops.saturating_add(counts.nop);
            for (name, count) in counts.accepted().into_iter().filter(|(_, count)| *count > 0) {
                let sum = self.counts.operations.entry(name).or_default();
                *sum = sum.saturating_add(count);
            }
            refused = refused.saturating_add(counts.inhibited).saturating_add(counts.not_deployed);
            self.check_judged(counts, &after);
            let before = self.tiers.of(counts.application);
            let more = counts.replicate.saturating_add(counts.deployed);
            if counts.undeploy > before {
                let who = self.application_text(counts.application);
                let found = format!("{} undeploys", counts.undeploy);
                self.find(FindingKind::Instance, who, format!("at most {before} instances to remove"), found);
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
        self.require_rules(record, &after);
        let rows = record.outcomes.iter().map(|counts| ((counts.application, 0), 1));
        self.require_each_once(rows);
        self.require_each_once(
            record.placed.iter().map(|placed| ((placed.application, placed.tier), placed.instances)),
        );
        record
            .outcomes
            .iter()
            .filter(|counts| counts.deployed > 0)
            .for_each(|counts| self.sums.appeared(counts.application));
        self.tiers = after;
        self.require_room_in_tiers();
        self.await_comparison(self.counts.accepted() > accepted);
    }

    /// Checks that no more agents of an application are judged than there are, that instances come to a tier only by
    /// accepted operations, that adapts, sleeps and wakes are counted only for applications that allow them. Also
    /// checks that the columns of sleeps and wakes exist if and only if some application of the header can sleep, and
    /// that of adapts if and only if some application has flavours or can sleep.
    fn check_judged(&mut self, counts: &OutcomeCounts, after: &Tiers) {
        let OutcomeCounts { application, nop, undeploy, migrate, replicate, inhibited, deployed, adapt, .. } = *counts;
        let adapts = adapt.unwrap_or(0);
        let [sleeps, wakes] = [counts.sleep, counts.wake].map(|count| count.unwrap_or(0));
        let judged = [nop, undeploy, migrate, replicate, inhibited, adapts, sleeps, wakes];
        let judged = judged.into_iter().fold(0, u64::saturating_add);
        let has_flavours = !self.header.applications[application as usize].flavours.is_empty();
        let has_adapts = self.header.has_flavours() || self.header.has_sleep();
        if adapt.is_some() != has_adapts || (adapts > 0 && !has_flavours) {
            let who = self.application_text(application);
            let expected = "adapts if and only if applications have flavours";
            self.find(FindingKind::Totals, who, expected, format!("{adapts} adapts"));
        }
        let can_sleep = self.header.applications[application as usize].sleep.is_some();
        let are_columns_right =
            [counts.sleep, counts.wake].map(|count| count.is_some()) == [self.header.has_sleep(); 2];
        if !are_columns_right || (sleeps.max(wakes) > 0 && !can_sleep) {
            let who = self.application_text(application);
            let expected = "sleeps and wakes if and only if applications sleep";
            self.find(FindingKind::Totals, who, expected, format!("{sleeps} sleeps, {wakes} wakes"));
        }
        self.sums.judged(application, judged);
        let there = self.tiers.of(application);
        if judged > there {
            let who = self.application_text(application);
            self.find(FindingKind::Twice, who, format!("at most {there} agents judged"), judged.to_string());
        }
        let came = [migrate, replicate, deployed].into_iter().fold(0, u64::saturating_add);
        let more = after.more_than(&self.tiers, application);
        if more > came {
            let who = self.application_text(application);
            let expected = format!("at most {came} instances that came to a tier");
            self.find(FindingKind::Place, who, expected, more.to_string());
        }
    }

    /// Checks that no tier has more instances of an application without outcomes than before, and that each recorded
    /// rule is possible and inhibited at least one request.
    fn require_rules(&mut self, record: &Counted, after: &Tiers) {
        let mut judged = vec![false; self.header.applications.len()];
        record.outcomes.iter().for_each(|counts| judged[counts.application as usize] = true);
        for application in (0..judged.len() as u32).filter(|place| !judged[*place as usize]) {
            let more = after.more_than(&self.tiers, application);
            if more > 0 {
                let who = self.application_text(application);
                self.find(FindingKind::Place, who, "no instance that came to a tier", more.to_string());
            }
        }
        let nodes = &self.header.nodes;
        let has_own = || nodes.iter().any(|node| node.acceptance.is_some());
        let is_bounded = || nodes.iter().any(|node| node.capacity != Capacity::Unbounded);
        let mut wrong = Vec::new();
        for (rule, count) in &record.rules {
            let is_possible = match rule.as_str() {
                "acceptance" | "acceptance-failed" => has_own(),
                "capacity" => is_bounded(),
                _ => true,
            };
            if !is_possible || *count == 0 {
                let expected = format!("a rule that can apply, not `{}`", rule.as_str());
                wrong.push((expected, count.to_string()));
            }
        }
        for (expected, found) in wrong {
            self.find(FindingKind::Reason, "the rules", expected, found);
        }
    }

    pub(super) fn gone(&mut self, record: &Gone) {
        self.require_each_once(
            record.placed.iter().map(|placed| ((placed.application, placed.tier), placed.instances)),
        );
        for Placed { application, tier, instances } in &record.placed {
            self.take_from_tier(*application, *tier, *instances);
        }
    }

    /// Removes instances of an application from a tier. If there are fewer, reports that and removes all.
    pub(super) fn take_from_tier(&mut self, application: u32, tier: u32, instances: u64) {
        if instances == 0 {
            return;
        }
        let there = self.tiers.instances.entry((application, tier)).or_default();
        if let Some(left) = there.checked_sub(instances) {
            *there = left;
            return;
        }
        let expected = format!("at most {there} instances to remove from tier {tier}");
        *there = 0;
        let who = self.application_text(application);
        self.find(FindingKind::Instance, who, expected, instances.to_string());
    }

    fn require_room_in_tiers(&mut self) {
        let mut used: BTreeMap<u32, u64> = BTreeMap::new();
        for ((application, tier), instances) in &self.tiers.instances {
            // The flavours of instances, and which of them are asleep, are not recorded, so each instance counts with
            // the least hardware that it can hold.
            let application = &self.header.applications[*application as usize];
            let of_flavours = application.flavours.iter().map(|flavour| flavour.hardware);
            let asleep = application.sleep.map(|sleep| sleep.keeps);
            let least = of_flavours.chain(asleep).map(Hardware::as_units).min().unwrap_or(u64::MAX);
            let units = least.min(application.hardware.as_units()).saturating_mul(*instances);
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
}
