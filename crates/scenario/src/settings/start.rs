//! The moment of a recorded run to resume from, policies that change in the course of a run, and files that a scenario
//! carries.

use std::collections::BTreeMap;

use mario_domain::ApplicationId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::range::{RecordCount, Seed};
use super::{Time, WrittenId};

/// A moment of a recorded run. Until then the run takes the recorded course; `--policy` applies from then on.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StartSettings {
    /// The moment; the run has no recorded past unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<Time>,
    /// The seed of the recorded run: with another one, the past is another.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Seed>")]
    pub seed: Option<u64>,
    /// How many records of a full trace come before the moment.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<RecordCount>")]
    pub records: Option<u64>,
    /// The CRC-32 of these records, in hexadecimal. A past with another one is rejected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checksum: Option<String>,
}

impl StartSettings {
    /// Whether there is no recorded past.
    pub fn is_none(&self) -> bool {
        *self == StartSettings::default()
    }
}

/// Another policy for agents, in the course of a run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdateSettings {
    /// When.
    pub time: Time,
    /// The application whose agents get it; all applications unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<WrittenId>")]
    pub application: Option<ApplicationId>,
    /// The policy: the name of a shipped one or the path of a `.pl` file. Agents begin with an empty memory under it.
    pub policy: String,
}

/// Texts of files that the scenario names, by the path that it names them by.
pub type CarriedFiles = BTreeMap<String, String>;
