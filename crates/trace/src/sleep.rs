//! Records the verdicts on waking sleeping instances for client requests.

use std::io::Write;

use mario_domain::{InstanceId, Time, Verdict};

use crate::json::{natural, string};
use crate::record::write_verdict;
use crate::reference::ApplicationRef;
use crate::writer::TraceWriter;

impl<W: Write> TraceWriter<W> {
    /// Records the verdict on waking a sleeping instance for a client request. A summary trace has the application
    /// instead of the instance and, of an inhibition, only the rule.
    pub fn woken(&mut self, time: Time, instance: &InstanceId, application: ApplicationRef, verdict: &Verdict) {
        if self.summing.is_none() {
            self.begin("woken", time);
            self.comma_id(instance.id());
            self.line.push(b',');
            write_verdict(&mut self.line, verdict.inhibition());
        } else {
            self.begin("wakings", time);
            self.line.push(b',');
            natural(&mut self.line, u64::from(application.0));
            match verdict {
                Verdict::Accepted => self.line.extend_from_slice(b",\"accepted\""),
                Verdict::Inhibited(inhibition) => {
                    self.line.extend_from_slice(b",\"inhibited\",");
                    string(&mut self.line, inhibition.rule.as_str());
                }
            }
        }
        self.line.push(b']');
        self.end_line();
    }
}
