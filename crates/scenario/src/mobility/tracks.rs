//! Reads recorded tracks, whose positions have times in seconds, and resamples them into steps.

mod csv;
mod gpx;
mod sumo;
mod taxi;

use std::error::Error;
use std::fmt;

use mario_domain::Id;
use rustc_hash::FxHashMap;

use super::reading::{self, STEPS_MAX, TrajectoriesBuilder, TrajectoryError, TrajectoryProblem};
use super::{Presence, Trajectories};
use crate::position::{Area, Position};

/// Recorded positions of users, in the order of reading, which need not be chronological.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Tracks {
    /// The users, in the order in which they were read.
    pub users: Vec<Id>,
    /// The fixes of each user.
    pub fixes: Vec<Vec<Fix>>,
}

/// A position at a time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Fix {
    /// The time in seconds; since 1970 if the record has dates.
    pub seconds: f64,
    /// The position.
    pub position: Position,
}

/// The format of a file of tracks.
#[derive(Clone, PartialEq, Debug)]
pub enum TrackFormat {
    /// The format of the Rome taxi data set: `156;2014-02-01 00:00:00.739166+01;POINT(41.8836 12.4877)`, latitude
    /// first.
    Taxi,
    /// A table whose first line names the columns, in any order: `id` (or e.g. `user`, `taxi id`, `vehicle`), `time`
    /// (or e.g. `date time`, `timestamp`), `latitude` (`lat`) and `longitude` (`lon`), or `x` and `y` in metres.
    Csv {
        /// The position that `x` and `y` are relative to. Only needed if the table has no latitude and longitude.
        origin: Option<Position>,
    },
    /// GPX. Each track is a user, identified by the name of the track or else by its number; or all tracks belong to
    /// one user.
    Gpx {
        /// The user to whom all tracks belong; `None` if each track is a user.
        user: Option<Id>,
    },
    /// Floating car data of SUMO.
    Sumo(SumoCoordinates),
}

/// The meaning of `x` and `y` in floating car data.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum SumoCoordinates {
    /// Longitude and latitude: SUMO ran with `--fcd-output.geo`.
    Degrees,
    /// Metres east and north of this origin.
    Metres(Position),
}

/// Reads recorded tracks.
pub fn read_tracks(bytes: &[u8], format: &TrackFormat) -> Result<Tracks, TrajectoryError> {
    let text = reading::utf8(bytes)?;
    let mut builder = TracksBuilder::default();
    match format {
        TrackFormat::Taxi => taxi::read(text, &mut builder)?,
        TrackFormat::Csv { origin } => csv::read(text, *origin, &mut builder)?,
        TrackFormat::Gpx { user } => gpx::read(text, user.as_ref(), &mut builder)?,
        TrackFormat::Sumo(coordinates) => sumo::read(text, *coordinates, &mut builder)?,
    }
    if builder.tracks.users.is_empty() {
        return Err(TrajectoryError::new(text.len()..text.len(), TrajectoryProblem::Empty));
    }
    Ok(builder.tracks)
}

impl Tracks {
    /// Adds the tracks of another file. Tracks of the same user are joined.
    pub fn append(&mut self, other: Tracks) {
        let mut builder = TracksBuilder { tracks: std::mem::take(self), by_id: FxHashMap::default() };
        for (number, id) in builder.tracks.users.iter().enumerate() {
            builder.by_id.insert(id.clone(), number);
        }
        for (id, fixes) in other.users.into_iter().zip(other.fixes) {
            for fix in fixes {
                builder.fix(id.clone(), fix);
            }
        }
        *self = builder.tracks;
    }
}

/// Collects fixes by user.
#[derive(Default)]
struct TracksBuilder {
    tracks: Tracks,
    by_id: FxHashMap<Id, usize>,
}

impl TracksBuilder {
    fn fix(&mut self, user: Id, fix: Fix) {
        let next = self.tracks.users.len();
        let number = *self.by_id.entry(user).or_insert_with_key(|user| {
            self.tracks.users.push(user.clone());
            self.tracks.fixes.push(Vec::new());
            next
        });
        self.tracks.fixes[number].push(fix);
    }
}

/// How recorded tracks are resampled into steps.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Resampling {
    /// The times of the steps.
    pub clock: SamplingTimes,
    /// If set, users outside this area are absent.
    pub clip: Option<Area>,
    /// The maximum number of users: the first to appear are kept. `None` for all.
    pub users_max: Option<u32>,
    /// The maximum number of steps; `None` for all.
    pub steps_max: Option<u32>,
}

/// At which times recorded tracks are sampled.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum SamplingTimes {
    /// At the same times for all users, starting with the earliest fix. A user is present from the first step at or
    /// after the user's first fix.
    Shared {
        /// The time between two steps, in seconds.
        step_seconds: f64,
        /// The position of a user between two fixes.
        between: BetweenFixes,
        /// The position of a user after the last fix.
        after: AfterLastFix,
    },
    /// At each user's own pace, as in the prototype: each track is divided into `parts` parts of equal duration, with a
    /// step at the start and at the end of each part. The first fix counts in step 0, any other in the step at the end
    /// of its part; steps without a fix are interpolated between the fixes before and after.
    OwnPace {
        /// The number of parts; 100 in the prototype.
        parts: u32,
    },
}

/// The position of a user between two fixes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BetweenFixes {
    /// That of the earlier fix.
    LastKnown,
    /// On the straight line between them.
    Interpolated,
}

/// The position of a user after the last fix.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AfterLastFix {
    /// That of the last fix.
    Stays,
    /// None: the user leaves.
    Gone,
}

/// Why tracks cannot be resampled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ResamplingError {
    /// The time between two steps is not positive and finite, or the number of parts is 0.
    NoStep,
    /// There would be more than 1,000,000 steps.
    TooManySteps,
}

/// The number of steps into which tracks are resampled.
pub fn step_count(tracks: &Tracks, resampling: &Resampling) -> Result<u32, ResamplingError> {
    match resampling.clock {
        SamplingTimes::Shared { step_seconds, after, .. } => {
            shared_steps(tracks, step_seconds, after, resampling.steps_max).map(|moments| moments.count)
        }
        SamplingTimes::OwnPace { parts: 0 } => Err(ResamplingError::NoStep),
        SamplingTimes::OwnPace { parts } if u64::from(parts) >= STEPS_MAX => Err(ResamplingError::TooManySteps),
        SamplingTimes::OwnPace { parts } => Ok(resampling.steps_max.unwrap_or(u32::MAX).min(parts + 1)),
    }
}

/// Resamples recorded tracks into steps.
pub fn resample(tracks: &Tracks, resampling: &Resampling) -> Result<Trajectories, ResamplingError> {
    let mut builder = TrajectoriesBuilder::default();
    let place = |builder: &mut TrajectoriesBuilder, user: &Id, step: u32, position: Option<Position>| {
        if resampling.steps_max.is_none_or(|limit| step < limit) {
            let inside = position.filter(|position| resampling.clip.is_none_or(|area| area.contains(*position)));
            let user = builder.user(user.clone());
            builder.place(user, step, inside.map_or(Presence::Gone, Presence::At));
        }
    };
    let count = step_count(tracks, resampling)?;
    match resampling.clock {
        SamplingTimes::Shared { step_seconds, between, after } => {
            let steps = shared_steps(tracks, step_seconds, after, resampling.steps_max)?;
            for (user, fixes) in tracks.users.iter().zip(&tracks.fixes) {
                let walk = Walk { steps, between, after };
                walk.follow(fixes, |step, position| place(&mut builder, user, step, position));
            }
        }
        SamplingTimes::OwnPace { parts } => {
            for (user, fixes) in tracks.users.iter().zip(&tracks.fixes) {
                own_pace(fixes, parts, |step, position| place(&mut builder, user, step, Some(position)));
            }
        }
    }
    let mut trajectories = builder.trajectories(resampling.users_max);
    // Steps without movements at the end are kept.
    trajectories.steps.resize(count as usize, Vec::new());
    Ok(trajectories)
}

/// The times of steps that all users share, in seconds.
#[derive(Clone, Copy, Debug)]
struct Moments {
    start: f64,
    step_seconds: f64,
    count: u32,
}

fn shared_steps(
    tracks: &Tracks,
    step_seconds: f64,
    after: AfterLastFix,
    steps_max: Option<u32>,
) -> Result<Moments, ResamplingError> {
    if !(step_seconds.is_finite() && step_seconds > 0.0) {
        return Err(ResamplingError::NoStep);
    }
    let all = || tracks.fixes.iter().flatten().map(|fix| fix.seconds);
    let (start, end) = (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max));
    // A user who leaves after the last fix needs one more step.
    let departure = if after == AfterLastFix::Gone { 1.0 } else { 0.0 };
    let last = ((end - start) / step_seconds).floor().max(0.0) + departure;
    let count = steps_max.map_or(last + 1.0, |limit| (last + 1.0).min(f64::from(limit)));
    if count <= STEPS_MAX as f64 {
        Ok(Moments { start, step_seconds, count: count as u32 })
    } else {
        Err(ResamplingError::TooManySteps)
    }
}

struct Walk {
    steps: Moments,
    between: BetweenFixes,
    after: AfterLastFix,
}

impl Walk {
    fn follow(&self, fixes: &[Fix], mut tell: impl FnMut(u32, Option<Position>)) {
        let mut fixes: Vec<Fix> = fixes.to_vec();
        // The sort is stable: if several fixes have the same time, the last one read counts.
        fixes.sort_by(|one, other| one.seconds.total_cmp(&other.seconds));
        let Some(first) = fixes.first() else { return };
        let steps = self.steps;
        let first_step = ((first.seconds - steps.start) / steps.step_seconds).ceil().max(0.0) as u32;
        let mut passed = 0;
        for step in first_step..steps.count {
            let now = steps.start + f64::from(step) * steps.step_seconds;
            while passed + 1 < fixes.len() && fixes[passed + 1].seconds <= now {
                passed += 1;
            }
            let last = fixes[passed];
            let Some(next) = fixes.get(passed + 1) else {
                match self.after {
                    AfterLastFix::Gone if last.seconds < now => {
                        tell(step, None);
                        return;
                    }
                    _ => tell(step, Some(last.position)),
                }
                if last.seconds < now {
                    return;
                }
                continue;
            };
            let share = match self.between {
                BetweenFixes::LastKnown => 0.0,
                BetweenFixes::Interpolated => ((now - last.seconds) / (next.seconds - last.seconds)).clamp(0.0, 1.0),
            };
            tell(step, Some(towards(last.position, next.position, share)));
        }
    }
}

/// Divides a user's track into parts of equal duration, and passes positions with their steps to `tell`. If a step has
/// several positions, the last one counts. Fixes are not always in chronological order; as in the prototype, the
/// duration is the sum of the absolute time differences between consecutive fixes.
fn own_pace(fixes: &[Fix], parts: u32, mut tell: impl FnMut(u32, Position)) {
    let passing = |pair: &[Fix]| (pair[1].seconds - pair[0].seconds).abs();
    let total: f64 = fixes.windows(2).map(passing).sum();
    let part = total / f64::from(parts);
    let (mut passed, mut step) = (0.0, 0);
    if let Some(first) = fixes.first() {
        tell(0, first.position);
    }
    for pair in fixes.windows(2) {
        passed += passing(pair);
        let share = if total > 0.0 { passed / total } else { 0.0 };
        let next_step = ((share * f64::from(parts)).ceil() as u32).min(parts);
        for between in step + 1..next_step {
            let share = f64::from(between - step) * part / passing(pair);
            tell(between, towards(pair[0].position, pair[1].position, share));
        }
        tell(next_step, pair[1].position);
        step = next_step;
    }
}

fn towards(from: Position, to: Position, share: f64) -> Position {
    Position {
        latitude: from.latitude + share * (to.latitude - from.latitude),
        longitude: from.longitude + share * (to.longitude - from.longitude),
    }
}

impl fmt::Display for ResamplingError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ResamplingError::NoStep => formatter.write_str("the time between two steps must be positive"),
            ResamplingError::TooManySteps => {
                write!(formatter, "there would be more than {STEPS_MAX} steps: make the time between two longer")
            }
        }
    }
}

impl Error for ResamplingError {}

#[cfg(test)]
mod tests;
