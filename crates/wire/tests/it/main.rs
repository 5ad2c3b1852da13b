//! The crate from outside.

mod documents;
mod drawn;
mod golden;
mod hostile;
mod round_trips;
