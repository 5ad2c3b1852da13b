//! Records evaluations: the facts that an agent saw and remembered, and the decision of its policy.

use std::io::Write;

use mario_domain::Time;

use crate::record::{Detail, Element, Evaluation, FactsAndDecision};
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
    pub fn evaluation<R, M, S>(
        &mut self,
        time: Time,
        evaluation: &Evaluation<'_>,
        decided: Option<FactsAndDecision<R, M, S>>,
    ) where
        R: IntoIterator<Item: Element>,
        M: IntoIterator<Item: Element>,
        S: IntoIterator<Item: Element>,
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
        evaluation.free.write(&mut self.line);
        match decided {
            None => self.line.extend_from_slice(b",\"same\""),
            Some(decided) => {
                self.line.push(b',');
                decided.write(&mut self.line);
            }
        }
        self.line.push(b']');
        self.end_line();
    }
}
