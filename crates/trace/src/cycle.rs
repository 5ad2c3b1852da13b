//! Records the individual outcomes of a cycle: the verdicts on proposals and deploys, and the agents without a
//! proposal.

use std::io::Write;

use mario_domain::{InstanceEffect, Time};

use crate::record::{Element, Outcome, Verdict};
use crate::reference::NodeRef;
use crate::writer::TraceWriter;

/// The record of a cycle that is being written.
pub struct Cycle<'w, W: Write> {
    writer: &'w mut TraceWriter<W>,
    is_first: bool,
}

impl<W: Write> TraceWriter<W> {
    /// Records a cycle. `outcomes` adds the outcomes, in the order of judging. A summary trace uses
    /// [`TraceWriter::count_cycle`] instead.
    pub fn cycle(&mut self, time: Time, outcomes: impl FnOnce(&mut Cycle<'_, W>)) {
        self.begin("cycle", time);
        self.line.extend_from_slice(b",[");
        outcomes(&mut Cycle { writer: self, is_first: true });
        self.line.extend_from_slice(b"]]");
        self.end_line();
    }
}

impl<W: Write> Cycle<'_, W> {
    /// Records an outcome.
    pub fn outcome(&mut self, outcome: &Outcome<NodeRef>) {
        if !std::mem::take(&mut self.is_first) {
            self.writer.line.push(b',');
        }
        outcome.write(&mut self.writer.line);
        let totals = &mut self.writer.totals;
        match outcome {
            Outcome::Nop(_) => {}
            Outcome::Judged { proposal, verdict: Verdict::Accepted(_), .. } => {
                totals.operations += 1;
                match proposal.operation.effect() {
                    InstanceEffect::Created => totals.instances += 1,
                    InstanceEffect::Ended => totals.instances = totals.instances.saturating_sub(1),
                    InstanceEffect::Kept => {}
                }
            }
            Outcome::Deploy { verdict: Verdict::Accepted(Some(_)), .. } => {
                totals.operations += 1;
                totals.instances += 1;
            }
            Outcome::Judged { verdict: Verdict::Inhibited(_), .. }
            | Outcome::Deploy { verdict: Verdict::Accepted(None) | Verdict::Inhibited(_), .. } => totals.inhibited += 1,
        }
    }
}
