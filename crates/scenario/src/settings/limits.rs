//! Limits on the cost of a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Limit;

/// Limits on the estimated cost of a run. A scenario that exceeds them is rejected before it runs.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LimitSettings {
    /// The maximum estimated number of events.
    pub events: Limit,
    /// The maximum estimated memory, in MiB.
    pub memory_mib: Limit,
}

impl LimitSettings {
    /// Whether the limits are the defaults.
    pub fn are_default(&self) -> bool {
        *self == LimitSettings::default()
    }
}

impl Default for LimitSettings {
    /// 10^10 events, which take ten minutes to a few hours, and 16 GiB of memory.
    fn default() -> LimitSettings {
        LimitSettings { events: Limit::of(1e10), memory_mib: Limit::of(16_384.0) }
    }
}
