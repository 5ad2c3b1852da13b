//! Connects users at positions on the map to access points.

use std::error::Error;
use std::fmt;

use mario_domain::NodeId;
use serde::{Deserialize, Serialize};

use super::nearest::{Found, Nearest};
use super::{Attachments, MobileUser, Presence, Trajectories};
use crate::index::{NodeIndex, UserIndex};
use crate::position::{Area, Position};
use crate::topology::{Topology, access_point_position};

/// How the access point of a user is chosen.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub enum AttachmentRule {
    /// The access point of the user's cell in the grid of a [tiled tree](crate::topology::tiled_tree). Outside the
    /// grid, the closest cell at the border counts.
    Grid {
        /// The number of cells in each direction.
        size: u32,
        /// The area of the grid.
        area: Area,
    },
    /// The closest access point by great-circle distance; on a tie, the first in the order of the topology.
    Distance,
}

/// Why users cannot be attached.
#[derive(Clone, PartialEq, Debug)]
pub enum AttachError {
    /// No node is an access point.
    NoAccessPoint,
    /// The number of cells differs from the number of access points, or `size` is not a power of two.
    Grid {
        /// The number of cells in each direction.
        size: u32,
        /// The number of access points.
        access_points: usize,
    },
    /// An access point has no position, so its distance is unknown.
    NoPosition(NodeId),
}

/// The numbers of handovers, arrivals and departures.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Handovers {
    /// The number of handovers of each user.
    pub of_user: Vec<u32>,
    /// The number of handovers in each step; 0 in the first.
    pub in_step: Vec<u32>,
    /// The number of users who connect in each step and were not connected in the step before.
    pub arrivals: Vec<u32>,
    /// The number of users who disconnect in each step and were connected in the step before.
    pub departures: Vec<u32>,
}

/// Computes the access points of users from their positions.
pub fn attach(
    trajectories: &Trajectories,
    topology: &Topology,
    how: AttachmentRule,
) -> Result<Attachments, AttachError> {
    let find = Finder::new(topology, how)?;
    let mut now: Vec<AttachmentState> = vec![AttachmentState::default(); trajectories.users.len()];
    let mut steps = Vec::with_capacity(trajectories.steps.len());
    for changes in &trajectories.steps {
        let mut step = Vec::new();
        for (user, presence) in changes {
            if let Some(access_point) = find.follow(&mut now[user.position()], *presence) {
                step.push((*user, access_point));
            }
        }
        steps.push(step);
    }
    let users = trajectories.users.iter().map(|id| MobileUser { id: id.clone(), application: None }).collect();
    Ok(Attachments { users, steps, commuters: None })
}

/// The access point of a user, and the last search result, from which the next search starts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AttachmentState {
    access_point: Option<NodeIndex>,
    last: Option<Found>,
}

/// Finds the access point for a position.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Finder {
    /// `access_points` are listed by cell: row by row from south to north, each row from west to east.
    Grid {
        size: u32,
        area: Area,
        access_points: Vec<NodeIndex>,
    },
    Distance {
        nearest: Nearest,
        any: NodeIndex,
    },
}

impl Finder {
    /// Whether a deserialized finder finds an access point for every position.
    pub(super) fn is_consistent(&self) -> bool {
        match self {
            Finder::Grid { size, access_points, .. } => {
                u64::from(*size) * u64::from(*size) == access_points.len() as u64 && *size > 0
            }
            Finder::Distance { nearest, .. } => nearest.is_consistent(),
        }
    }

    pub(super) fn new(topology: &Topology, how: AttachmentRule) -> Result<Finder, AttachError> {
        let access_points: Vec<NodeIndex> = topology.access_points().collect();
        let any = *access_points.first().ok_or(AttachError::NoAccessPoint)?;
        match how {
            AttachmentRule::Grid { size, area } => {
                let has_cell_for_each = u64::from(size) * u64::from(size) == access_points.len() as u64;
                if !has_cell_for_each || !size.is_power_of_two() {
                    return Err(AttachError::Grid { size, access_points: access_points.len() });
                }
                let cells = (0..size).flat_map(|x| (0..size).map(move |y| access_point_position(size, x, y) as usize));
                let access_points = cells.map(|position| access_points[position]).collect();
                Ok(Finder::Grid { size, area, access_points })
            }
            AttachmentRule::Distance => {
                let mut places = Vec::with_capacity(access_points.len());
                for index in access_points {
                    let node = topology.node(index);
                    let position = node.position.ok_or_else(|| AttachError::NoPosition(node.id.clone()))?;
                    places.push((index, position));
                }
                Ok(Finder::Distance { nearest: Nearest::new(places.into_iter()), any })
            }
        }
    }

    /// Moves a user. Returns `None` if the access point stays the same, otherwise the new one: `Some(None)` if the user
    /// left.
    #[allow(
        clippy::option_option,
        reason = "the outer option says whether the connection changed; the inner one is `None` for a user who left"
    )]
    pub(super) fn follow(&self, user: &mut AttachmentState, presence: Presence) -> Option<Option<NodeIndex>> {
        let access_point = match presence {
            Presence::At(position) => Some(self.access_point(position, &mut user.last)),
            Presence::Gone => None,
        };
        let before = std::mem::replace(&mut user.access_point, access_point);
        (before != access_point).then_some(access_point)
    }

    /// The access point for a position. A search by distance starts from `last`, the result for an earlier position,
    /// and updates it.
    pub(super) fn access_point(&self, position: Position, last: &mut Option<Found>) -> NodeIndex {
        match self {
            Finder::Grid { size, area, access_points } => {
                let (x, y) = area.cell(*size, position);
                access_points[x as usize * *size as usize + y as usize]
            }
            Finder::Distance { nearest, any } => {
                *last = nearest.to(position, *last);
                last.map_or(*any, |found| found.node)
            }
        }
    }
}

impl Attachments {
    /// Counts handovers, arrivals and departures.
    pub fn handovers(&self) -> Handovers {
        let mut now: Vec<Option<NodeIndex>> = vec![None; self.users.len()];
        let mut due = self.first_due();
        let mut generated = Vec::new();
        let zeros = vec![0; self.step_count()];
        let mut counted = Handovers {
            of_user: vec![0; self.users.len()],
            in_step: zeros.clone(),
            arrivals: zeros.clone(),
            departures: zeros,
        };
        for step in 0..self.step_count() {
            let changes = self.changes(step as u32, &mut due, |user| now[user.position()], &mut generated);
            for (user, access_point) in changes {
                let before = std::mem::replace(&mut now[user.position()], *access_point);
                match (before, access_point) {
                    (None, Some(_)) => counted.arrivals[step] += 1,
                    (Some(_), None) => counted.departures[step] += 1,
                    (Some(from), Some(to)) if from != *to => {
                        counted.in_step[step] += 1;
                        counted.of_user[user.position()] += 1;
                    }
                    _ => {}
                }
            }
        }
        counted
    }

    /// The number of steps.
    pub fn step_count(&self) -> usize {
        self.commuters.as_ref().map_or(self.steps.len(), |commuters| commuters.step_count() as usize)
    }

    /// Whether deserialized commuters are valid and as many as `users`; true without commuters.
    pub fn are_consistent(&self) -> bool {
        let are_all = |commuters: &super::Commuters| {
            commuters.user_count() as usize == self.users.len() && commuters.are_consistent()
        };
        self.commuters.as_deref().is_none_or(are_all)
    }

    /// The initial `due` for [`changes`](Attachments::changes): step 0 for each user. Empty if movements are listed.
    pub fn first_due(&self) -> Vec<u32> {
        vec![0; self.commuters.as_ref().map_or(0, |commuters| commuters.user_count() as usize)]
    }

    /// The users whose access point changes in a step, with the new access point. If movements are generated on the
    /// fly, steps must be queried in order, `due` and `now` are as in
    /// [`Commuters::changes`](super::Commuters::changes), and `generated` is overwritten with the result. Otherwise
    /// these arguments are not used.
    pub fn changes<'a>(
        &'a self,
        step: u32,
        due: &mut [u32],
        now: impl Fn(UserIndex) -> Option<NodeIndex>,
        generated: &'a mut Vec<(UserIndex, Option<NodeIndex>)>,
    ) -> &'a [(UserIndex, Option<NodeIndex>)] {
        let Some(commuters) = &self.commuters else {
            return self.steps.get(step as usize).map_or(&[], Vec::as_slice);
        };
        generated.clear();
        commuters.changes(step, due, now, generated);
        generated
    }
}

impl Handovers {
    /// The total number of handovers.
    pub fn total(&self) -> u64 {
        self.in_step.iter().map(|count| u64::from(*count)).sum()
    }

    /// The total number of arrivals after the first step.
    pub fn late_arrivals(&self) -> u64 {
        self.arrivals.iter().skip(1).map(|count| u64::from(*count)).sum()
    }
}

impl fmt::Display for AttachError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AttachError::NoAccessPoint => formatter.write_str("no node is an access point"),
            AttachError::Grid { size, access_points } => write!(
                formatter,
                "a grid of {size} by {size} cells needs one access point for each cell, and there are {access_points}"
            ),
            AttachError::NoPosition(node) => {
                write!(formatter, "access point `{node}` has no position, so its distance to users is not known")
            }
        }
    }
}

impl Error for AttachError {}

#[cfg(test)]
mod tests {
    use mario_domain::{Capacity, Duration, Id};

    use super::*;
    use crate::topology::{TiledTree, tiled_tree};

    const AREA: Area = Area {
        south_west: Position { latitude: 41.0, longitude: 12.0 },
        north_east: Position { latitude: 41.04, longitude: 12.04 },
    };

    fn tree(area: Option<Area>) -> Topology {
        let shape = TiledTree {
            size: 2,
            capacities: vec![Capacity::Unbounded, Capacity::units(1)],
            latencies: vec![Duration::of(1.0)],
            area,
        };
        tiled_tree(&shape).expect("a tree")
    }

    fn trajectories() -> Trajectories {
        let at = |north, east| Presence::At(AREA.at(north, east));
        Trajectories {
            users: vec![Id::number(1), Id::number(2)],
            steps: vec![
                vec![(UserIndex(0), at(0.1, 0.1))],
                vec![(UserIndex(0), at(0.2, 0.4)), (UserIndex(1), at(1.4, 0.7))],
                vec![(UserIndex(0), at(0.2, 0.6)), (UserIndex(1), Presence::Gone)],
                vec![(UserIndex(1), at(0.9, 0.9))],
            ],
        }
    }

    #[test]
    fn only_changes_of_the_access_point_are_listed() {
        let tree = tree(Some(AREA));
        for how in [AttachmentRule::Grid { size: 2, area: AREA }, AttachmentRule::Distance] {
            let attachments = attach(&trajectories(), &tree, how).expect("attached");
            let [a, b, d] = [1, 2, 4].map(|index| Some(NodeIndex(index)));
            let expected = [
                vec![(UserIndex(0), a)],
                vec![(UserIndex(1), d)],
                vec![(UserIndex(0), b), (UserIndex(1), None)],
                vec![(UserIndex(1), d)],
            ];
            assert_eq!(attachments.steps, expected, "{how:?}");
            let handovers = attachments.handovers();
            assert_eq!(handovers.of_user, [1, 0]);
            assert_eq!(handovers.in_step, [0, 0, 1, 0]);
            assert_eq!(handovers.arrivals, [1, 1, 0, 1]);
            assert_eq!(handovers.departures, [0, 0, 1, 0]);
            assert_eq!((handovers.total(), handovers.late_arrivals()), (1, 2));
        }
    }

    #[test]
    fn cells_of_a_large_tree_have_the_access_points_at_their_centres() {
        for size in [1_u32, 2, 8, 16, 64] {
            let levels = size.trailing_zeros() as usize + 1;
            let shape = TiledTree {
                size,
                capacities: vec![Capacity::Unbounded; levels],
                latencies: vec![Duration::of(1.0); levels - 1],
                area: Some(AREA),
            };
            let tree = tiled_tree(&shape).expect("a tree");
            let find =
                Finder::new(&tree, AttachmentRule::Grid { size, area: AREA }).expect("one access point for each cell");
            for access_point in tree.access_points() {
                let position = tree.node(access_point).position.expect("the tree has an area");
                assert_eq!(find.access_point(position, &mut None), access_point, "size {size}");
            }
        }
    }

    #[test]
    fn reports_why_users_cannot_be_attached() {
        let error = |area, how| attach(&trajectories(), &tree(area), how).expect_err("not attached").to_string();
        assert!(error(None, AttachmentRule::Distance).contains("`n1lt0ln0` has no position"));
        let grid = error(None, AttachmentRule::Grid { size: 3, area: AREA });
        assert!(grid.contains("3 by 3 cells") && grid.contains("there are 4"), "{grid}");
    }
}
