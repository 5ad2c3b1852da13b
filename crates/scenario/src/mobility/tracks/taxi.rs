//! Reads the Rome taxi data set: `156;2014-02-01 00:00:00.739166+01;POINT(41.8836 12.4877)`.

use super::super::reading::{self, TrajectoryError, TrajectoryProblem};
use super::super::timestamps;
use super::{Fix, TracksBuilder};

pub(super) fn read(text: &str, builder: &mut TracksBuilder) -> Result<(), TrajectoryError> {
    let mut offset = 0;
    for whole_line in text.split_inclusive('\n') {
        let line = whole_line.trim_end_matches(['\r', '\n']);
        if !line.trim().is_empty() {
            let (user, fix) = read_line(line, offset)?;
            builder.fix(user, fix);
        }
        offset += whole_line.len();
    }
    Ok(())
}

fn read_line(line: &str, offset: usize) -> Result<(mario_domain::Id, Fix), TrajectoryError> {
    let fields: Vec<&str> = line.split(';').collect();
    let &[user, time, point] = fields.as_slice() else {
        let problem = TrajectoryProblem::Fields { expected: 3, found: fields.len() };
        return Err(TrajectoryError::new(offset..offset + line.len(), problem));
    };
    let time_start = offset + user.len() + 1;
    let point_start = time_start + time.len() + 1;
    let expected = |start: usize, field: &str, what| {
        TrajectoryError::new(start..start + field.len(), TrajectoryProblem::Expected(what))
    };
    let id = reading::user_id(user.trim()).ok_or_else(|| expected(offset, user, "the id of a user"))?;
    let seconds = timestamps::seconds(time);
    let seconds =
        seconds.ok_or_else(|| expected(time_start, time, "a time such as `2014-02-01 00:00:00.739166+01`"))?;
    let inside = point.trim().strip_prefix("POINT(").and_then(|rest| rest.strip_suffix(')'));
    let places = inside.and_then(|inside| inside.trim().split_once(' '));
    let point_span = point_start..point_start + point.len();
    let (latitude, longitude) = places.ok_or_else(|| expected(point_start, point, "`POINT(latitude longitude)`"))?;
    let position = reading::place((latitude, point_span.clone()), (longitude, point_span))?;
    Ok((id, Fix { seconds, position }))
}
