//! Lists, in words, what an audit takes as recorded and what it could not check.

use super::{Audit, DecisionCheck};
use crate::reader::{Arbitration, Detail};

impl Audit {
    /// In words, the values that are recorded only once, so that nothing could contradict them.
    pub(super) fn taken(&self) -> Vec<&'static str> {
        if let Some(live) = &self.live {
            return Audit::taken_live(live);
        }
        let mut taken = vec![
            "names, kinds and positions, the seed and the program, and texts that no decision depends on",
            "the paths of client requests: through which neighbour, with which latency, and when they were served or lost",
            "the access points of users, and the times of events of users, nodes, links and managers, within the bounds of other times",
        ];
        if self.header.detail != Detail::Full {
            taken.push("the times of evaluations, and the usage of instances");
        }
        if self.draws.contains(&Some(true)) {
            taken.push("the numbers drawn for agents");
        }
        if self.comparisons.has_any() {
            taken.push("satisfied users, the latency of served users, and the value of the best placement");
        }
        taken
    }

    /// In words, the checks that could not be made.
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
            say(
                "single instances and users, and which nodes and links went down and came up: the trace has only counts",
            );
        } else if self.options.decisions == DecisionCheck::AsRecorded {
            say("whether decisions follow from the facts: not requested");
        }
        let outside = self.decisions.iter().flat_map(|decisions| decisions.outside(&self.header));
        for policy in outside {
            say(&format!("the decisions of `{policy}`: they are made by a function outside the trace"));
        }
        if self.header.notice.is_some() && self.header.detail != Detail::Full {
            say("the decisions of node owners, and when evictions are due: the trace does not record what owners see");
        }
        if let Some(line) = self.spent_at {
            let inferences = self.options.inferences;
            say(&format!(
                "decisions from line {line} on: the policies of the trace used up the budget of {inferences} inferences"
            ));
        }
        if self.header.arbitration == Arbitration::Central {
            say("whether operations were proposed: they are those of a plan");
            if self.header.nodes.iter().any(|node| node.acceptance.is_some()) {
                say("whether nodes with their own policies accepted them: not a rule of this arbitration");
            }
        }
        if self.header.arbitration != Arbitration::Managers {
            say("whether targets are neighbours: not a rule of this arbitration; counted instead");
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
