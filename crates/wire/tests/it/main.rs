//! Tests of the public interface.

mod documents;
mod drawn;
mod golden;
mod hostile;
mod round_trips;
