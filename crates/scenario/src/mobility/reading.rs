//! Shared by all readers of mobility files: errors with their places, positions, ids, and the assembly of rows into
//! trajectories.

use std::error::Error;
use std::fmt;
use std::ops::Range;

use mario_domain::Id;
use rustc_hash::FxHashMap;

use super::table::{Row, Table};
use super::{Presence, Trajectories};
use crate::index::UserIndex;
use crate::position::Position;
use crate::xml::{XmlError, XmlProblem};

/// The maximum number of steps, so that a wrong step number in a file cannot exhaust memory.
pub(super) const STEPS_MAX: u64 = 1_000_000;

/// Why a mobility file cannot be read, and where.
#[derive(Clone, PartialEq, Debug)]
pub struct TrajectoryError {
    /// The place of the error, as a range of bytes in the text.
    pub span: Range<usize>,
    /// The problem.
    pub problem: TrajectoryProblem,
}

/// A problem of a mobility file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TrajectoryProblem {
    /// It is not UTF-8.
    NotUtf8,
    /// It is not well-formed XML.
    Xml(XmlProblem),
    /// The first line does not name this column.
    NoColumn(&'static str),
    /// A row has the wrong number of fields.
    Fields {
        /// The expected number.
        expected: usize,
        /// The found number.
        found: usize,
    },
    /// A value is invalid; the string says what is expected.
    Expected(&'static str),
    /// Positions are in metres, and their origin is unknown.
    NoOrigin,
    /// There are too many steps.
    TooManySteps,
    /// There are no positions.
    Empty,
}

impl TrajectoryError {
    pub(super) fn new(span: Range<usize>, problem: TrajectoryProblem) -> TrajectoryError {
        TrajectoryError { span, problem }
    }
}

impl From<XmlError> for TrajectoryError {
    fn from(error: XmlError) -> Self {
        TrajectoryError::new(error.span, TrajectoryProblem::Xml(error.problem))
    }
}

/// Decodes bytes as UTF-8.
pub(super) fn utf8(bytes: &[u8]) -> Result<&str, TrajectoryError> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let start = error.valid_up_to();
        let end = start + error.error_len().unwrap_or(bytes.len() - start);
        TrajectoryError::new(start..end, TrajectoryProblem::NotUtf8)
    })?;
    Ok(text)
}

/// Parses the id of a user: an integer in canonical form is a number, any other text is a name. `None` for an empty
/// text.
pub(crate) fn user_id(text: &str) -> Option<Id> {
    match text.parse::<i64>() {
        // `007` and `+7` are names: as numbers they would not round-trip.
        Ok(number) if number.to_string() == text => Some(Id::number(number)),
        _ => Id::name(text).ok(),
    }
}

/// Assembles trajectories from rows in any order.
#[derive(Debug, Default)]
pub(super) struct TrajectoriesBuilder {
    ids: Vec<Id>,
    by_id: FxHashMap<Id, u32>,
    /// Step, user and position, in the order of reading.
    rows: Vec<(u32, u32, Presence)>,
}

impl TrajectoriesBuilder {
    /// The index of a user, who is added if new.
    pub(super) fn user(&mut self, id: Id) -> u32 {
        let next = self.ids.len() as u32;
        *self.by_id.entry(id).or_insert_with_key(|id| {
            self.ids.push(id.clone());
            next
        })
    }

    /// Sets the position of a user from a step on. Of several positions of a user in a step, the last counts.
    pub(super) fn place(&mut self, user: u32, step: u32, place: Presence) {
        self.rows.push((step, user, place));
    }

    /// The trajectories. Users are in the order of the first step in which they are present, then of reading; users who
    /// are always absent are dropped. Only changes are listed. If there are no rows, the result is an error at the end
    /// of `text`.
    pub(super) fn finish(self, text: &str) -> Result<Trajectories, TrajectoryError> {
        if self.rows.is_empty() {
            return Err(TrajectoryError::new(text.len()..text.len(), TrajectoryProblem::Empty));
        }
        Ok(self.trajectories(None))
    }

    /// The trajectories of the first `users_max` users, or of all users with `None`.
    pub(super) fn trajectories(mut self, users_max: Option<u32>) -> Trajectories {
        // Sorting is stable, so rows of one step stay in the order of reading.
        self.rows.sort_by_key(|(step, _, _)| *step);
        let mut number_of = vec![u32::MAX; self.ids.len()];
        let mut users = Vec::new();
        // A user who is always absent is dropped.
        for (_, user, _) in self.rows.iter().filter(|(_, _, place)| matches!(place, Presence::At(_))) {
            let number = &mut number_of[*user as usize];
            if *number == u32::MAX {
                *number = users.len() as u32;
                users.push(self.ids[*user as usize].clone());
            }
        }
        let step_count = self.rows.last().map_or(0, |(step, _, _)| *step as usize + 1);
        let mut steps = vec![Vec::new(); step_count];
        let mut now: Vec<Option<Presence>> = vec![None; users.len()];
        let kept = users_max.unwrap_or(u32::MAX);
        users.truncate(kept as usize);
        for rows in self.rows.chunk_by(|one, other| one.0 == other.0) {
            let numbered = rows.iter().map(|(_, user, place)| (UserIndex(number_of[*user as usize]), *place));
            let mut changes: Vec<(UserIndex, Presence)> = numbered.filter(|(user, _)| user.0 < kept).collect();
            changes.sort_by_key(|(user, _)| *user);
            let step = &mut steps[rows[0].0 as usize];
            for same_user in changes.chunk_by(|one, other| one.0 == other.0) {
                let (user, place) = same_user[same_user.len() - 1];
                let known = &mut now[user.position()];
                // A user who has not appeared yet is absent already.
                if known.unwrap_or(Presence::Gone) != place {
                    *known = Some(place);
                    step.push((user, place));
                }
            }
        }
        Trajectories { users, steps }
    }
}

/// The two columns of a position.
#[derive(Clone, Copy)]
pub(super) enum PlaceColumns {
    /// Latitude and longitude.
    Degrees(usize, usize),
    /// Metres east and north of an origin.
    Metres(usize, usize, Position),
}

impl PlaceColumns {
    /// Finds the columns `latitude` and `longitude`. If there is no latitude, finds `x` and `y`, in metres from
    /// `origin`, which is then required. Columns may have other names, such as `lat`, `lon`, `east` and `north`.
    pub(super) fn find(table: &Table<'_>, origin: Option<Position>) -> Result<PlaceColumns, TrajectoryError> {
        let metres = (table.known_column(&["x", "east", "easting"]), table.known_column(&["y", "north", "northing"]));
        let latitude = table.column(&["latitude", "lat"]);
        match (metres, origin) {
            ((Some(east), Some(north)), Some(origin)) if latitude.is_err() => {
                Ok(PlaceColumns::Metres(east, north, origin))
            }
            ((Some(_), Some(_)), None) if latitude.is_err() => Err(table.head_error(TrajectoryProblem::NoOrigin)),
            _ => Ok(PlaceColumns::Degrees(latitude?, table.column(&["longitude", "lon", "lng"])?)),
        }
    }

    /// The position in a row.
    pub(super) fn place(self, row: &Row<'_>) -> Result<Position, TrajectoryError> {
        let number = |column: usize, limit: f64, what: &'static str| {
            let number = row.number(column).filter(|number| (-limit..=limit).contains(number));
            number.ok_or_else(|| row.expected(column, what))
        };
        match self {
            PlaceColumns::Degrees(latitude, longitude) => Ok(Position {
                latitude: number(latitude, 90.0, "a latitude from -90 to 90")?,
                longitude: number(longitude, 180.0, "a longitude from -180 to 180")?,
            }),
            PlaceColumns::Metres(east, north, origin) => {
                let [east_m, north_m] = [east, north].map(|column| number(column, METRES_MAX, "a number of metres"));
                origin
                    .moved_m(north_m?, east_m?)
                    .ok_or_else(|| row.expected(east, "metres that do not lead off the map"))
            }
        }
    }
}

/// A limit on coordinates in metres, above the circumference of the earth.
const METRES_MAX: f64 = 1e8;

/// Parses a position from a latitude and a longitude, each with its place in the text.
pub(super) fn place(
    latitude: (&str, Range<usize>),
    longitude: (&str, Range<usize>),
) -> Result<Position, TrajectoryError> {
    let degrees = |(text, span): (&str, Range<usize>), limit: f64, expected: &'static str| match text.trim().parse() {
        Ok(value) if (-limit..=limit).contains(&value) => Ok(value),
        _ => Err(TrajectoryError::new(span, TrajectoryProblem::Expected(expected))),
    };
    Ok(Position {
        latitude: degrees(latitude, 90.0, "a latitude from -90 to 90")?,
        longitude: degrees(longitude, 180.0, "a longitude from -180 to 180")?,
    })
}

impl fmt::Display for TrajectoryError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.problem.fmt(formatter)
    }
}

impl fmt::Display for TrajectoryProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TrajectoryProblem::NotUtf8 => formatter.write_str("this is not UTF-8"),
            TrajectoryProblem::Xml(problem) => problem.fmt(formatter),
            TrajectoryProblem::NoColumn(column) => write!(formatter, "the first line names no column `{column}`"),
            TrajectoryProblem::Fields { expected, found } => {
                write!(formatter, "expected {expected} fields, found {found}")
            }
            TrajectoryProblem::Expected(what) => write!(formatter, "expected {what}"),
            TrajectoryProblem::NoOrigin => formatter.write_str("`x` and `y` are metres, and their origin is missing"),
            TrajectoryProblem::TooManySteps => write!(formatter, "a trace has at most {STEPS_MAX} steps"),
            TrajectoryProblem::Empty => formatter.write_str("the trace has no user"),
        }
    }
}

impl Error for TrajectoryError {}
