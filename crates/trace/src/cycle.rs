//! Records the individual outcomes of a cycle: the verdicts on proposals and deploys, and the agents without a
//! proposal.

use std::io::Write;

use mario_domain::{AgentOperation, InstanceId, Time, Verdict};

use crate::json::{id, natural, string};
use crate::record::{Deployed, Judged};
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

    pub(crate) fn verdict(&mut self, verdict: &Verdict) {
        match verdict {
            Verdict::Accepted => self.line.extend_from_slice(b",\"accepted\""),
            Verdict::Inhibited(inhibition) => {
                self.line.extend_from_slice(b",\"inhibited\",");
                serde_json::to_writer(&mut self.line, inhibition).expect("writing to memory does not fail");
            }
        }
    }
}

impl<W: Write> Cycle<'_, W> {
    /// Records an agent without a proposal.
    pub fn nop(&mut self, instance: &InstanceId) {
        self.begin();
        id(&mut self.writer.line, instance.id());
        self.writer.line.extend_from_slice(b",\"nop\"]");
    }

    /// Records a proposal of an agent, or in a joined trace also an operator's command to migrate or undeploy, and the
    /// verdict on it.
    pub fn judged(&mut self, judged: &Judged<'_>) {
        self.begin();
        let writer = &mut *self.writer;
        id(&mut writer.line, judged.instance.id());
        writer.line.push(b',');
        string(&mut writer.line, judged.operation.as_str());
        let is_accepted = matches!(judged.verdict, Verdict::Accepted);
        if judged.operation.has_target() || !is_accepted {
            writer.line.push(b',');
            writer.target(&judged.target);
        }
        writer.verdict(judged.verdict);
        if let Some(created) = &judged.created {
            writer.comma_id(created.id());
        }
        writer.line.push(b']');
        let totals = &mut writer.totals;
        if is_accepted {
            totals.operations += 1;
            match judged.operation {
                AgentOperation::Undeploy => totals.instances = totals.instances.saturating_sub(1),
                AgentOperation::Replicate => totals.instances += 1,
                AgentOperation::Migrate | AgentOperation::Adapt | AgentOperation::Sleep | AgentOperation::Wake => {}
            }
        } else {
            totals.inhibited += 1;
        }
    }

    /// Records an operator's deploy and the verdict on it.
    pub fn deployed(&mut self, deployed: &Deployed<'_>) {
        self.begin();
        let writer = &mut *self.writer;
        writer.line.extend_from_slice(b"null,\"deploy\"");
        writer.comma_node(Some(deployed.node));
        writer.verdict(deployed.verdict);
        if let Some(created) = &deployed.created {
            writer.comma_id(created.id());
            writer.totals.instances += 1;
            writer.totals.operations += 1;
        } else {
            writer.totals.inhibited += 1;
        }
        writer.line.push(b',');
        natural(&mut writer.line, u64::from(deployed.application.0));
        if deployed.created.is_some() {
            writer.line.push(b',');
            natural(&mut writer.line, u64::from(deployed.policy.0));
        }
        writer.line.push(b']');
    }

    fn begin(&mut self) {
        let opening: &[u8] = if self.is_first { b"[" } else { b",[" };
        self.writer.line.extend_from_slice(opening);
        self.is_first = false;
    }
}
