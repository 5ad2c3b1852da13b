//! Going on with a trace.

use std::io::Write;

use serde::{Deserialize, Deserializer, Serialize};

use super::{Detail, TraceWriter};

impl<W: Write> TraceWriter<W> {
    /// All that the rest of the trace depends on, to be written down.
    pub(in crate::output) fn saved(&self) -> impl Serialize + '_ {
        // Whoever adds a field decides here whether the rest depends on it.
        let TraceWriter { out: _, detail: _, line: _, broken: _, seen, clients, usage, totals, summing } = self;
        (seen, clients, usage, totals, summing)
    }

    /// Goes on with the trace of which [`TraceWriter::saved`] was written down.
    pub(in crate::output) fn resumed<'de, D: Deserializer<'de>>(
        out: W,
        detail: Detail,
        saved: D,
    ) -> Result<TraceWriter<W>, D::Error> {
        let (seen, clients, usage, totals, summing) = Deserialize::deserialize(saved)?;
        Ok(TraceWriter { out, detail, line: Vec::new(), broken: None, seen, clients, usage, totals, summing })
    }

    /// Where the trace goes.
    pub(in crate::output) fn out(&mut self) -> &mut W {
        &mut self.out
    }
}
