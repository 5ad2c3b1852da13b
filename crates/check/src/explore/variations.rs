//! The variations of small worlds that are explored for a policy, chosen by what it reads and proposes.

use mario_domain::{FlavourId, Id, RANDOM};
use mario_policy::{Interests, KeyValues};

use super::world::{Gpus, Spread};

/// The variations of the small worlds for one policy.
#[derive(Clone, Debug)]
pub(super) struct Variations {
    /// How many evaluations agents remember inhibitions.
    pub(super) memories: &'static [u32],
    pub(super) gpus: &'static [Gpus],
    pub(super) notices: &'static [Option<u32>],
    /// Whether the first instance sleeps at the start.
    pub(super) sleeps: &'static [bool],
    pub(super) spreads: &'static [Spread],
    /// The extra facts. Each has at least two values; if all its values are numbers, 1, 2 and 3 are among them.
    pub(super) extra: Vec<KeyValues>,
    /// The random number that agents get; `None` unless the policy reads it.
    pub(super) drawn: Option<u32>,
    /// The application's flavours, the default first; empty unless the policy uses flavours.
    pub(super) flavours: Vec<FlavourId>,
    pub(super) can_sleep: bool,
}

impl Variations {
    pub(super) fn of(interests: &Interests) -> Variations {
        // The host draws a number for each agent whose policy reads it. Nodes and applications have no such fact.
        let (drawn, extra): (Vec<KeyValues>, Vec<KeyValues>) =
            interests.keys.iter().cloned().map(with_more_values).partition(|fact| is_random(&fact.key));
        Variations {
            memories: if interests.memory { &[1, 10] } else { &[0] },
            gpus: if interests.kinds { &[Gpus::NotAsked, Gpus::One] } else { &[Gpus::NotAsked] },
            notices: if interests.notice { &[None, Some(2)] } else { &[None] },
            sleeps: if interests.sleep { &[false, true] } else { &[false] },
            spreads: match extra[..] {
                [] => &[Spread::None],
                _ => &[Spread::InTurn, Spread::Same, Spread::None],
            },
            extra,
            drawn: drawn.iter().flat_map(|fact| &fact.values).find_map(number),
            flavours: interests.flavours.clone().map_or_else(Vec::new, with_more_flavours),
            can_sleep: interests.sleep,
        }
    }
}

fn is_random(key: &Id) -> bool {
    matches!(key, Id::Name(name) if name.as_str() == RANDOM)
}

/// The number that an id is; `None` if it is a name, or a number that is never drawn.
fn number(id: &Id) -> Option<u32> {
    match id {
        Id::Number(number) => u32::try_from(*number).ok(),
        Id::Name(_) => None,
    }
}

/// Adds flavours until there are three.
fn with_more_flavours(mut flavours: Vec<FlavourId>) -> Vec<FlavourId> {
    for name in ["full", "lite", "large"] {
        let flavour = FlavourId::name(name).expect("it is not empty");
        if flavours.len() < 3 && !flavours.contains(&flavour) {
            flavours.push(flavour);
        }
    }
    flavours
}

/// Adds values until there are two and, if all are numbers, until 1, 2 and 3 are among them. Added values are numbers,
/// because a number can be an id or an amount.
fn with_more_values(mut fact: KeyValues) -> KeyValues {
    let mut number = 1;
    while fact.values.len() < 2 || (number <= 3 && fact.values.iter().all(|value| matches!(value, Id::Number(_)))) {
        let value = Id::number(number);
        number += 1;
        if !fact.values.contains(&value) {
            fact.values.push(value);
        }
    }
    fact
}
