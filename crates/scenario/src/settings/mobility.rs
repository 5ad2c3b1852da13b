//! How users move.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::range::{
    ArrivalCount, Degrees, DistrictCount, HotspotCount, MeanSteps, Metres, PartCount, Seconds, Share, StepCount,
    UserCount,
};
use super::{AreaSettings, CitySettings, Period, Positive, read_by_kind};
use crate::mobility::{Arrivals, RandomWaypoint};
use crate::position::Area;

/// How users move.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum MobilitySettings {
    /// Random waypoint mobility, drawn from the seed.
    Generated(GeneratedSettings),
    /// Users of a city, who commute every day, drawn from the seed.
    City(CitySettings),
    /// Users whose positions are read from a file.
    File(FileSettings),
    /// Users whose access points are read from a file.
    Attachments(AttachmentSettings),
    /// The 51 users of the paper's experiment, which ship with mario. Their access points are those of a tiled tree of
    /// size 8.
    Recorded(RecordedSettings),
    /// Users who do not move, and are assigned to access points round robin.
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

/// Random waypoint mobility, drawn from the seed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GeneratedSettings {
    /// The number of users.
    #[schemars(with = "UserCount")]
    pub users: u32,
    /// The number of steps, including the one at time 0.
    #[schemars(with = "StepCount")]
    pub steps: u32,
    /// The time between two steps.
    pub step: Period,
    /// How the access point of a user is chosen. Default: `grid` in tiled trees, `distance` elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attach: Option<AttachKind>,
    /// The area in which users move. Default: the area of the topology.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub area: Option<AreaSettings>,
    /// The number of users who arrive in the first step. Default: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<UserCount>")]
    pub first_users: Option<u32>,
    /// The number of users who arrive in each later step, until all have arrived; all remaining users arrive in the
    /// last step. Ignored without `first_users`.
    #[schemars(with = "ArrivalCount")]
    pub arrivals_per_step: u32,
    /// The mean number of steps that a user stays. By default, users stay to the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<MeanSteps>")]
    pub mean_stay: Option<Positive>,
    /// The time for which users move on the map between two steps, in seconds.
    #[schemars(extend("x-quantity" = "seconds"))]
    pub step_seconds: Positive,
    /// The share of users who are resting when they arrive, from 0 to 1; all other users are under way.
    #[schemars(with = "Share")]
    pub resting_share: f64,
    /// The maximum duration of a rest, in seconds.
    #[schemars(with = "Seconds", extend("x-quantity" = "seconds"))]
    pub rest_seconds_max: f64,
    /// The lowest speed of a trip, in metres per second.
    #[schemars(extend("x-quantity" = "metres-per-second"))]
    pub speed_min: Positive,
    /// The highest speed of a trip, in metres per second; at least `speed_min`.
    #[schemars(extend("x-quantity" = "metres-per-second"))]
    pub speed_max: Positive,
    /// The number of districts of the area in each direction. Users are spread evenly over them, and never leave their
    /// district.
    #[schemars(with = "DistrictCount")]
    pub districts: u32,
    /// The number of hotspots in each district.
    #[schemars(with = "HotspotCount")]
    pub hotspots: u32,
    /// The maximum distance of waypoints from their hotspot along each axis (north to south, east to west), in metres.
    #[schemars(with = "Metres", extend("x-quantity" = "metres"))]
    pub hotspot_radius: f64,
    /// The share of trips that end near a hotspot, from 0 to 1; all other trips end anywhere in the district.
    #[schemars(with = "Share")]
    pub attraction: f64,
}

/// Users whose positions are read from a file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileSettings {
    /// The path of the file, relative to the directory of the scenario file.
    pub file: String,
    /// The format of the file. Default: detected from the extension of its name, or else from its first line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<MobilityFormat>,
    /// The time between two steps.
    #[serde(default = "default_step")]
    pub step: Period,
    /// The maximum number of steps. Default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<StepCount>")]
    pub steps: Option<u32>,
    /// The maximum number of users; the first to appear are kept. Default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<UserCount>")]
    pub users: Option<u32>,
    /// The times at which recorded tracks are sampled.
    #[serde(default)]
    pub clock: ClockKind,
    /// The time between two steps in the recording, in seconds, with `shared`.
    #[serde(default = "one_minute")]
    #[schemars(extend("x-quantity" = "seconds"))]
    pub step_seconds: Positive,
    /// The position of a user between two recorded positions, with `shared`.
    #[serde(default)]
    pub between: BetweenKind,
    /// The position of a user after the last recorded position, with `shared`.
    #[serde(default)]
    pub after: AfterKind,
    /// The number of parts into which the track of each user is divided, with `own-pace`.
    #[serde(default = "hundred_parts")]
    #[schemars(with = "PartCount")]
    pub parts: u32,
    /// Whether users are absent while they are outside the area of the topology.
    #[serde(default)]
    pub clip: bool,
    /// The latitude and longitude, in degrees, of the origin of the metres in `sumo` files and in the columns `x` and
    /// `y` of tables. Without an origin, degrees are expected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<[Degrees; 2]>")]
    pub origin: Option<[f64; 2]>,
    /// How the access point of a user is chosen. Default: `grid` in tiled trees, `distance` elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attach: Option<AttachKind>,
}

/// Users whose access points are read from a file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AttachmentSettings {
    /// The path of the file, relative to the directory of the scenario file. It is JSON with `users` and `steps`.
    pub file: String,
    /// The time between two steps.
    #[serde(default = "default_step")]
    pub step: Period,
}

/// The 51 users of the paper's experiment. Their access points are those of a tiled tree of size 8.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecordedSettings {
    /// The time between two steps.
    #[serde(default = "default_step")]
    pub step: Period,
}

/// Users who do not move, and are assigned to access points round robin.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StaticSettings {
    /// The number of users.
    #[schemars(with = "UserCount")]
    pub users: u32,
    /// The time between two steps, by which figures are grouped.
    pub step: Period,
}

/// How the access point of a user is chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AttachKind {
    /// The access point of the grid cell that the user is in. Only for tiled trees.
    Grid,
    /// The closest access point.
    Distance,
}

/// The format of a file with positions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MobilityFormat {
    /// CSV with `user,step,latitude,longitude`, or `user,step,x,y` in metres: positions by step.
    Positions,
    /// CSV with `id,time,latitude,longitude`, or `id,time,x,y` in metres: recorded tracks. The following formats are
    /// recorded tracks, too.
    Csv,
    /// Lines such as `156;2014-02-01 00:00:00.739166+01;POINT(41.8836 12.4877)`.
    Taxi,
    /// GPX; each track is a user.
    Gpx,
    /// Floating car data of SUMO.
    Sumo,
}

/// The times at which recorded tracks are sampled.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ClockKind {
    /// At the same times for all users, starting with the earliest recorded position.
    #[default]
    Shared,
    /// At each user's own pace, as in the prototype: each track is divided into `parts` of equal duration.
    OwnPace,
}

/// The position of a user between two recorded positions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BetweenKind {
    /// The earlier recorded position.
    #[default]
    LastKnown,
    /// On the straight line between them.
    Interpolated,
}

/// The position of a user after the last recorded position.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AfterKind {
    /// The last recorded position.
    #[default]
    Stays,
    /// No position: the user leaves.
    Gone,
}

impl GeneratedSettings {
    /// The parameters of the random waypoint model for users in this area.
    pub(crate) fn waypoints(&self, area: Area) -> RandomWaypoint {
        RandomWaypoint {
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
