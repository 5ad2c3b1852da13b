//! Lists in words what an audit takes as recorded, and what it could not check.

use super::{Audit, Decide};
use crate::reader::{Arbitration, Detail};

impl Audit {
    /// The values that are recorded only once, in words.
    pub(super) fn taken(&self) -> Vec<&'static str> {
        if let Some(live) = &self.live {
            return Audit::taken_live(live);
        }
        let mut taken = vec![
            "names, kinds and positions, the seed and the program, and texts that no decision depends on",
            "how client requests travelled: through which neighbour and how late, and when they were served or lost",
            "which access point a user has, and when users, nodes, links and managers act, within what other times allow",
        ];
        if self.header.detail != Detail::Full {
            taken.push("when agents evaluate, and how much instances were used");
        }
        if self.draws.contains(&Some(true)) {
            taken.push("the numbers drawn for agents");
        }
        if self.comparisons.has_any() {
            taken.push("which users are satisfied, how late those served are, and what the best placement is worth");
        }
        taken
    }

    /// What could not be checked, in words.
    pub(super) fn unchecked(&self) -> Vec<String> {
        if let Some(live) = &self.live {
            return self.unchecked_live(live);
        }
        let mut unchecked = Vec::new();
        let mut say = |words: &str| unchecked.push(words.to_owned());
        if self.header.detail == Detail::Operations {
            say("decisions, facts, memory and proposals: the trace has no evaluations");
        } else if self.header.detail == Detail::Summary {
            say("decisions, facts, memory, proposals, targets, verdicts and their reasons: the trace has only counts");
            say("the hardware of single nodes: the trace has only counts; that of each tier was checked");
            say("single instances and users, and which nodes and links went and came: the trace has only counts");
        } else if self.options.decide == Decide::AsRecorded {
            say("that decisions follow from the facts: not wanted");
        }
        let outside = self.decisions.iter().flat_map(|decisions| decisions.outside(&self.header));
        for policy in outside {
            say(&format!("the decisions of `{policy}`: a function that is not in the trace makes them"));
        }
        if self.header.notice.is_some() && self.header.detail != Detail::Full {
            say("what owners of nodes want, and when evictions are due: the trace does not tell what they see");
        }
        if let Some(line) = self.spent_at {
            let inferences = self.options.inferences;
            say(&format!(
                "decisions from line {line} on: the policies of the trace took all of {inferences} inferences"
            ));
        }
        if self.header.arbitration == Arbitration::Central {
            say("that operations were proposed: they are those of a plan");
            if self.header.nodes.iter().any(|node| node.acceptance.is_some()) {
                say("that nodes with policies of their own accepted them: no rule of this arbitration");
            }
        }
        if self.header.arbitration != Arbitration::Managers {
            say("that targets are neighbours: not a rule of this arbitration; counted instead");
        }
        if self.header.observation != "arrivals" {
            say("the order and the neighbours of requests: not rules of this observation");
        } else if self.header.routing != "nearest" {
            say("the neighbours of requests: not a rule of this routing");
        }
        if !self.has_ended {
            say("the totals: the trace has no end");
        }
        unchecked
    }
}
