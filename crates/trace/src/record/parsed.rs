//! Reads the elements of records, which traces and parts share.

use std::fmt;

use mario_domain::{AgentOperation, FlavourId, Id, InstanceEffect, InstanceId, NodeId, OperationName};
use serde::Deserialize;
use serde::de::{self, DeserializeOwned, Deserializer, MapAccess, SeqAccess, Visitor};

use super::decision::{FactsAndDecision, Neighbour, OperationTarget, Proposal, RequestFact, Seen, Solution, Target};
use super::outcome::{Outcome, OwnerAct, OwnerActKind, Verdict};
use crate::arrays::{from_array, next};

/// The rest of an evaluation after its requests.
pub(crate) fn seen<'de, N, T: OperationTarget, A: SeqAccess<'de>>(
    requests: Vec<RequestFact<N>>,
    elements: &mut A,
) -> Result<Seen<N, T>, A::Error> {
    Ok(FactsAndDecision {
        requests,
        inhibited: next(elements, "inhibited operations")?,
        solutions: next(elements, "solutions")?,
        ending: elements.next_element()?.flatten(),
        random: elements.next_element()?,
    })
}

from_array!([T: OperationTarget] Proposal<T>, "an inhibited operation", elements => {
    proposal(next(&mut elements, "operation")?, next(&mut elements, "target")?)
});

/// Combines an operation with its target.
fn proposal<T: OperationTarget, E: de::Error>(operation: AgentOperation, target: T) -> Result<Proposal<T>, E> {
    if target.suits(operation) {
        Ok(Proposal { operation, target })
    } else {
        Err(E::custom("the target of an adapt is a flavour"))
    }
}

/// The first element of a solution.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum SolutionWord {
    Invalid,
    #[serde(untagged)]
    Proposal(AgentOperation),
}

from_array!([T: OperationTarget] Solution<T>, "a solution", elements => {
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
            Target::Unknown(_) | Target::Flavour(_) => Err(no_neighbour()),
        }
    }
}

impl<'de> Deserialize<'de> for Neighbour<NodeId> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Neighbour<NodeId>, D::Error> {
        match mario_domain::Target::deserialize(deserializer)? {
            mario_domain::Target::Own => Ok(Neighbour::Own),
            mario_domain::Target::Node(node) => Ok(Neighbour::Node(node)),
            mario_domain::Target::Flavour(_) => Err(no_neighbour()),
        }
    }
}

fn no_neighbour<E: de::Error>() -> E {
    E::custom("requests come through a node or \"self\"")
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
pub(crate) enum VerdictWord {
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

from_array!([N: DeserializeOwned, T: OperationTarget] Outcome<N, T>, "an outcome", elements => {
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

fn deploy<'de, N: DeserializeOwned, T, A: SeqAccess<'de>>(mut elements: A) -> Result<Outcome<N, T>, A::Error> {
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

fn judged<'de, N, T: OperationTarget, A: SeqAccess<'de>>(
    instance: InstanceId,
    operation: AgentOperation,
    mut elements: A,
) -> Result<Outcome<N, T>, A::Error> {
    let (target, word) = if operation.has_target() {
        (next(&mut elements, "target")?, next(&mut elements, "verdict")?)
    } else {
        match next(&mut elements, "verdict")? {
            AcceptedOrOwn::Accepted => (T::OWN, VerdictWord::Accepted),
            AcceptedOrOwn::Own => (T::OWN, next(&mut elements, "verdict")?),
        }
    };
    let verdict = match word {
        VerdictWord::Inhibited => Verdict::Inhibited(next(&mut elements, "reason")?),
        VerdictWord::Accepted => Verdict::Accepted(match operation.effect() {
            InstanceEffect::Created => Some(next(&mut elements, "new instance")?),
            // With sequential arbitration, an instance that moves gets another id.
            InstanceEffect::Kept if operation.asks_for_place() => elements.next_element()?,
            InstanceEffect::Kept | InstanceEffect::Ended => None,
        }),
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
    act(&mut elements, |elements| match next(elements, "flavour")? {
        Target::Flavour(flavour) => Ok(FlavourId::from(flavour)),
        Target::Own | Target::Node(_) | Target::Unknown(_) => {
            Err(de::Error::custom("an instance shrinks to a flavour"))
        }
    })
});

from_array!(OwnerAct<u32>, "what an owner did", elements => {
    act(&mut elements, |elements| next(elements, "flavour"))
});

fn act<'de, F, A: SeqAccess<'de>>(
    elements: &mut A,
    flavour: impl FnOnce(&mut A) -> Result<F, A::Error>,
) -> Result<OwnerAct<F>, A::Error> {
    let word: ActWord = next(elements, "act")?;
    let instance = next(elements, "instance")?;
    let kind = match word {
        ActWord::Evicted => OwnerActKind::Evicted,
        ActWord::Shrunk => OwnerActKind::Shrunk(flavour(elements)?),
        ActWord::Leave => OwnerActKind::Announced(next(elements, "number of evaluations")?),
    };
    Ok(OwnerAct { instance, kind, reason: next(elements, "reason")? })
}
