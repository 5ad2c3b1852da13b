//! Reads CSV tables of positions by step: `user,step,latitude,longitude`, or `user,step,x,y` in metres.

use super::reading::{self, PlaceColumns, STEPS_MAX, TrajectoriesBuilder, TrajectoryError, TrajectoryProblem};
use super::table::Table;
use super::{Presence, Trajectories};
use crate::position::Position;

/// Reads positions by step from a table with the columns `user`, `step`, `latitude` and `longitude`, in any order.
/// Instead of the last two, the columns `x` and `y` may give metres east and north of `origin`. If a user has several
/// rows in a step, the last counts. A user is absent before the first row, and stays in steps without a row.
pub fn read_positions(bytes: &[u8], origin: Option<Position>) -> Result<Trajectories, TrajectoryError> {
    let text = reading::utf8(bytes)?;
    let mut table = Table::new(text)?;
    let user_column = table.column(&["user"])?;
    let step_column = table.column(&["step"])?;
    let places = PlaceColumns::find(&table, origin)?;
    let mut builder = TrajectoriesBuilder::default();
    while let Some(row) = table.next()? {
        let id =
            reading::user_id(row.field(user_column)).ok_or_else(|| row.expected(user_column, "the id of a user"))?;
        let step = row.field(step_column).parse::<u64>();
        let step = step.map_err(|_| row.expected(step_column, "the number of a step: 0, 1, 2 and so on"))?;
        if step >= STEPS_MAX {
            return Err(TrajectoryError::new(row.span(step_column), TrajectoryProblem::TooManySteps));
        }
        let place = places.place(&row)?;
        let user = builder.user(id);
        builder.place(user, step as u32, Presence::At(place));
    }
    builder.finish(text)
}

#[cfg(test)]
mod tests {
    use mario_domain::Id;

    use super::*;
    use crate::index::UserIndex;

    fn at(latitude: f64, longitude: f64) -> Presence {
        Presence::At(Position { latitude, longitude })
    }

    #[test]
    fn the_last_row_of_a_step_counts_and_without_one_the_user_stays() {
        let text = "user,step,latitude,longitude\n\
                    late,2,1.0,2.0\n\
                    a,0,1.0,1.0\na,0,1.5,1.5\na,1,1.5,1.5\n7,0,3,4\n7,2,5,6\n";
        let trajectories = read_positions(text.as_bytes(), None).expect("trajectories");
        let name = |name| Id::name(name).expect("a name");
        assert_eq!(trajectories.users, [name("a"), Id::number(7), name("late")]);
        let expected = [
            vec![(UserIndex(0), at(1.5, 1.5)), (UserIndex(1), at(3.0, 4.0))],
            vec![],
            vec![(UserIndex(1), at(5.0, 6.0)), (UserIndex(2), at(1.0, 2.0))],
        ];
        assert_eq!(trajectories.steps, expected);
    }

    #[test]
    fn columns_may_be_in_any_order() {
        let one = read_positions(b"user,step,latitude,longitude\na,0,1,2\n", None).expect("trajectories");
        let other =
            read_positions(b"\xef\xbb\xbflongitude, Latitude,step,user\r\n2,1,0,a\r\n", None).expect("trajectories");
        assert_eq!(one, other);
    }

    #[test]
    fn metres_are_relative_to_the_origin_and_a_comma_between_semicolons_is_a_decimal_point() {
        let origin = Position { latitude: 60.0, longitude: 10.0 };
        let text = "user;step;x;y\na;0;1000,5;-250\n";
        let trajectories = read_positions(text.as_bytes(), Some(origin)).expect("trajectories");
        let [(_, Presence::At(place))] = trajectories.steps[0][..] else { panic!("one user") };
        // A degree of latitude is 111,195.08 m, one of longitude half of that at 60 degrees north.
        assert!((place.latitude - (60.0 - 250.0 / 111_195.08)).abs() < 1e-9, "{place:?}");
        assert!((place.longitude - (10.0 + 1_000.5 / (111_195.08 / 2.0))).abs() < 1e-9, "{place:?}");
        let error = read_positions(b"user;step;x;y\na;0;1e9;0\n", Some(origin)).expect_err("too far");
        assert_eq!(error.to_string(), "expected a number of metres");
        let error = read_positions(b"user;step;x;y\na;0;0;9e6\n", Some(origin)).expect_err("beyond the pole");
        assert_eq!(error.to_string(), "expected metres that do not lead off the map");
    }

    #[test]
    fn malformed_positions_are_reported_with_their_place() {
        for (text, at_fault, message) in [
            ("", "", "the first line names no column `user`"),
            ("user,step,latitude\n", "user,step,latitude", "the first line names no column `longitude`"),
            ("user,step,latitude,longitude\n", "", "the trace has no user"),
            ("user,step,latitude,longitude\na,0,1\n", "a,0,1", "expected 4 fields, found 3"),
            (
                "user,step,latitude,longitude\na,0,1,2\na,-1,1,2\n",
                "-1",
                "expected the number of a step: 0, 1, 2 and so on",
            ),
            ("user,step,latitude,longitude\na,99999999999,1,2\n", "99999999999", "a trace has at most 1000000 steps"),
            ("user,step,latitude,longitude\n\n\na,0,91,2\n", "91", "expected a latitude from -90 to 90"),
            ("user,step,latitude,longitude\na,0,1,nan\n", "nan", "expected a longitude from -180 to 180"),
            (
                "user,step,latitude,longitude\n\"a\",0,1,1e999\n",
                "\"a\",0,1,1e999",
                "expected a longitude from -180 to 180",
            ),
            ("user,step,latitude,longitude\n,0,1,2\n", "", "expected the id of a user"),
            ("user,step,x,y\na,0,1,2\n", "user,step,x,y", "`x` and `y` are metres, and their origin is missing"),
            ("user;step;latitude;longitude\na;0;41,9;east\n", "east", "expected a longitude from -180 to 180"),
        ] {
            let error = read_positions(text.as_bytes(), None).expect_err(text);
            assert_eq!(error.to_string(), message, "{text}");
            assert_eq!(&text[error.span], at_fault, "{text}");
        }
        let error = read_positions(b"user,step\xff", None).expect_err("no text");
        assert_eq!((error.span, error.problem), (9..10, TrajectoryProblem::NotUtf8));
    }
}
