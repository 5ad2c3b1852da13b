//! Parses the actions of nodes' owners.

use std::fmt;

use serde::Deserialize;
use serde::de::{self, Deserializer, SeqAccess, Visitor};

use super::{Elements, Kind};
use crate::reader::owners::{Owner, OwnerAct, OwnerActKind, Owners};
use crate::reader::record::{Target, TraceRecord};

#[derive(Clone, Copy)]
enum Act {
    Evicted,
    Shrunk,
    Leave,
}

from_word!(Act, "what an owner did: `evicted`, `shrunk` or `leave`",
    "evicted" => Evicted, "shrunk" => Shrunk, "leave" => Leave);

from_array!(OwnerAct, "what an owner did", elements => {
    let act: Act = elements.next("act")?;
    let instance = elements.next("instance")?;
    let kind = match act {
        Act::Evicted => OwnerActKind::Evicted,
        Act::Shrunk => match elements.next("flavour")? {
            Target::Flavour(flavour) => OwnerActKind::Shrunk(flavour),
            Target::Own | Target::Node(_) | Target::Unknown(_) => {
                return Err(de::Error::custom("an instance shrinks to a flavour"));
            }
        },
        Act::Leave => OwnerActKind::Announced(elements.next("number of evaluations")?),
    };
    let reason = elements.next("reason")?;
    elements.end(OwnerAct { instance, kind, reason })
});

/// Parses a record `owner` or `owners`.
pub(super) fn owners<'de, A: SeqAccess<'de>>(
    kind: Kind,
    time: f64,
    mut elements: Elements<'de, A>,
) -> Result<TraceRecord, A::Error> {
    if matches!(kind, Kind::Owner) {
        elements.what = "a record `owner`";
        let (node, acts) = (elements.next("node")?, elements.next("acts")?);
        return elements.end(TraceRecord::Owner(Owner { time, node, acts }));
    }
    elements.what = "a record `owners`";
    let rows = elements.next("counts")?;
    elements.end(TraceRecord::Owners(Owners { time, rows }))
}
