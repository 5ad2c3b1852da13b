//! Client requests that reached instances which slept.

use std::io::Write;

use mario_domain::{InstanceId, Time, Verdict};

use crate::json::{natural, string};
use crate::place::ApplicationPlace;
use crate::writer::TraceWriter;

impl<W: Write> TraceWriter<W> {
    /// A client request reached an instance that slept, and its manager said whether it may wake. A trace of counts names the
    /// application, and of what speaks against it the rule.
    pub fn woken(&mut self, time: Time, instance: &InstanceId, application: ApplicationPlace, verdict: &Verdict) {
        if self.summing.is_none() {
            self.begin("woken", time);
            self.comma_id(instance.id());
            self.verdict(verdict);
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
