//! What became of the requests that instances sent to other applications.

use std::io::Write;

use mario_domain::{Duration, Time};
use serde::{Deserialize, Serialize};

use crate::header::Header;
use crate::json::{natural, number};
use crate::place::{ApplicationPlace, CallPlace};
use crate::record::{Sent, SentCalls};
use crate::writer::TraceWriter;

/// What became of the requests of one call.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct CallSums {
    sent: u64,
    served: u64,
    lost: u64,
    sum: Duration,
}

impl CallSums {
    /// Nothing was sent yet of each call of a header.
    pub(crate) fn of(header: &Header<'_>) -> Vec<CallSums> {
        vec![CallSums::default(); header.calls.len()]
    }
}

impl<W: Write> TraceWriter<W> {
    /// An instance sent this number of requests of a call.
    pub fn call_sent(&mut self, call: CallPlace, requests: u32) {
        self.calls[call.position()].sent += u64::from(requests);
    }

    /// A request of a call to an application was answered, in this time.
    pub fn call_served(&mut self, call: CallPlace, application: ApplicationPlace, response: Duration) {
        self.call_became(call, application, Sent { served: 1, lost: 0, response });
    }

    /// A request of a call to an application was lost.
    pub fn call_lost(&mut self, call: CallPlace, application: ApplicationPlace) {
        self.call_became(call, application, Sent { served: 0, lost: 1, response: Duration::ZERO });
    }

    /// What became of all requests of a call to an application, from the beginning until now. What was told of it before is part of it.
    pub fn calls_sent(&mut self, call: CallPlace, application: ApplicationPlace, of: &SentCalls) {
        let before = self.calls[call.position()];
        let (served, lost) = (of.served.saturating_sub(before.served), of.lost.saturating_sub(before.lost));
        if served + lost > 0 {
            self.call_became(call, application, Sent { served, lost, response: of.response - before.sum });
            // Not a sum of differences: what all took together does not depend on how often it was told.
            self.calls[call.position()].sum = of.response;
        }
        self.calls[call.position()].sent = of.sent;
    }

    fn call_became(&mut self, call: CallPlace, application: ApplicationPlace, of: Sent) {
        let sums = &mut self.calls[call.position()];
        sums.served += of.served;
        sums.lost += of.lost;
        sums.sum += of.response;
        self.became(application, of);
    }

    /// What the whole run came to, for each call.
    pub(crate) fn tell_calls(&mut self, time: Time) {
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
