//! Checks calls between applications (service graphs): the call graph in the header, and the results of calls at the
//! end.

use std::sync::Arc;

use super::Audit;
use super::header::Fault;
use super::sums::{ResponseSums, is_near};
use crate::finding::FindingKind;
use crate::reader::{CallOrder, Calls, Detail, Header, TracedCall, TrafficKind};

/// The records `calls` read so far, and their sums.
pub(super) struct Called {
    records: Vec<Calls>,
    /// For each application, the numbers of served and lost requests of calls to it, and the sum of the response times.
    seen: Vec<ResponseSums>,
    /// For each application, the number of requests that calls have sent to it.
    sent: Vec<u64>,
}

impl Called {
    pub(super) fn new(header: &Header) -> Called {
        let applications = header.applications.len();
        Called { records: Vec::new(), seen: vec![ResponseSums::default(); applications], sent: vec![0; applications] }
    }

    /// The results of all calls to an application.
    pub(super) fn to(&self, application: u32) -> ResponseSums {
        self.seen[application as usize]
    }
}

impl Audit {
    pub(super) fn calls(&mut self, record: &Calls) {
        let who = self.call_text(record.call);
        let next = self.called.records.len();
        if record.call as usize != next {
            let expected = format!("the record `calls` of index {next}: one for each call of the header, in order");
            self.find(FindingKind::Calls, &who, expected, format!("that of index {}", record.call));
            return;
        }
        if !is_near(record.time, self.header.duration) {
            let expected = format!("totals of the whole run, at {}", self.header.duration);
            self.find(FindingKind::Time, &who, expected, format!("at {}", record.time));
        }
        let became = record.served.saturating_add(record.lost);
        if became > record.sent {
            let expected = format!("at most {} requests served or lost, since that many were sent", record.sent);
            self.find(FindingKind::Calls, &who, expected, became.to_string());
        }
        if record.sum < 0.0 || (record.served == 0 && record.sum > 0.0) {
            let expected = format!("response times that {} requests can have", record.served);
            self.find(FindingKind::Calls, &who, expected, format!("{} in sum", record.sum));
        }
        let application = self.header.calls[record.call as usize].application as usize;
        self.called.seen[application].add(record.served, record.lost, record.sum);
        self.called.sent[application] = self.called.sent[application].saturating_add(record.sent);
        self.called.records.push(record.clone());
    }

    /// Checks at the end that calls were sent and answered as the call graph prescribes. If traffic is simulated as
    /// rates, counts are rounded means, and only the number of records is checked here.
    pub(super) fn require_calls(&mut self) {
        let header = Arc::clone(&self.header);
        let records = std::mem::take(&mut self.called.records);
        if header.calls.len() != records.len() {
            let expected = format!("{} records `calls`, as the header says", header.calls.len());
            self.find(FindingKind::Calls, "the end", expected, records.len().to_string());
            return;
        }
        // A call with 0 requests is reported with the header.
        if header.traffic != Some(TrafficKind::Messages) || header.calls.iter().any(|call| call.requests == 0) {
            return;
        }
        let all: Vec<(TracedCall, Calls)> = header.calls.iter().copied().zip(records).collect();
        for of_caller in all.chunk_by(|one, other| one.0.caller == other.0.caller) {
            let stages: Vec<&[(TracedCall, Calls)]> =
                of_caller.chunk_by(|one, other| one.0.stage == other.0.stage).collect();
            for (place, stage) in stages.iter().enumerate() {
                let next = stages.get(place + 1).map(|next| begun(&next[0]));
                self.require_answers(stage, next);
            }
            self.require_time_for_calls(of_caller[0].0.caller, &stages);
        }
        for application in 0..header.applications.len() as u32 {
            self.require_seen_were_sent(application);
        }
    }

    /// Checks the numbers of one stage: its calls were started equally often, and enough of them were answered for the
    /// served requests of the caller and for the starts of the next stage. `next` is how often the next stage was
    /// started; `None` for the last stage.
    fn require_answers(&mut self, stage: &[(TracedCall, Calls)], next: Option<u64>) {
        let times = begun(&stage[0]);
        for (call, calls) in stage {
            let who = self.call_text(calls.call);
            let answered = calls.served / call.requests;
            let caller = self.served_of(call.caller);
            if caller > answered {
                let expected =
                    format!("at most {answered} requests served, since no more had all their calls answered");
                self.find(FindingKind::Calls, &who, expected, caller.to_string());
            }
            if call.order == CallOrder::Parallel && !calls.sent.is_multiple_of(call.requests) {
                let expected = format!("a multiple of {} requests, which are sent at once", call.requests);
                self.find(FindingKind::Calls, &who, expected, calls.sent.to_string());
            }
            if calls.sent.div_ceil(call.requests) != times {
                let expected = format!("calls of one stage that started equally often: {times} times");
                self.find(FindingKind::Calls, &who, expected, format!("{} requests", calls.sent));
            }
            if next.is_some_and(|next| next > answered) {
                let expected =
                    format!("a next stage that started at most {answered} times, as often as this one was answered");
                self.find(FindingKind::Calls, &who, expected, format!("{} times", next.unwrap_or(0)));
            }
        }
    }

    /// Checks that the served requests of an application took, in total, at least as long as their calls. Not checked
    /// if any call was lost, or if any request is in transit.
    fn require_time_for_calls(&mut self, application: u32, stages: &[&[(TracedCall, Calls)]]) {
        let served = self.served_of(application);
        let is_complete = |(call, calls): &(TracedCall, Calls)| {
            calls.sent == calls.served && served.checked_mul(call.requests) == Some(calls.sent)
        };
        if !stages.iter().copied().flatten().all(is_complete) {
            return;
        }
        // The slowest of parallel requests takes at least their mean.
        let of_call = |(call, calls): &(TracedCall, Calls)| match call.order {
            CallOrder::Sequence => calls.sum,
            CallOrder::Parallel => calls.sum / call.requests as f64,
        };
        let least: f64 = stages.iter().map(|stage| stage.iter().map(of_call).fold(0.0, f64::max)).sum();
        let found = self.sums.response_sum(application);
        if found < least && !is_near(found, least) {
            let who = self.application_text(application);
            let expected = format!("response times of at least {least} in total, the time that its calls took");
            self.find(FindingKind::Calls, &who, expected, found.to_string());
        }
    }

    /// Checks that the agents of an application without users saw, in its default flavour, no more client requests than
    /// other applications sent to it. Not checked if the application can sleep, or if evaluations are not recorded.
    fn require_seen_were_sent(&mut self, application: u32) {
        // A request that a sleeping instance forwards may be seen more than once.
        let sleeps = self.header.applications[application as usize].sleep.is_some();
        if self.header.detail != Detail::Full || self.sums.users_of(application) > 0 || sleeps {
            return;
        }
        let sent = self.called.sent[application as usize];
        let seen = self.sums.rates_seen(application);
        if seen > sent as f64 {
            let who = self.application_text(application);
            let expected = format!("agents that saw at most the {sent} requests that other applications sent");
            self.find(FindingKind::Calls, &who, expected, seen.to_string());
        }
    }

    fn call_text(&self, call: u32) -> String {
        let TracedCall { caller, application, .. } = self.header.calls[call as usize];
        let id = |place: u32| &self.header.applications[place as usize].id;
        format!("the call of {} by {}", id(application), id(caller))
    }
}

/// Adds the faults of the call graph in a header to `faults`.
pub(super) fn faults(header: &Header, faults: &mut Vec<Fault>) {
    let is_seventh = header.mario_trace == 7;
    let words = |are_there: bool| if are_there { "calls" } else { "no calls" }.to_owned();
    if header.mario_trace < super::header::ANCHORS && is_seventh == header.calls.is_empty() {
        faults.push((format!("format {}", header.mario_trace), words(is_seventh), words(!header.calls.is_empty())));
    }
    if header.traffic.is_some() == header.calls.is_empty() {
        let expected = "`traffic` if and only if there are calls".to_owned();
        let found = if header.traffic.is_some() { "`traffic`" } else { "no `traffic`" };
        faults.push(("the traffic".to_owned(), expected, found.to_owned()));
    }
    let id = |place: u32| &header.applications[place as usize].id;
    for (place, call) in header.calls.iter().enumerate() {
        let who = format!("the call of {} by {}", id(call.application), id(call.caller));
        let before =
            place.checked_sub(1).map(|before| header.calls[before]).filter(|before| before.caller == call.caller);
        let is_in_turn = match before {
            None => {
                call.stage == 0 && place.checked_sub(1).is_none_or(|before| header.calls[before].caller < call.caller)
            }
            Some(before) if before.stage == call.stage => {
                before.order == call.order && call.order == CallOrder::Parallel
            }
            Some(before) => call.stage == before.stage.saturating_add(1),
        };
        if !is_in_turn {
            let expected =
                "calls in the order of applications and stages, and only one in a sequential stage".to_owned();
            faults.push((who.clone(), expected, format!("one of stage {}", call.stage)));
        }
        if call.requests == 0 {
            faults.push((who.clone(), "at least one request".to_owned(), "0".to_owned()));
        }
    }
    if has_cycle(header) {
        faults.push((
            "the calls".to_owned(),
            "no application that calls itself indirectly".to_owned(),
            "a cycle".to_owned(),
        ));
    }
    if !header.calls.is_empty() && (header.routing != "nearest" || header.observation != "arrivals") {
        let expected = "the routing `nearest` and the observation `arrivals` if applications call others".to_owned();
        faults.push(("the calls".to_owned(), expected, format!("`{}` and `{}`", header.routing, header.observation)));
    }
}

/// Whether the call graph has a cycle. Repeatedly removes applications without callers; if any are left, there is a
/// cycle.
fn has_cycle(header: &Header) -> bool {
    let mut callers = vec![0_usize; header.applications.len()];
    let mut calls_of: Vec<Vec<u32>> = vec![Vec::new(); header.applications.len()];
    for call in &header.calls {
        callers[call.application as usize] += 1;
        calls_of[call.caller as usize].push(call.application);
    }
    let mut ready: Vec<usize> = (0..callers.len()).filter(|place| callers[*place] == 0).collect();
    let mut taken = 0;
    while let Some(place) = ready.pop() {
        taken += 1;
        for called in &calls_of[place] {
            callers[*called as usize] -= 1;
            if callers[*called as usize] == 0 {
                ready.push(*called as usize);
            }
        }
    }
    taken < callers.len()
}

/// How often a stage was started, according to one of its calls.
fn begun((call, calls): &(TracedCall, Calls)) -> u64 {
    calls.sent.div_ceil(call.requests)
}
