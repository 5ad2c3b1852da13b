//! Evaluates agents at the end of their observation windows, and the owner's policy for evictions and shrinks at its
//! own interval. Counts and publishes what they report.

use std::collections::BTreeMap;
use std::time::Instant;

use mario_colony::{Input, Observation, Proposal, RequestFact, TraceEvent};
use mario_domain::{InstanceId, NodeId, Rule, Target, Verdict};

use super::core::Core;
use crate::api::{NodeEvent, NodeReport, Report};

impl Core {
    /// Evaluates the agents whose windows have ended, and then judges their proposals. Also evicts instances, evaluates
    /// the owner's policy and continues to drain the node, if these are due.
    pub(crate) fn evaluate(&mut self) {
        let now = Instant::now();
        let period = self.config.evaluation_period();
        let instances: Vec<InstanceId> = self.node.instances().cloned().collect();
        self.windows.retain(|instance, _| instances.binary_search(instance).is_ok());
        let mut due = Vec::new();
        for instance in instances {
            match self.windows.get_mut(&instance) {
                Some(end) if *end <= now => {
                    // Windows that were missed, for example while the machine was suspended, are skipped.
                    *end = now + period;
                    due.push(instance);
                }
                Some(_) => {}
                // The agent is new, or its copy was not healthy: its next window starts when its instance can be
                // reached.
                None => {
                    if self.drain_counts(&instance).is_some() {
                        self.windows.insert(instance, now + period);
                    }
                }
            }
        }
        // An instance that could not be evicted because it was being transferred is evicted before its agent evaluates
        // again.
        self.evict(!due.is_empty());
        for instance in &due {
            let Some(counts) = self.drain_counts(instance) else {
                // The copy is not healthy: its agent observed no requests, and must not undeploy because of that.
                self.windows.remove(instance);
                continue;
            };
            let requests = counts.into_iter().map(|((last_hop, quanta), count)| RequestFact {
                neighbour: last_hop.map_or(Target::Own, Target::Node),
                rate: count as f64,
                latency: f64::from(quanta) * self.config.timing.latency_quantum_ms,
            });
            let requests: Vec<RequestFact> = requests.collect();
            self.memory.observed(instance, &requests);
            let random = Some(crate::random::drawn());
            self.handle(Input::Observed(Observation { instance: instance.clone(), requests, random }));
            // An agent in transfer does not evaluate: the knowledge of its last decision stays.
            if !self.node.is_frozen(instance) {
                self.memory.knows(instance, self.node.knowledge(instance));
            }
            self.handle(Input::Evaluate(instance.clone()));
        }
        let have_evaluated = !due.is_empty();
        self.forget_departed();
        for instance in due {
            self.handle(Input::Judge(instance));
        }
        self.evict(have_evaluated);
        if self.owner_at.is_some_and(|at| at <= now) {
            self.owner_at = Some(now + self.config.owner_period());
            self.handle(Input::Initiative);
        }
        if self.is_draining {
            self.drain_step();
        }
    }

    /// Returns and resets the counts of client requests that reached an instance, or would have reached it if it were
    /// awake. Returns `None` if the copy is not healthy and the instance is not dormant.
    fn drain_counts(&self, instance: &InstanceId) -> Option<BTreeMap<(Option<NodeId>, u32), u64>> {
        self.copies.drain_counts(instance).or_else(|| self.sleepers.drain_counts(instance))
    }

    /// Evicts instances whose agents have had their last evaluation, if `is_due` and the owner's policy has rules for
    /// evictions or shrinks.
    fn evict(&mut self, is_due: bool) {
        if is_due && self.owner_at.is_some() {
            self.handle(Input::Evict);
        }
    }

    /// Counts what the node reports, and remembers and publishes its report for operators, if there is one.
    pub(super) fn report(&mut self, event: &TraceEvent, report: Option<NodeReport>) {
        match event {
            TraceEvent::Evaluated { instance, proposal, has_failed, .. } => {
                self.counts.evaluations += 1;
                self.counts.evaluations_failed += u64::from(*has_failed);
                self.compare_with_shadow(instance, proposal.as_ref(), *has_failed);
            }
            TraceEvent::Judged { request, verdict: Verdict::Accepted, .. } => {
                self.counts.accepted += 1;
                self.departed(request);
            }
            TraceEvent::Judged { verdict: Verdict::Inhibited(inhibition), .. } => {
                self.counts.inhibited += 1;
                self.counts.anchors_kept += u64::from(inhibition.rule == Rule::Anchor);
            }
            TraceEvent::Arrived { .. } => self.counts.arrived += 1,
            _ => {}
        }
        let Some(report) = report else { return };
        self.memory.reported(event, &report);
        // Successful evaluations without a proposal are not published: they are the usual case, and would fill the log.
        if !matches!(event, TraceEvent::Evaluated { proposal: None, has_failed: false, .. }) {
            self.events.publish(NodeEvent::Report { report: Report::Known(report) });
        }
    }

    /// Evaluates the shadow policy of an instance's application, if it has one, with the knowledge of the agent's last
    /// evaluation. Publishes an event if the shadow's proposal differs from the agent's.
    pub(crate) fn compare_with_shadow(&mut self, instance: &InstanceId, proposal: Option<&Proposal>, has_failed: bool) {
        let Some(knowledge) = self.memory.knowledge(instance) else { return };
        if let Some(difference) = self.shadows.compare(instance, &knowledge, proposal, has_failed) {
            let instance = instance.clone();
            self.events.publish(NodeEvent::ShadowDiffers {
                instance,
                policy: difference.policy,
                shadow: difference.shadow,
            });
        }
    }
}
