//! What is measured beside the usual figures.

use mario_domain::Id;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::WrittenId;
use super::number::Amount;

/// What is measured beside the usual figures.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MeasureSettings {
    /// Whether the trace tells of each application how many requests were late, the longest response time, and response times
    /// to within one percent.
    pub applications: bool,
}

/// The power of nodes and the energy of links. Lists are by tier, from the top down; the last value holds for all tiers beyond.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EnergySettings {
    /// The power of a node that is up, in watts.
    pub idle_watts: Vec<Amount>,
    /// What each unit of hardware in use adds to it, in watts.
    pub unit_watts: Vec<Amount>,
    /// The energy that a bit takes over each link, in nanojoules.
    pub link_nanojoules_per_bit: Amount,
    /// The bits of one unit of `network.message_size`.
    pub size_bits: Amount,
}

/// What hardware and traffic cost.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PriceSettings {
    /// The price of a unit of hardware in use for an hour, by tier from the top down; the last value holds for all tiers beyond.
    pub unit_hour: Vec<Amount>,
    /// The price of 10^9 bytes over a link; `energy.size_bits` says how large a client request is.
    pub gigabyte: Amount,
}

/// The carbon intensity of electricity.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CarbonSettings {
    /// How many grams each kilowatt-hour has, for links and for nodes of no region that is listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grams_per_kwh: Option<Amount>,
    /// Regions: the nodes with `fact(Node, region, Name)`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub region: Vec<RegionSettings>,
}

/// The carbon intensity of electricity in a region: a constant, or from a file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RegionSettings {
    /// What it is called in `fact(Node, region, Name)`.
    #[schemars(with = "WrittenId")]
    pub name: Id,
    /// How many grams each kilowatt-hour has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grams_per_kwh: Option<Amount>,
    /// The path of a CSV with the columns `time`, in milliseconds of the run, and `grams_per_kwh`, which holds from then on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

impl Default for EnergySettings {
    fn default() -> EnergySettings {
        EnergySettings {
            idle_watts: Vec::new(),
            unit_watts: Vec::new(),
            link_nanojoules_per_bit: Amount::of(0.0),
            size_bits: Amount::of(8.0),
        }
    }
}

impl MeasureSettings {
    /// Whether nothing is said.
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
    pub(super) fn is_empty(&self) -> bool {
        *self == MeasureSettings::default()
    }
}

impl EnergySettings {
    /// Whether nothing is said.
    pub(crate) fn is_empty(&self) -> bool {
        *self == EnergySettings::default()
    }
}

impl PriceSettings {
    /// Whether nothing is said.
    pub(crate) fn is_empty(&self) -> bool {
        *self == PriceSettings::default()
    }
}

impl CarbonSettings {
    /// Whether nothing is said.
    pub(crate) fn is_empty(&self) -> bool {
        *self == CarbonSettings::default()
    }
}
