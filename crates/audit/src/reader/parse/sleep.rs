//! Parses the records of verdicts on waking sleeping instances for client requests.

use serde::de::SeqAccess;

use super::{Elements, Kind, VerdictWord};
use crate::reader::record::{TraceRecord, Verdict};
use crate::reader::sleep::{Wakings, Woken};

/// Parses a record `woken` or `wakings`.
pub(super) fn woken<'de, A: SeqAccess<'de>>(
    kind: Kind,
    time: f64,
    mut elements: Elements<'de, A>,
) -> Result<TraceRecord, A::Error> {
    if matches!(kind, Kind::Woken) {
        elements.what = "a record `woken`";
        let instance = elements.next("instance")?;
        let verdict = match elements.next("verdict")? {
            VerdictWord::Accepted => Verdict::Accepted(None),
            VerdictWord::Inhibited => Verdict::Inhibited(elements.next("reason")?),
        };
        return elements.end(TraceRecord::Woken(Woken { time, instance, verdict }));
    }
    elements.what = "a record `wakings`";
    let application = elements.next("application")?;
    let refused_by = match elements.next("verdict")? {
        VerdictWord::Accepted => None,
        VerdictWord::Inhibited => Some(elements.next("rule")?),
    };
    elements.end(TraceRecord::Wakings(Wakings { time, application, refused_by }))
}
