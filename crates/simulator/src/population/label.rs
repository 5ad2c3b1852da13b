//! The label of a cycle, in compact form.

use crate::population::index::AgentIndex;
use crate::population::layers::parking::ParkedCounts;
use crate::population::layers::pending::PlaceRequest;
use crate::population::proposal::{CompactVerdict, Deployed, Judged, Outcome};

/// The label of one cycle: an entry for each outcome, in the order of judging, and the counts of parked agents.
/// Accepted operations have been enacted.
///
/// Nearly all agents propose nothing, or to migrate or replicate to a full node. These two outcomes take 16 bytes each,
/// to keep the label of a large population small.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CycleLabel {
    entries: Vec<Entry>,
    /// The positions of accepted entries.
    accepted: Vec<u32>,
    judged: Vec<Judged>,
    deployed: Vec<Deployed>,
    /// For each application, the outcomes of parked agents; empty if none were counted for this cycle.
    parked: Vec<ParkedCounts>,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Entry {
    Nop(AgentIndex),
    /// Inhibited, because the target node is full.
    FullNode(PlaceRequest),
    /// An index into `judged`.
    Judged(u32),
    Deployed(u32),
}

/// What remains to be done for an entry after judging. An agent that proposes nothing needs no action.
pub(crate) enum Action<'a> {
    Remember(PlaceRequest),
    Judged(&'a mut Judged),
    Deployed(&'a mut Deployed),
}

impl CycleLabel {
    /// The label of a cycle without proposals.
    pub fn new() -> CycleLabel {
        CycleLabel::default()
    }

    /// The number of entries: one for each deployment, and one for each unparked agent that has evaluated since the
    /// last cycle and still exists, even if it proposes nothing. If a central planner orders an operation for an agent,
    /// this operation is the agent's entry, even if the agent has not evaluated.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no entries. Parked agents may still have outcomes.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The outcomes of parked agents by application, in addition to the entries; empty if none were counted for this
    /// cycle.
    pub fn parked(&self) -> &[ParkedCounts] {
        &self.parked
    }

    /// The outcome of each entry, in the order of judging.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Outcome> {
        self.entries.iter().map(|entry| self.outcome(*entry))
    }

    /// The outcome of each accepted entry, in the order of judging.
    pub fn accepted(&self) -> impl Iterator<Item = Outcome> {
        self.accepted.iter().map(|position| self.outcome(self.entries[*position as usize]))
    }

    fn outcome(&self, entry: Entry) -> Outcome {
        match entry {
            Entry::Nop(agent) => Outcome::Nop(agent),
            Entry::FullNode(request) => Outcome::Judged(request.inhibited()),
            Entry::Judged(position) => Outcome::Judged(self.judged[position as usize].clone()),
            Entry::Deployed(position) => Outcome::Deployed(self.deployed[position as usize].clone()),
        }
    }

    pub(crate) fn clear(&mut self) {
        self.entries.clear();
        self.accepted.clear();
        self.judged.clear();
        self.deployed.clear();
        self.parked.clear();
    }

    /// Moves the outcomes of parked agents from `parked` to this label, which has none yet, and leaves `parked` empty.
    pub(crate) fn take_parked(&mut self, parked: &mut Vec<ParkedCounts>) {
        std::mem::swap(&mut self.parked, parked);
    }

    pub(crate) fn push_nop(&mut self, agent: AgentIndex) {
        self.entries.push(Entry::Nop(agent));
    }

    /// Adds a request that is inhibited because its target is full.
    pub(crate) fn push_inhibited(&mut self, request: PlaceRequest) {
        self.entries.push(Entry::FullNode(request));
    }

    pub(crate) fn push_judged(&mut self, judged: Judged) {
        let entry = match PlaceRequest::of_inhibited(&judged) {
            Some(request) => Entry::FullNode(request),
            None => {
                self.note_accepted(&judged.verdict);
                self.judged.push(judged);
                Entry::Judged(self.judged.len() as u32 - 1)
            }
        };
        self.entries.push(entry);
    }

    pub(crate) fn push_deployed(&mut self, deployed: Deployed) {
        self.note_accepted(&deployed.verdict);
        self.deployed.push(deployed);
        self.entries.push(Entry::Deployed(self.deployed.len() as u32 - 1));
    }

    fn note_accepted(&mut self, verdict: &CompactVerdict) {
        if verdict.is_accepted() {
            self.accepted.push(self.entries.len() as u32);
        }
    }

    /// What remains to be done for the last entry.
    pub(crate) fn last_action(&mut self) -> Option<Action<'_>> {
        let entry = *self.entries.last()?;
        self.action(entry)
    }

    /// Performs the remaining actions in the order of judging. If `remembers_nothing`, only accepted entries have one.
    pub(crate) fn enact_all(&mut self, remembers_nothing: bool, mut act: impl FnMut(Action<'_>)) {
        let count = if remembers_nothing { self.accepted.len() } else { self.entries.len() };
        for position in 0..count {
            let position = if remembers_nothing { self.accepted[position] as usize } else { position };
            if let Some(action) = self.action(self.entries[position]) {
                act(action);
            }
        }
    }

    fn action(&mut self, entry: Entry) -> Option<Action<'_>> {
        match entry {
            Entry::Nop(_) => None,
            Entry::FullNode(request) => Some(Action::Remember(request)),
            Entry::Judged(position) => Some(Action::Judged(&mut self.judged[position as usize])),
            Entry::Deployed(position) => Some(Action::Deployed(&mut self.deployed[position as usize])),
        }
    }
}

#[cfg(test)]
mod tests {
    use mario_domain::{AgentOperation, Capacity, Inhibition, NodeId, Rule};

    use super::*;
    use crate::population::layers::full_nodes::NO_HARDWARE;
    use crate::population::proposal::{Deployment, Proposal, Target};
    use mario_scenario::{ApplicationIndex, NodeIndex, PolicyIndex};

    #[test]
    fn a_label_returns_its_outcomes_unchanged() {
        let own = NodeIndex(7);
        let unknown = Target::Unknown(Box::new(NodeId::number(99)));
        let leaving = Inhibition { node: NodeId::number(3), rule: Rule::Leaving };
        let rulings = [
            CompactVerdict::Accepted,
            CompactVerdict::NoRoom { node: own, free: NO_HARDWARE },
            CompactVerdict::NoRoom { node: NodeIndex(3), free: NO_HARDWARE },
            CompactVerdict::NoRoom { node: NodeIndex(3), free: Capacity::units(1) },
            CompactVerdict::Inhibited(Box::new(leaving)),
        ];
        let deployment = Deployment { application: ApplicationIndex(1), node: NodeIndex(3), policy: PolicyIndex(0) };
        let mut label = CycleLabel::new();
        let mut expected = Vec::new();
        for (number, verdict) in (0..).zip(&rulings) {
            let agent = AgentIndex(number);
            label.push_nop(agent);
            expected.push(Outcome::Nop(agent));
            for target in [Target::Own, Target::Node(own), Target::Node(NodeIndex(3)), unknown.clone()] {
                for operation in AgentOperation::ALL {
                    let proposal = Proposal { operation, target: target.clone() };
                    let judged = Judged { agent, proposal, from: own, verdict: verdict.clone(), created: None };
                    label.push_judged(judged.clone());
                    expected.push(Outcome::Judged(judged));
                }
            }
            let deployed = Deployed { deployment, verdict: verdict.clone(), created: Some(agent) };
            label.push_deployed(deployed.clone());
            expected.push(Outcome::Deployed(deployed));
        }
        assert_eq!(label.iter().collect::<Vec<_>>(), expected);
        let is_accepted = |outcome: &Outcome| match outcome {
            Outcome::Nop(_) => false,
            Outcome::Judged(judged) => judged.verdict.is_accepted(),
            Outcome::Deployed(deployed) => deployed.verdict.is_accepted(),
        };
        expected.retain(is_accepted);
        assert_eq!(label.accepted().collect::<Vec<_>>(), expected);
        assert!(size_of::<Entry>() <= 16);
    }
}
