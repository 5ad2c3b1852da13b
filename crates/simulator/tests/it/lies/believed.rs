//! The changes that contradict nothing in a trace, or nothing in some places: what the auditor takes as recorded.

use super::fields::Change;

/// Whether such changes are found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Found {
    /// Nothing contradicts them.
    Never,
    /// Some are contradicted by what follows from them, and others are not.
    Sometimes,
}

/// An entry of the list.
pub struct Believed {
    /// The field; it may end in `*`, for all that begin so.
    pub field: &'static str,
    /// Which changes of it; all, if there are none.
    pub changes: &'static [Change],
    /// How much the trace tells; in all of them, if there are none.
    pub details: &'static [&'static str],
    pub found: Found,
    /// Why nothing contradicts them, as `docs/auditing.md` says it.
    pub reason: &'static str,
}

impl Believed {
    pub fn is_about(&self, field: &str, change: Change, detail: &str) -> bool {
        let is_field = match self.field.strip_suffix('*') {
            Some(beginning) if !self.field.ends_with("/*") => field.starts_with(beginning),
            _ => field == self.field,
        };
        is_field
            && (self.changes.is_empty() || self.changes.contains(&change))
            && (self.details.is_empty() || self.details.contains(&detail))
    }
}

pub const BELIEVED: &[Believed] = &[];
