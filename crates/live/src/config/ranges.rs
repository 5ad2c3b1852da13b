//! Checks that the numbers and names in `node.toml` are in their ranges.

use super::positions::{Mistake, Positions};
use super::{CERTIFICATES_MAX, NodeFile, TimingFile};
use crate::workloads::DriverKind;

/// The minimum of [`TraceFile::bytes_max`], except for 0, which disables the trace.
const TRACE_BYTES_LEAST: u64 = 64 << 10;

/// Adds a mistake for each value that is out of its range, or contradicts another one.
pub(super) fn check_ranges(file: &NodeFile, positions: &Positions<'_>, mistakes: &mut Vec<Mistake>) {
    let TimingFile { evaluation_ms, prepare_ms, reservation_ms, resend_ms, resend_ms_max, silence_ms, .. } =
        file.timing;
    let quantum = file.timing.latency_quantum_ms;
    let ranges = [
        (["timing", "evaluation_ms"], evaluation_ms as f64, 50.0, 86_400_000.0),
        (["timing", "owner_ms"], file.timing.owner_ms.unwrap_or(evaluation_ms) as f64, 50.0, 86_400_000.0),
        (["timing", "notice"], f64::from(file.timing.notice), 1.0, 1_000_000.0),
        (["timing", "prepare_ms"], prepare_ms as f64, 100.0, 3_600_000.0),
        (["timing", "reservation_ms"], reservation_ms as f64, 100.0, 3_600_000.0),
        (["timing", "resend_ms"], resend_ms as f64, 10.0, 60_000.0),
        (["timing", "resend_ms_max"], resend_ms_max as f64, 10.0, 3_600_000.0),
        (["timing", "restart_ms"], file.timing.restart_ms as f64, 10.0, 3_600_000.0),
        (["timing", "restart_ms_max"], file.timing.restart_ms_max as f64, 10.0, 3_600_000.0),
        (["timing", "restart_reset_ms"], file.timing.restart_reset_ms as f64, 100.0, 86_400_000.0),
        (["timing", "silence_ms"], silence_ms as f64, 300.0, 60_000.0),
        (["timing", "latency_quantum_ms"], quantum, 0.001, 1_000.0),
        (["identity", "warn_days"], f64::from(file.identity.warn_days), 0.0, 36_500.0),
        (["limits", "clients_max"], f64::from(file.limits.clients_max), 1.0, 1_000_000.0),
        (
            ["limits", "clients_per_address_max"],
            f64::from(file.limits.clients_per_address_max.unwrap_or(1)),
            1.0,
            1_000_000.0,
        ),
        (["limits", "head_ms"], file.limits.head_ms as f64, 100.0, 3_600_000.0),
        (["limits", "operators_max"], f64::from(file.limits.operators_max), 1.0, 100_000.0),
        (["limits", "strangers_max"], f64::from(file.limits.strangers_max), 1.0, 100_000.0),
        (["limits", "strangers_per_address_max"], f64::from(file.limits.strangers_per_address_max), 1.0, 100_000.0),
        (["journal", "shorten_after"], file.journal.shorten_after as f64, 16.0, 1_000_000_000.0),
        (["workloads", "log_bytes_max"], file.workloads.log_bytes_max as f64, 4_096.0, 1_073_741_824.0),
    ];
    for (path, value, min, max) in ranges {
        if !(min..=max).contains(&value) {
            let message = format!("`{}` is {value}", path[1]);
            mistakes.push(positions.mistake(&path, message).hint(format!("write a number from {min} to {max}")));
        }
    }
    if file.tls.len() > CERTIFICATES_MAX {
        let message = format!("{} certificates for clients are too many", file.tls.len());
        let hint = format!("name at most {CERTIFICATES_MAX}");
        mistakes.push(positions.mistake(&["tls"], message).hint(hint));
    }
    let bytes_max = file.trace.bytes_max;
    if bytes_max != 0 && !(TRACE_BYTES_LEAST..=1 << 40).contains(&bytes_max) {
        let message = format!("`bytes_max` of the trace is {bytes_max}");
        let hint = format!("write 0 for no trace, or a number from {TRACE_BYTES_LEAST} to {}", 1_u64 << 40);
        mistakes.push(positions.mistake(&["trace", "bytes_max"], message).hint(hint));
    }
    if reservation_ms < prepare_ms {
        let message = "`reservation_ms` is shorter than `prepare_ms`".to_owned();
        let hint = "a target keeps a place at least as long as the source waits for it";
        mistakes.push(positions.mistake(&["timing", "reservation_ms"], message).hint(hint));
    }
    if file.workloads.ports_min < 1_024 || file.workloads.ports_max < file.workloads.ports_min {
        let message = format!("there are no ports from {} to {}", file.workloads.ports_min, file.workloads.ports_max);
        mistakes.push(
            positions
                .mistake(&["workloads", "ports_min"], message)
                .hint("write numbers from 1024 to 65535, the smaller first"),
        );
    }
    for (index, driver) in file.workloads.drivers.iter().enumerate() {
        if DriverKind::of_name(driver).is_none() {
            let message = format!("`{driver}` is not a driver");
            let path = ["workloads", "drivers", &index.to_string()];
            mistakes.push(positions.mistake(&path, message).hint(format!("known are: {}", DriverKind::names())));
        }
    }
}
