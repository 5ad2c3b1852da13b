//! How much a run may cost.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Limit;

/// How much a run may cost. What is expected to cost more is refused before it runs.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LimitSettings {
    /// How many events are expected at most.
    pub events: Limit,
    /// How much memory is expected at most, in MiB.
    pub memory_mib: Limit,
}

impl LimitSettings {
    /// Whether nothing else is written than what holds anyway.
    pub fn are_default(&self) -> bool {
        *self == LimitSettings::default()
    }
}

impl Default for LimitSettings {
    /// What a processor does in about an hour, and what a large workstation has.
    fn default() -> LimitSettings {
        LimitSettings { events: Limit::of(1e10), memory_mib: Limit::of(16_384.0) }
    }
}
