//! Parses the line of a record.
//!
//! Records are arrays whose first element determines the others. For speed, they are parsed element by element, without
//! a tree of JSON values in between.

use std::fmt;
use std::marker::PhantomData;

use mario_domain::{AgentOperation, Capacity, Id, InstanceId, Quantity};
use serde::Deserialize;
use serde::de::{self, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::live::Live;
use super::record::{
    Cause, Cycle, Deployed, End, Evaluation, FactsAndDecision, Handover, LinkEvent, Neighbour, NodeDown, NodeEvent,
    Outcome, Proposal, RequestFact, Solution, Target, TraceRecord, Verdict,
};
use super::update::Update;

/// The elements of an array, one by one.
struct Elements<'a, A> {
    sequence: A,
    /// A description of the array for messages, such as `an evaluation`.
    what: &'static str,
    lifetime: PhantomData<&'a ()>,
}

impl<'de, A: SeqAccess<'de>> Elements<'de, A> {
    fn new(what: &'static str, sequence: A) -> Self {
        Elements { sequence, what, lifetime: PhantomData }
    }

    fn next<T: Deserialize<'de>>(&mut self, name: &str) -> Result<T, A::Error> {
        let what = self.what;
        self.optional()?.ok_or_else(|| de::Error::custom(format_args!("{what} ends before its {name}")))
    }

    fn optional<T: Deserialize<'de>>(&mut self) -> Result<Option<T>, A::Error> {
        self.sequence.next_element()
    }

    fn end<T>(mut self, value: T) -> Result<T, A::Error> {
        match self.optional::<IgnoredAny>()? {
            None => Ok(value),
            Some(_) => Err(de::Error::custom(format_args!("{} has more elements than it should", self.what))),
        }
    }
}

/// Implements `Deserialize` for a type that is written as an array.
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

                    fn visit_seq<A: SeqAccess<'de>>(self, sequence: A) -> Result<$name, A::Error> {
                        #[allow(unused_mut, reason = "not every array is taken apart here")]
                        let mut $elements = Elements::new($what, sequence);
                        $body
                    }
                }
                deserializer.deserialize_seq(ArrayVisitor)
            }
        }
    };
}

/// Implements `Deserialize` for an enum of words without data.
macro_rules! from_word {
    ($name:ident, $what:literal, $($word:literal => $variant:ident),*) => {
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<$name, D::Error> {
                struct WordVisitor;
                impl Visitor<'_> for WordVisitor {
                    type Value = $name;

                    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                        formatter.write_str($what)
                    }

                    fn visit_str<E: de::Error>(self, word: &str) -> Result<$name, E> {
                        match word {
                            $($word => Ok($name::$variant),)*
                            other => Err(E::custom(format_args!("`{other}` is not {}", $what))),
                        }
                    }
                }
                deserializer.deserialize_str(WordVisitor)
            }
        }
    };
}

mod owners;
mod reasons;
mod sleep;
mod summed;

#[derive(Clone, Copy)]
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

from_word!(Kind, "a kind of record",
    "deployed" => Deployed, "handover" => Handover, "evaluation" => Evaluation, "cycle" => Cycle,
    "node-down" => NodeDown, "node-leaving" => NodeLeaving, "node-up" => NodeUp, "link-down" => LinkDown,
    "link-up" => LinkUp, "update" => Update, "regret" => Regret, "responses" => Responses, "usage" => Usage, "client" => Client,
    "clients" => Clients, "handovers" => Handovers, "counts" => Counts, "gone" => Gone, "owner" => Owner, "owners" => Owners,
    "woken" => Woken, "wakings" => Wakings,
    "latency" => Latency, "traffic" => Traffic, "calls" => Calls, "live" => Live, "end" => End);

from_word!(Cause, "why a node is down: `absent`, `crash` or `leave`", "absent" => Absent, "crash" => Crash, "leave" => Leave);

from_array!(TraceRecord, "a record", elements => {
    let kind: Kind = elements.next("kind")?;
    let time: f64 = elements.next("time")?;
    record(kind, time, elements)
});

fn record<'de, A: SeqAccess<'de>>(
    kind: Kind,
    time: f64,
    mut elements: Elements<'de, A>,
) -> Result<TraceRecord, A::Error> {
    match kind {
        Kind::Deployed => {
            elements.what = "a record `deployed`";
            let record = Deployed {
                time,
                instance: elements.next("instance")?,
                application: elements.next("application")?,
                node: elements.next("node")?,
                policy: elements.next("policy")?,
            };
            elements.end(TraceRecord::Deployed(record))
        }
        Kind::Update => {
            elements.what = "an update";
            let (application, policy) = (elements.next("application")?, elements.next("policy")?);
            elements.end(TraceRecord::Update(Update { time, application, policy }))
        }
        Kind::Handover => {
            elements.what = "a handover";
            let (user, from, to) = (elements.next("user")?, elements.next("origin")?, elements.next("destination")?);
            elements.end(TraceRecord::Handover(Handover { time, user, from, to }))
        }
        Kind::Evaluation => evaluation(time, elements),
        Kind::Cycle => {
            elements.what = "a cycle";
            let outcomes = elements.next("outcomes")?;
            elements.end(TraceRecord::Cycle(Cycle { time, outcomes }))
        }
        Kind::NodeDown => {
            elements.what = "a record `node-down`";
            let (node, cause, instances) =
                (elements.next("node")?, elements.next("cause")?, elements.next("instances")?);
            elements.end(TraceRecord::NodeDown(NodeDown { time, node, cause, instances }))
        }
        Kind::NodeLeaving | Kind::NodeUp => {
            elements.what = "an event of a node";
            let event = NodeEvent { time, node: elements.next("node")? };
            let is_up = matches!(kind, Kind::NodeUp);
            elements.end(if is_up { TraceRecord::NodeUp(event) } else { TraceRecord::NodeLeaving(event) })
        }
        Kind::LinkDown | Kind::LinkUp => {
            elements.what = "an event of a link";
            let event = LinkEvent { time, nodes: [elements.next("first node")?, elements.next("second node")?] };
            let is_up = matches!(kind, Kind::LinkUp);
            elements.end(if is_up { TraceRecord::LinkUp(event) } else { TraceRecord::LinkDown(event) })
        }
        Kind::Responses | Kind::Regret | Kind::Usage => summed::summed(kind, time, elements),
        Kind::Client | Kind::Clients => summed::clients(kind, time, elements),
        Kind::Handovers | Kind::Counts | Kind::Gone => summed::counted(kind, time, elements),
        Kind::Owner | Kind::Owners => owners::owners(kind, time, elements),
        Kind::Woken | Kind::Wakings => sleep::woken(kind, time, elements),
        Kind::Latency | Kind::Traffic | Kind::Calls => summed::measured(kind, time, elements),
        Kind::Live => {
            elements.what = "a record `live`";
            let (node, number) = (elements.next("node")?, elements.next("number")?);
            let event = elements.next("event")?;
            elements.end(TraceRecord::Live(Live { time, node, number, event }))
        }
        Kind::End => {
            elements.what = "a record `end`";
            let totals = elements.next("totals")?;
            elements.end(TraceRecord::End(End { time, totals }))
        }
    }
}

fn evaluation<'de, A: SeqAccess<'de>>(time: f64, mut elements: Elements<'de, A>) -> Result<TraceRecord, A::Error> {
    elements.what = "an evaluation";
    let instance: InstanceId = elements.next("instance")?;
    let node: u32 = elements.next("node")?;
    let free: Capacity = elements.next("free hardware")?;
    let seen = match elements.next("requests")? {
        SameOrRequests::Same => None,
        SameOrRequests::Requests(requests) => Some(FactsAndDecision {
            requests,
            inhibited: elements.next("inhibited operations")?,
            solutions: elements.next("solutions")?,
            ending: elements.optional::<Option<String>>()?.flatten(),
            random: elements.optional()?,
        }),
    };
    elements.end(TraceRecord::Evaluation(Evaluation { time, instance, node, free, seen }))
}

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

            fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<SameOrRequests, A::Error> {
                let mut requests = Vec::new();
                while let Some(fact) = sequence.next_element()? {
                    requests.push(fact);
                }
                Ok(SameOrRequests::Requests(requests))
            }
        }
        deserializer.deserialize_any(SameOrRequestsVisitor)
    }
}

from_array!(RequestFact, "a fact about requests", elements => {
    let fact = RequestFact {
        neighbour: elements.next("neighbour")?,
        rate: elements.next::<Quantity>("rate")?,
        latency: elements.next::<Quantity>("latency")?,
    };
    elements.end(fact)
});

from_array!(Proposal, "an inhibited operation", elements => {
    let proposal = proposal(elements.next("operation")?, elements.next("target")?)?;
    elements.end(proposal)
});

fn operation<E: de::Error>(word: Word) -> Result<AgentOperation, E> {
    match word {
        Word::Undeploy => Ok(AgentOperation::Undeploy),
        Word::Migrate => Ok(AgentOperation::Migrate),
        Word::Replicate => Ok(AgentOperation::Replicate),
        Word::Adapt => Ok(AgentOperation::Adapt),
        Word::Sleep => Ok(AgentOperation::Sleep),
        Word::Wake => Ok(AgentOperation::Wake),
        Word::Deploy | Word::Nop | Word::Invalid => Err(E::custom(AGENTS)),
    }
}

const AGENTS: &str = "this is not an operation of an agent";

/// Combines an operation with its target. The target must be a flavour for an adapt, and must not be one otherwise.
fn proposal<E: de::Error>(word: Word, target: Target) -> Result<Proposal, E> {
    let operation = operation(word)?;
    let is_right = match target {
        Target::Flavour(_) => operation.asks_for_flavour(),
        Target::Own | Target::Node(_) => !operation.asks_for_flavour(),
        // Valid also for an adapt: its policy may propose a name that is not a valid id of a flavour, such as the empty
        // name.
        Target::Unknown(_) => true,
    };
    if is_right { Ok(Proposal { operation, target }) } else { Err(E::custom("the target of an adapt is a flavour")) }
}

#[derive(Clone, Copy, PartialEq)]
enum Word {
    Nop,
    Undeploy,
    Migrate,
    Replicate,
    Adapt,
    Sleep,
    Wake,
    Deploy,
    Invalid,
}

from_word!(Word, "an operation", "nop" => Nop, "undeploy" => Undeploy, "migrate" => Migrate,
    "replicate" => Replicate, "adapt" => Adapt, "sleep" => Sleep, "wake" => Wake, "deploy" => Deploy, "invalid" => Invalid);

from_array!(Solution, "a solution", elements => {
    match elements.next("operation")? {
        Word::Invalid => {
            let solution = Solution::Invalid { why: elements.next("fault")?, clause: elements.next("clause")? };
            elements.end(solution)
        }
        word => {
            let proposal = proposal(word, elements.next("target")?)?;
            let clause = elements.next("clause")?;
            elements.end(Solution::Proposal { proposal, clause })
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
                formatter.write_str("the place of a node, \"self\", {\"unknown\":name} or {\"flavour\":name}")
            }

            fn visit_u64<E: de::Error>(self, place: u64) -> Result<Target, E> {
                u32::try_from(place)
                    .map(Target::Node)
                    .map_err(|_| E::invalid_value(de::Unexpected::Unsigned(place), &self))
            }

            fn visit_str<E: de::Error>(self, word: &str) -> Result<Target, E> {
                match word {
                    mario_domain::SELF => Ok(Target::Own),
                    _ => Err(E::invalid_value(de::Unexpected::Str(word), &self)),
                }
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Target, A::Error> {
                let (key, id): (String, Id) = map
                    .next_entry()?
                    .ok_or_else(|| de::Error::invalid_length(0, &"one key, `unknown` or `flavour`"))?;
                if map.next_key::<IgnoredAny>()?.is_some() {
                    return Err(de::Error::custom("such a target has one key, `unknown` or `flavour`"));
                }
                match key.as_str() {
                    "unknown" => Ok(Target::Unknown(id)),
                    "flavour" => Ok(Target::Flavour(id)),
                    _ => Err(de::Error::custom("an unknown target has one key, `unknown`; a flavour has `flavour`")),
                }
            }
        }
        deserializer.deserialize_any(TargetVisitor)
    }
}

#[derive(Clone, Copy)]
enum VerdictWord {
    Accepted,
    Inhibited,
}

from_word!(VerdictWord, "a verdict, `accepted` or `inhibited`", "accepted" => Accepted, "inhibited" => Inhibited);

/// The third element of the outcome of an operation without a target: the verdict `accepted`, or the target `self`,
/// after which the verdict is the fourth element.
enum AcceptedOrOwn {
    Accepted,
    Own,
}

from_word!(AcceptedOrOwn, "`accepted`, or the target `self` of what was inhibited", "accepted" => Accepted, "self" => Own);

from_array!(Outcome, "an outcome", elements => {
    let instance: Option<InstanceId> = elements.next("instance")?;
    let word: Word = elements.next("operation")?;
    match (instance, word) {
        (None, Word::Deploy) => deploy(elements),
        (Some(instance), Word::Nop) => elements.end(Outcome::Nop(instance)),
        (
            Some(instance),
            Word::Undeploy | Word::Migrate | Word::Replicate | Word::Adapt | Word::Sleep | Word::Wake,
        ) => judged(instance, word, elements),
        (None, _) => Err(de::Error::custom("operators deploy and do nothing else")),
        (Some(_), Word::Deploy | Word::Invalid) => Err(de::Error::custom(AGENTS)),
    }
});

fn deploy<'de, A: SeqAccess<'de>>(mut elements: Elements<'de, A>) -> Result<Outcome, A::Error> {
    let node = elements.next("node")?;
    let outcome = match elements.next("verdict")? {
        VerdictWord::Accepted => {
            let verdict = Verdict::Accepted(Some(elements.next("new instance")?));
            let (application, policy) = (elements.next("application")?, Some(elements.next("policy")?));
            Outcome::Deploy { node, application, policy, verdict }
        }
        VerdictWord::Inhibited => {
            let verdict = Verdict::Inhibited(elements.next("reason")?);
            Outcome::Deploy { node, application: elements.next("application")?, policy: None, verdict }
        }
    };
    elements.end(outcome)
}

fn judged<'de, A: SeqAccess<'de>>(
    instance: InstanceId,
    word: Word,
    mut elements: Elements<'de, A>,
) -> Result<Outcome, A::Error> {
    let operation = operation(word)?;
    let asked = word;
    let (target, word) = if operation.has_target() {
        (elements.next("target")?, elements.next("verdict")?)
    } else {
        match elements.next("verdict")? {
            AcceptedOrOwn::Accepted => (Target::Own, VerdictWord::Accepted),
            AcceptedOrOwn::Own => (Target::Own, elements.next("verdict")?),
        }
    };
    let verdict = match (word, operation) {
        (VerdictWord::Inhibited, _) => Verdict::Inhibited(elements.next("reason")?),
        (VerdictWord::Accepted, AgentOperation::Replicate) => Verdict::Accepted(Some(elements.next("new instance")?)),
        (VerdictWord::Accepted, AgentOperation::Migrate) => Verdict::Accepted(elements.optional()?),
        (
            VerdictWord::Accepted,
            AgentOperation::Undeploy | AgentOperation::Adapt | AgentOperation::Sleep | AgentOperation::Wake,
        ) => Verdict::Accepted(None),
    };
    let proposal = proposal(asked, target)?;
    elements.end(Outcome::Judged { instance, proposal, verdict })
}
