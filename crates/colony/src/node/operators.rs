//! Handles the commands of operators: deploy, undeploy, update, rollback, pin, unpin, anchor, migrate, and declare a
//! journal lost.

use std::sync::Arc;

use mario_domain::{
    AgentOperation, FlavourIndex, Hardware, Inhibition, InstanceId, NodeId, Request, Rule, Target, Verdict, Wakefulness,
};

use super::Step;
use crate::descriptor::Descriptor;
use crate::ids::{DeployKey, Epoch, JournalId, TransferId};
use crate::input::{Command, Effect, Proposal, TraceEvent};
use crate::journal::{Custody, JournalRecord, OwnCause, Owned};
use crate::manager::Availability;
use crate::message::AgentSnapshot;
use crate::rules::{Concern, HardwareChange};

impl Step<'_> {
    pub(super) fn command(&mut self, command: Command) {
        match command {
            Command::Deploy { key, descriptor, is_anchor } => self.deploy(key, descriptor, is_anchor),
            Command::Undeploy(instance) => self.undeploy(&instance),
            Command::Update { instance, descriptor } => self.update(&instance, Some(descriptor)),
            Command::Rollback(instance) => self.update(&instance, None),
            Command::Pin(instance) => self.pin(instance, true),
            Command::Unpin(instance) => self.pin(instance, false),
            Command::Anchor { instance, is_anchor } => self.anchor(instance, is_anchor),
            Command::Migrate { instance, target } => self.migrate(&instance, target),
            Command::Drain(is_draining) => self.set_draining(is_draining),
            Command::Lost(journal) => self.lost(journal),
        }
    }

    /// Creates an instance here, unless the node's manager inhibits it. Idempotent: as long as the key is kept, a
    /// repeated command with the same key only reports the instance that the first one created. A command that was
    /// inhibited is judged again.
    fn deploy(&mut self, key: DeployKey, descriptor: Arc<Descriptor>, is_anchor: bool) {
        let request = Request::deploy(descriptor.application.id.clone(), self.own_id());
        let known = self.state.ledger.deploys.iter().find(|(known, _)| *known == key);
        if let Some((_, instance)) = known {
            let created = Some(instance.clone());
            return self.report(TraceEvent::Judged { request, verdict: Verdict::Accepted, created });
        }
        let verdict = self.judge_deploy(&descriptor, &request);
        if let Err(rule) = verdict {
            let verdict = Verdict::Inhibited(Inhibition { node: self.own_id(), rule });
            return self.report(TraceEvent::Judged { request, verdict, created: None });
        }
        let replications_left = descriptor.replications_max;
        let owned = Owned {
            instance: self.state.ids.instance(),
            epoch: Epoch::default().next(),
            workload: self.state.ids.workload(),
            descriptor,
            flavour: FlavourIndex::DEFAULT,
            wakefulness: Wakefulness::Awake,
            snapshot: Arc::new(AgentSnapshot::default()),
            replications_left,
            is_pinned: false,
            is_anchor,
        };
        let created = Some(owned.instance.clone());
        self.own(owned, OwnCause::Deployed { key });
        self.report(TraceEvent::Judged { request, verdict: Verdict::Accepted, created });
    }

    fn judge_deploy(&mut self, descriptor: &Arc<Descriptor>, request: &Request) -> Result<(), Rule> {
        self.state.can_create()?;
        self.reasoner.check(self.state, descriptor)?;
        let needed = descriptor.application.hardware;
        self.judge_here(Concern { arrives: Some(needed), ..Concern::default() }, request, descriptor, needed)
    }

    /// Ends an instance that this node owns or has in custody. If it is owned, a transfer that is being prepared for it
    /// is aborted. If it is in custody, its copy is stopped at once; the target's answer decides whether the instance
    /// has ended or is alive on the target.
    fn undeploy(&mut self, instance: &InstanceId) {
        let frozen_by = self.state.agents.get(instance).and_then(|agent| agent.frozen_by);
        if let Some(transfer) = frozen_by {
            self.abort(transfer);
        }
        if let Some(custody) = self.state.ledger.custody.get(instance) {
            if !custody.is_ended {
                let running = custody.is_running.then_some(custody.owned.workload);
                let transfer = custody.transfer;
                self.journal(JournalRecord::CustodyEnded { instance: instance.clone() });
                self.effects.extend(running.map(Effect::Stop));
                self.send_transfer(transfer);
            }
        } else if self.state.ledger.owned.contains_key(instance) {
            self.report(TraceEvent::Undeploying(instance.clone()));
            self.end_instance(instance);
            self.report(TraceEvent::Undeployed(instance.clone()));
        }
    }

    /// Replaces the descriptor of an instance; `None` restores the previous one. If the update is accepted, a transfer
    /// that is being prepared for the agent is aborted, and the agent's proposal that was not judged yet is dropped.
    /// The agent keeps its memory.
    fn update(&mut self, instance: &InstanceId, descriptor: Option<Arc<Descriptor>>) {
        let from = self.state.ledger.owned.get(instance).map(|owned| owned.descriptor.version);
        let is_newer = descriptor.is_some();
        let descriptor = descriptor.or_else(|| self.state.ledger.previous(instance).cloned());
        let to = descriptor.as_ref().map(|descriptor| descriptor.version);
        let refused = self.judge_update(instance, descriptor.as_ref(), is_newer).err();
        let refused = refused.map(|rule| Inhibition { node: self.own_id(), rule });
        let is_accepted = refused.is_none();
        if let Some(descriptor) = descriptor.filter(|_| is_accepted) {
            let frozen_by = self.state.agents.get(instance).and_then(|agent| agent.frozen_by);
            if let Some(transfer) = frozen_by {
                self.abort(transfer);
            }
            if let Some(agent) = self.state.agents.get_mut(instance) {
                agent.proposal = None;
            }
            let owned = self.state.ledger.owned.get(instance);
            let flavour = owned.map(|owned| owned.flavour_in(&descriptor)).unwrap_or_default();
            self.journal(JournalRecord::Updated { instance: instance.clone(), descriptor, flavour });
            let owned = self.state.ledger.owned.get(instance);
            let is_to_run = |owned: &&Owned| !owned.is_asleep() && !self.state.is_held_back(owned);
            let effect = owned.filter(is_to_run).map(Owned::adapt);
            self.effects.extend(effect);
        }
        self.report(TraceEvent::Updated { instance: instance.clone(), from, to, refused });
    }

    fn judge_update(
        &mut self,
        instance: &InstanceId,
        descriptor: Option<&Arc<Descriptor>>,
        is_newer: bool,
    ) -> Result<(), Rule> {
        let unusable = |cause: String| Rule::Descriptor { cause };
        let owned = self.state.ledger.owned.get(instance);
        let owned = owned.ok_or_else(|| unusable("the instance is being handed over, or is not here".to_owned()))?;
        let descriptor =
            descriptor.ok_or_else(|| unusable("this node has no earlier description of the instance".to_owned()))?;
        let (known, wanted) = (&owned.descriptor, descriptor);
        if known.application.id != wanted.application.id {
            let ids = (&wanted.application.id, &known.application.id);
            return Err(unusable(format!("it describes application {}, and this is an instance of {}", ids.0, ids.1)));
        }
        if is_newer && wanted.version <= known.version {
            let versions = (wanted.version, known.version);
            return Err(unusable(format!("its version is {}, and version {} runs", versions.0, versions.1)));
        }
        if known.copies != wanted.copies {
            return Err(unusable("whether it is exclusive cannot be changed while it runs".to_owned()));
        }
        let surplus = self.state.ledger.shrinking.get(&owned.workload).copied().unwrap_or(Hardware::NONE);
        let held = owned.needed().saturating_add(surplus);
        let needed = wanted.application.held_in(owned.flavour_in(wanted), owned.wakefulness);
        let change = HardwareChange::between(held, needed);
        self.reasoner.check(self.state, wanted)?;
        change.arrives().map_or(Ok(()), |taken| self.state.manager.has_room(taken))
    }

    /// Judges a migration as if the agent had proposed it. Ignored while a transfer is being prepared for the agent.
    fn migrate(&mut self, instance: &InstanceId, target: NodeId) {
        let Some(agent) = self.state.agents.get_mut(instance) else { return };
        if agent.frozen_by.is_some() || !self.state.ledger.owned.contains_key(instance) {
            return;
        }
        agent.proposal = Some(Proposal { operation: AgentOperation::Migrate, target: Target::Node(target) });
        self.judge_agent(instance);
    }

    /// Starts or ends draining, unless that is so already.
    fn set_draining(&mut self, is_draining: bool) {
        if self.state.ledger.is_draining != is_draining {
            self.journal(JournalRecord::Drained { is_draining });
            self.state.manager.set_availability(Availability::of_drain(is_draining));
        }
    }

    fn pin(&mut self, instance: InstanceId, is_pinned: bool) {
        let Some(owned) = self.state.ledger.owned.get(&instance) else { return };
        if owned.is_pinned == is_pinned {
            return;
        }
        let frozen_by = self.state.agents.get(&instance).and_then(|agent| agent.frozen_by);
        if let Some(transfer) = frozen_by.filter(|_| is_pinned) {
            let inhibition = Inhibition { node: self.own_id(), rule: Rule::Pinned };
            self.give_up(transfer, inhibition);
        }
        self.journal(JournalRecord::Pinned { instance, is_pinned });
    }

    fn anchor(&mut self, instance: InstanceId, is_anchor: bool) {
        if self.state.ledger.owned.get(&instance).is_some_and(|owned| owned.is_anchor != is_anchor) {
            self.journal(JournalRecord::Anchored { instance, is_anchor });
        }
    }

    /// Called when an operator declares a journal lost: the neighbour with this journal will never answer again.
    /// Instances in custody for it are adopted under fresh ids, because they may still exist elsewhere under the old
    /// ones; those that an operator ended stay ended. Grants to it are closed, transfers to it that are being prepared
    /// are aborted, and reservations for its transfers are dropped.
    ///
    /// The record of transfers taken from it is kept, in case it was not lost after all and asks about them. Nothing is
    /// resent to it.
    fn lost(&mut self, journal: JournalId) {
        if journal == self.state.ids.journal {
            return;
        }
        self.state.retries.retain(|transfer, _| transfer.journal != journal);
        let preparing = self.state.outgoing.iter().filter(|(_, outgoing)| outgoing.receiver == journal);
        let preparing: Vec<TransferId> = preparing.map(|(transfer, _)| *transfer).collect();
        for transfer in preparing {
            self.prepare_timed_out(transfer);
        }
        let is_open = |custody: &&Custody| custody.receiver == journal;
        let custody: Vec<Custody> = self.state.ledger.custody.values().filter(is_open).cloned().collect();
        for custody in custody {
            self.state.retries.remove(&custody.transfer);
            if custody.is_ended {
                self.journal(JournalRecord::NotTaken { transfer: custody.transfer });
            } else {
                self.adopt(custody);
            }
        }
        let grants = self.state.ledger.grants.values().filter(|grant| grant.receiver == journal);
        let grants: Vec<TransferId> = grants.map(|grant| grant.transfer).collect();
        for transfer in grants {
            self.state.retries.remove(&transfer);
            self.journal(JournalRecord::Gone { transfer, concerning: 0 });
        }
        let places = self.state.incoming.iter().filter(|(_, place)| place.sender == journal);
        let places: Vec<TransferId> = places.map(|(transfer, _)| *transfer).collect();
        for transfer in places {
            self.drop_reservation(transfer);
        }
        // This record comes last: once it is on disk, so are all consequences of the command.
        if !self.state.ledger.lost.contains(&journal) {
            self.journal(JournalRecord::Lost { journal });
        }
    }

    fn adopt(&mut self, custody: Custody) {
        let Custody { mut owned, transfer, is_running, .. } = custody;
        owned.instance = self.state.ids.instance();
        owned.epoch = Epoch::default().next();
        self.start_agent(&owned);
        let resume = (!is_running && !owned.is_asleep()).then(|| owned.resume());
        self.journal(JournalRecord::Own { owned, cause: OwnCause::Adopted { transfer } });
        self.effects.extend(resume);
    }
}
