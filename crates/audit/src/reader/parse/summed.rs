//! Parses records of sums, regret, optional measures and calls.

use std::fmt;

use serde::Deserialize;
use serde::de::{self, Deserializer, SeqAccess, Visitor};

use super::{Elements, Kind};
use crate::reader::calls::Calls;
use crate::reader::measured::{Latency, Traffic};
use crate::reader::record::{Responses, TraceRecord};
use crate::reader::regret::{PlacementValue, Regret, Search};
use crate::reader::summed::{Client, Clients, Counted, Gone, Handovers, Usage};

from_word!(Search, "how the best was looked for: `greedy` or `exact`", "greedy" => Greedy, "exact" => Exact);

from_array!(PlacementValue, "the value of a placement", elements => {
    let value = PlacementValue {
        present: elements.next("number of applications")?,
        satisfied: elements.next("number of satisfied users")?,
        served: elements.next("number of users served")?,
        latency_millionths: elements.next("sum of latencies")?,
        instances: elements.next("number of instances")?,
    };
    elements.end(value)
});

/// Parses a record `responses`, `regret` or `usage`.
pub(super) fn summed<'de, A: SeqAccess<'de>>(
    kind: Kind,
    time: f64,
    mut elements: Elements<'de, A>,
) -> Result<TraceRecord, A::Error> {
    match kind {
        Kind::Responses => {
            elements.what = "a record `responses`";
            let record = Responses {
                time,
                application: elements.next("application")?,
                served: elements.next("number of requests served")?,
                lost: elements.next("number of requests lost")?,
                sum: elements.next("sum of response times")?,
                histogram: elements.next("histogram")?,
            };
            elements.end(TraceRecord::Responses(record))
        }
        Kind::Regret => {
            elements.what = "a record `regret`";
            let record = Regret {
                time,
                search: elements.next("search")?,
                users: elements.next("number of users")?,
                actual: elements.next("actual value")?,
                best: elements.next("best value")?,
            };
            elements.end(TraceRecord::Regret(record))
        }
        _ => {
            elements.what = "a record `usage`";
            let record = Usage {
                time,
                application: elements.next("application")?,
                evaluations: elements.next("number of evaluations")?,
                sum: elements.next("sum of usages")?,
            };
            elements.end(TraceRecord::Usage(record))
        }
    }
}

/// Parses a record `traffic`, `calls` or `latency`.
pub(super) fn measured<'de, A: SeqAccess<'de>>(
    kind: Kind,
    time: f64,
    mut elements: Elements<'de, A>,
) -> Result<TraceRecord, A::Error> {
    if matches!(kind, Kind::Traffic) {
        elements.what = "a record `traffic`";
        let hops = elements.next("number of links")?;
        return elements.end(TraceRecord::Traffic(Traffic { time, hops }));
    }
    if matches!(kind, Kind::Calls) {
        elements.what = "a record `calls`";
        let (call, sent) = (elements.next("call")?, elements.next("number of requests sent")?);
        let (served, lost) = (elements.next("number of requests served")?, elements.next("number of requests lost")?);
        let sum = elements.next("sum of response times")?;
        return elements.end(TraceRecord::Calls(Calls { time, call, sent, served, lost, sum }));
    }
    elements.what = "a record `latency`";
    let record = Latency {
        time,
        application: elements.next("application")?,
        late: elements.next("number of late requests")?,
        max: elements.next("longest response time")?,
        histogram: elements.next("histogram")?,
    };
    elements.end(TraceRecord::Latency(record))
}

/// Parses a record `clients` or `client`.
pub(super) fn clients<'de, A: SeqAccess<'de>>(
    kind: Kind,
    time: f64,
    mut elements: Elements<'de, A>,
) -> Result<TraceRecord, A::Error> {
    const SERVED: &str = "number of requests served";
    const LOST: &str = "number of requests lost";
    const SUM: &str = "sum of response times";
    if matches!(kind, Kind::Clients) {
        elements.what = "a record `clients`";
        let (application, users) = (elements.next("application")?, elements.next("number of users")?);
        let (served, lost, sum) = (elements.next(SERVED)?, elements.next(LOST)?, elements.next(SUM)?);
        elements.end(TraceRecord::Clients(Clients { time, application, users, served, lost, sum }))
    } else {
        elements.what = "a record `client`";
        let user = elements.next("user")?;
        let (served, lost, sum) = (elements.next(SERVED)?, elements.next(LOST)?, elements.next(SUM)?);
        elements.end(TraceRecord::Client(Client { time, user, served, lost, sum }))
    }
}

/// Parses a record `handovers`, `gone` or `counts`.
pub(super) fn counted<'de, A: SeqAccess<'de>>(
    kind: Kind,
    time: f64,
    mut elements: Elements<'de, A>,
) -> Result<TraceRecord, A::Error> {
    match kind {
        Kind::Handovers => {
            elements.what = "a record `handovers`";
            let moves = elements.next("moves")?;
            elements.end(TraceRecord::Handovers(Handovers { time, moves }))
        }
        Kind::Gone => {
            elements.what = "a record `gone`";
            let placed = elements.next("instances")?;
            elements.end(TraceRecord::Gone(Gone { time, placed }))
        }
        _ => {
            elements.what = "a record `counts`";
            let (outcomes, rules) = (elements.next("outcomes")?, elements.next("rules")?);
            let placed = elements.next("instances")?;
            elements.end(TraceRecord::Counts(Counted { time, outcomes, rules, placed }))
        }
    }
}
