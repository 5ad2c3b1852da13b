//! Checks what the ranges of single numbers do not say: values that contradict each other, and names.

use mario_settings::{At, File, Mistake};

use super::{CERTIFICATES_MAX, NodeFile};
use crate::workloads::DriverKind;

/// The minimum of [`TraceFile::bytes_max`](super::TraceFile::bytes_max), except for 0, which disables the trace.
const TRACE_BYTES_LEAST: u64 = 64 << 10;

/// Adds a mistake for each value that contradicts another one, or is not a known name.
pub(super) fn check_together(file: &NodeFile, source: &File, mistakes: &mut Vec<Mistake>) {
    if file.tls.len() > CERTIFICATES_MAX {
        let message = format!("{} certificates for clients are too many", file.tls.len());
        let hint = format!("name at most {CERTIFICATES_MAX}");
        mistakes.push(source.mistake(&["tls".into()], message).hint(hint));
    }
    let bytes_max = file.trace.bytes_max;
    if (1..TRACE_BYTES_LEAST).contains(&bytes_max) {
        let message = format!("`bytes_max` of the trace is {bytes_max}");
        let hint = format!("write 0 for no trace, or a number from {TRACE_BYTES_LEAST} to {}", 1_u64 << 40);
        mistakes.push(source.mistake(&["trace".into(), "bytes_max".into()], message).hint(hint));
    }
    if file.timing.reservation_ms < file.timing.prepare_ms {
        let message = "`reservation_ms` is shorter than `prepare_ms`";
        let hint =
            "set it to at least `prepare_ms`: a target keeps a reservation while the source prepares the transfer";
        mistakes.push(source.mistake(&["timing".into(), "reservation_ms".into()], message).hint(hint));
    }
    if file.workloads.ports_max < file.workloads.ports_min {
        let message = format!("there are no ports from {} to {}", file.workloads.ports_min, file.workloads.ports_max);
        let hint = "write numbers from 1024 to 65535, the smaller first";
        mistakes.push(source.mistake(&["workloads".into(), "ports_min".into()], message).hint(hint));
    }
    for (index, driver) in file.workloads.drivers.iter().enumerate() {
        if DriverKind::of_name(driver).is_none() {
            let message = format!("`{driver}` is not a driver");
            let path = ["workloads".into(), "drivers".into(), At::Index(index)];
            mistakes.push(source.mistake(&path, message).hint(format!("known are: {}", DriverKind::names())));
        }
    }
}
