//! Where users are.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Period, read_by_kind};

/// Where users are.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum MobilitySettings {
    /// Users go from place to place, drawn from the seed.
    Generated(GeneratedSettings),
    /// Positions from a file.
    File(FileSettings),
    /// Access points from a file.
    Attachments(AttachmentSettings),
    /// Users stay where they are.
    Static(StaticSettings),
}

read_by_kind!(MobilitySettings {
    "generated" => Generated(GeneratedSettings),
    "file" => File(FileSettings),
    "attachments" => Attachments(AttachmentSettings),
    "static" => Static(StaticSettings),
});

/// Users go from place to place, drawn from the seed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GeneratedSettings {
    /// How many users there are.
    pub users: u32,
    /// How many steps there are, the one at time 0 included.
    #[schemars(range(min = 1))]
    pub steps: u32,
    /// The time between two steps.
    pub step: Period,
    /// Which access point a user is connected to; by `grid` in tiled trees and by `distance` elsewhere, unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attach: Option<AttachKind>,
}

/// Positions from a file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileSettings {
    /// The path of the file, from the directory of the scenario.
    pub file: String,
    /// What is in it; told by the ending of its name unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<MobilityFormat>,
    /// The time between two steps.
    #[serde(default = "default_step")]
    pub step: Period,
    /// Which access point a user is connected to; by `grid` in tiled trees and by `distance` elsewhere, unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attach: Option<AttachKind>,
}

/// Access points from a file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AttachmentSettings {
    /// The path of the file, from the directory of the scenario: JSON with `users` and `steps`.
    pub file: String,
    /// The time between two steps.
    #[serde(default = "default_step")]
    pub step: Period,
}

/// Users stay where they are, spread over the access points in turn.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StaticSettings {
    /// How many users there are.
    pub users: u32,
    /// The time between two steps, by which figures are grouped.
    pub step: Period,
}

/// Which access point a user is connected to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AttachKind {
    /// The one whose cell of the grid the user is in. For tiled trees.
    Grid,
    /// The closest.
    Distance,
}

/// What is in a file with positions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MobilityFormat {
    /// CSV with `user,step,latitude,longitude`.
    Positions,
}

fn default_step() -> Period {
    Period::of(2_000.0)
}

impl Default for MobilitySettings {
    fn default() -> MobilitySettings {
        MobilitySettings::Generated(GeneratedSettings::default())
    }
}

impl Default for GeneratedSettings {
    fn default() -> GeneratedSettings {
        GeneratedSettings { users: 51, steps: 26, step: default_step(), attach: None }
    }
}

impl Default for StaticSettings {
    fn default() -> StaticSettings {
        StaticSettings { users: 51, step: default_step() }
    }
}
