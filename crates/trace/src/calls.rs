//! Records the results of calls between applications.

use std::io::Write;

use mario_domain::{Duration, Time};
use serde::{Deserialize, Serialize};

use crate::header::Header;
use crate::json::{natural, number};
use crate::record::{CallResults, UserResults};
use crate::reference::{ApplicationRef, CallRef};
use crate::writer::TraceWriter;

/// The results of one call over the whole run so far.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct CallSums {
    sent: u64,
    served: u64,
    lost: u64,
    sum: Duration,
}

impl CallSums {
    /// Empty results for each call of a header.
    pub(crate) fn of(header: &Header<'_>) -> Vec<CallSums> {
        vec![CallSums::default(); header.calls.len()]
    }
}

impl<W: Write> TraceWriter<W> {
    /// Records that an instance sent requests of a call.
    pub fn call_sent(&mut self, call: CallRef, requests: u32) {
        self.calls[call.position()].sent += u64::from(requests);
    }

    /// Records that a request of a call was answered, with its response time.
    pub fn call_served(&mut self, call: CallRef, application: ApplicationRef, response: Duration) {
        self.call_became(call, application, UserResults { served: 1, lost: 0, response });
    }

    /// Records that a request of a call was lost.
    pub fn call_lost(&mut self, call: CallRef, application: ApplicationRef) {
        self.call_became(call, application, UserResults { served: 0, lost: 1, response: Duration::ZERO });
    }

    /// Records the cumulative results of all requests of a call since the start of the run. Only the increase since the
    /// last report is counted.
    pub fn calls_sent(&mut self, call: CallRef, application: ApplicationRef, of: &CallResults) {
        let before = self.calls[call.position()];
        let (served, lost) = (of.served.saturating_sub(before.served), of.lost.saturating_sub(before.lost));
        if served + lost > 0 {
            self.call_became(call, application, UserResults { served, lost, response: of.response - before.sum });
            // Set directly, because the rounding error of a sum of differences would depend on how often the total was
            // reported.
            self.calls[call.position()].sum = of.response;
        }
        self.calls[call.position()].sent = of.sent;
    }

    fn call_became(&mut self, call: CallRef, application: ApplicationRef, of: UserResults) {
        let sums = &mut self.calls[call.position()];
        sums.served += of.served;
        sums.lost += of.lost;
        sums.sum += of.response;
        self.became(application, of);
    }

    /// Writes the results of each call over the whole run.
    pub(crate) fn write_calls(&mut self, time: Time) {
        for call in 0..self.calls.len() {
            let sums = self.calls[call];
            self.begin("calls", time);
            for count in [call as u64, sums.sent, sums.served, sums.lost] {
                self.line.push(b',');
                natural(&mut self.line, count);
            }
            self.line.push(b',');
            number(&mut self.line, sums.sum.units());
            self.line.push(b']');
            self.end_line();
        }
    }
}
