//! Parses the records whose elements depend on earlier ones: a record by its kind, evaluations and outcomes.
//!
//! Elements are parsed one by one, without a tree of JSON values in between.

use std::fmt;

use mario_domain::{AgentOperation, Capacity, Id, Inhibition, InstanceId, OperationName};
use serde::Deserialize;
use serde::de::value::SeqAccessDeserializer;
use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};

use super::record::TraceRecord;
use super::values::{
    Evaluation, FactsAndDecision, Neighbour, Outcome, OwnerAct, OwnerActKind, Proposal, RequestFact, Solution, Target,
    Verdict, Wakings, Woken,
};

/// Implements `Deserialize` for a type that is written as an array whose elements depend on earlier ones.
macro_rules! from_array {
    ($name:ident, $what:literal, $elements:ident => $body:expr) => {
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<$name, D::Error> {
                struct ArrayVisitor;
                impl<'de> Visitor<'de> for ArrayVisitor {
                    type Value = $name;

                    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                        formatter.write_str(concat!($what, ", an array"))
                    }

                    fn visit_seq<A: SeqAccess<'de>>(self, mut $elements: A) -> Result<$name, A::Error> {
                        $body
                    }
                }
                deserializer.deserialize_seq(ArrayVisitor)
            }
        }
    };
}

/// The next element of an array, which must exist.
fn next<'de, T: Deserialize<'de>, A: SeqAccess<'de>>(elements: &mut A, name: &str) -> Result<T, A::Error> {
    elements.next_element()?.ok_or_else(|| de::Error::custom(format_args!("it ends before its {name}")))
}

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
        SameOrRequests::Requests(requests) => Some(FactsAndDecision {
            requests,
            inhibited: next(&mut elements, "inhibited operations")?,
            solutions: next(&mut elements, "solutions")?,
            ending: elements.next_element()?.flatten(),
            random: elements.next_element()?,
        }),
    };
    Ok(Evaluation { time, instance, node, free, seen })
});

from_array!(Proposal, "an inhibited operation", elements => {
    proposal(next(&mut elements, "operation")?, next(&mut elements, "target")?)
});

/// Combines an operation with its target. The target must be a flavour for an adapt, and must not be one otherwise.
fn proposal<E: de::Error>(operation: AgentOperation, target: Target) -> Result<Proposal, E> {
    let is_right = match target {
        Target::Flavour(_) => operation.asks_for_flavour(),
        Target::Own | Target::Node(_) => !operation.asks_for_flavour(),
        // Valid also for an adapt: its policy may propose a name that is not a valid id of a flavour, such as the empty
        // name.
        Target::Unknown(_) => true,
    };
    if is_right { Ok(Proposal { operation, target }) } else { Err(E::custom("the target of an adapt is a flavour")) }
}

/// The first element of a solution.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum SolutionWord {
    Invalid,
    #[serde(untagged)]
    Proposal(AgentOperation),
}

from_array!(Solution, "a solution", elements => {
    match next(&mut elements, "operation")? {
        SolutionWord::Invalid => {
            Ok(Solution::Invalid { why: next(&mut elements, "fault")?, clause: next(&mut elements, "clause")? })
        }
        SolutionWord::Proposal(operation) => {
            let proposal = proposal(operation, next(&mut elements, "target")?)?;
            Ok(Solution::Proposal { proposal, clause: next(&mut elements, "clause")? })
        }
    }
});

impl<'de> Deserialize<'de> for Neighbour {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Neighbour, D::Error> {
        match Target::deserialize(deserializer)? {
            Target::Own => Ok(Neighbour::Own),
            Target::Node(node) => Ok(Neighbour::Node(node)),
            Target::Unknown(_) | Target::Flavour(_) => {
                Err(de::Error::custom("requests come through a node or \"self\""))
            }
        }
    }
}

impl<'de> Deserialize<'de> for Target {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Target, D::Error> {
        struct TargetVisitor;
        impl<'de> Visitor<'de> for TargetVisitor {
            type Value = Target;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("the index of a node, \"self\", {\"unknown\":name} or {\"flavour\":name}")
            }

            fn visit_u64<E: de::Error>(self, node: u64) -> Result<Target, E> {
                u32::try_from(node)
                    .map(Target::Node)
                    .map_err(|_| E::invalid_value(de::Unexpected::Unsigned(node), &self))
            }

            fn visit_str<E: de::Error>(self, word: &str) -> Result<Target, E> {
                match word {
                    mario_domain::SELF => Ok(Target::Own),
                    _ => Err(E::invalid_value(de::Unexpected::Str(word), &self)),
                }
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Target, A::Error> {
                let entry: Option<(TargetKey, Id)> = map.next_entry()?;
                let Some((key, id)) = entry else { return Err(de::Error::invalid_length(0, &self)) };
                Ok(match key {
                    TargetKey::Unknown => Target::Unknown(id),
                    TargetKey::Flavour => Target::Flavour(id),
                })
            }
        }
        deserializer.deserialize_any(TargetVisitor)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum TargetKey {
    Unknown,
    Flavour,
}

/// The second element of an outcome.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum OutcomeWord {
    Nop,
    #[serde(untagged)]
    Judged(OperationName),
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum VerdictWord {
    Accepted,
    Inhibited,
}

/// The third element of the outcome of an operation without a target: the verdict `accepted`, or the target `self`,
/// after which the verdict is the fourth element.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum AcceptedOrOwn {
    Accepted,
    #[serde(rename = "self")]
    Own,
}

from_array!(Outcome, "an outcome", elements => {
    let instance: Option<InstanceId> = next(&mut elements, "instance")?;
    let word: OutcomeWord = next(&mut elements, "operation")?;
    match (instance, word) {
        (Some(instance), OutcomeWord::Nop) => Ok(Outcome::Nop(instance)),
        (None, OutcomeWord::Judged(OperationName::Deploy)) => deploy(elements),
        (Some(instance), OutcomeWord::Judged(name)) => match name.of_agent() {
            Some(operation) => judged(instance, operation, elements),
            None => Err(de::Error::custom("agents do not deploy")),
        },
        (None, OutcomeWord::Nop | OutcomeWord::Judged(_)) => {
            Err(de::Error::custom("operators deploy and do nothing else"))
        }
    }
});

fn deploy<'de, A: SeqAccess<'de>>(mut elements: A) -> Result<Outcome, A::Error> {
    let node = next(&mut elements, "node")?;
    let verdict = match next(&mut elements, "verdict")? {
        VerdictWord::Accepted => Verdict::Accepted(Some(next(&mut elements, "new instance")?)),
        VerdictWord::Inhibited => Verdict::Inhibited(next(&mut elements, "reason")?),
    };
    let application = next(&mut elements, "application")?;
    let policy = match verdict {
        Verdict::Accepted(_) => Some(next(&mut elements, "policy")?),
        Verdict::Inhibited(_) => None,
    };
    Ok(Outcome::Deploy { node, application, policy, verdict })
}

fn judged<'de, A: SeqAccess<'de>>(
    instance: InstanceId,
    operation: AgentOperation,
    mut elements: A,
) -> Result<Outcome, A::Error> {
    let (target, word) = if operation.has_target() {
        (next(&mut elements, "target")?, next(&mut elements, "verdict")?)
    } else {
        match next(&mut elements, "verdict")? {
            AcceptedOrOwn::Accepted => (Target::Own, VerdictWord::Accepted),
            AcceptedOrOwn::Own => (Target::Own, next(&mut elements, "verdict")?),
        }
    };
    let verdict = match (word, operation) {
        (VerdictWord::Inhibited, _) => Verdict::Inhibited(next(&mut elements, "reason")?),
        (VerdictWord::Accepted, AgentOperation::Replicate) => {
            Verdict::Accepted(Some(next(&mut elements, "new instance")?))
        }
        (VerdictWord::Accepted, AgentOperation::Migrate) => Verdict::Accepted(elements.next_element()?),
        (
            VerdictWord::Accepted,
            AgentOperation::Undeploy | AgentOperation::Adapt | AgentOperation::Sleep | AgentOperation::Wake,
        ) => Verdict::Accepted(None),
    };
    Ok(Outcome::Judged { instance, proposal: proposal(operation, target)?, verdict })
}

/// The first element of an owner's action.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum ActWord {
    Evicted,
    Shrunk,
    Leave,
}

from_array!(OwnerAct, "what an owner did", elements => {
    let word: ActWord = next(&mut elements, "act")?;
    let instance = next(&mut elements, "instance")?;
    let kind = match word {
        ActWord::Evicted => OwnerActKind::Evicted,
        ActWord::Shrunk => match next(&mut elements, "flavour")? {
            flavour @ Target::Flavour(_) => OwnerActKind::Shrunk(flavour),
            Target::Own | Target::Node(_) | Target::Unknown(_) => {
                return Err(de::Error::custom("an instance shrinks to a flavour"));
            }
        },
        ActWord::Leave => OwnerActKind::Announced(next(&mut elements, "number of evaluations")?),
    };
    Ok(OwnerAct { instance, kind, reason: next(&mut elements, "reason")? })
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
