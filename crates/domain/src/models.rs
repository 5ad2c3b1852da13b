//! Models of cost: the energy, money and carbon emissions of nodes, of hardware in use and of traffic over links.

use serde::{Deserialize, Serialize};

use crate::Id;

/// The parameters of the models of energy, money and carbon. Lists of numbers are indexed by tier, from the top down;
/// the last value applies to all further tiers, and an empty list means 0 for all tiers.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Models {
    /// The power of a node that is up and has no hardware in use, in watts.
    pub idle_watts: Vec<f64>,
    /// The additional power per unit of hardware in use, in watts.
    pub unit_watts: Vec<f64>,
    /// The energy that it takes to send one bit over one link, in joules.
    pub joules_per_bit: f64,
    /// The size of one client request, in bits.
    pub message_bits: f64,
    /// The price of one unit of hardware in use, per hour.
    pub unit_hour_price: Vec<f64>,
    /// The price of 10^9 bytes over one link.
    pub gigabyte_price: f64,
    /// The carbon intensity of electricity: first the default, then one entry per region. Empty if the scenario does
    /// not model carbon.
    pub carbon: Vec<Intensity>,
}

/// The carbon intensity of electricity in one region.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Intensity {
    /// The region, as in `fact(Node, region, Region)`; `None` for the default, which applies to links and to nodes
    /// without a listed region.
    pub region: Option<Id>,
    /// Pairs of a time in milliseconds and the grams per kilowatt-hour from then on. The first value also applies
    /// before its time.
    pub grams_per_kwh: Vec<(f64, f64)>,
}

impl Models {
    /// What is wrong with the numbers; `None` if they are valid.
    pub fn fault(&self) -> Option<&'static str> {
        let is_amount = |amount: &f64| amount.is_finite() && *amount >= 0.0;
        let lists = [&self.idle_watts, &self.unit_watts, &self.unit_hour_price];
        let single = [self.joules_per_bit, self.message_bits, self.gigabyte_price];
        if !lists.into_iter().flatten().chain(&single).all(is_amount) {
            return Some("a model has an amount that is negative or not finite");
        }
        for (place, intensity) in self.carbon.iter().enumerate() {
            if intensity.region.is_none() != (place == 0) {
                return Some("the first carbon intensity, and no other, is of no region");
            }
            let times = &intensity.grams_per_kwh;
            if times.is_empty() || !times.is_sorted_by(|one, other| one.0 < other.0) {
                return Some("a carbon intensity needs times in ascending order");
            }
            if !times.iter().all(|(time, grams)| is_amount(time) && is_amount(grams)) {
                return Some("a carbon intensity is negative or not finite");
            }
        }
        None
    }
}
