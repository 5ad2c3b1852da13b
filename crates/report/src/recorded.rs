//! What agents knew when they decided, reconstructed from a trace to explain their decisions.
//!
//! Start at [`Knowledge::of`]. [`Histories`] follow what an agent remembers of its past.

mod histories;
mod knowledge;
mod policies;

pub(crate) use histories::{Histories, VisibleHistory};
pub(crate) use knowledge::{Knowledge, Situation};
pub(crate) use policies::resolver;
