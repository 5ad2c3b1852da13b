//! Performs the effects of a node, in order, each after the records before it are on disk.

use std::fmt::Write;
use std::sync::Arc;

use mario_colony::{Copies, Descriptor, Effect, Input, JournalRecord, Message, OwnCause, TraceEvent, WorkloadId};
use mario_domain::{InstanceId, Operation, Rule, Verdict};

use super::{Scheduled, World};
use crate::colonies::daemon::Queued;
use crate::colonies::machine::{Startup, Wanted};
use crate::colonies::sabotage::Sabotage;

impl World<'_> {
    /// Appends effects to the stream of a node, and performs those that wait for no record. Then schedules the next
    /// wake-up of the node, and checks the invariants.
    pub(super) fn absorb(&mut self, node: usize, effects: Vec<Effect>) {
        for effect in effects {
            self.note(node, &effect);
            let mut synced_at = 0;
            match &effect {
                Effect::Journal(record) => {
                    let wait = self.random.below(self.plan.conditions.sync_max + 1);
                    let daemon = &mut self.daemons[node];
                    synced_at = daemon.synced_at.max(self.now + wait);
                    daemon.synced_at = synced_at;
                    daemon.memory.apply(record, &mut self.checker.numbers);
                    if synced_at > self.now {
                        self.schedule(synced_at, Scheduled::Synced(node));
                    }
                    self.ambush(node, record);
                }
                Effect::Send { to, receiver, message }
                    if self.sabotage.is_some_and(|sabotage| sabotage.sends_early(message)) =>
                {
                    let (to, receiver, message) = (to.clone(), *receiver, message.clone());
                    self.send(node, &to, receiver, message);
                    continue;
                }
                Effect::Trace(_) => continue,
                _ => {}
            }
            self.daemons[node].stream.push_back(Queued { effect, synced_at });
        }
        self.pump(node);
        self.arm(node);
        self.checker.check(&self.daemons, node);
    }

    /// If an ambush is set for a daemon and the record is a step of a transfer, schedules a crash at a random time:
    /// before or after the record is on disk, and before or after the next messages arrive.
    fn ambush(&mut self, node: usize, record: &JournalRecord) {
        let is_step = matches!(
            record,
            JournalRecord::Own { cause: OwnCause::Taken { .. } | OwnCause::NotTaken { .. }, .. }
                | JournalRecord::Custody(_)
                | JournalRecord::CustodyEnded { .. }
                | JournalRecord::Grant(_)
                | JournalRecord::Gone { .. }
                | JournalRecord::NotTaken { .. }
                | JournalRecord::Forgotten { .. }
        );
        if is_step
            && !self.is_calm
            && let Some(down_for) = self.daemons[node].ambush.take()
        {
            let within = self.plan.conditions.sync_max + self.plan.conditions.delay_max;
            let (at, life) = (self.now + self.random.below(2 * within), self.daemons[node].life);
            self.schedule(at, Scheduled::Crash { node, life, down_for });
        }
    }

    /// Logs records, inhibitions and rejected peers, reports messages and evaluations to the checker, and stores the
    /// token of a `Ready`.
    fn note(&mut self, node: usize, effect: &Effect) {
        match effect {
            Effect::Journal(record) => {
                let _ = writeln!(self.log, "{} n{node} journals {}", self.now, outline(record));
                match record {
                    JournalRecord::Custody(custody) => self.checker.close(custody.transfer),
                    JournalRecord::Grant(grant) => self.checker.close(grant.transfer),
                    JournalRecord::Undeployed { instance } => {
                        self.checker.ends(&self.daemons[node].memory, instance);
                    }
                    _ => {}
                }
            }
            Effect::Send { message, .. } => {
                self.checker.sends(node, &self.daemons[node].memory, message);
                if let Message::Ready { transfer, token } = message {
                    self.daemons[node].promised.insert(*transfer, *token);
                }
            }
            Effect::Trace(report) => {
                if let TraceEvent::Judged { verdict: Verdict::Inhibited(inhibition), .. } = report {
                    self.checker.tally.count("inhibited");
                    if inhibition.rule == Rule::Anchor {
                        self.checker.tally.count("anchors kept");
                    }
                    let _ = writeln!(self.log, "{} n{node} inhibited: {}", self.now, inhibition.rule.as_str());
                }
                if let TraceEvent::Judged { request, verdict: Verdict::Accepted, .. } = report
                    && *request.operation() == Operation::Undeploy
                    && let Some(instance) = request.instance()
                {
                    self.checker.undeployed_itself(instance);
                }
                if let TraceEvent::Evaluated { instance, .. } = report {
                    self.checker.evaluated(node, &self.daemons[node].memory, instance);
                }
                if let TraceEvent::RefusedPeer(peer) = report {
                    let _ = writeln!(self.log, "{} n{node} refuses {peer}", self.now);
                }
            }
            _ => {}
        }
    }

    /// Performs queued effects of a node up to the first record that is not on disk yet.
    pub(super) fn pump(&mut self, node: usize) {
        loop {
            let daemon = &mut self.daemons[node];
            match daemon.stream.front() {
                Some(queued) if queued.synced_at <= self.now => {}
                _ => return,
            }
            let Some(queued) = daemon.stream.pop_front() else { return };
            match queued.effect {
                Effect::Journal(record) => {
                    daemon.ledger.apply(&record);
                    self.checker.durable(node, &daemon.durable, &record);
                    daemon.durable.apply(&record, &mut self.checker.numbers);
                }
                effect => self.perform(node, effect),
            }
        }
    }

    fn perform(&mut self, node: usize, effect: Effect) {
        let conditions = &self.plan.conditions;
        let life = self.daemons[node].life;
        match effect {
            Effect::Journal(_) | Effect::Trace(_) => {}
            Effect::Send { to, receiver, message } => self.send(node, &to, receiver, message),
            Effect::Start { workload, instance, descriptor, .. }
            | Effect::Resume { workload, instance, descriptor, .. } => {
                self.ask(node, workload, &instance, &descriptor);
            }
            Effect::Adapt { .. } => {}
            Effect::Drain(workload) => self.kill(node, workload, conditions.stop_max * 2),
            Effect::Stop(workload) => self.kill(node, workload, conditions.stop_max),
            Effect::Sweep { keep } => {
                let mut dead = self.daemons[node].machine.unlisted(&keep);
                if self.sabotage == Some(Sabotage::SweepsNothing) {
                    dead.clear();
                }
                let at = self.now + self.random.below(self.plan.conditions.sweep_max);
                self.schedule(at, Scheduled::Swept { node, life, dead });
            }
        }
    }

    fn ask(&mut self, node: usize, workload: WorkloadId, instance: &InstanceId, descriptor: &Arc<Descriptor>) {
        self.generations += 1;
        let (generation, life) = (self.generations, self.daemons[node].life);
        if self.daemons[node].machine.ask(workload, instance, descriptor, generation, life) == Wanted::Starts {
            self.starts(node, workload, generation);
        }
    }

    fn starts(&mut self, node: usize, workload: WorkloadId, generation: u64) {
        let at = self.now + self.random.between(1, self.plan.conditions.start_max);
        self.schedule(at, Scheduled::Started { node, workload, generation });
    }

    pub(super) fn started(&mut self, node: usize, workload: WorkloadId, generation: u64) {
        let fails = !self.is_calm && self.random.percent(self.plan.conditions.failed_starts_percent);
        match self.daemons[node].machine.started(workload, generation, fails) {
            Startup::Superseded => {}
            Startup::Up(life) => self.answer(node, life, Input::Healthy(workload)),
            Startup::Failed(life) => {
                self.checker.tally.count("failed starts");
                self.answer(node, life, Input::NotStarted { workload, cause: "chance".to_owned() });
            }
        }
    }

    /// Kills a copy, which takes at most `within` ms. Then the node gets `Stopped`, even if there was no such copy.
    fn kill(&mut self, node: usize, workload: WorkloadId, within: u64) {
        let generation = self.daemons[node].machine.kill(workload);
        let at = self.now + self.random.between(1, within);
        let life = self.daemons[node].life;
        if self.sabotage == Some(Sabotage::SaysStoppedTooEarly) {
            self.schedule(self.now + 1, Scheduled::Died { node, life, workload, generation: None });
        }
        self.schedule(at, Scheduled::Died { node, life, workload, generation });
    }

    pub(super) fn died(&mut self, node: usize, life: u32, workload: WorkloadId, generation: Option<u64>) {
        if let Some(generation) = generation {
            self.generations += 1;
            let next = self.generations;
            if self.daemons[node].machine.died(workload, generation, next) == Wanted::Starts {
                self.starts(node, workload, next);
            }
        }
        self.checker.check(&self.daemons, node);
        self.answer(node, life, Input::Stopped(workload));
    }

    /// Records, for the checker, that the reservation of an exclusive application has no copy.
    pub(super) fn note_delivery(&mut self, node: usize, message: &Message) {
        if let Message::Prepare(prepare) = message
            && prepare.descriptor.copies == Copies::Exclusive
        {
            self.daemons[node].without_copy.insert(prepare.transfer);
        }
    }
}

/// A record in one line.
pub fn outline(record: &JournalRecord) -> String {
    match record {
        JournalRecord::Own { owned, cause } => {
            format!("Own {} e{} {:?} {cause:?}", owned.instance, owned.epoch.0, owned.workload)
        }
        JournalRecord::Custody(custody) => {
            let (owned, target) = (&custody.owned, &custody.target);
            format!("Custody {} e{} {:?} to {target}", owned.instance, owned.epoch.0, custody.transfer)
        }
        JournalRecord::Grant(grant) => format!("Grant {} {:?} to {}", grant.instance, grant.transfer, grant.target),
        other => format!("{other:?}"),
    }
}
