//! Checks the verdicts on waking sleeping instances for client requests.

use mario_domain::{AgentOperation, OperationName};

use super::cycles::Case;
use super::{Audit, instance_text};
use crate::finding::FindingKind;
use crate::reader::{Detail, Proposal, Target, Verdict, Wakings, Woken};

impl Audit {
    /// Checks the verdict on waking a sleeping instance for a client request.
    pub(super) fn woken(&mut self, record: &Woken) {
        self.counts.woken += u64::from(matches!(record.verdict, Verdict::Accepted(_)));
        let Some(place) = self.present(&record.instance, "is woken") else { return };
        let who = instance_text(&record.instance);
        let agent = self.world.agent(place);
        let (own, application, held, is_refused) = (agent.node, agent.application, agent.held, agent.is_wake_refused);
        self.require_up(own, &who);
        if is_refused && self.header.detail == Detail::Full {
            let expected = "that its manager is not asked again before its next evaluation";
            self.find(FindingKind::Sleep, &who, expected, "that it is asked again");
        }
        let proposal = Proposal { operation: AgentOperation::Wake, target: Target::Own };
        let change = self.change_by(place, &proposal);
        let Some(Ok(changed)) = change else {
            return self.find(FindingKind::Sleep, &who, "an instance that sleeps", "a client request that wakes it");
        };
        let mut enactments = Vec::new();
        let mut case = Case {
            who,
            agent: Some(place),
            own: Some(own),
            operation: OperationName::Wake,
            target: None,
            target_id: self.node_id(own).id().clone(),
            application,
            needed: changed.held.saturating_sub(held),
            change: Some(Ok(changed)),
            enactments: &mut enactments,
        };
        match &record.verdict {
            Verdict::Accepted(_) => {
                self.changes(&mut case, place, own);
                self.enact(&mut enactments);
                self.world.agent_mut(place).is_wake_refused = false;
            }
            Verdict::Inhibited(reason) => {
                self.inhibited(&case, reason);
                self.world.agent_mut(place).is_wake_refused = true;
            }
        }
    }

    /// In a trace of counts, checks that the application can sleep and has instances, and that the recorded rule can
    /// inhibit a wake.
    pub(super) fn wakings(&mut self, record: &Wakings) {
        self.counts.woken += u64::from(record.refused_by.is_none());
        let sleeps = self.header.applications[record.application as usize].sleep.is_some();
        if !sleeps || self.tiers.of(record.application) == 0 {
            let who = self.application_text(record.application);
            self.find(FindingKind::Sleep, who, "an application with instances that sleep", "another");
        }
        let speaks_against_waking = ["capacity", "leaving", "down", "acceptance", "acceptance-failed"];
        if let Some(rule) = record.refused_by.filter(|rule| !speaks_against_waking.contains(&rule.as_str())) {
            let who = self.application_text(record.application);
            self.find(FindingKind::Reason, who, "a rule that can inhibit a wake", rule.as_str());
        }
    }
}
