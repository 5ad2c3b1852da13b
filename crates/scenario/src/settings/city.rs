//! Users of a city.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::range::{Degrees, HotspotCount, Hour, Hours, Metres, Share, UserCount};
use super::{AreaSettings, AttachKind, Period, Positive};
use crate::mobility::{Commuting, Hotspot};
use crate::position::{Area, Position};

/// Users go from home to a goal in the morning and back in the evening. Homes, goals and departures are drawn from the
/// seed. Movements are computed on the fly, not stored. A day has 24 hours, whatever its length in the run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CitySettings {
    /// The number of users.
    #[schemars(with = "UserCount")]
    pub users: u32,
    /// The time between two steps; their number follows from the duration of the run.
    pub step: Period,
    /// The length of a day, which has 24 hours. The run starts at midnight.
    pub day: Period,
    /// The share of users who keep common hours, from 0 to 1: the height of the rush-hour waves. The other users have
    /// the same daily routine, each shifted by a random time.
    #[schemars(with = "Share")]
    pub amplitude: f64,
    /// The hour of the day around which users leave home.
    #[schemars(with = "Hour", extend("x-quantity" = "hours"))]
    pub morning: f64,
    /// The hour of the day around which users leave for home.
    #[schemars(with = "Hour", extend("x-quantity" = "hours"))]
    pub evening: f64,
    /// The maximum deviation of a departure from `morning` or `evening`, in hours. Most users leave close to these
    /// hours.
    #[schemars(with = "Hours", extend("x-quantity" = "hours"))]
    pub rush: f64,
    /// The duration of a trip, in hours.
    #[schemars(with = "Hours", extend("x-quantity" = "hours"))]
    pub trip: f64,
    /// The number of hotspots, which are at random positions. The second attracts half as many users as the first, the
    /// third a third as many, and so on. Ignored if `place` lists hotspots.
    #[schemars(with = "HotspotCount")]
    pub hotspots: u32,
    /// The maximum distance of goals from their hotspot along each axis (north to south, east to west), in metres.
    #[schemars(with = "Metres", extend("x-quantity" = "metres"))]
    pub hotspot_radius: f64,
    /// Hotspots within the area, instead of random ones: each `{ at = [latitude, longitude], weight = 2, radius = 500
    /// }`. The default `weight` is 1, the default `radius` is `hotspot_radius`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub place: Vec<PlaceSettings>,
    /// The share of users whose goal is near a hotspot, from 0 to 1; all other goals are anywhere in the area.
    #[schemars(with = "Share")]
    pub attraction: f64,
    /// How the access point of a user is chosen. Default: `grid` in tiled trees, `distance` elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attach: Option<AttachKind>,
    /// The area in which users live and move. Default: the area of the topology.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub area: Option<AreaSettings>,
}

/// A place that attracts users.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlaceSettings {
    /// Its position: latitude and longitude in degrees.
    #[schemars(with = "[Degrees; 2]")]
    pub at: [f64; 2],
    /// Its attraction, relative to the other hotspots.
    #[serde(default = "one")]
    pub weight: Positive,
    /// The maximum distance of goals from it along each axis (north to south, east to west), in metres. Default:
    /// `hotspot_radius`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Metres>", extend("x-quantity" = "metres"))]
    pub radius: Option<f64>,
}

fn one() -> Positive {
    Positive::of(1.0)
}

impl CitySettings {
    /// The parameters of the commuter model for a run of this duration, in milliseconds.
    pub(crate) fn commuting(&self, area: Area, duration: f64) -> Commuting {
        let named = |place: &PlaceSettings| Hotspot {
            position: Some(Position { latitude: place.at[0], longitude: place.at[1] }),
            weight: place.weight.value(),
            radius: place.radius.unwrap_or(self.hotspot_radius),
        };
        Commuting {
            area,
            users: self.users,
            // The cast saturates; `Commuters::new` rejects too many steps.
            steps: (duration / self.step.value()).ceil() as u32,
            step: self.step.value(),
            day: self.day.value(),
            amplitude: self.amplitude,
            morning: self.morning,
            evening: self.evening,
            rush: self.rush,
            trip: self.trip,
            hotspots: if self.place.is_empty() {
                Commuting::drawn_hotspots(self.hotspots, self.hotspot_radius)
            } else {
                self.place.iter().map(named).collect()
            },
            attraction: self.attraction,
        }
    }
}

impl Default for CitySettings {
    fn default() -> CitySettings {
        CitySettings {
            users: 1_000,
            step: Period::of(500.0),
            day: Period::of(24_000.0),
            amplitude: 0.8,
            morning: 8.0,
            evening: 17.5,
            rush: 2.0,
            trip: 1.0,
            hotspots: 8,
            hotspot_radius: 1_500.0,
            place: Vec::new(),
            attraction: 0.8,
            attach: None,
            area: None,
        }
    }
}
