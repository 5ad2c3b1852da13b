//! Checks the actions that node owners take after an activation of the managers.

use mario_domain::{Hardware, Id, InstanceId};

use super::{Audit, instance_text};
use crate::finding::FindingKind;
use crate::reader::{Detail, Owner, OwnerAct, OwnerActKind, OwnerCounts, Owners};
use crate::world::{AgentPlace, EvictionNotice, InstanceState, Standing};

/// The node owners whose policies can evict or shrink instances, and their current turn to act, which follows an
/// activation of the managers.
#[derive(Default)]
pub(super) struct OwnersTurn {
    /// The nodes whose acceptance policies have clauses for evictions or shrinks; empty if these policies are not
    /// evaluated.
    nodes: Vec<u32>,
    /// The nodes whose owners acted in this turn, in the order of the records; `None` outside a turn.
    acted: Option<Vec<u32>>,
    /// The time at which the last turn started.
    since: f64,
    /// For each application, the number of announced evictions that have not been enacted, in a trace of counts.
    announced: Vec<u64>,
}

impl OwnersTurn {
    pub(super) fn new(nodes: Vec<u32>, application_count: usize) -> OwnersTurn {
        OwnersTurn { nodes, acted: None, since: 0.0, announced: vec![0; application_count] }
    }
}

impl Audit {
    /// Starts the turn of the owners, if the header says that owners may evict and shrink instances.
    pub(super) fn begin_turn_of_owners(&mut self) {
        self.owners.acted = self.header.notice.map(|_| Vec::new());
        self.owners.since = self.time;
    }

    /// Ends the owners' turn before the next record, if there is one. On nodes that are up, due evictions must have
    /// happened, and the policies of owners that did not act must not demand any action.
    pub(super) fn end_turn_of_owners(&mut self) {
        let Some(acted) = self.owners.acted.take() else { return };
        let nodes = std::mem::take(&mut self.owners.nodes);
        for node in &nodes {
            if !self.world.node(*node).is_up {
                continue;
            }
            self.require_no_due(*node);
            if !acted.contains(node) {
                self.require_wanted(*node, &[]);
            }
        }
        self.owners.nodes = nodes;
    }

    pub(super) fn owner(&mut self, record: &Owner) {
        // An activation of the managers without proposals has no record `cycle`, so the turn starts here.
        if self.owners.since < self.time {
            self.end_turn_of_owners();
            self.begin_turn_of_owners();
        }
        let who = format!("the owner of node {}", self.node_id(record.node));
        if self.header.notice.is_none() || self.header.nodes[record.node as usize].acceptance.is_none() {
            self.find(FindingKind::Owner, &who, "an owner with initiative", "one without");
        }
        self.require_up(record.node, &who);
        let is_there = |(place, instance): &(AgentPlace, InstanceId)| {
            self.world.standing(instance) == Some(Standing::There(*place))
        };
        if self.waiting.iter().any(is_there) {
            let expected = "a cycle before, because agents wait for one";
            self.find(FindingKind::Owner, &who, expected, "an action of an owner");
        }
        let acted = self.owners.acted.get_or_insert_default();
        let is_in_order = acted.last().is_none_or(|last| *last < record.node) && !record.acts.is_empty();
        acted.push(record.node);
        if !is_in_order {
            let expected = "owners in the order of their nodes, each with at least one action";
            self.find(FindingKind::Owner, &who, expected, "another order, or no action");
        }
        let evictions = record.acts.iter().take_while(|act| act.kind == OwnerActKind::Evicted).count();
        let (evictions, wanted) = record.acts.split_at(evictions);
        self.require_evicted_in_order(record.node, evictions);
        for act in evictions {
            self.evicted(record.node, act);
        }
        if self.header.detail == Detail::Full {
            self.require_wanted(record.node, wanted);
        }
        for act in wanted {
            self.acted(record.node, act);
        }
    }

    /// Checks that the evicted instances are those under notice whose agents have had their last evaluation, in the
    /// order of arrival. Checked only if evaluations are recorded.
    fn require_evicted_in_order(&mut self, node: u32, evictions: &[OwnerAct]) {
        if self.header.detail != Detail::Full {
            return;
        }
        let agents = self.world.node(node).agents.iter().map(|agent| self.world.agent(*agent));
        let is_due = |notice: &Option<EvictionNotice>| notice.as_ref().is_some_and(|notice| notice.left == 0);
        let due: Vec<_> = agents.filter(|agent| is_due(&agent.notice)).map(|agent| agent.instance.clone()).collect();
        if !due.iter().eq(evictions.iter().map(|act| &act.instance)) {
            let text = |ids: Vec<String>| if ids.is_empty() { "none".to_owned() } else { ids.join(", ") };
            let expected = format!("evicted: {}", text(due.iter().map(ToString::to_string).collect()));
            let found = text(evictions.iter().map(|act| act.instance.to_string()).collect());
            let who = format!("the owner of node {}", self.node_id(node));
            self.find(FindingKind::Owner, who, expected, found);
        }
    }

    fn require_no_due(&mut self, node: u32) {
        if self.header.detail != Detail::Full {
            return;
        }
        let agents = self.world.node(node).agents.iter().map(|agent| self.world.agent(*agent));
        let is_due = |notice: &Option<EvictionNotice>| notice.as_ref().is_some_and(|notice| notice.left == 0);
        let due: Vec<_> = agents.filter(|agent| is_due(&agent.notice)).map(|agent| agent.instance.clone()).collect();
        for instance in due {
            let expected = "that it is evicted: it is under notice, and its agent has had its last evaluation";
            self.find(FindingKind::Owner, instance_text(&instance), expected, "that it is still there");
        }
    }

    /// Recomputes the shrinks and announcements that the policy of a node's owner demands, and compares them with the
    /// recorded ones.
    fn require_wanted(&mut self, node: u32, found: &[OwnerAct]) {
        let Some(acceptances) = &mut self.acceptances else { return };
        let Some(expected) = acceptances.wanted(&self.header, &self.world, node) else { return };
        // An answer that was cut short by the budget is ignored.
        if self.allowance.is_spent() {
            return;
        }
        self.counts.acceptances += 1;
        if expected != found {
            let who = format!("the owner of node {}", self.node_id(node));
            self.find(FindingKind::Owner, who, acts_text(&expected), acts_text(found));
        }
    }

    /// The agent of an instance on a node. If the instance is not there, reports that and returns `None`.
    fn on_node(&mut self, node: u32, act: &OwnerAct) -> Option<AgentPlace> {
        let place = self.present(&act.instance, "is evicted or shrunk by an owner")?;
        let actual = self.world.agent(place).node;
        if actual != node {
            let expected = format!("an instance on node {}", self.node_id(node));
            let found = format!("one on node {}", self.node_id(actual));
            self.find(FindingKind::Place, instance_text(&act.instance), expected, found);
            return None;
        }
        Some(place)
    }

    fn evicted(&mut self, node: u32, act: &OwnerAct) {
        self.counts.evicted += 1;
        let Some(place) = self.on_node(node, act) else { return };
        let who = instance_text(&act.instance);
        match &self.world.agent(place).notice {
            None => self.find(FindingKind::Owner, who, "an eviction that was announced", "one that was not"),
            Some(notice) if notice.reason != act.reason => {
                let expected = format!("the announced reason: {}", notice.reason);
                self.find(FindingKind::Reason, who, expected, act.reason.clone());
            }
            Some(_) => {}
        }
        self.world.go(place, self.line);
        self.comparisons.instances_changed();
    }

    fn acted(&mut self, node: u32, act: &OwnerAct) {
        let who = instance_text(&act.instance);
        let Some(place) = self.on_node(node, act) else { return };
        match &act.kind {
            OwnerActKind::Evicted => {
                self.find(FindingKind::Owner, who, "evictions before all other actions", "one after another action");
                self.evicted(node, act);
            }
            OwnerActKind::Shrunk(flavour) => self.shrunk(place, flavour, &who),
            OwnerActKind::Announced(evaluations) => {
                let notice = self.header.notice.unwrap_or(0);
                if *evaluations != notice {
                    self.find(FindingKind::Owner, &who, format!("{notice} evaluations left"), evaluations.to_string());
                }
                let notice = EvictionNotice { left: *evaluations, reason: act.reason.clone() };
                if self.world.agent_mut(place).notice.replace(notice).is_some() {
                    self.find(FindingKind::Owner, &who, "one announcement", "another");
                }
            }
        }
    }

    fn shrunk(&mut self, place: AgentPlace, flavour: &Id, who: &str) {
        self.counts.shrunk += 1;
        let agent = self.world.agent(place);
        let (running, is_asleep) = (agent.flavour, agent.is_asleep);
        let application = &self.header.applications[agent.application as usize];
        let needed = application.needed_in(running);
        let wanted = (0_u32..).zip(&application.flavours).find(|(_, known)| known.id.id() == flavour);
        let smaller = wanted
            .map(|(place, known)| (place, known.hardware))
            .filter(|(place, hardware)| *place != running && hardware.saturating_sub(needed) == Hardware::NONE);
        match smaller {
            Some((flavour, _)) => {
                let held = application.held_in(flavour, is_asleep);
                self.world.change(place, InstanceState { flavour, is_asleep, held });
            }
            None => {
                let found = format!("shrunk to `{flavour}`");
                self.find(FindingKind::Owner, who, "another flavour that needs no more hardware", found);
            }
        }
    }

    /// Checks the actions of owners in a trace of counts.
    pub(super) fn owners(&mut self, record: &Owners) {
        if self.header.notice.is_none() {
            self.find(FindingKind::Owner, "the owners", "no owner with initiative", "an action of one");
        }
        let is_in_order = record.rows.windows(2).all(|pair| pair[0].application < pair[1].application);
        let is_of_one = record.rows.windows(2).all(|pair| pair[0].tier == pair[1].tier);
        if record.rows.is_empty() || !is_in_order || !is_of_one {
            let expected = "each application once, in order, on one node";
            self.find(FindingKind::Totals, "the counts", expected, "others");
        }
        for row in &record.rows {
            let OwnerCounts { application, tier, evicted, shrunk, announced } = *row;
            self.counts.evicted = self.counts.evicted.saturating_add(evicted);
            self.counts.shrunk = self.counts.shrunk.saturating_add(shrunk);
            let who = self.application_text(application);
            if shrunk > 0 && self.header.applications[application as usize].flavours.is_empty() {
                self.find(FindingKind::Owner, &who, "no shrinks: it has no flavours", shrunk.to_string());
            }
            let announced_before = &mut self.owners.announced[application as usize];
            let open =
                std::mem::replace(announced_before, announced_before.saturating_sub(evicted).saturating_add(announced));
            if evicted > open {
                let expected = format!("at most {open} evictions: as many were announced");
                self.find(FindingKind::Owner, &who, expected, evicted.to_string());
            }
            let there = self.tiers.in_tier(application, tier);
            let needed = evicted.saturating_add(shrunk.max(announced));
            if needed > there {
                let expected = format!("at most {there} instances in tier {tier}");
                self.find(FindingKind::Instance, &who, expected, needed.to_string());
            }
            if evicted == 0 && shrunk == 0 && announced == 0 {
                self.find(FindingKind::Totals, &who, "at least one action of an owner", "none");
            }
            self.take_from_tier(application, tier, evicted);
        }
        self.comparisons.instances_changed();
    }
}

fn acts_text(acts: &[OwnerAct]) -> String {
    let text = |act: &OwnerAct| {
        let (instance, reason) = (&act.instance, &act.reason);
        match &act.kind {
            OwnerActKind::Evicted => format!("evicted({instance}, {reason})"),
            OwnerActKind::Shrunk(flavour) => format!("shrink({instance}, {flavour}, {reason})"),
            OwnerActKind::Announced(left) => format!("evict({instance}, {reason}) in {left} evaluations"),
        }
    };
    if acts.is_empty() { "nothing".to_owned() } else { acts.iter().map(text).collect::<Vec<_>>().join(", ") }
}
