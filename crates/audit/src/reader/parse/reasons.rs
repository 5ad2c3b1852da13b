//! Parses the reasons of inhibitions.

use mario_domain::{Capacity, Hardware, Id};
use serde::Deserialize;
use serde::de::{self, Deserializer};

use crate::reader::live::LiveRule;
use crate::reader::record::Reason;
use crate::reader::rule::Rule;

/// A reason as written in a trace: the rule determines which of the optional keys are required.
#[derive(Deserialize)]
struct WrittenReason {
    node: Id,
    rule: String,
    needed: Option<Hardware>,
    free: Option<Capacity>,
    target: Option<Id>,
    reason: Option<String>,
    cause: Option<String>,
    flavour: Option<Id>,
}

impl<'de> Deserialize<'de> for Reason {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Reason, D::Error> {
        let written = WrittenReason::deserialize(deserializer)?;
        let missing = |key: &str| de::Error::custom(format_args!("the rule `{}` has no `{key}`", written.rule));
        let rule = match written.rule.as_str() {
            "capacity" => Rule::Capacity {
                needed: written.needed.ok_or_else(|| missing("needed"))?,
                free: written.free.ok_or_else(|| missing("free"))?,
            },
            "neighbourhood" => Rule::Neighbourhood { target: written.target.ok_or_else(|| missing("target"))? },
            "leaving" => Rule::Leaving,
            "down" => Rule::Down,
            "acceptance" => Rule::Acceptance { reason: written.reason.ok_or_else(|| missing("reason"))? },
            "acceptance-failed" => Rule::AcceptanceFailed { cause: written.cause.ok_or_else(|| missing("cause"))? },
            "flavour" => Rule::Flavour { flavour: written.flavour.ok_or_else(|| missing("flavour"))? },
            "asleep" => Rule::Asleep,
            "awake" => Rule::Awake,
            "sleepless" => Rule::Sleepless,
            "anchor" => Rule::Anchor,
            other => match LiveRule::with_word(other, written.cause) {
                Some(rule) => Rule::Live(rule),
                None => return Err(de::Error::custom(format_args!("`{other}` is not a rule"))),
            },
        };
        Ok(Reason { node: written.node, rule })
    }
}
