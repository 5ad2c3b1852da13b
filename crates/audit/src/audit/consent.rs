//! Checks recorded verdicts against the answers of acceptance policies.

use mario_domain::OperationName;

use super::Audit;
use super::cycles::Case;
use crate::acceptances::{AcceptanceQuery, Answer, Concerned, QueryTime};
use crate::finding::FindingKind;
use crate::reader::{Detail, Reason, Rule};

impl Audit {
    /// Checks that the acceptance policy of a node accepts an instance of the initial deployment. The cycle of the
    /// initial deployment is not in the trace.
    pub(super) fn require_first_consent(&mut self, node: u32, application: u32, who: &str) {
        // A trace of counts does not record which nodes are absent, so the neighbours that the manager saw are unknown.
        let is_recorded = self.header.detail != Detail::Summary;
        let needed = self.needed(application);
        let Some(acceptances) = self.acceptances.as_mut().filter(|_| is_recorded) else { return };
        let query = AcceptanceQuery {
            concerned: Concerned { node, own: None },
            operation: OperationName::Deploy,
            instance: None,
            target: Some(node),
            application,
            needed,
            time: QueryTime::Beginning,
        };
        let rule = match acceptances.judge(&self.header, &self.world, &query) {
            Answer::Silent => return,
            Answer::Accepts => None,
            Answer::Refuses(rule) => Some(rule),
        };
        self.counts.acceptances += 1;
        if let Some(rule) = rule {
            let expected = format!("the policy of node {} says no: {rule}", self.node_id(node));
            self.find(FindingKind::Verdict, who, expected, "an instance of the initial deployment");
        }
    }

    /// Checks a verdict against the acceptance policies of the agent's node and of the target node, as far as there are
    /// such nodes. `reason` is `None` if the request was accepted. If it was inhibited, only the policy of the node
    /// that gave the reason is evaluated.
    pub(super) fn require_consent(&mut self, case: &Case<'_>, reason: Option<&Reason>) {
        let Some(acceptances) = &mut self.acceptances else { return };
        let instance = case.agent.map(|agent| &self.world.agent(agent).instance);
        let own = case.own;
        let concerned = [own, case.target.filter(|target| Some(*target) != own)];
        let mut wrong = Vec::new();
        for node in concerned.into_iter().flatten() {
            let id = self.header.nodes[node as usize].id.id();
            if reason.is_some_and(|reason| reason.node != *id) {
                continue;
            }
            let query = AcceptanceQuery {
                concerned: Concerned { node, own },
                operation: case.operation,
                instance,
                target: case.target,
                application: case.application,
                needed: case.needed,
                time: QueryTime::Cycle,
            };
            let answer = match acceptances.judge(&self.header, &self.world, &query) {
                Answer::Silent => continue,
                Answer::Accepts => None,
                Answer::Refuses(rule) => Some(rule),
            };
            // An answer that was cut short by the budget is ignored.
            if self.allowance.is_spent() {
                return;
            }
            self.counts.acceptances += 1;
            if answer.as_ref() != reason.map(|reason| &reason.rule) {
                let text = |rule: Option<&Rule>| rule.map_or_else(|| "yes".to_owned(), |rule| format!("no: {rule}"));
                wrong.push((
                    format!("the policy of node {id} says {}", text(answer.as_ref())),
                    text(reason.map(|reason| &reason.rule)),
                ));
            }
        }
        for (expected, found) in wrong {
            let kind = if reason.is_some() { FindingKind::Reason } else { FindingKind::Verdict };
            self.find(kind, &case.who, expected, found);
        }
    }
}
