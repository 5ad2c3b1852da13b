//! Reads the records whose elements depend on earlier ones: a record by its kind, evaluations and wakes.

use std::fmt;

use mario_domain::{Capacity, Inhibition, InstanceId};
use serde::Deserialize;
use serde::de::value::SeqAccessDeserializer;
use serde::de::{self, Deserializer, SeqAccess, Visitor};

use super::record::TraceRecord;
use super::values::{Evaluation, Wakings, Woken};
use crate::arrays::{from_array, next};
use crate::record::{RequestFact, VerdictWord, seen};

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    Deployed,
    Handover,
    Evaluation,
    Cycle,
    NodeDown,
    NodeLeaving,
    NodeUp,
    LinkDown,
    LinkUp,
    Update,
    Regret,
    Responses,
    Usage,
    Client,
    Clients,
    Handovers,
    Counts,
    Gone,
    Owner,
    Owners,
    Woken,
    Wakings,
    Latency,
    Traffic,
    Calls,
    Live,
    End,
}

from_array!(TraceRecord, "a record", elements => {
    let kind: Kind = next(&mut elements, "kind")?;
    let rest = SeqAccessDeserializer::new(elements);
    Ok(match kind {
        Kind::Deployed => TraceRecord::Deployed(Deserialize::deserialize(rest)?),
        Kind::Handover => TraceRecord::Handover(Deserialize::deserialize(rest)?),
        Kind::Evaluation => TraceRecord::Evaluation(Deserialize::deserialize(rest)?),
        Kind::Cycle => TraceRecord::Cycle(Deserialize::deserialize(rest)?),
        Kind::NodeDown => TraceRecord::NodeDown(Deserialize::deserialize(rest)?),
        Kind::NodeLeaving => TraceRecord::NodeLeaving(Deserialize::deserialize(rest)?),
        Kind::NodeUp => TraceRecord::NodeUp(Deserialize::deserialize(rest)?),
        Kind::LinkDown => TraceRecord::LinkDown(Deserialize::deserialize(rest)?),
        Kind::LinkUp => TraceRecord::LinkUp(Deserialize::deserialize(rest)?),
        Kind::Update => TraceRecord::Update(Deserialize::deserialize(rest)?),
        Kind::Regret => TraceRecord::Regret(Deserialize::deserialize(rest)?),
        Kind::Responses => TraceRecord::Responses(Deserialize::deserialize(rest)?),
        Kind::Usage => TraceRecord::Usage(Deserialize::deserialize(rest)?),
        Kind::Client => TraceRecord::Client(Deserialize::deserialize(rest)?),
        Kind::Clients => TraceRecord::Clients(Deserialize::deserialize(rest)?),
        Kind::Handovers => TraceRecord::Handovers(Deserialize::deserialize(rest)?),
        Kind::Counts => TraceRecord::Counts(Deserialize::deserialize(rest)?),
        Kind::Gone => TraceRecord::Gone(Deserialize::deserialize(rest)?),
        Kind::Owner => TraceRecord::Owner(Deserialize::deserialize(rest)?),
        Kind::Owners => TraceRecord::Owners(Deserialize::deserialize(rest)?),
        Kind::Woken => TraceRecord::Woken(Deserialize::deserialize(rest)?),
        Kind::Wakings => TraceRecord::Wakings(Deserialize::deserialize(rest)?),
        Kind::Latency => TraceRecord::Latency(Deserialize::deserialize(rest)?),
        Kind::Traffic => TraceRecord::Traffic(Deserialize::deserialize(rest)?),
        Kind::Calls => TraceRecord::Calls(Deserialize::deserialize(rest)?),
        Kind::Live => TraceRecord::Live(Deserialize::deserialize(rest)?),
        Kind::End => TraceRecord::End(Deserialize::deserialize(rest)?),
    })
});

/// `"same"`, or the requests that an agent saw.
enum SameOrRequests {
    Same,
    Requests(Vec<RequestFact>),
}

impl<'de> Deserialize<'de> for SameOrRequests {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<SameOrRequests, D::Error> {
        struct SameOrRequestsVisitor;
        impl<'de> Visitor<'de> for SameOrRequestsVisitor {
            type Value = SameOrRequests;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a list of requests, or \"same\"")
            }

            fn visit_str<E: de::Error>(self, word: &str) -> Result<SameOrRequests, E> {
                match word {
                    "same" => Ok(SameOrRequests::Same),
                    _ => Err(E::invalid_value(de::Unexpected::Str(word), &self)),
                }
            }

            fn visit_seq<A: SeqAccess<'de>>(self, sequence: A) -> Result<SameOrRequests, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(sequence)).map(SameOrRequests::Requests)
            }
        }
        deserializer.deserialize_any(SameOrRequestsVisitor)
    }
}

from_array!(Evaluation, "an evaluation", elements => {
    let time = next(&mut elements, "time")?;
    let instance: InstanceId = next(&mut elements, "instance")?;
    let node = next(&mut elements, "node")?;
    let free: Capacity = next(&mut elements, "free hardware")?;
    let seen = match next(&mut elements, "requests")? {
        SameOrRequests::Same => None,
        SameOrRequests::Requests(requests) => Some(seen(requests, &mut elements)?),
    };
    Ok(Evaluation { time, instance, node, free, seen })
});

from_array!(Woken, "a record `woken`", elements => {
    let (time, instance) = (next(&mut elements, "time")?, next(&mut elements, "instance")?);
    let inhibited = inhibited::<Inhibition, A>(&mut elements)?;
    Ok(Woken { time, instance, inhibited })
});

from_array!(Wakings, "a record `wakings`", elements => {
    let (time, application) = (next(&mut elements, "time")?, next(&mut elements, "application")?);
    Ok(Wakings { time, application, inhibited_by: inhibited(&mut elements)? })
});

/// A verdict; if it is an inhibition, also what inhibited it.
fn inhibited<'de, T: Deserialize<'de>, A: SeqAccess<'de>>(elements: &mut A) -> Result<Option<T>, A::Error> {
    match next(elements, "verdict")? {
        VerdictWord::Accepted => Ok(None),
        VerdictWord::Inhibited => next(elements, "reason").map(Some),
    }
}
