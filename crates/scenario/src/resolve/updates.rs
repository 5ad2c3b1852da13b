//! Resolves policy changes during a run, and the recorded past that a run resumes from.

use mario_settings::At;

use super::Resolving;
use super::applications::Policies;
use crate::index::{ApplicationIndex, PolicyIndex};
use crate::settings::ManagementStrategy;
use crate::{ApplicationPlan, Deploy, RecordedPast, Update};

impl Resolving<'_> {
    /// The policy changes during the run, in chronological order. Of two changes for one application at the same time,
    /// the later one in the list counts. Changes without effect are dropped. Reports errors; under a management
    /// strategy other than agents, each change is one.
    pub(super) fn updates(
        &mut self,
        applications: &[ApplicationPlan],
        deploys: &[Deploy],
        policies: &mut Policies,
    ) -> Vec<Update> {
        let mut updates: Vec<Update> = Vec::new();
        for (position, update) in self.settings.update.iter().enumerate() {
            let at = |key| [At::Key("update"), position.into(), At::Key(key)];
            if self.settings.management.strategy != ManagementStrategy::Agents {
                let strategy = super::management(self.settings).as_str();
                let mistake = self.mistake(format!("agents decide nothing under `{strategy}`"), &at("policy"));
                self.mistakes.push(mistake.hint("omit the update, or let agents manage from the beginning"));
                continue;
            }
            self.check_in_time(update.time, &at("time"));
            let concerned: Vec<ApplicationIndex> = match &update.application {
                Some(id) => self.application(applications, id, &at("application")).into_iter().collect(),
                None => (0..applications.len()).map(ApplicationIndex::at).collect(),
            };
            for application in concerned {
                let listed = self.settings.application.get(application.position());
                let memory = listed.and_then(|listed| listed.memory).or(self.settings.memory.cycles);
                let known = policies.texts.len();
                let Some(policy) = self.policy(policies, &update.policy, memory, &at("policy")) else { break };
                let policy = policies.same_as_before(known, policy);
                let time = update.time.moment();
                updates.retain(|other| other.time != time || other.application != application);
                updates.push(Update { time, application, policy });
            }
        }
        updates.sort_by_key(|update| update.time);
        without_effect(updates, applications, deploys)
    }

    /// The recorded past that the run resumes from; `None` if there is none.
    pub(super) fn past(&mut self) -> Option<RecordedPast> {
        let start = &self.settings.start;
        let time = start.time?;
        self.check_in_time(time, &["start".into(), "time".into()]);
        if let Some(recorded) = start.seed.filter(|seed| *seed != self.settings.seed) {
            let message = format!(
                "the past of this scenario was recorded with the seed {recorded}, and is another one with {}",
                self.settings.seed
            );
            let mistake = self.mistake(message, &["start".into(), "seed".into()]);
            self.mistakes.push(mistake.hint("leave the seed as it is: `mario compare` takes `--seeds 1`"));
        }
        let checksum = match start.checksum.as_deref().map(|text| u32::from_str_radix(text, 16)) {
            Some(Ok(checksum)) => Some(checksum),
            None => None,
            Some(Err(_)) => {
                let mistake =
                    self.mistake("`checksum` is eight hexadecimal digits", &["start".into(), "checksum".into()]);
                self.mistakes.push(mistake.hint("leave `[start]` as `mario snapshot` wrote it"));
                None
            }
        };
        Some(RecordedPast { time: time.moment(), records: start.records, checksum })
    }
}

/// Drops updates that change nothing, because all agents of the application already have the policy. Expects
/// chronological order.
fn without_effect(updates: Vec<Update>, applications: &[ApplicationPlan], deploys: &[Deploy]) -> Vec<Update> {
    let mut present: Vec<Option<PolicyIndex>> = applications
        .iter()
        .enumerate()
        .map(|(position, plan)| {
            let is_other = |deploy: &Deploy| deploy.application.position() == position && deploy.policy != plan.policy;
            (!deploys.iter().any(is_other)).then_some(plan.policy)
        })
        .collect();
    let mut left = updates;
    left.retain(|update| present[update.application.position()].replace(update.policy) != Some(update.policy));
    left
}

impl Policies {
    /// If `policy` was added after the first `known` policies, and one of those has the same text and memory, removes
    /// `policy`. Returns the index of the policy that is kept.
    fn same_as_before(&mut self, known: usize, policy: PolicyIndex) -> PolicyIndex {
        if policy.position() < known {
            return policy;
        }
        let added = &self.texts[policy.position()];
        let same = self.texts[..known].iter().position(|text| text.files == added.files && text.memory == added.memory);
        let Some(same) = same.map(PolicyIndex::at) else { return policy };
        self.texts.truncate(known);
        for index in self.by_key.values_mut().filter(|index| **index == Some(policy)) {
            *index = Some(same);
        }
        same
    }
}
