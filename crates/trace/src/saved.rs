//! Stores and resumes the state of a trace writer.

use std::io::Write;

use serde::{Deserialize, Deserializer, Serialize};

use crate::header::Header;
use crate::record::Detail;
use crate::writer::TraceWriter;

impl<W: Write> TraceWriter<W> {
    /// The state to store in a checkpoint.
    pub fn saved(&self) -> impl Serialize + '_ {
        // Destructured, so that a new field does not compile until it is decided here whether to save it.
        let TraceWriter {
            out: _,
            detail: _,
            line: _,
            broken: _,
            seen,
            clients,
            usage,
            totals,
            summing,
            latencies,
            hops: _,
            has_models,
            calls,
        } = self;
        (seen, clients, usage, totals, summing, latencies, (has_models, calls))
    }

    /// Resumes the trace from the state stored by [`TraceWriter::saved`].
    pub fn resumed<'de, D: Deserializer<'de>>(out: W, detail: Detail, saved: D) -> Result<TraceWriter<W>, D::Error> {
        let (seen, clients, usage, totals, summing, latencies, (has_models, calls)) = Deserialize::deserialize(saved)?;
        let (line, broken, hops) = (Vec::new(), None, None);
        Ok(TraceWriter {
            out,
            detail,
            line,
            broken,
            seen,
            clients,
            usage,
            totals,
            summing,
            latencies,
            hops,
            has_models,
            calls,
        })
    }

    /// Whether the resumed state is consistent with a trace with this header.
    pub fn is_of(&self, header: &Header<'_>) -> bool {
        let is_summed = self.detail == Detail::Summary;
        let applications = header.applications.len();
        self.seen.len() == applications
            && self.usage.len() == applications
            && self.clients.len() == header.users.len()
            && self.seen.iter().all(|seen| seen.histogram.is_valid())
            && self.summing.is_some() == is_summed
            && self.calls.len() == header.calls.len()
            && self.has_models == header.models.is_some()
            && self.latencies.is_some() == header.measures
            && self.latencies.as_ref().is_none_or(|latencies| {
                latencies.len() == applications
                    && (latencies.iter().zip(&header.applications))
                        .all(|(latency, listed)| latency.is_valid(listed.application.max_latency.value()))
            })
            && self.summing.as_ref().is_none_or(|summing| summing.is_of(header))
    }

    /// The output of the trace.
    pub fn out(&mut self) -> &mut W {
        &mut self.out
    }
}
