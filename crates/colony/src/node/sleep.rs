//! Scale to zero: an instance that falls asleep stops its workload, while its agent keeps evaluating. The agent or a
//! client request wakes it, which is a cold start of the workload.

use std::sync::Arc;

use mario_domain::{AgentOperation, Inhibition, InstanceId, Rule, Target, Verdict};

use super::Step;
use crate::ids::{TransferId, WorkloadId};
use crate::input::{Effect, Proposal, TraceEvent};
use crate::journal::{JournalRecord, Owned};
use crate::message::TransferKind;
use crate::rules::{Concern, HardwareChange, sleep, wake};

impl Step<'_> {
    /// Returns the change of hardware when an instance here falls asleep or wakes. A copy that is still stopping holds
    /// its old amount.
    pub(super) fn sleep_change(
        &self,
        instance: &InstanceId,
        operation: AgentOperation,
    ) -> Result<HardwareChange, Rule> {
        let Some(owned) = self.state.ledger.owned.get(instance) else { return Err(Rule::Down) };
        if operation == AgentOperation::Wake && self.state.is_held_back(owned) {
            return Err(Rule::Unconfirmed);
        }
        let (application, held) = (&owned.descriptor.application, self.state.held(owned));
        match operation {
            AgentOperation::Sleep => sleep(application, owned.wakefulness, held),
            _ => wake(application, owned.flavour, owned.wakefulness, held),
        }
    }

    /// Puts an instance to sleep: its copy finishes its requests and stops; its hardware counts as used until then.
    pub(super) fn fall_asleep(&mut self, instance: &InstanceId) {
        let Some(workload) = self.state.ledger.owned.get(instance).map(|owned| owned.workload) else { return };
        self.journal(JournalRecord::Slept { instance: instance.clone() });
        self.state.restarts.remove(&workload);
        self.effects.push(Effect::Drain(workload));
    }

    /// Wakes an instance, which is a cold start of its copy. A copy that is still stopping starts once it has stopped.
    pub(super) fn wake_up(&mut self, instance: &InstanceId) {
        self.journal(JournalRecord::Woke { instance: instance.clone() });
        if let Some(agent) = self.state.agents.get_mut(instance) {
            agent.wake_refused = None;
        }
        let owned = self.state.ledger.owned.get(instance);
        let resume = owned.filter(|owned| !self.state.stopping.contains(&owned.workload)).map(Owned::resume);
        self.effects.extend(resume);
    }

    /// Handles a client request to a sleeping instance: the manager judges whether the instance may wake, unless it has
    /// inhibited that since the agent's last evaluation. If the instance wakes, a migration that is being prepared is
    /// aborted, because the target has reserved hardware for a sleeping instance.
    pub(super) fn requested(&mut self, instance: &InstanceId) {
        let Some(owned) = self.state.ledger.owned.get(instance).filter(|owned| owned.is_asleep()) else { return };
        let descriptor = Arc::clone(&owned.descriptor);
        let Some(agent) = self.state.agents.get(instance) else { return };
        if agent.wake_refused.is_some() {
            return;
        }
        let frozen_by = agent.frozen_by;
        let proposal = Proposal { operation: AgentOperation::Wake, target: Target::Own };
        let Some(request) = self.request(instance, &proposal) else { return };
        let verdict = self.sleep_change(instance, AgentOperation::Wake).and_then(|change| {
            let concern = Concern { arrives: change.arrives(), ..Concern::default() };
            self.judge_here(concern, &request, &descriptor, change.taken)
        });
        let verdict = match verdict {
            Ok(()) => {
                let is_migrating = |transfer: &TransferId| {
                    let outgoing = self.state.outgoing.get(transfer);
                    outgoing.is_some_and(|outgoing| outgoing.prepare.kind == TransferKind::Migrate)
                };
                if let Some(transfer) = frozen_by.filter(is_migrating) {
                    self.abort(transfer);
                }
                self.wake_up(instance);
                Verdict::Accepted
            }
            Err(rule) => {
                let inhibition = Inhibition { node: self.own_id(), rule };
                if let Some(agent) = self.state.agents.get_mut(instance) {
                    agent.wake_refused = Some(inhibition.clone());
                }
                Verdict::Inhibited(inhibition)
            }
        };
        self.report(TraceEvent::Woken { instance: instance.clone(), verdict });
    }

    /// Frees the surplus hardware of a copy that has stopped because its instance sleeps, unless the instance is awake
    /// again. The instance may be on another node by now.
    pub(super) fn sleeping_copy_stopped(&mut self, workload: WorkloadId) {
        let ledger = &self.state.ledger;
        let custody = ledger.custody.values().map(|custody| &custody.owned);
        let is_to_run = |owned: &Owned| owned.workload == workload && !owned.is_asleep();
        let is_wanted = ledger.owned.values().chain(custody).any(is_to_run);
        if !is_wanted && ledger.shrinking.contains_key(&workload) {
            self.journal(JournalRecord::Shrunk { workload });
        }
    }
}
