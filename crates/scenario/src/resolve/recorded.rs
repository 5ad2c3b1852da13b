//! Checks whether recorded users are in the area of the topology and fit into memory, and whether the steps of users
//! end before or after the run.

use mario_settings::At;

use super::Resolving;
use crate::mobility::{Attachments, Presence, Tracks, Trajectories};
use crate::position::{Area, Position};
use crate::settings::{FileSettings, MobilityFormat, MobilitySettings};
use crate::topology::Topology;

const MOBILITY: At<'static> = At::Key("mobility");

/// The memory of one user in one step during resampling, in bytes.
const ROW_BYTES: f64 = 40.0;

/// How many positions there are, how many of them are in an area, and how many would be in it with latitude and
/// longitude exchanged.
#[derive(Clone, Copy, Debug, Default)]
struct Census {
    all: usize,
    inside: usize,
    inside_exchanged: usize,
}

impl Census {
    fn of(positions: impl Iterator<Item = Position>, area: Area) -> Census {
        let mut census = Census::default();
        for Position { latitude, longitude } in positions {
            census.all += 1;
            census.inside += usize::from(area.contains(Position { latitude, longitude }));
            let exchanged = Position { latitude: longitude, longitude: latitude };
            census.inside_exchanged += usize::from(area.contains(exchanged));
        }
        census
    }
}

impl Resolving<'_> {
    /// Checks the recorded tracks against the area of the topology. If latitude and longitude seem to be exchanged,
    /// reports an error and returns `false`. Adds a note if some positions are outside of the area.
    pub(super) fn check_tracks(&mut self, tracks: &Tracks, format: MobilityFormat, topology: &Topology) -> bool {
        let positions = tracks.fixes.iter().flatten().map(|fix| fix.position);
        self.check_positions(positions, format, topology)
    }

    /// Checks the recorded positions like [`check_tracks`](Self::check_tracks).
    pub(super) fn check_trajectories(
        &mut self,
        trajectories: &Trajectories,
        format: MobilityFormat,
        topology: &Topology,
    ) -> bool {
        let positions = trajectories.steps.iter().flatten().filter_map(|(_, presence)| match presence {
            Presence::At(position) => Some(*position),
            Presence::Gone => None,
        });
        self.check_positions(positions, format, topology)
    }

    fn check_positions(
        &mut self,
        positions: impl Iterator<Item = Position>,
        format: MobilityFormat,
        topology: &Topology,
    ) -> bool {
        let Some(area) = self.known_area(topology) else { return true };
        let Census { all, inside, inside_exchanged } = Census::of(positions, area);
        if inside == 0 && inside_exchanged * 2 > all {
            let at = [MOBILITY, "file".into()];
            let message = format!(
                "latitude and longitude are exchanged in this file: none of its {all} positions is in the area of the \
                 topology, and {inside_exchanged} are with the two exchanged"
            );
            let remedy = match format {
                MobilityFormat::Positions | MobilityFormat::Csv => {
                    "exchange the names `latitude` and `longitude` in its first line"
                }
                MobilityFormat::Taxi => "write `POINT(latitude longitude)`",
                MobilityFormat::Gpx => "`lat` is the latitude, and `lon` is the longitude",
                MobilityFormat::Sumo => {
                    "`x` is the longitude, or metres east, and `y` is the latitude, or metres north"
                }
            };
            let mistake = self.mistake(message, &at);
            self.mistakes.push(mistake.hint(remedy));
            return false;
        }
        if inside < all {
            let outside = all - inside;
            self.notes.push(format!(
                "{outside} of the {all} positions are outside of what the topology covers, `topology.area` or its nodes"
            ));
        }
        true
    }

    /// The area of the topology: as configured, or else the bounding box of its nodes. `None` if it is unknown, or
    /// invalid and already reported.
    fn known_area(&self, topology: &Topology) -> Option<Area> {
        let corner = |[latitude, longitude]: [f64; 2]| Position::checked(latitude, longitude);
        match self.settings.topology.area() {
            Some(area) => Area::between(corner(area.south_west)?, corner(area.north_east)?),
            None => topology.extent(),
        }
    }

    /// Whether tracks that are resampled into `steps` steps fit into `limits.memory_mib`. Reports an error if not.
    pub(super) fn fits_as_steps(&mut self, tracks: &Tracks, settings: &FileSettings, steps: f64) -> bool {
        const MIB: f64 = 1_048_576.0;
        let limit = self.settings.limits.memory_mib.value();
        let bytes = tracks.users.len() as f64 * steps * ROW_BYTES;
        if bytes <= limit * MIB {
            return true;
        }
        let key = match settings.clock {
            crate::settings::ClockKind::Shared => "step_seconds",
            crate::settings::ClockKind::OwnPace => "parts",
        };
        let message = format!(
            "{steps} steps of {} users take {} of memory: more than {}, which is `limits.memory_mib`",
            tracks.users.len(),
            crate::cost::memory(bytes),
            crate::cost::memory(limit * MIB)
        );
        let mistake = self.mistake(message, &[MOBILITY, key.into()]);
        self.mistakes.push(mistake.hint("make fewer steps, or limit `users` or `steps`, or raise `limits.memory_mib`"));
        false
    }

    /// Adds a note if the steps of users end before the run, or if the run ends before the steps. In the latter case,
    /// generated users are noted only if some of them never arrive. Does nothing for users who do not move, or whose
    /// steps are not listed.
    pub(super) fn note_unused_steps(&mut self, attachments: &Attachments) {
        let (duration, step) = (self.settings.duration.value(), self.step().units());
        let count = attachments.steps.len();
        let in_run = (duration / step).ceil().max(1.0) as usize;
        let is_recorded = matches!(
            self.settings.mobility,
            MobilitySettings::File(_) | MobilitySettings::Attachments(_) | MobilitySettings::Recorded(_)
        );
        if count == 0 || matches!(self.settings.mobility, MobilitySettings::Static(_)) {
            return;
        }
        if count < in_run {
            let ends = count as f64 * step;
            let steps = if count == 1 { "1 step".to_owned() } else { format!("{count} steps") };
            self.notes.push(format!(
                "users stay where they are from {ends} on: {steps} of {step} ms end before the run does, at {duration}"
            ));
        }
        if count <= in_run {
            return;
        }
        let mut comes = vec![false; attachments.users.len()];
        for (user, node) in attachments.steps[..in_run].iter().flatten() {
            comes[user.position()] |= node.is_some();
        }
        let (all, absent) = (comes.len(), comes.iter().filter(|comes| !**comes).count());
        let changes: usize = attachments.steps[in_run..].iter().map(Vec::len).sum();
        if is_recorded {
            self.notes.push(format!(
                "the run ends at {duration}, after {in_run} of the {count} steps of the record: {changes} of its moves, \
                 arrivals and departures and {absent} of its {all} users are left out; a `duration` of {} includes all",
                count as f64 * step
            ));
        } else if absent > 0 {
            self.notes.push(format!("{absent} of the {all} users never come: the run ends before, at {duration}"));
        }
    }
}
