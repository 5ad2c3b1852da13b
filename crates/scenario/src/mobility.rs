//! The movements of users, step by step: read from files, or generated.
//!
//! [`Trajectories`] are positions on the map, and [`Attachments`] are access points. [`attach`](attach()) turns the
//! former into the latter.

mod assign;
mod attach;
mod commute;
mod ground;
mod nearest;
mod positions;
mod random_waypoint;
mod reading;
mod table;
mod timestamps;
mod tracks;

use std::sync::Arc;

use mario_domain::{ApplicationId, Id};
use serde::{Deserialize, Serialize};

use crate::index::{NodeIndex, UserIndex};
use crate::position::{Area, Position};

pub use assign::{Assignment, assign};
pub use attach::{AttachError, AttachmentRule, Handovers, attach};
pub(crate) use ground::GOLDEN;

pub use commute::{Commuters, Commuting, Hotspot, commute, commute_attached};
pub use positions::read_positions;
pub use random_waypoint::{Arrivals, RandomWaypoint, RandomWaypointError, random_waypoint, random_waypoint_attached};
pub(crate) use reading::user_id as read_id;
pub use reading::{TrajectoryError, TrajectoryProblem};
pub(crate) use table::{Row, Table};
pub use tracks::{
    AfterLastFix, BetweenFixes, Fix, Resampling, ResamplingError, SamplingTimes, SumoCoordinates, TrackFormat, Tracks,
    read_tracks, resample, step_count,
};

/// Positions of users on the map. Only changes are listed, except that a user who is absent because of an area to which
/// positions are clipped may be listed as absent several times.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Trajectories {
    /// The users, in the order in which they appear.
    pub users: Vec<Id>,
    /// For each step, the users whose position changed, with the new position.
    pub steps: Vec<Vec<(UserIndex, Presence)>>,
}

impl Trajectories {
    /// Removes all users except the first `count`.
    pub(crate) fn keep_first_users(&mut self, count: u32) {
        self.users.truncate(count as usize);
        for changes in &mut self.steps {
            changes.retain(|(user, _)| user.0 < count);
        }
    }

    /// Makes users absent while they are outside an area. A user who moves while outside is listed as absent in each
    /// step of this movement.
    pub(crate) fn clip(&mut self, area: Area) {
        for (_, presence) in self.steps.iter_mut().flatten() {
            if matches!(presence, Presence::At(position) if !area.contains(*position)) {
                *presence = Presence::Gone;
            }
        }
    }
}

/// The position of a user, or absence.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Presence {
    /// On the map.
    At(Position),
    /// Absent, at least until the next step that lists the user.
    Gone,
}

/// The access points of users: listed by step, or generated on the fly. Only changes are listed.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Attachments {
    /// The users. A [`UserIndex`] is a position in this list.
    pub users: Vec<MobileUser>,
    /// For each step, the users whose access point changed, with the new access point; `None` if the user is
    /// disconnected. Empty with `commuters`.
    pub steps: Vec<Vec<(UserIndex, Option<NodeIndex>)>>,
    /// Generates the movements of the users on the fly; `None` if `steps` lists them.
    pub commuters: Option<Arc<Commuters>>,
}

/// A user.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct MobileUser {
    /// The id of the user.
    pub id: Id,
    /// The application of the user, if the file with the attachments states it.
    pub application: Option<ApplicationId>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traces_are_limited_to_the_first_users_and_to_an_area() {
        let area = Area {
            south_west: Position { latitude: 0.0, longitude: 0.0 },
            north_east: Position { latitude: 1.0, longitude: 1.0 },
        };
        let [inside, outside] = [0.5, 2.0].map(|latitude| Presence::At(Position { latitude, longitude: 0.5 }));
        let [first, second] = [UserIndex(0), UserIndex(1)];
        let mut trajectories = Trajectories {
            users: vec![Id::number(7), Id::number(8)],
            steps: vec![
                vec![(first, inside), (second, inside)],
                vec![(first, outside)],
                vec![(first, inside), (second, outside)],
            ],
        };
        trajectories.clip(area);
        assert_eq!(
            trajectories.steps[1..],
            [vec![(first, Presence::Gone)], vec![(first, inside), (second, Presence::Gone)]]
        );
        trajectories.keep_first_users(1);
        assert_eq!(trajectories.users, [Id::number(7)]);
        assert_eq!(trajectories.steps, [vec![(first, inside)], vec![(first, Presence::Gone)], vec![(first, inside)]]);
    }
}
