//! Checks that the indices in a record are within the tables of the header.

use super::header::Header;
use super::record::{FactsAndDecision, Neighbour, Outcome, Proposal, Solution, Target};

/// Searches for the first index that is out of range.
pub(super) struct Places<'a> {
    pub(super) header: &'a Header,
    pub(super) fault: Option<String>,
}

impl Places<'_> {
    fn check(mut self, place: u32, count: usize, one: &str, many: &str) -> Self {
        if place as usize >= count && self.fault.is_none() {
            self.fault = Some(format!("it names the {one} {place}, and the header has {count} {many}"));
        }
        self
    }

    pub(super) fn node(self, place: u32) -> Self {
        let count = self.header.nodes.len();
        self.check(place, count, "node", "nodes")
    }

    pub(super) fn application(self, place: u32) -> Self {
        let count = self.header.applications.len();
        self.check(place, count, "application", "applications")
    }

    pub(super) fn policy(self, place: u32) -> Self {
        let count = self.header.policies.len();
        self.check(place, count, "policy", "policies")
    }

    pub(super) fn user(self, place: u32) -> Self {
        let count = self.header.users.len();
        self.check(place, count, "user", "users")
    }

    pub(super) fn call(self, place: u32) -> Self {
        let count = self.header.calls.len();
        self.check(place, count, "call", "calls")
    }

    fn proposal(self, proposal: &Proposal) -> Self {
        match proposal.target {
            Target::Node(node) => self.node(node),
            Target::Own | Target::Unknown(_) | Target::Flavour(_) => self,
        }
    }

    pub(super) fn seen(self, seen: &FactsAndDecision) -> Self {
        let places = seen.requests.iter().fold(self, |places, fact| match fact.neighbour {
            Neighbour::Node(node) => places.node(node),
            Neighbour::Own => places,
        });
        let places = seen.inhibited.iter().fold(places, Places::proposal);
        seen.solutions.iter().fold(places, |places, solution| match solution {
            Solution::Proposal { proposal, .. } => places.proposal(proposal),
            Solution::Invalid { .. } => places,
        })
    }

    pub(super) fn outcome(self, outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Nop(_) => self,
            Outcome::Judged { proposal, .. } => self.proposal(proposal),
            Outcome::Deploy { node, application, policy, .. } => {
                let places = self.node(*node).application(*application);
                match policy {
                    Some(policy) => places.policy(*policy),
                    None => places,
                }
            }
        }
    }
}
