//! Performs the planned faults and operators' commands.

use std::fmt::Write;

use mario_colony::{Availability, Command, Input, JournalId, Ledger};
use mario_domain::InstanceId;

use super::{Scheduled, World};
use crate::colonies::book::Book;
use crate::colonies::plan::What;
use crate::colonies::sabotage::Sabotage;

impl World<'_> {
    pub(super) fn planned(&mut self, index: usize) {
        let what = self.plan.events[index].what.clone();
        let _ = writeln!(self.log, "{} {what:?}", self.now);
        match what {
            What::Deploy { node, application, key } => {
                let (key, descriptor) = (mario_colony::DeployKey(key), self.plan.applications[application].clone());
                self.command(node, Command::Deploy { key, descriptor, is_anchor: key.0 % 2 == 0 });
            }
            What::Undeploy { node, pick } => self.pick(node, pick, Command::Undeploy),
            What::Pin { node, pick } => self.pick(node, pick, Command::Pin),
            What::Unpin { node, pick } => self.pick(node, pick, Command::Unpin),
            What::Anchor { node, pick, is_anchor } => {
                self.pick(node, pick, |instance| Command::Anchor { instance, is_anchor });
            }
            What::DeclareLost { node, peer } => {
                let journal = self.daemons[peer].journal;
                if node != peer && self.daemons[node].node.is_some() {
                    self.declare_lost(node, journal);
                }
            }
            What::Leave { node } => self.input(node, Input::Availability(Availability::Leaving)),
            What::Return { node } => self.input(node, Input::Availability(Availability::Up)),
            What::Crash { node, down_for } => {
                self.crash(node, down_for);
            }
            What::Ambush { node, down_for } => self.daemons[node].ambush = Some(down_for),
            What::LoseDisk { node, down_for } => self.lose_disk(node, down_for),
            What::Cut { link, down_for } => {
                if !self.links[link].is_cut {
                    self.checker.tally.count("cuts");
                    self.links[link].is_cut = true;
                    self.repairs += 1;
                    self.schedule(self.now + down_for, Scheduled::Heal(link));
                    self.relink();
                }
            }
            What::JumpClock { node, by } => {
                self.checker.tally.count("clock jumps");
                let daemon = &mut self.daemons[node];
                daemon.clock_offset += by;
                daemon.wakes_at = None;
                self.arm(node);
            }
        }
    }

    fn command(&mut self, node: usize, command: Command) {
        self.input(node, Input::Operator(command));
    }

    /// Issues an operator's command for one of the instances that a node owns or has in custody, if there is any.
    fn pick(&mut self, node: usize, pick: usize, command: impl FnOnce(InstanceId) -> Command) {
        let memory = &self.daemons[node].memory;
        let held: Vec<usize> = memory.owned.keys().chain(memory.custody.keys()).copied().collect();
        if held.is_empty() {
            return;
        }
        let instance = self.checker.numbers.instance(held[pick % held.len()]).cloned();
        if let Some(instance) = instance {
            self.command(node, command(instance));
        }
    }

    /// Kills a daemon and schedules its restart. Of its pending records, a random prefix is on disk. Returns `false` if
    /// the daemon was already down.
    pub(super) fn crash(&mut self, node: usize, down_for: u64) -> bool {
        if self.daemons[node].node.is_none() {
            return false;
        }
        self.checker.tally.count("crashes");
        let journal = self.daemons[node].journal;
        let is_party = |book: &Book| book.custody.values().any(|kept| kept.receiver == journal);
        if !self.daemons[node].durable.custody.is_empty() || self.daemons.iter().any(|one| is_party(&one.durable)) {
            self.checker.tally.count("crashes in custody");
        }
        let pending = self.daemons[node].pending_records();
        let kept = self.random.below(pending + 1);
        if kept < pending {
            self.checker.tally.count("torn tails");
        }
        let _ = writeln!(self.log, "{} n{node} dies with {kept} of {pending} pending records on disk", self.now);
        for (before, record) in self.daemons[node].die(kept, &mut self.checker.numbers) {
            self.checker.durable(node, &before, &record);
        }
        self.checker.crashed(node);
        self.repairs += 1;
        self.schedule(self.now + down_for, Scheduled::Restart(node));
        self.relink();
        true
    }

    /// Kills a running daemon and wipes its disk, so that it restarts with a new journal. Within 3 s, operators begin
    /// to declare the old journal lost to the other nodes.
    fn lose_disk(&mut self, node: usize, down_for: u64) {
        if !self.crash(node, down_for) {
            return;
        }
        self.checker.tally.count("lost disks");
        let daemon = &mut self.daemons[node];
        let journal = daemon.journal;
        if self.sabotage != Some(Sabotage::KeepsIdentity) {
            self.journals += 1;
            daemon.journal = JournalId(self.journals);
        }
        self.checker.disk_lost(node, &daemon.durable);
        daemon.ledger = Ledger::default();
        daemon.durable = Book::default();
        daemon.memory = Book::default();
        for other in (0..self.daemons.len()).filter(|other| *other != node) {
            let at = self.now + self.random.between(1, 3_000);
            self.repairs += 1;
            self.schedule(at, Scheduled::Declare { node: other, journal });
        }
    }
}
