//! What an agent saw, remembered and was told by its policy.

use std::io::Write;

use crate::population::{AgentIndex, Colony, Neighbour, RequestFact, Target};
use mario_policy::Solution;

use super::TraceWriter;
use crate::output::json::{id, natural, number, string};

impl<W: Write> TraceWriter<W> {
    pub(super) fn facts(&mut self, requests: &[RequestFact]) {
        self.line.extend_from_slice(b",[");
        for (position, fact) in requests.iter().enumerate() {
            self.line.extend_from_slice(if position > 0 { b",[" } else { b"[" });
            match fact.neighbour {
                Neighbour::Own => self.line.extend_from_slice(b"\"self\""),
                Neighbour::Node(node) => natural(&mut self.line, u64::from(node.0)),
            }
            self.line.push(b',');
            number(&mut self.line, fact.rate);
            self.line.push(b',');
            number(&mut self.line, fact.latency);
            self.line.push(b']');
        }
        self.line.push(b']');
    }

    pub(super) fn memory(&mut self, agent: AgentIndex, colony: &Colony) {
        self.line.extend_from_slice(b",[");
        for (position, remembered) in colony.visible_memory(colony.agent(agent)).into_iter().enumerate() {
            self.line.extend_from_slice(if position > 0 { b",[" } else { b"[" });
            string(&mut self.line, remembered.operation.as_str());
            self.line.push(b',');
            target(&mut self.line, &remembered.target);
            self.line.push(b']');
        }
        self.line.push(b']');
    }

    pub(super) fn solutions(&mut self, agent: AgentIndex, colony: &Colony, solutions: &[Solution]) {
        self.line.extend_from_slice(b",[");
        for (position, solution) in solutions.iter().enumerate() {
            self.line.extend_from_slice(if position > 0 { b",[" } else { b"[" });
            match solution {
                Solution::Proposal(proposal) => {
                    string(&mut self.line, proposal.operation.as_str());
                    self.line.push(b',');
                    target(&mut self.line, &colony.target(agent, proposal.target));
                }
                Solution::Invalid(invalid) => {
                    self.line.extend_from_slice(b"\"invalid\",");
                    string(&mut self.line, invalid.fault.description());
                }
            }
            self.line.push(b',');
            natural(&mut self.line, solution.clause() as u64);
            self.line.push(b']');
        }
        self.line.push(b']');
    }
}

pub(super) fn target(out: &mut Vec<u8>, target: &Target) {
    match target {
        Target::Own => out.extend_from_slice(b"\"self\""),
        Target::Node(node) => natural(out, u64::from(node.0)),
        Target::Unknown(name) => {
            out.extend_from_slice(b"{\"unknown\":");
            id(out, name.id());
            out.push(b'}');
        }
    }
}
