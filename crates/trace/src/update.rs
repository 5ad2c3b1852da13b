//! Records changes of policies during a run.

use std::io::Write;

use mario_domain::Time;

use crate::json::natural;
use crate::reference::{ApplicationRef, PolicyRef};
use crate::writer::TraceWriter;

impl<W: Write> TraceWriter<W> {
    /// Records that the agents of an application switch to another policy. Their memory is cleared.
    pub fn updated(&mut self, time: Time, application: ApplicationRef, policy: PolicyRef) {
        self.begin("update", time);
        for place in [application.0, policy.0] {
            self.line.push(b',');
            natural(&mut self.line, u64::from(place));
        }
        self.line.push(b']');
        self.end_line();
    }
}
