//! Measures in addition to the usual figures.

use mario_domain::Id;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::WrittenId;
use super::number::Amount;

/// Measures in addition to the usual figures.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MeasureSettings {
    /// Whether the trace records for each application the number of late requests, the longest response time, and
    /// response times to within one percent.
    pub applications: bool,
}

/// The power of nodes and the energy of links. Lists are by tier, from the top down; the last value applies to all
/// further tiers.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EnergySettings {
    /// The power of a node that is up and has no hardware in use, in watts, by tier from the top down; the last value
    /// applies to all further tiers. Default: 0.
    #[schemars(extend("x-quantity" = "watts"))]
    pub idle_watts: Vec<Amount>,
    /// The additional power of each hardware unit in use, in watts, by tier from the top down; the last value applies
    /// to all further tiers. Default: 0.
    #[schemars(extend("x-quantity" = "watts"))]
    pub unit_watts: Vec<Amount>,
    /// The energy to send one bit over one link, in nanojoules.
    #[schemars(extend("x-quantity" = "nanojoules-per-bit"))]
    pub link_nanojoules_per_bit: Amount,
    /// The number of bits in a size unit, the unit of `network.message_size` and, per millisecond, of bandwidths.
    pub size_bits: Amount,
}

/// The prices of hardware and traffic.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PriceSettings {
    /// The price of a unit of hardware in use for an hour, by tier from the top down; the last value applies to all
    /// further tiers. Default: 0.
    pub unit_hour: Vec<Amount>,
    /// The price of 10^9 bytes over a link. A client request has `network.message_size` times `energy.size_bits` bits.
    pub gigabyte: Amount,
}

/// The carbon intensity of electricity. Requires `[energy]`.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CarbonSettings {
    /// Grams of carbon dioxide per kilowatt-hour, for links and for nodes without a listed region. Default: 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grams_per_kwh: Option<Amount>,
    /// The regions, each with its carbon intensity. A node is in the region that its `fact(Node, region, Name)` names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub region: Vec<RegionSettings>,
}

/// The carbon intensity of electricity in a region: a constant, or values from a file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RegionSettings {
    /// The name of the region in `fact(Node, region, Name)`.
    #[schemars(with = "WrittenId")]
    pub name: Id,
    /// Grams of carbon dioxide per kilowatt-hour. Either this key or `file` is required.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grams_per_kwh: Option<Amount>,
    /// The path of a CSV file, relative to the directory of the scenario file, with the columns `time`, in milliseconds
    /// of the run, and `grams_per_kwh`, which applies from that time on. The first value also applies before its time.
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
    /// Whether nothing is configured.
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    pub(super) fn is_empty(&self) -> bool {
        *self == MeasureSettings::default()
    }
}

impl EnergySettings {
    /// Whether nothing is configured.
    pub(crate) fn is_empty(&self) -> bool {
        *self == EnergySettings::default()
    }
}

impl PriceSettings {
    /// Whether nothing is configured.
    pub(crate) fn is_empty(&self) -> bool {
        *self == PriceSettings::default()
    }
}

impl CarbonSettings {
    /// Whether nothing is configured.
    pub(crate) fn is_empty(&self) -> bool {
        *self == CarbonSettings::default()
    }
}
