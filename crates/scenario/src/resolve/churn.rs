//! Resolves disturbances: the events that `[[churn]]` lists, and the random failures of `[[failures]]`.

use std::collections::{BTreeMap, BTreeSet};

use mario_domain::{Duration, NodeId};
use mario_settings::At;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::Resolving;
use crate::index::NodeIndex;
use crate::settings::{ChurnSettings, FailureSettings, Time};
use crate::topology::Topology;
use crate::{Disturbance, DisturbanceEvent};

/// The maximum number of events, listed and drawn, checked after each drawn repair. Without a limit, mean times that
/// are too short could exhaust memory. Without repairs, each drawn node crashes at most once.
const EVENTS_MAX: usize = 1_000_000;

impl Resolving<'_> {
    /// The disturbances, in chronological order.
    pub(super) fn disturbances(&mut self, topology: &Topology) -> Vec<Disturbance> {
        let settings = self.settings;
        let mut events: Vec<(Disturbance, usize)> = Vec::new();
        for (position, churn) in settings.churn.iter().enumerate() {
            for event in self.listed(topology, churn, position) {
                events.push((event, position));
            }
        }
        events.sort_by_key(|(event, _)| event.time);
        self.check_order(topology, &events);
        let mut disturbances: Vec<Disturbance> = events.into_iter().map(|(event, _)| event).collect();
        let mut taken: BTreeSet<NodeIndex> = disturbances.iter().filter_map(|event| node_of(event.event)).collect();
        for (position, failures) in settings.failures.iter().enumerate() {
            self.drawn(topology, failures, position, &mut taken, &mut disturbances);
        }
        disturbances.sort_by_key(|disturbance| disturbance.time);
        disturbances
    }

    fn listed(&mut self, topology: &Topology, churn: &ChurnSettings, position: usize) -> Vec<Disturbance> {
        let at = |key| [At::Key("churn"), position.into(), At::Key(key)];
        let node = |resolving: &mut Resolving<'_>, id: &NodeId, time: Time| {
            resolving.check_in_time(time, &at("time"));
            resolving.node(topology, id, &at("node"))
        };
        let event = |time: mario_domain::Time, event| Disturbance { time, event };
        let mut events = Vec::new();
        match churn {
            ChurnSettings::Crash(crash) => {
                let Some(node) = node(self, &crash.node, crash.time) else { return events };
                events.push(event(crash.time.moment(), DisturbanceEvent::Crash(node)));
                if let Some(repair) = crash.repair {
                    events.push(event(crash.time.moment() + repair.span(), DisturbanceEvent::Join(node)));
                }
            }
            ChurnSettings::Leave(leave) => {
                let Some(node) = node(self, &leave.node, leave.time) else { return events };
                let notice = (leave.time.moment() - leave.notice.span()).max(mario_domain::Time::ZERO);
                events.push(event(notice, DisturbanceEvent::Notice(node)));
                events.push(event(leave.time.moment(), DisturbanceEvent::Leave(node)));
            }
            ChurnSettings::Join(join) => {
                let Some(node) = node(self, &join.node, join.time) else { return events };
                events.push(event(join.time.moment(), DisturbanceEvent::Join(node)));
            }
            ChurnSettings::LinkDown(down) => {
                self.check_in_time(down.time, &at("time"));
                let Some((one, other)) = self.link(topology, &down.link, &at("link")) else { return events };
                events.push(event(down.time.moment(), DisturbanceEvent::LinkDown(one, other)));
                if let Some(repair) = down.repair {
                    events.push(event(down.time.moment() + repair.span(), DisturbanceEvent::LinkUp(one, other)));
                }
            }
            ChurnSettings::LinkUp(up) => {
                self.check_in_time(up.time, &at("time"));
                let Some((one, other)) = self.link(topology, &up.link, &at("link")) else { return events };
                events.push(event(up.time.moment(), DisturbanceEvent::LinkUp(one, other)));
            }
        }
        events
    }

    fn link(&mut self, topology: &Topology, ends: &[NodeId; 2], at: &[At<'_>]) -> Option<(NodeIndex, NodeIndex)> {
        let one = self.node(topology, &ends[0], at);
        let other = self.node(topology, &ends[1], at);
        let (one, other) = (one?, other?);
        if topology.link_between(one, other).is_none() {
            let mistake = self.mistake(format!("there is no link between `{}` and `{}`", ends[0], ends[1]), at);
            let neighbours: Vec<String> =
                topology.links_from(one).take(8).map(|(_, link)| format!("`{}`", topology.node(link.to).id)).collect();
            self.mistakes.push(mistake.hint(format!("`{}` has links to {}", ends[0], neighbours.join(", "))));
            return None;
        }
        Some((one.min(other), one.max(other)))
    }

    /// Reports events in an impossible order: a node or link that is down cannot go down, and one that is up cannot
    /// come up.
    fn check_order(&mut self, topology: &Topology, events: &[(Disturbance, usize)]) {
        let mut is_there: BTreeMap<NodeIndex, bool> = BTreeMap::new();
        let mut is_up: BTreeMap<(NodeIndex, NodeIndex), bool> = BTreeMap::new();
        for (Disturbance { time, event }, position) in events {
            let id = |node: NodeIndex| &topology.node(node).id;
            let complaint = match *event {
                DisturbanceEvent::Notice(_) => None,
                DisturbanceEvent::Crash(node) | DisturbanceEvent::Leave(node) => {
                    let was_there = is_there.insert(node, false).unwrap_or(true);
                    (!was_there).then(|| format!("node `{}` is gone already at {time}", id(node)))
                }
                DisturbanceEvent::Join(node) => {
                    // A node whose first event is a join is absent until then.
                    let was_there = is_there.insert(node, true).unwrap_or(false);
                    was_there.then(|| format!("node `{}` is there already at {time}", id(node)))
                }
                DisturbanceEvent::LinkDown(one, other) => {
                    let was_up = is_up.insert((one, other), false).unwrap_or(true);
                    (!was_up).then(|| {
                        format!("the link between `{}` and `{}` is down already at {time}", id(one), id(other))
                    })
                }
                DisturbanceEvent::LinkUp(one, other) => {
                    let was_up = is_up.insert((one, other), true).unwrap_or(true);
                    was_up
                        .then(|| format!("the link between `{}` and `{}` is up already at {time}", id(one), id(other)))
                }
            };
            if let Some(complaint) = complaint {
                let mistake = self.mistake(complaint, &["churn".into(), (*position).into()]);
                self.mistakes.push(mistake.hint("put the events of one node or link in an order that can happen"));
            }
        }
    }

    /// Draws the crashes and repairs of one `[[failures]]` entry and adds them to `events`. They affect the nodes of
    /// the entry's tiers, by default of all tiers except 0. Nodes that are already in `taken`, because of listed events
    /// or an earlier entry, are left out; the others are added to it.
    fn drawn(
        &mut self,
        topology: &Topology,
        failures: &FailureSettings,
        position: usize,
        taken: &mut BTreeSet<NodeIndex>,
        events: &mut Vec<Disturbance>,
    ) {
        self.check_in_time(failures.start, &["failures".into(), position.into(), "start".into()]);
        if let Some(tiers) = &failures.tiers {
            for tier in tiers {
                if !topology.nodes().any(|(_, node)| node.tier == *tier) {
                    let at = ["failures".into(), position.into(), "tiers".into()];
                    let deepest = topology.nodes().map(|(_, node)| node.tier).max().unwrap_or(0);
                    let mistake = self.mistake(format!("there is no tier {tier}"), &at);
                    self.mistakes.push(mistake.hint(format!("tiers go from 0, the cloud, to {deepest}")));
                }
            }
        }
        let is_chosen = |tier: u16| failures.tiers.as_ref().map_or(tier > 0, |tiers| tiers.contains(&tier));
        let end = self.settings.duration.moment();
        for (index, node) in topology.nodes().filter(|(_, node)| is_chosen(node.tier)) {
            debug_assert!(topology.find(&node.id) == Some(index), "nodes are found by their ids");
            if !taken.insert(index) {
                continue;
            }
            let seed = self.seed_for(3 + position as u64);
            let mut random = Pcg64::seed_from_u64(seed ^ (u64::from(index.0) << 20));
            let mut time = failures.start.moment();
            loop {
                time += exponential(&mut random, failures.mean_time_between.span());
                if time >= end {
                    break;
                }
                events.push(Disturbance { time, event: DisturbanceEvent::Crash(index) });
                let Some(repair) = failures.mean_repair else { break };
                time += exponential(&mut random, repair.span());
                if time >= end {
                    break;
                }
                events.push(Disturbance { time, event: DisturbanceEvent::Join(index) });
                if events.len() > EVENTS_MAX {
                    let mistake = self.mistake(
                        format!("nodes would crash more than {EVENTS_MAX} times"),
                        &["failures".into(), position.into(), "mean_time_between".into()],
                    );
                    self.mistakes.push(mistake.hint("write a longer mean time"));
                    return;
                }
            }
        }
    }
}

fn node_of(event: DisturbanceEvent) -> Option<NodeIndex> {
    match event {
        DisturbanceEvent::Crash(node)
        | DisturbanceEvent::Leave(node)
        | DisturbanceEvent::Notice(node)
        | DisturbanceEvent::Join(node) => Some(node),
        DisturbanceEvent::LinkDown(..) | DisturbanceEvent::LinkUp(..) => None,
    }
}

/// Draws an exponentially distributed duration above 0.
fn exponential(random: &mut Pcg64, mean: Duration) -> Duration {
    let uniform: f64 = random.random();
    Duration::of(-mean.units() * (1.0 - uniform).ln() + f64::MIN_POSITIVE)
}
