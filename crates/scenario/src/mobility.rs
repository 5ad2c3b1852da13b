//! Where users are, step by step.
//!
//! [`Traces`] are positions on the map; [`Attachments`] are access points. [`attach`] turns the former into the latter.

mod assign;
mod attach;
mod commute;
mod ground;
mod nearest;
mod positions;
mod reading;
mod table;
mod timestamps;
mod tracks;
mod wander;

use std::sync::Arc;

use mario_domain::{ApplicationId, Id};
use serde::{Deserialize, Serialize};

use crate::index::{NodeIndex, UserIndex};
use crate::position::Position;

pub use assign::{Assignment, assign};
pub use attach::{Attach, AttachError, Handovers, attach};
pub(crate) use ground::GOLDEN;

pub use commute::{Commuters, Commuting, Hotspot, commute, commute_attached};
pub use positions::read_positions;
pub(crate) use reading::user_id as read_id;
pub use reading::{TraceError, TraceProblem};
pub(crate) use table::{Row, Table};
pub use tracks::{
    After, Between, Clock, Fix, StepError, Stepping, SumoCoordinates, TrackFormat, Tracks, read_tracks, step_count,
    to_steps,
};
pub use wander::{Arrivals, WanderError, Wandering, wander, wander_attached};

/// Where users are on the map. Only changes are listed.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Traces {
    /// The users, in the order in which they appear.
    pub users: Vec<Id>,
    /// For each step, the users whose position changed: their place in `users`, and where they are now.
    pub steps: Vec<Vec<(UserIndex, Presence)>>,
}

/// Where a user is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Presence {
    /// On the map.
    At(Position),
    /// Gone, until a later step says otherwise.
    Gone,
}

/// Which access point users are connected to. Only changes are listed.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Attachments {
    /// The users, in the order in which they appear.
    pub users: Vec<MobileUser>,
    /// For each step, the users whose access point changed: their place in `users`, and the access point; `None` when the
    /// user is gone.
    pub steps: Vec<Vec<(UserIndex, Option<NodeIndex>)>>,
    /// Users whose movements are generated on the fly instead of listed.
    pub commuters: Option<Arc<Commuters>>,
}

/// A user who moves about.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct MobileUser {
    /// Which user.
    pub id: Id,
    /// The application used, where the source of the attachments says so.
    pub application: Option<ApplicationId>,
}
