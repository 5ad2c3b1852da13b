//! The recorded past that a run resumes from, policies that change during a run, and files within a scenario.

use std::collections::BTreeMap;

use mario_domain::ApplicationId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::range::{RecordCount, Seed};
use super::{Time, WrittenId};

/// A recorded past, which the run must reproduce. `--policy` applies from its end on.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StartSettings {
    /// The end of the recorded past. Without it, the run has no recorded past.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<Time>,
    /// The seed of the recorded run. The `seed` of the scenario must be the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Seed>")]
    pub seed: Option<u64>,
    /// The number of records that a trace with full detail has before `time`, without its header.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<RecordCount>")]
    pub records: Option<u64>,
    /// The CRC-32 of the records that `records` counts, in hexadecimal. A run whose records differ is rejected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checksum: Option<String>,
}

impl StartSettings {
    /// Whether there is no recorded past.
    pub fn is_none(&self) -> bool {
        *self == StartSettings::default()
    }
}

/// A change of the policy of agents during the run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdateSettings {
    /// The time of the change.
    pub time: Time,
    /// The application whose agents change. Default: all applications.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<WrittenId>")]
    pub application: Option<ApplicationId>,
    /// The new policy: the name of a shipped one or the path of a `.pl` file. Agents start with an empty memory under
    /// it.
    pub policy: String,
}

/// Texts of files, by their paths as written in other keys of the scenario file.
pub type CarriedFiles = BTreeMap<String, String>;
