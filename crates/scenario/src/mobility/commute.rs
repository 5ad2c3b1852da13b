//! Users of a city: at home at night, at a goal during the day, and commuting twice a day.
//!
//! Movements are not stored. The position of a user is a function of the settings, the seed, the user and the time. It
//! can be computed for any user in any step. [`Commuters::changes`] queries only users who may have moved since the
//! last call.
//!
//! **The wave.** A share of the users, [`Commuting::amplitude`], keeps common hours: these users leave home around one
//! hour of the day, and their goal around another. The other users have the same day, each shifted by a random offset,
//! so that about the same number of them is under way at any time.

use std::sync::Arc;

use mario_domain::Id;
use rand::RngExt;
use serde::{Deserialize, Serialize};

use super::attach::{AttachmentRule, Finder};
use super::ground::{GOLDEN, Metres, anywhere, between, near, stream};
use super::random_waypoint::RandomWaypointError;
use super::{Attachments, MobileUser, Presence, Trajectories};
use crate::index::{NodeIndex, UserIndex};
use crate::position::{Area, Position};
use crate::topology::Topology;

/// The parameters of the commuter model, in which users go from home to a goal and back every day. A day has 24 hours,
/// whatever its length in units of time.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Commuting {
    /// The area in which users live and move.
    pub area: Area,
    /// The number of users.
    pub users: u32,
    /// The number of steps, including the first.
    pub steps: u32,
    /// The time between two steps, in the same unit as `day`.
    pub step: f64,
    /// The length of a day, in units of time. The run starts at midnight.
    pub day: f64,
    /// The share of users who keep common hours, from 0 to 1: the height of the rush-hour waves.
    pub amplitude: f64,
    /// The hour of the day around which users who keep common hours leave home.
    pub morning: f64,
    /// The hour of the day around which users who keep common hours leave their goal.
    pub evening: f64,
    /// The maximum deviation from `morning` and `evening`, in hours.
    pub rush: f64,
    /// The duration of a trip, in hours.
    pub trip: f64,
    /// The places that attract users.
    pub hotspots: Vec<Hotspot>,
    /// The share of users whose goal is near a hotspot, from 0 to 1; all other goals are anywhere in the area. Without
    /// hotspots, all goals are anywhere.
    pub attraction: f64,
}

/// A place that attracts users.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Hotspot {
    /// Its position; with `None`, it is drawn at random.
    pub position: Option<Position>,
    /// Its attraction, relative to the other hotspots.
    pub weight: f64,
    /// The maximum distance of goals from it along each axis (north to south, east to west), in metres.
    pub radius: f64,
}

/// The users of a city, whose positions are computed on demand.
#[derive(Debug, Serialize, Deserialize)]
pub struct Commuters {
    commuting: Commuting,
    seed: u64,
    size: Metres,
    /// The position of each hotspot, and the sum of the weights up to and including its own.
    hotspots: Vec<(Metres, f64)>,
    /// A random offset of the evenly spread sequence that selects the users who keep common hours.
    phase: f64,
    how: AttachmentRule,
    finder: Finder,
}

/// Compares only the inputs. Given the same topology, they determine everything else.
impl PartialEq for Commuters {
    fn eq(&self, other: &Commuters) -> bool {
        self.commuting == other.commuting && self.seed == other.seed && self.how == other.how
    }
}

/// The values that are drawn once for each user.
struct Habits {
    home: Metres,
    goal: Metres,
    /// By how much the user's clock is ahead of the common one, in days; 0 for a user who keeps common hours.
    ahead: f64,
}

/// The position of a user at some time, and how long the user stays there.
struct CommuterPosition {
    place: Metres,
    /// The user stays at least until this time, in units of time from the start; `None` while the user is under way.
    stays_until: Option<f64>,
}

const HOURS: f64 = 24.0;

/// Combined with the seed for the random streams of departure hours, which are drawn for each user and day.
const DAYS: u64 = 0x636f_6d6d_7574_6572;

impl Commuting {
    /// `count` hotspots without a position, which [`Commuters::new`] draws. The second attracts half as much as the
    /// first, the third a third, and so on.
    pub fn drawn_hotspots(count: u32, radius: f64) -> Vec<Hotspot> {
        let hotspot = |rank| Hotspot { position: None, weight: 1.0 / f64::from(rank), radius };
        (1..=count).map(hotspot).collect()
    }

    fn check(&self) -> Result<(), RandomWaypointError> {
        let positive = |value: f64| value.is_finite() && value > 0.0;
        let share = |value: f64| (0.0..=1.0).contains(&value);
        let not_negative = |value: f64| value.is_finite() && value >= 0.0;
        let rules = [
            ("step", "so long that there are at most 1000000 steps", (1..=1_000_000).contains(&self.steps)),
            ("step", "positive", positive(self.step)),
            ("day", "positive", positive(self.day)),
            ("amplitude", "from 0 to 1", share(self.amplitude)),
            ("rush", "a number of hours, not negative", not_negative(self.rush)),
            ("trip", "a number of hours, not negative", not_negative(self.trip)),
            ("morning", "at least `rush` hours after midnight", self.morning >= self.rush),
            (
                "evening",
                "so late that everybody has arrived in the morning: at least `morning` + 2 × `rush` + `trip`",
                self.evening >= self.morning + 2.0 * self.rush + self.trip,
            ),
            (
                "evening",
                "so early that everybody is at home by midnight: `evening` + `rush` + `trip` is at most 24",
                self.evening + self.rush + self.trip <= HOURS,
            ),
            (
                "hotspot_radius",
                "a number of metres, not negative",
                self.hotspots.iter().all(|hotspot| not_negative(hotspot.radius)),
            ),
            ("place", "with a weight that is positive", self.hotspots.iter().all(|hotspot| positive(hotspot.weight))),
            (
                "place",
                "within the area",
                self.hotspots.iter().all(|hotspot| hotspot.position.is_none_or(|place| self.area.contains(place))),
            ),
            ("attraction", "from 0 to 1", share(self.attraction)),
            ("area", "larger than nothing", positive(self.area.height_m()) && positive(self.area.width_m())),
        ];
        match rules.into_iter().find(|(_, _, holds)| !holds) {
            Some((setting, expected, _)) => Err(RandomWaypointError::Setting { setting, expected }),
            None => Ok(()),
        }
    }
}

/// The positions of the users, as a list: all users in the first step, and in later steps the users who moved.
pub fn commute(
    commuting: &Commuting,
    seed: u64,
    topology: &Topology,
    how: AttachmentRule,
) -> Result<Trajectories, RandomWaypointError> {
    let commuters = Commuters::new(commuting.clone(), seed, topology, how)?;
    let mut steps = vec![Vec::new(); commuting.steps as usize];
    for user in (0..commuting.users).map(UserIndex) {
        let mut last = None;
        for (step, changes) in (0..).zip(&mut steps) {
            let position = commuters.position(user, step);
            if last.replace(position) != Some(position) {
                changes.push((user, Presence::At(position)));
            }
        }
    }
    Ok(Trajectories { users: ids(commuting.users).collect(), steps })
}

/// The access points of the users. They are computed on the fly, not listed.
pub fn commute_attached(
    commuting: Commuting,
    seed: u64,
    topology: &Topology,
    how: AttachmentRule,
) -> Result<Attachments, RandomWaypointError> {
    let users = ids(commuting.users).map(|id| MobileUser { id, application: None }).collect();
    let commuters = Commuters::new(commuting, seed, topology, how)?;
    Ok(Attachments { users, steps: Vec::new(), commuters: Some(Arc::new(commuters)) })
}

fn ids(users: u32) -> impl Iterator<Item = Id> {
    (1..=i64::from(users)).map(Id::number)
}

impl Commuters {
    /// Whether deserialized commuters have valid settings, a position for each hotspot, and a usable finder.
    pub(crate) fn are_consistent(&self) -> bool {
        self.commuting.check().is_ok()
            && self.hotspots.len() == self.commuting.hotspots.len()
            && self.finder.is_consistent()
    }

    /// Checks the settings, and draws the values that all users share.
    pub fn new(
        commuting: Commuting,
        seed: u64,
        topology: &Topology,
        how: AttachmentRule,
    ) -> Result<Commuters, RandomWaypointError> {
        commuting.check()?;
        let finder = Finder::new(topology, how).map_err(RandomWaypointError::Attach)?;
        let area = commuting.area;
        let size = Metres { north: area.height_m(), east: area.width_m() };
        let mut random = stream(seed, u64::MAX);
        let phase = random.random::<f64>();
        let mut sum = 0.0;
        let hotspots = commuting.hotspots.iter().map(|hotspot| {
            let drawn = anywhere(size, &mut random);
            let place = hotspot.position.map_or(drawn, |position| {
                let (north, east) = area.part(position);
                Metres { north: north * size.north, east: east * size.east }
            });
            sum += hotspot.weight;
            (place, sum)
        });
        let hotspots = hotspots.collect();
        Ok(Commuters { commuting, seed, size, hotspots, phase, how, finder })
    }

    /// The number of users.
    pub fn user_count(&self) -> u32 {
        self.commuting.users
    }

    /// The number of steps, including the first.
    pub fn step_count(&self) -> u32 {
        self.commuting.steps
    }

    /// The position of a user in a step.
    pub fn position(&self, user: UserIndex, step: u32) -> Position {
        self.on_map(self.position_at(user, self.time(step)).place)
    }

    /// Adds to `changes` the users whose access point changes in a step, with the new one, in the order of users. `due`
    /// has for each user the next step in which the user may move, and is updated; with zeros, all users are queried.
    /// `now` returns the access point of a user before the step.
    pub fn changes(
        &self,
        step: u32,
        due: &mut [u32],
        now: impl Fn(UserIndex) -> Option<NodeIndex>,
        changes: &mut Vec<(UserIndex, Option<NodeIndex>)>,
    ) {
        let time = self.time(step);
        for (user, due) in (0..self.commuting.users).map(UserIndex).zip(due) {
            if *due > step {
                continue;
            }
            let position = self.position_at(user, time);
            *due = match position.stays_until {
                None => step + 1,
                // Querying a user one step too early costs little; one step too late would miss a movement.
                Some(until) => ((until / self.commuting.step).floor().min(f64::from(u32::MAX)) as u32).max(step + 1),
            };
            let access_point = Some(self.finder.access_point(self.on_map(position.place), &mut None));
            if access_point != now(user) {
                changes.push((user, access_point));
            }
        }
    }

    fn time(&self, step: u32) -> f64 {
        f64::from(step) * self.commuting.step
    }

    fn on_map(&self, place: Metres) -> Position {
        self.commuting.area.at(place.north / self.size.north, place.east / self.size.east)
    }

    fn habits(&self, user: UserIndex) -> Habits {
        let mut random = stream(self.seed, u64::from(user.0));
        let home = anywhere(self.size, &mut random);
        let is_attracted = random.random::<f64>() < self.commuting.attraction;
        let goal = match self.hotspots.last() {
            Some((_, all)) if is_attracted => {
                let drawn = random.random::<f64>() * all;
                let which = self.hotspots.partition_point(|(_, sum)| *sum <= drawn).min(self.hotspots.len() - 1);
                near(self.hotspots[which].0, self.commuting.hotspots[which].radius, self.size, &mut random)
            }
            _ => anywhere(self.size, &mut random),
        };
        // An evenly spread sequence: for any number of users, the share who keep common hours is close to `amplitude`.
        let keeps_hours = (self.phase + f64::from(user.0) * GOLDEN).fract() < self.commuting.amplitude;
        Habits { home, goal, ahead: if keeps_hours { 0.0 } else { random.random::<f64>() } }
    }

    fn position_at(&self, user: UserIndex, time: f64) -> CommuterPosition {
        let commuting = &self.commuting;
        let Habits { home, goal, ahead } = self.habits(user);
        let days = time / commuting.day + ahead;
        let (day, hour) = (days.floor(), days.fract() * HOURS);
        let mut random = stream(self.seed ^ DAYS, (u64::from(user.0) << 32) | day as u64);
        let mut around = |hour: f64| hour + (random.random::<f64>() - random.random::<f64>()) * commuting.rush;
        let (out, back) = (around(commuting.morning), around(commuting.evening));
        let at = |hour: f64| Some((day + hour / HOURS - ahead) * commuting.day);
        if hour < out {
            CommuterPosition { place: home, stays_until: at(out) }
        } else if hour < out + commuting.trip {
            CommuterPosition { place: between(home, goal, (hour - out) / commuting.trip), stays_until: None }
        } else if hour < back {
            CommuterPosition { place: goal, stays_until: at(back) }
        } else if hour < back + commuting.trip {
            CommuterPosition { place: between(goal, home, (hour - back) / commuting.trip), stays_until: None }
        } else {
            // The user is at home until after midnight. The departure hour of the next day is drawn then.
            CommuterPosition { place: home, stays_until: at(HOURS) }
        }
    }
}

#[cfg(test)]
mod tests;
