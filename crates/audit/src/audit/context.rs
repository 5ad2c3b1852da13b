//! Checks changes of the context (rule r2 of the semantics): users, nodes, links, and the policies of applications.

use std::collections::BTreeSet;

use mario_domain::InstanceId;

use super::{Audit, instance_text};
use crate::finding::FindingKind;
use crate::reader::{Cause, Handover, NodeDown, Update};
use crate::world::Standing;

impl Audit {
    pub(super) fn handover(&mut self, record: &Handover) {
        self.counts.handovers += 1;
        let who = format!("user {}", self.header.users[record.user as usize].id);
        let was = self.world.users[record.user as usize];
        if record.from != was {
            let (expected, found) = (self.connection(was), self.connection(record.from));
            self.find(FindingKind::Handover, &who, format!("a move from {expected}"), format!("one from {found}"));
        }
        if record.to == record.from {
            let place = self.connection(record.to);
            self.find(FindingKind::Handover, &who, "a move to somewhere else", format!("one to {place}"));
        }
        if let Some(to) = record.to {
            if !self.header.nodes[to as usize].access_point {
                let found = format!("node {}", self.node_id(to));
                self.find(FindingKind::Handover, &who, "a move to an access point", found);
            }
            if !self.world.node(to).is_up {
                let found = format!("one to node {}, which is down", self.node_id(to));
                self.find(FindingKind::Handover, &who, "a move to an access point that is up", found);
            }
        }
        // Steps of live users begin when their clients start, which is not a multiple of the step.
        let is_live = self.header.live.is_some();
        if !is_live && !self.is_step(record.time) && self.changed_at.is_none_or(|changed| changed < record.time) {
            let expected = format!("a move at a multiple of {}, or when nodes or links change", self.header.step);
            self.find(FindingKind::Step, &who, expected, format!("one at {}", record.time));
        }
        self.world.users[record.user as usize] = record.to;
        self.world.were_connected[record.user as usize] |= record.to.is_some();
    }

    fn connection(&self, node: Option<u32>) -> String {
        node.map_or_else(|| "nowhere".to_owned(), |node| format!("node {}", self.node_id(node)))
    }

    pub(super) fn node_down(&mut self, record: &NodeDown) {
        self.counts.context_changes += 1;
        let who = format!("node {}", self.node_id(record.node));
        if !self.world.node(record.node).is_up {
            self.find(FindingKind::Context, &who, "a node that is up to go down", "one that is down already");
        }
        if record.cause == Cause::Absent && (self.has_begun || record.time > 0.0) {
            self.find(FindingKind::Context, &who, "`crash` or `leave` after the beginning", "`absent`");
        }
        if record.cause == Cause::Leave && !self.world.node(record.node).has_given_notice {
            self.find(FindingKind::Context, &who, "`leave` after a notice", "no notice");
        }
        let agents = self.world.node(record.node).agents.clone();
        let there: BTreeSet<InstanceId> =
            agents.iter().map(|place| self.world.agent(*place).instance.clone()).collect();
        let listed: BTreeSet<InstanceId> = record.instances.iter().cloned().collect();
        if listed.len() != record.instances.len() {
            self.find(FindingKind::Instance, &who, "each instance listed once", "one listed twice");
        }
        for lost in there.difference(&listed) {
            let found = "it is not listed";
            self.find(FindingKind::Instance, instance_text(lost), format!("it is lost with {who}"), found);
        }
        for extra in listed.difference(&there) {
            let found = match self.world.standing(extra) {
                Some(Standing::There(agent)) => {
                    format!("it is on node {}", self.node_id(self.world.agent(agent).node))
                }
                Some(Standing::Gone(line)) => format!("it disappeared at line {line}"),
                None => "it never appeared".to_owned(),
            };
            self.find(FindingKind::Instance, instance_text(extra), format!("an instance on {who}"), found);
        }
        for agent in agents {
            self.world.go(agent, self.line);
        }
        self.world.set_up(record.node, false);
        let connected = self.world.users.iter().zip(0..).filter(|(node, _)| **node == Some(record.node));
        self.stranded.extend(connected.map(|(_, user)| user));
    }

    /// Checks, before time advances, that users whose access point went down were reconnected or disconnected.
    pub(super) fn require_nobody_stranded(&mut self) {
        for user in std::mem::take(&mut self.stranded) {
            if let Some(node) = self.world.users[user as usize]
                && !self.world.node(node).is_up
            {
                let who = format!("user {}", self.header.users[user as usize].id);
                let found = format!("a connection to node {}, which is down", self.node_id(node));
                self.find(FindingKind::Handover, who, "a connection to an access point that is up", found);
            }
        }
    }

    pub(super) fn node_leaving(&mut self, node: u32) {
        self.counts.context_changes += 1;
        if !self.world.node(node).is_up {
            let who = format!("node {}", self.node_id(node));
            self.find(FindingKind::Context, who, "a node that is up to leave", "one that is down");
        } else if self.world.node(node).is_leaving {
            let who = format!("node {}", self.node_id(node));
            self.find(FindingKind::Context, who, "one notice before a node leaves", "another");
        }
        let state = self.world.node_mut(node);
        (state.is_leaving, state.has_given_notice) = (true, true);
    }

    /// Changes the policy of an application's agents. Reports an update in a trace whose format has none.
    pub(super) fn updated(&mut self, record: &Update) {
        const FIRST_FORMAT: u64 = 3;
        self.counts.context_changes += 1;
        if self.header.mario_trace < FIRST_FORMAT {
            let expected = format!("no update in a trace of format {}", self.header.mario_trace);
            self.find(FindingKind::Header, "the record", expected, "one");
        }
        self.world.update(record.application, record.policy);
    }

    pub(super) fn node_up(&mut self, node: u32) {
        self.counts.context_changes += 1;
        if self.world.node(node).is_up {
            let who = format!("node {}", self.node_id(node));
            self.find(FindingKind::Context, who, "a node that is down to come up", "one that is up already");
        }
        self.world.set_up(node, true);
    }

    pub(super) fn link(&mut self, nodes: [u32; 2], is_up: bool) {
        self.counts.context_changes += 1;
        let [one, other] = nodes;
        let who = format!("the link between {} and {}", self.node_id(one), self.node_id(other));
        if !self.world.are_linked(one, other) {
            self.find(FindingKind::Context, who, "a link of the header", "no such link");
            return;
        }
        if self.world.is_broken(nodes) != is_up {
            let (expected, found) = if is_up { ("down", "up") } else { ("up", "down") };
            self.find(FindingKind::Context, who, format!("it was {expected}"), format!("it was {found} already"));
        }
        self.world.set_link(nodes, is_up);
    }
}
