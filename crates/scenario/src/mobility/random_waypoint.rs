//! Random waypoint mobility with hotspots, for users who move through a town.
//!
//! A user rests, then drives straight to a waypoint, rests there, and so on. Waypoints are near hotspots, some of which
//! attract more users than others, or anywhere. The width of the area needs a cosine; otherwise, positions are computed
//! with basic arithmetic and square roots, whose results do not depend on the machine.

use std::error::Error;
use std::fmt;

use mario_domain::Id;
use rand::RngExt;
use rand_pcg::Pcg64;

use super::attach::{AttachError, AttachmentRule, AttachmentState, Finder};
use super::ground::{GOLDEN, Metres, anywhere, between, distance, near, stream};
use super::{Attachments, MobileUser, Presence, Trajectories};
use crate::index::UserIndex;
use crate::position::{Area, Position};
use crate::topology::Topology;

/// The parameters of the random waypoint model.
#[derive(Clone, PartialEq, Debug)]
pub struct RandomWaypoint {
    /// The area in which users move.
    pub area: Area,
    /// The number of users.
    pub users: u32,
    /// The number of steps, including the first.
    pub steps: u32,
    /// The duration of a step, in seconds.
    pub step_seconds: f64,
    /// When users arrive.
    pub arrivals: Arrivals,
    /// The mean number of steps that a user stays; with `None`, users stay to the end.
    pub stay_steps_mean: Option<f64>,
    /// The share of users who rest when they arrive, from 0 to 1; all other users are under way.
    pub resting_share: f64,
    /// The longest rest, in seconds. Rests are uniformly distributed up to it.
    pub rest_seconds_max: f64,
    /// The lowest speed of a trip, in metres per second.
    pub speed_min: f64,
    /// The highest speed of a trip, in metres per second.
    pub speed_max: f64,
    /// The number of districts in each direction. Users never leave their district.
    pub districts: u32,
    /// The number of hotspots in each district.
    pub hotspots: u32,
    /// The maximum distance of waypoints from their hotspot along each axis (north to south, east to west), in metres.
    pub hotspot_radius: f64,
    /// The share of waypoints that are drawn near a hotspot, from 0 to 1; all others are drawn anywhere in the
    /// district. Without hotspots, all are drawn anywhere.
    pub attraction: f64,
}

/// When users arrive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arrivals {
    /// All in the first step.
    AtOnce,
    /// Some in the first step, then a constant number in each step until all have arrived. In the last step, all
    /// remaining users arrive.
    Gradual {
        /// The number in the first step.
        first: u32,
        /// The number in each later step.
        per_step: u32,
    },
    /// Some users arrive in the first step, and each of the other users in a random later step: a Poisson process
    /// conditioned on the number of arrivals.
    Random {
        /// The number in the first step.
        first: u32,
    },
}

/// Why the settings are invalid.
#[derive(Clone, PartialEq, Debug)]
pub enum RandomWaypointError {
    /// A setting is out of range.
    Setting {
        /// The setting.
        setting: &'static str,
        /// The valid values.
        expected: &'static str,
    },
    /// The users cannot be attached.
    Attach(AttachError),
}

impl RandomWaypoint {
    /// As in the paper's scenario, 51 users in four by four kilometres of Rome, for 26 steps.
    pub fn rome() -> RandomWaypoint {
        let centre = Position { latitude: 41.8986, longitude: 12.4806 };
        RandomWaypoint {
            area: Area::around(centre, 4_000.0, 4_000.0).expect("Rome is on the map"),
            users: 51,
            steps: 26,
            step_seconds: 8.5,
            arrivals: Arrivals::Gradual { first: 50, per_step: 1 },
            stay_steps_mean: None,
            resting_share: 0.4,
            rest_seconds_max: 600.0,
            speed_min: 3.0,
            speed_max: 14.0,
            districts: 1,
            hotspots: 4,
            hotspot_radius: 800.0,
            attraction: 0.6,
        }
    }

    fn check(&self) -> Result<(), RandomWaypointError> {
        let positive = |value: f64| value.is_finite() && value > 0.0;
        let share = |value: f64| (0.0..=1.0).contains(&value);
        let rules = [
            ("steps", "from 1 to 1000000", (1..=1_000_000).contains(&self.steps)),
            ("step_seconds", "positive", positive(self.step_seconds)),
            (
                "stay_steps_mean",
                "at least 1",
                self.stay_steps_mean.is_none_or(|steps| steps.is_finite() && steps >= 1.0),
            ),
            ("resting_share", "from 0 to 1", share(self.resting_share)),
            (
                "rest_seconds_max",
                "a number of seconds, not negative",
                self.rest_seconds_max == 0.0 || positive(self.rest_seconds_max),
            ),
            ("speed_min", "positive", positive(self.speed_min)),
            ("speed_max", "at least speed_min", self.speed_max.is_finite() && self.speed_max >= self.speed_min),
            (
                "hotspot_radius",
                "a number of metres, not negative",
                self.hotspot_radius == 0.0 || positive(self.hotspot_radius),
            ),
            ("districts", "from 1 to 1000", (1..=1_000).contains(&self.districts)),
            ("attraction", "from 0 to 1", share(self.attraction)),
            ("area", "larger than nothing", positive(self.area.height_m()) && positive(self.area.width_m())),
        ];
        match rules.into_iter().find(|(_, _, holds)| !holds) {
            Some((setting, expected, _)) => Err(RandomWaypointError::Setting { setting, expected }),
            None => Ok(()),
        }
    }
}

/// The positions of the users. Each step lists only users who arrive, move or leave in it.
pub fn random_waypoint(waypoints: &RandomWaypoint, seed: u64) -> Result<Trajectories, RandomWaypointError> {
    let town = Town::new(waypoints, seed)?;
    let mut steps = vec![Vec::new(); waypoints.steps as usize];
    town.follow_all(|user, step, place| steps[step as usize].push((user, place)));
    Ok(Trajectories { users: ids(waypoints.users).collect(), steps })
}

/// The access points of the users: the same as [`random_waypoint`] and then [`attach`](super::attach()), without
/// storing positions.
pub fn random_waypoint_attached(
    waypoints: &RandomWaypoint,
    seed: u64,
    topology: &Topology,
    how: AttachmentRule,
) -> Result<Attachments, RandomWaypointError> {
    let town = Town::new(waypoints, seed)?;
    let find = Finder::new(topology, how).map_err(RandomWaypointError::Attach)?;
    let mut steps = vec![Vec::new(); waypoints.steps as usize];
    let mut now = (UserIndex(u32::MAX), AttachmentState::default());
    town.follow_all(|user, step, place| {
        if now.0 != user {
            now = (user, AttachmentState::default());
        }
        if let Some(access_point) = find.follow(&mut now.1, place) {
            steps[step as usize].push((user, access_point));
        }
    });
    let users = ids(waypoints.users).map(|id| MobileUser { id, application: None }).collect();
    Ok(Attachments { users, steps, commuters: None })
}

fn ids(users: u32) -> impl Iterator<Item = Id> {
    (1..=i64::from(users)).map(Id::number)
}

/// The settings, and the values that are drawn once for all users.
struct Town<'w> {
    waypoints: &'w RandomWaypoint,
    seed: u64,
    size: Metres,
    /// The size of a district.
    district: Metres,
    /// The hotspots of all districts, district by district, each relative to the south-west corner of its district.
    hotspots: Vec<Metres>,
    /// For each step, the index of the first user who arrives in it or later; the last entry is the number of users.
    first_of_step: Vec<u32>,
    /// A random offset of the evenly spread sequence that selects the users who rest when they arrive.
    resting_phase: f64,
}

/// The district of a user.
struct District<'t> {
    south_west: Metres,
    hotspots: &'t [Metres],
}

/// The activity of a user.
enum Doing {
    Resting { seconds: f64 },
    Driving { to: Metres, speed: f64 },
}

impl<'w> Town<'w> {
    fn new(waypoints: &'w RandomWaypoint, seed: u64) -> Result<Town<'w>, RandomWaypointError> {
        waypoints.check()?;
        let size = Metres { north: waypoints.area.height_m(), east: waypoints.area.width_m() };
        let mut random = stream(seed, u64::MAX);
        let across = f64::from(waypoints.districts);
        let district = Metres { north: size.north / across, east: size.east / across };
        let hotspots = u64::from(waypoints.districts).pow(2) * u64::from(waypoints.hotspots);
        let hotspots = (0..hotspots).map(|_| anywhere(district, &mut random)).collect();
        let resting_phase = random.random::<f64>();
        let first_of_step = arrivals(waypoints, &mut random);
        Ok(Town { waypoints, seed, size, district, hotspots, first_of_step, resting_phase })
    }

    /// Simulates one user after another, and passes each arrival, movement and departure to `tell`.
    fn follow_all(&self, mut tell: impl FnMut(UserIndex, u32, Presence)) {
        for step in 0..self.waypoints.steps {
            for user in self.first_of_step[step as usize]..self.first_of_step[step as usize + 1] {
                let user = UserIndex(user);
                self.follow(user, step, |step, place| tell(user, step, place));
            }
        }
    }

    fn follow(&self, user: UserIndex, arrival: u32, mut tell: impl FnMut(u32, Presence)) {
        let mut random = stream(self.seed, u64::from(user.0));
        let district = self.district_of(user, arrival);
        let mut place = self.waypoint(&district, &mut random);
        let spread = (self.resting_phase + f64::from(user.0) * GOLDEN).fract();
        let mut doing = if spread < self.waypoints.resting_share {
            self.rest(&mut random)
        } else {
            // The user starts at a random point of a trip between two waypoints.
            let (to, done) = (self.waypoint(&district, &mut random), random.random::<f64>());
            place = between(place, to, done);
            Doing::Driving { to, speed: self.speed(&mut random) }
        };
        tell(arrival, self.presence(place));
        for step in arrival + 1..self.waypoints.steps {
            let leaves = self.waypoints.stay_steps_mean.is_some_and(|mean| random.random::<f64>() * mean < 1.0);
            if leaves {
                tell(step, Presence::Gone);
                return;
            }
            if self.advance(&district, &mut place, &mut doing, &mut random) {
                tell(step, self.presence(place));
            }
        }
    }

    /// Advances one step, and returns whether the user moved in it.
    fn advance(&self, district: &District<'_>, place: &mut Metres, doing: &mut Doing, random: &mut Pcg64) -> bool {
        let mut left = self.waypoints.step_seconds;
        let mut moved = false;
        // Bounds the loop: if trips and rests are far shorter than a step, the user stays in place for the remainder of
        // the step.
        for _ in 0..64 {
            match doing {
                Doing::Resting { seconds } if *seconds >= left => {
                    *seconds -= left;
                    return moved;
                }
                Doing::Resting { seconds } => {
                    left -= *seconds;
                    *doing = Doing::Driving { to: self.waypoint(district, random), speed: self.speed(random) };
                }
                Doing::Driving { to, speed } => {
                    moved = true;
                    let seconds = distance(*place, *to) / *speed;
                    if seconds > left {
                        *place = between(*place, *to, left / seconds);
                        return moved;
                    }
                    *place = *to;
                    left -= seconds;
                    *doing = self.rest(random);
                }
            }
        }
        moved
    }

    /// The district of a user. The users who arrive in one step are spread evenly over all districts, in the order of
    /// users. The first of them lives in the district whose number is that user's index modulo the number of districts,
    /// so that users who arrive alone in their step are spread, too.
    fn district_of(&self, user: UserIndex, arrival: u32) -> District<'_> {
        let [first, next] = [0, 1].map(|more| u64::from(self.first_of_step[arrival as usize + more]));
        let across = self.waypoints.districts;
        let districts = u64::from(across) * u64::from(across);
        let number = (first + (u64::from(user.0) - first) * districts / (next - first)) % districts;
        let (count, number) = (self.waypoints.hotspots as usize, number as u32);
        let [north, east] = [number / across, number % across].map(f64::from);
        District {
            south_west: Metres { north: north * self.district.north, east: east * self.district.east },
            hotspots: &self.hotspots[number as usize * count..][..count],
        }
    }

    fn waypoint(&self, district: &District<'_>, random: &mut Pcg64) -> Metres {
        let hotspots = district.hotspots;
        let is_attracted = random.random::<f64>() < self.waypoints.attraction;
        let place = if hotspots.is_empty() || !is_attracted {
            anywhere(self.district, random)
        } else {
            // The smaller of two draws: the first hotspots attract more than the last.
            let (one, other) = (random.random_range(0..hotspots.len()), random.random_range(0..hotspots.len()));
            near(hotspots[one.min(other)], self.waypoints.hotspot_radius, self.district, random)
        };
        Metres { north: district.south_west.north + place.north, east: district.south_west.east + place.east }
    }

    fn rest(&self, random: &mut Pcg64) -> Doing {
        Doing::Resting { seconds: random.random::<f64>() * self.waypoints.rest_seconds_max }
    }

    fn speed(&self, random: &mut Pcg64) -> f64 {
        let (low, high) = (self.waypoints.speed_min, self.waypoints.speed_max);
        low + random.random::<f64>() * (high - low)
    }

    fn presence(&self, place: Metres) -> Presence {
        Presence::At(self.waypoints.area.at(place.north / self.size.north, place.east / self.size.east))
    }
}

/// For each step, the index of the first user who arrives in it or later, followed by the number of users. Users are
/// numbered in the order of arrival. Users who would arrive after the last step arrive in it.
fn arrivals(waypoints: &RandomWaypoint, random: &mut Pcg64) -> Vec<u32> {
    let (users, steps) = (waypoints.users, waypoints.steps as usize);
    let mut counts = vec![0_u32; steps];
    match waypoints.arrivals {
        Arrivals::AtOnce => counts[0] = users,
        Arrivals::Gradual { first, per_step } => {
            let mut left = users;
            for (step, count) in counts.iter_mut().enumerate() {
                *count = if step == 0 { first } else { per_step }.min(left);
                left -= *count;
            }
            counts[steps - 1] += left;
        }
        Arrivals::Random { first } => {
            counts[0] = first.min(users);
            for _ in counts[0]..users {
                let step = if steps > 1 { random.random_range(1..steps) } else { 0 };
                counts[step] += 1;
            }
        }
    }
    let mut first_of_step = Vec::with_capacity(steps + 1);
    let mut next = 0;
    for count in counts {
        first_of_step.push(next);
        next += count;
    }
    first_of_step.push(next);
    first_of_step
}

impl fmt::Display for RandomWaypointError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RandomWaypointError::Setting { setting, expected } => write!(formatter, "`{setting}` must be {expected}"),
            RandomWaypointError::Attach(_) => formatter.write_str("the users cannot be attached"),
        }
    }
}

impl Error for RandomWaypointError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            RandomWaypointError::Setting { .. } => None,
            RandomWaypointError::Attach(error) => Some(error),
        }
    }
}

#[cfg(test)]
mod tests;
