//! Records evaluations: the facts that an agent saw and remembered, and the decision of its policy.

use std::io::Write;

use mario_domain::{AgentOperation, Capacity, Time};

use crate::json::{natural, number, string};
use crate::record::{Detail, Evaluation, FactsAndDecision, RequestsSeen, Solution, Target};
use crate::reference::ApplicationRef;
use crate::writer::TraceWriter;

impl<W: Write> TraceWriter<W> {
    /// Counts evaluations of agents of an application whose instances run in the default flavour, without recording
    /// them. `rates` is the sum of the request rates that the agents saw.
    pub fn count_evaluations(&mut self, application: ApplicationRef, evaluations: u64, rates: f64) {
        self.totals.evaluations += evaluations;
        let usage = &mut self.usage[application.position()];
        usage.evaluations += evaluations;
        usage.requests += rates;
    }

    /// Counts an evaluation of an agent whose instance runs in another flavour, which handles `max_rate`, without
    /// recording it.
    pub fn count_evaluation_in_flavour(&mut self, application: ApplicationRef, rate: f64, max_rate: f64) {
        self.count_evaluations(application, 1, 0.0);
        self.usage[application.position()].used_in_flavours += rate / max_rate;
    }

    /// Records an evaluation. `decided` is `None` if facts and solutions are the same as in the agent's last
    /// evaluation. Unless the level of detail is [`Detail::Full`], the evaluation is only counted.
    pub fn evaluation<'a, R, M, S>(
        &mut self,
        time: Time,
        evaluation: &Evaluation<'_>,
        decided: Option<FactsAndDecision<R, M, S>>,
    ) where
        R: IntoIterator<Item = RequestsSeen>,
        M: IntoIterator<Item = (AgentOperation, Target<'a>)>,
        S: IntoIterator<Item = Solution<'a>>,
    {
        match evaluation.max_rate {
            None => self.count_evaluations(evaluation.application, 1, evaluation.rate),
            Some(max_rate) => self.count_evaluation_in_flavour(evaluation.application, evaluation.rate, max_rate),
        }
        if self.detail != Detail::Full {
            return;
        }
        self.begin("evaluation", time);
        self.comma_id(evaluation.instance.id());
        self.comma_node(Some(evaluation.node));
        self.line.push(b',');
        match evaluation.free {
            Capacity::Bounded(free) if !free.has_further() => natural(&mut self.line, free.as_units()),
            Capacity::Bounded(free) => {
                serde_json::to_writer(&mut self.line, &free).expect("writing to memory does not fail");
            }
            Capacity::Unbounded => self.line.extend_from_slice(b"\"unbounded\""),
        }
        match decided {
            None => self.line.extend_from_slice(b",\"same\""),
            Some(decided) => {
                self.requests(decided.requests);
                self.memory(decided.inhibited);
                self.solutions(decided.solutions);
                match (&decided.ending, decided.random) {
                    (Some(ending), _) => {
                        self.line.push(b',');
                        string(&mut self.line, ending);
                    }
                    (None, Some(_)) => self.line.extend_from_slice(b",null"),
                    (None, None) => {}
                }
                if let Some(drawn) = decided.random {
                    self.line.push(b',');
                    natural(&mut self.line, u64::from(drawn));
                }
            }
        }
        self.line.push(b']');
        self.end_line();
    }

    fn requests(&mut self, requests: impl IntoIterator<Item = RequestsSeen>) {
        self.line.extend_from_slice(b",[");
        for (position, seen) in requests.into_iter().enumerate() {
            self.line.extend_from_slice(if position > 0 { b",[" } else { b"[" });
            match seen.neighbour {
                None => self.line.extend_from_slice(b"\"self\""),
                Some(node) => natural(&mut self.line, u64::from(node.0)),
            }
            self.line.push(b',');
            number(&mut self.line, seen.rate);
            self.line.push(b',');
            number(&mut self.line, seen.latency);
            self.line.push(b']');
        }
        self.line.push(b']');
    }

    fn memory<'a>(&mut self, inhibited: impl IntoIterator<Item = (AgentOperation, Target<'a>)>) {
        self.line.extend_from_slice(b",[");
        for (position, (operation, target)) in inhibited.into_iter().enumerate() {
            self.line.extend_from_slice(if position > 0 { b",[" } else { b"[" });
            string(&mut self.line, operation.as_str());
            self.line.push(b',');
            self.target(&target);
            self.line.push(b']');
        }
        self.line.push(b']');
    }

    fn solutions<'a>(&mut self, solutions: impl IntoIterator<Item = Solution<'a>>) {
        self.line.extend_from_slice(b",[");
        for (position, solution) in solutions.into_iter().enumerate() {
            self.line.extend_from_slice(if position > 0 { b",[" } else { b"[" });
            let clause = match solution {
                Solution::Proposal { operation, target, clause } => {
                    string(&mut self.line, operation.as_str());
                    self.line.push(b',');
                    self.target(&target);
                    clause
                }
                Solution::Invalid { fault, clause } => {
                    self.line.extend_from_slice(b"\"invalid\",");
                    string(&mut self.line, fault);
                    clause
                }
            };
            self.line.push(b',');
            natural(&mut self.line, clause as u64);
            self.line.push(b']');
        }
        self.line.push(b']');
    }
}
