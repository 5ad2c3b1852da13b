//! The label of a cycle, in a short form.

use mario_domain::AgentOperation;
use mario_scenario::NodeIndex;
use serde::{Deserialize, Serialize};

use crate::population::index::AgentIndex;
use crate::population::rest::Resting;
use crate::population::rooms::NOTHING;
use crate::population::wish::{Deployed, Judged, Outcome, Ruling, Target, Wish};

/// The label of one cycle: what was judged, in the order judged. Everything accepted has been enacted.
///
/// Nearly all agents propose nothing, or ask for a place on a full node. Both are written in a few bytes: in a large colony
/// a label is longer than what a cycle reads otherwise.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Label {
    entries: Vec<Entry>,
    /// Where those are that changed something.
    accepted: Vec<u32>,
    judged: Vec<Judged>,
    deployed: Vec<Deployed>,
    /// For each application, what those did at whom nobody looked; empty when there are none.
    resting: Vec<Resting>,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Entry {
    Nop(AgentIndex),
    /// Inhibited, because the node that the target means is full.
    Full(Full),
    /// At this position of all that was judged.
    Judged(u32),
    Deployed(u32),
}

#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Full {
    agent: AgentIndex,
    from: NodeIndex,
    /// The same as `from` if the target was written `self`.
    to: NodeIndex,
    operation: AgentOperation,
}

/// What is left to do for an entry.
pub(crate) enum Action<'a> {
    Remember(Full),
    Judged(&'a mut Judged),
    Deployed(&'a mut Deployed),
}

impl Full {
    /// That a wish of an agent is refused, because the node that it leads to is full, if that can be said in short.
    pub(crate) fn at(agent: AgentIndex, from: NodeIndex, wish: &Wish) -> Option<Full> {
        Full::node(from, wish).map(|to| Full { agent, from, to, operation: wish.operation })
    }

    /// The node that has to be full for a wish to be refused in short.
    pub(crate) fn node(from: NodeIndex, wish: &Wish) -> Option<NodeIndex> {
        match wish.target {
            _ if wish.operation == AgentOperation::Undeploy => None,
            Target::Own => Some(from),
            // Said of the own node by name, it would be read as `self`.
            Target::Node(node) if node != from => Some(node),
            Target::Node(_) | Target::Unknown(_) => None,
        }
    }

    /// The short form of what was judged, if there is one.
    fn new(judged: &Judged) -> Option<Full> {
        let Judged { agent, wish, from, ruling, created: None } = judged else { return None };
        let full = Full::at(*agent, *from, wish)?;
        let is_full = matches!(ruling, Ruling::NoRoom { node, free } if *node == full.to && *free == NOTHING);
        is_full.then_some(full)
    }

    /// The full node.
    pub(crate) fn to(self) -> NodeIndex {
        self.to
    }

    pub(crate) fn agent(self) -> AgentIndex {
        self.agent
    }

    pub(crate) fn wish(self) -> Wish {
        let target = if self.to == self.from { Target::Own } else { Target::Node(self.to) };
        Wish { operation: self.operation, target }
    }

    fn whole(self) -> Judged {
        let ruling = Ruling::NoRoom { node: self.to, free: NOTHING };
        Judged { agent: self.agent, wish: self.wish(), from: self.from, ruling, created: None }
    }
}

impl Label {
    /// Of a cycle in which nothing was judged.
    pub fn new() -> Label {
        Label::default()
    }

    /// How much was judged one by one.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether nothing was judged one by one.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// What agents of each application did at whom nobody looked, besides those that were judged one by one; nothing when
    /// there are none.
    pub fn resting(&self) -> &[Resting] {
        &self.resting
    }

    /// What was judged one by one, in the order judged.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Outcome> {
        self.entries.iter().map(|entry| self.outcome(*entry))
    }

    /// What was accepted, in the order judged.
    pub fn accepted(&self) -> impl Iterator<Item = Outcome> {
        self.accepted.iter().map(|position| self.outcome(self.entries[*position as usize]))
    }

    fn outcome(&self, entry: Entry) -> Outcome {
        match entry {
            Entry::Nop(agent) => Outcome::Nop(agent),
            Entry::Full(full) => Outcome::Judged(full.whole()),
            Entry::Judged(position) => Outcome::Judged(self.judged[position as usize].clone()),
            Entry::Deployed(position) => Outcome::Deployed(self.deployed[position as usize].clone()),
        }
    }

    pub(crate) fn clear(&mut self) {
        self.entries.clear();
        self.accepted.clear();
        self.judged.clear();
        self.deployed.clear();
        self.resting.clear();
    }

    /// Takes over what those did who rest, and leaves nothing behind.
    pub(crate) fn take_resting(&mut self, resting: &mut Vec<Resting>) {
        std::mem::swap(&mut self.resting, resting);
    }

    pub(crate) fn push_nop(&mut self, agent: AgentIndex) {
        self.entries.push(Entry::Nop(agent));
    }

    pub(crate) fn push_full(&mut self, full: Full) {
        self.entries.push(Entry::Full(full));
    }

    pub(crate) fn push_judged(&mut self, judged: Judged) {
        let entry = match Full::new(&judged) {
            Some(full) => Entry::Full(full),
            None => {
                self.note_accepted(&judged.ruling);
                self.judged.push(judged);
                Entry::Judged(self.judged.len() as u32 - 1)
            }
        };
        self.entries.push(entry);
    }

    pub(crate) fn push_deployed(&mut self, deployed: Deployed) {
        self.note_accepted(&deployed.ruling);
        self.deployed.push(deployed);
        self.entries.push(Entry::Deployed(self.deployed.len() as u32 - 1));
    }

    fn note_accepted(&mut self, ruling: &Ruling) {
        if ruling.is_accepted() {
            self.accepted.push(self.entries.len() as u32);
        }
    }

    /// What is left to do for the last entry.
    pub(crate) fn last_action(&mut self) -> Option<Action<'_>> {
        let entry = *self.entries.last()?;
        self.action(entry)
    }

    /// Does what is left to do, in the order judged: for all entries, or for what was accepted.
    pub(crate) fn act(&mut self, remembers_nothing: bool, mut act: impl FnMut(Action<'_>)) {
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
            Entry::Full(full) => Some(Action::Remember(full)),
            Entry::Judged(position) => Some(Action::Judged(&mut self.judged[position as usize])),
            Entry::Deployed(position) => Some(Action::Deployed(&mut self.deployed[position as usize])),
        }
    }
}

#[cfg(test)]
mod tests {
    use mario_domain::{Capacity, Inhibition, NodeId, Rule};

    use super::*;
    use crate::population::wish::Deployment;
    use mario_scenario::{ApplicationIndex, PolicyIndex};

    #[test]
    fn what_is_judged_is_read_as_it_was() {
        let own = NodeIndex(7);
        let unknown = Target::Unknown(Box::new(NodeId::number(99)));
        let leaving = Inhibition { node: NodeId::number(3), rule: Rule::Leaving };
        let rulings = [
            Ruling::Accepted,
            Ruling::NoRoom { node: own, free: NOTHING },
            Ruling::NoRoom { node: NodeIndex(3), free: NOTHING },
            Ruling::NoRoom { node: NodeIndex(3), free: Capacity::units(1) },
            Ruling::Inhibited(Box::new(leaving)),
        ];
        let deployment = Deployment { application: ApplicationIndex(1), node: NodeIndex(3), policy: PolicyIndex(0) };
        let mut label = Label::new();
        let mut expected = Vec::new();
        for (number, ruling) in (0..).zip(&rulings) {
            let agent = AgentIndex(number);
            label.push_nop(agent);
            expected.push(Outcome::Nop(agent));
            for target in [Target::Own, Target::Node(own), Target::Node(NodeIndex(3)), unknown.clone()] {
                for operation in AgentOperation::ALL {
                    let wish = Wish { operation, target: target.clone() };
                    let judged = Judged { agent, wish, from: own, ruling: ruling.clone(), created: None };
                    label.push_judged(judged.clone());
                    expected.push(Outcome::Judged(judged));
                }
            }
            let deployed = Deployed { deployment, ruling: ruling.clone(), created: Some(agent) };
            label.push_deployed(deployed.clone());
            expected.push(Outcome::Deployed(deployed));
        }
        assert_eq!(label.iter().collect::<Vec<_>>(), expected);
        let is_accepted = |outcome: &Outcome| match outcome {
            Outcome::Nop(_) => false,
            Outcome::Judged(judged) => judged.ruling.is_accepted(),
            Outcome::Deployed(deployed) => deployed.ruling.is_accepted(),
        };
        expected.retain(is_accepted);
        assert_eq!(label.accepted().collect::<Vec<_>>(), expected);
        assert!(size_of::<Entry>() <= 16);
    }
}
