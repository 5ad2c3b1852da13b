//! Where users are.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::range::{
    ArrivalCount, Degrees, DistrictCount, HotspotCount, MeanSteps, Metres, PartCount, Seconds, Share, StepCount,
    UserCount,
};
use super::{AreaSettings, CitySettings, Period, Positive, read_by_kind};
use crate::mobility::{Arrivals, Wandering};
use crate::position::Area;

/// Where users are.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum MobilitySettings {
    /// Users go from place to place, drawn from the seed.
    Generated(GeneratedSettings),
    /// Users live somewhere, and commute day by day, drawn from the seed.
    City(CitySettings),
    /// Positions from a file.
    File(FileSettings),
    /// Access points from a file.
    Attachments(AttachmentSettings),
    /// The users of the paper's experiment, which ship with mario.
    Recorded(RecordedSettings),
    /// Users stay where they are.
    Static(StaticSettings),
}

read_by_kind!(MobilitySettings {
    "generated" => Generated(GeneratedSettings),
    "city" => City(CitySettings),
    "file" => File(FileSettings),
    "attachments" => Attachments(AttachmentSettings),
    "recorded" => Recorded(RecordedSettings),
    "static" => Static(StaticSettings),
});

/// Users go from place to place, drawn from the seed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GeneratedSettings {
    /// How many users there are.
    #[schemars(with = "UserCount")]
    pub users: u32,
    /// How many steps there are, the one at time 0 included.
    #[schemars(with = "StepCount")]
    pub steps: u32,
    /// The time between two steps.
    pub step: Period,
    /// Which access point a user is connected to; by `grid` in tiled trees and by `distance` elsewhere, unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attach: Option<AttachKind>,
    /// Where users go; where the topology is unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub area: Option<AreaSettings>,
    /// How many users there are from the first step on; all unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<UserCount>")]
    pub first_users: Option<u32>,
    /// How many of the others come in each step after it.
    #[schemars(with = "ArrivalCount")]
    pub arrivals_per_step: u32,
    /// For how many steps a user stays on average; to the end unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<MeanSteps>")]
    pub mean_stay: Option<Positive>,
    /// How long a step takes users on the map, in seconds.
    pub step_seconds: Positive,
    /// The share of users who rest when they come, from 0 to 1; the others are under way.
    #[schemars(with = "Share")]
    pub resting_share: f64,
    /// The longest rest, in seconds.
    #[schemars(with = "Seconds")]
    pub rest_seconds_max: f64,
    /// The lowest speed of a trip, in metres per second.
    pub speed_min: Positive,
    /// The highest speed of a trip, in metres per second.
    pub speed_max: Positive,
    /// How many districts the area has in each direction. Users are spread over them evenly, and none leaves the own
    /// district.
    #[schemars(with = "DistrictCount")]
    pub districts: u32,
    /// How many hotspots there are in each district, near which users like to go.
    #[schemars(with = "HotspotCount")]
    pub hotspots: u32,
    /// How far from a hotspot users go, in metres.
    #[schemars(with = "Metres")]
    pub hotspot_radius: f64,
    /// The share of trips that lead to a hotspot, from 0 to 1.
    #[schemars(with = "Share")]
    pub attraction: f64,
}

/// Positions from a file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileSettings {
    /// The path of the file, from the directory of the scenario.
    pub file: String,
    /// What is in it; told by its name and its first line unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<MobilityFormat>,
    /// The time between two steps.
    #[serde(default = "default_step")]
    pub step: Period,
    /// How many steps are used at most; all unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<StepCount>")]
    pub steps: Option<u32>,
    /// How many users are used at most, the first to appear; all unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<UserCount>")]
    pub users: Option<u32>,
    /// When the steps of recorded tracks are.
    #[serde(default)]
    pub clock: ClockKind,
    /// How many seconds of the record a step is, under `shared`.
    #[serde(default = "one_minute")]
    pub step_seconds: Positive,
    /// Where a user is between two recorded places, under `shared`.
    #[serde(default)]
    pub between: BetweenKind,
    /// Where a user is after the last recorded place, under `shared`.
    #[serde(default)]
    pub after: AfterKind,
    /// Into how many parts the record of each user is cut, under `own-pace`.
    #[serde(default = "hundred_parts")]
    #[schemars(with = "PartCount")]
    pub parts: u32,
    /// Whether users are gone while they are outside of what the topology covers.
    #[serde(default)]
    pub clip: bool,
    /// The place, latitude and longitude, from which `sumo` and the columns `x` and `y` of tables count metres; degrees are
    /// expected unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<[Degrees; 2]>")]
    pub origin: Option<[f64; 2]>,
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

/// The users of the paper's experiment: 51 users, attached to the access points of a tiled tree of size 8.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecordedSettings {
    /// The time between two steps.
    #[serde(default = "default_step")]
    pub step: Period,
}

/// Users stay where they are, spread over the access points in turn.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StaticSettings {
    /// How many users there are.
    #[schemars(with = "UserCount")]
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
    /// CSV with `user,step,latitude,longitude`, or `user,step,x,y` in metres: steps already.
    Positions,
    /// CSV with `id,time,latitude,longitude`, or `id,time,x,y` in metres: recorded tracks, as in the formats below.
    Csv,
    /// Lines such as `156;2014-02-01 00:00:00.739166+01;POINT(41.8836 12.4877)`.
    Taxi,
    /// GPX; each track is a user.
    Gpx,
    /// Floating car data of SUMO.
    Sumo,
}

/// When the steps of recorded tracks are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ClockKind {
    /// At the same moments for all users, from the earliest recorded place on.
    #[default]
    Shared,
    /// At each user's own pace, as the prototype has it.
    OwnPace,
}

/// Where a user is between two recorded places.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BetweenKind {
    /// At the last of them.
    #[default]
    LastKnown,
    /// On the straight way from the one to the other.
    Interpolated,
}

/// Where a user is after the last recorded place.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AfterKind {
    /// There.
    #[default]
    Stays,
    /// Nowhere.
    Gone,
}

impl GeneratedSettings {
    /// The users who wander about there.
    pub(crate) fn wandering(&self, area: Area) -> Wandering {
        Wandering {
            area,
            users: self.users,
            steps: self.steps,
            step_seconds: self.step_seconds.value(),
            arrivals: match self.first_users {
                None => Arrivals::AtOnce,
                Some(first) => Arrivals::Gradual { first, per_step: self.arrivals_per_step },
            },
            stay_steps_mean: self.mean_stay.map(Positive::value),
            resting_share: self.resting_share,
            rest_seconds_max: self.rest_seconds_max,
            speed_min: self.speed_min.value(),
            speed_max: self.speed_max.value(),
            districts: self.districts,
            hotspots: self.hotspots,
            hotspot_radius: self.hotspot_radius,
            attraction: self.attraction,
        }
    }
}

fn one_minute() -> Positive {
    Positive::of(60.0)
}

fn hundred_parts() -> u32 {
    100
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
        GeneratedSettings {
            users: 51,
            steps: 26,
            step: default_step(),
            attach: None,
            area: None,
            first_users: None,
            arrivals_per_step: 1,
            mean_stay: None,
            step_seconds: Positive::of(8.5),
            resting_share: 0.4,
            rest_seconds_max: 600.0,
            speed_min: Positive::of(3.0),
            speed_max: Positive::of(14.0),
            districts: 1,
            hotspots: 4,
            hotspot_radius: 800.0,
            attraction: 0.6,
        }
    }
}

impl Default for StaticSettings {
    fn default() -> StaticSettings {
        StaticSettings { users: 51, step: default_step() }
    }
}
