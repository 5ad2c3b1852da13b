//! Reads tables of fixes, with columns in any order.

use super::super::reading::{self, PlaceColumns, TrajectoryError};
use super::super::table::Table;
use super::super::timestamps;
use super::{Fix, TracksBuilder};
use crate::position::Position;

pub(super) fn read(text: &str, origin: Option<Position>, builder: &mut TracksBuilder) -> Result<(), TrajectoryError> {
    let mut table = Table::new(text)?;
    let id_column =
        table.column(&["id", "user", "user id", "user_id", "taxi id", "taxi_id", "vehicle", "vehicle_id"])?;
    let time_column = table.column(&["time", "date time", "datetime", "date_time", "timestamp", "seconds"])?;
    let places = PlaceColumns::find(&table, origin)?;
    while let Some(row) = table.next()? {
        let id = reading::user_id(row.field(id_column)).ok_or_else(|| row.expected(id_column, "the id of a user"))?;
        let seconds = timestamps::seconds(row.field(time_column));
        let expected = "a number of seconds, or a time such as `2014-02-01 00:00:00`";
        let seconds = seconds.ok_or_else(|| row.expected(time_column, expected))?;
        let position = places.place(&row)?;
        builder.fix(id, Fix { seconds, position });
    }
    Ok(())
}
