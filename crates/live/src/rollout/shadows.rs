//! Shadow policies on several nodes, and the sum of their results.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Nodes;
use crate::api::{Difference, DifferentDecision, Shadow};
use crate::error::LiveError;
use crate::operators::Method;

/// What a node answered, and its address.
#[derive(Clone, Serialize)]
pub struct OnNode<T> {
    /// The answer.
    #[serde(flatten)]
    pub answer: T,
    /// The address of the node.
    pub node: String,
}

/// The results of a shadow policy on all nodes.
#[derive(Serialize)]
pub struct ShadowSum {
    /// The application.
    pub application: String,
    /// The number of nodes with a shadow.
    pub nodes: usize,
    /// How often it was evaluated.
    pub evaluations: u64,
    /// How often it proposed the same as the policy in use.
    pub same: u64,
    /// How often it proposed something else.
    pub differ: u64,
    /// How often it had no valid answer.
    pub failed: u64,
    /// What the two proposed when they differed.
    pub differences: Vec<Difference>,
    /// The last decisions of each node in which they differed, ordered by time.
    pub last: Vec<OnNode<DifferentDecision>>,
}

impl Nodes {
    /// Starts to shadow an application with the policy of a signed description, on each node. Adds the shadows to
    /// `done`.
    pub fn start_shadow(
        &self,
        application: &str,
        document: &[u8],
        done: &mut Vec<OnNode<Shadow>>,
    ) -> Result<(), LiveError> {
        for node in self.each() {
            let answer = node.ask(Method::PUT, &path(application), document.to_vec())?.known()?;
            done.push(OnNode { answer, node: node.address.to_owned() });
        }
        Ok(())
    }

    /// The results of the shadow of an application on each node, which are added to `done`; with `ends`, also ends it.
    /// Nodes without a shadow are skipped.
    pub fn read_shadow(&self, application: &str, ends: bool, done: &mut Vec<OnNode<Shadow>>) -> Result<(), LiveError> {
        let method = if ends { Method::DELETE } else { Method::GET };
        for node in self.each() {
            let reply = node.ask(method.clone(), &path(application), Vec::new())?;
            if reply.status != 404 {
                done.push(OnNode { answer: reply.known()?, node: node.address.to_owned() });
            }
        }
        Ok(())
    }
}

impl ShadowSum {
    /// Adds up the results of the nodes.
    pub fn of(application: &str, shadows: &[OnNode<Shadow>]) -> ShadowSum {
        let total = |count: fn(&Shadow) -> u64| shadows.iter().map(|shadow| count(&shadow.answer)).sum::<u64>();
        let mut differences: BTreeMap<(String, String), u64> = BTreeMap::new();
        for Difference { policy, shadow, count } in shadows.iter().flat_map(|shadow| &shadow.answer.differences) {
            *differences.entry((policy.clone(), shadow.clone())).or_default() += count;
        }
        let differences = differences.into_iter().map(|((policy, shadow), count)| Difference { policy, shadow, count });
        let last = shadows.iter().flat_map(|OnNode { answer, node }| {
            answer.last.iter().map(|decision| OnNode { answer: decision.clone(), node: node.clone() })
        });
        let mut last: Vec<OnNode<DifferentDecision>> = last.collect();
        last.sort_by_key(|decision| decision.answer.time_ms);
        ShadowSum {
            application: application.to_owned(),
            nodes: shadows.len(),
            evaluations: total(|shadow| shadow.evaluations),
            same: total(|shadow| shadow.same),
            differ: total(|shadow| shadow.differ),
            failed: total(|shadow| shadow.failed),
            differences: differences.collect(),
            last,
        }
    }
}

fn path(application: &str) -> String {
    format!("/v1/applications/{application}/shadow")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shadow(node: &str, differences: &[(&str, u64)], times: &[u64]) -> OnNode<Shadow> {
        let difference = |(shadow, count): &(&str, u64)| json!({"policy": "migrate", "shadow": shadow, "count": count});
        let decision = |time: &u64| json!({"time_ms": time, "instance": "i", "policy": "migrate", "shadow": "nothing"});
        let answer = json!({
            "application": "shop", "evaluations": 10, "same": 7, "differ": 2, "failed": 1,
            "differences": differences.iter().map(difference).collect::<Vec<_>>(),
            "last": times.iter().map(decision).collect::<Vec<_>>(),
        });
        OnNode { answer: serde_json::from_value(answer).expect("a shadow"), node: node.to_owned() }
    }

    #[test]
    fn the_results_of_nodes_are_added_up_and_their_last_decisions_ordered_by_time() {
        let one = shadow("a", &[("nothing", 1), ("undeploy", 1)], &[3, 9]);
        let other = shadow("b", &[("nothing", 2)], &[5]);
        let sum = ShadowSum::of("shop", &[one, other]);
        assert_eq!((sum.nodes, sum.evaluations, sum.same, sum.differ, sum.failed), (2, 20, 14, 4, 2));
        let counts: Vec<(&str, u64)> = sum.differences.iter().map(|one| (one.shadow.as_str(), one.count)).collect();
        assert_eq!(counts, [("nothing", 3), ("undeploy", 1)]);
        let last: Vec<(&str, u64)> = sum.last.iter().map(|one| (one.node.as_str(), one.answer.time_ms)).collect();
        assert_eq!(last, [("a", 3), ("b", 5), ("a", 9)]);
    }
}
