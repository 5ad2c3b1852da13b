//! Evicts and shrinks instances on the node as the policy of its owner demands.

use mario_domain::InstanceId;

use super::Step;
use crate::input::{Failure, TraceEvent};
use crate::journal::Owned;
use crate::rules::{EvictionNotice, HostedInstance, OwnerAct, initiative};

impl Step<'_> {
    /// Evicts the instances under notice whose agents have no evaluation left. An instance whose agent waits for a
    /// transfer is skipped. An eviction overrides a pin: an operator's command does not bind the owner.
    pub(super) fn evict(&mut self) {
        let is_due = |instance: &&InstanceId| {
            self.state.agents.get(*instance).is_some_and(|agent| {
                agent.frozen_by.is_none() && agent.notice.as_ref().is_some_and(EvictionNotice::is_due)
            })
        };
        let due: Vec<InstanceId> = self.state.ledger.owned.keys().filter(is_due).cloned().collect();
        for instance in due {
            let is_pinned = self.state.ledger.owned.get(&instance).is_some_and(|owned| owned.is_pinned);
            let notice = self.state.agents.get_mut(&instance).and_then(|agent| agent.notice.take());
            let reason = notice.map(|notice| notice.reason).unwrap_or_default();
            // The cause is reported before its consequences.
            self.report(TraceEvent::Evicted { instance: instance.clone(), reason, is_pinned });
            self.end_instance(&instance);
        }
    }

    /// Evaluates the owner's policy: shrinks are enacted at once, and evictions are announced.
    pub(super) fn initiative(&mut self) {
        let (state, reasoner) = (&*self.state, &mut *self.reasoner);
        let acceptance = state.config.acceptance.as_ref().filter(|acceptance| acceptance.has_initiative());
        let Some(acceptance) = acceptance else { return };
        let view = reasoner.manager_view(state, None);
        let present = |instance: &InstanceId| {
            let owned: &Owned = state.ledger.owned.get(instance)?;
            Some(HostedInstance {
                instance: &owned.instance,
                application: &owned.descriptor.application,
                flavour: owned.flavour,
                wakefulness: owned.wakefulness,
                held: state.held(owned),
                is_leaving: state.agents.get(instance).is_some_and(|agent| agent.notice.is_some()),
            })
        };
        let acts = match initiative(acceptance, reasoner.machine(), view, present) {
            Ok(acts) => acts.into_iter().map(owned_act).collect::<Vec<_>>(),
            Err(failure) => return self.report(TraceEvent::InitiativeFailed { failure: Failure(Box::new(failure)) }),
        };
        for act in acts {
            match act {
                OwnerAct::Shrink { instance, flavour, reason, .. } => {
                    self.report(TraceEvent::Shrunk { instance: instance.clone(), flavour, reason });
                    self.run_in(&instance, flavour);
                }
                OwnerAct::Announce { instance, reason } => {
                    let left = self.state.config.timing.notice;
                    let Some(agent) = self.state.agents.get_mut(&instance) else { continue };
                    agent.notice = Some(EvictionNotice { left, reason: reason.clone() });
                    self.report(TraceEvent::Announced { instance, evaluations: left, reason });
                }
            }
        }
    }
}

fn owned_act(act: OwnerAct<&InstanceId>) -> OwnerAct<InstanceId> {
    match act {
        OwnerAct::Shrink { instance, flavour, change, reason } => {
            OwnerAct::Shrink { instance: instance.clone(), flavour, change, reason }
        }
        OwnerAct::Announce { instance, reason } => OwnerAct::Announce { instance: instance.clone(), reason },
    }
}
