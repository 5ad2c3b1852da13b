//! Explains which instances the owner of a node wants to evict or shrink.

use mario_domain::InstanceId;
use mario_prolog::{Engine, Machine};
use serde::Serialize;

use super::{AcceptanceText, Judging, JudgingClause};
use crate::acceptance::{Acceptance, Initiative};
use crate::facts::FactsError;

/// The evictions and shrinks that an owner wants, with the responsible clauses.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ExplainedInitiative {
    /// The shrinks, then the evictions.
    pub acts: Vec<ExplainedAct>,
    /// The failure of the policy; absent if it did not fail. After a failure, nothing is evicted or shrunk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// If the policy did not fail and the owner wants nothing: each clause of `shrink/3` and `evict/2`, with the goal
    /// at which it failed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<JudgingClause>,
}

/// A shrink or an eviction.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ExplainedAct {
    /// `shrink(Instance, Flavour, Reason)` or `evict(Instance, Reason)`.
    pub wanted: String,
    /// The first clause of `shrink/3` or `evict/2` that applies to the instance, with any flavour and reason; absent if
    /// none is found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clause: Option<JudgingClause>,
}

/// Explains which instances the owner of a node wants to evict or shrink. `facts` are the name and the text of the
/// manager's facts.
pub fn explain_initiative(
    engine: &Engine,
    acceptance: &Acceptance,
    text: &AcceptanceText<'_>,
    facts: (&str, &str),
) -> Result<ExplainedInitiative, FactsError> {
    let mut judging = Judging { engine, acceptance, machine: Machine::new(engine), name: facts.0, request: "_" };
    let claim = judging.read(&format!("{}\ntest(explained, [], initiative, []).\n", facts.1))?;
    let mut explained = ExplainedInitiative { acts: Vec::new(), failure: None, failed: Vec::new() };
    let Initiative { shrinks, evictions } = match acceptance.initiative(&mut judging.machine, claim.view()) {
        Ok(initiative) => initiative,
        Err(failure) => {
            explained.failure = Some(failure.message);
            return Ok(explained);
        }
    };
    let shrinks = shrinks.into_iter().map(|shrink| {
        let alone = Initiative { shrinks: vec![shrink.clone()], evictions: Vec::new() };
        (shrink.instance, "shrink", alone)
    });
    let evictions = evictions.into_iter().map(|eviction| {
        let alone = Initiative { shrinks: Vec::new(), evictions: vec![eviction.clone()] };
        (eviction.instance, "evict", alone)
    });
    for (instance, predicate, alone) in shrinks.chain(evictions) {
        let instance = quoted(&instance);
        let mut about = Judging { request: &instance, machine: Machine::new(engine), ..judging };
        let clause = about.holding(text, &claim, predicate);
        explained.acts.push(ExplainedAct { wanted: alone.to_string(), clause });
    }
    if explained.acts.is_empty() {
        for predicate in ["shrink", "evict"] {
            explained.failed.extend(judging.failed(text, &claim, predicate));
        }
    }
    Ok(explained)
}

/// An instance id as a Prolog constant, quoted if necessary.
fn quoted(instance: &InstanceId) -> String {
    let text = instance.to_string();
    let is_plain = text.starts_with(|first: char| first.is_ascii_lowercase())
        && text.chars().all(|each| each.is_ascii_alphanumeric() || each == '_');
    if is_plain || text.parse::<i64>().is_ok() {
        return text;
    }
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}
