//! Signals that ask the process to stop.
//!
//! | signal | who sends it |
//! |---|---|
//! | SIGINT | Ctrl-C |
//! | SIGTERM | `kill`, `timeout`, batch systems, a machine that shuts down |
//! | SIGHUP | a terminal or a connection that closes; stays ignored under `nohup` on Linux |
//! | SIGXCPU | the system, when the CPU time of `ulimit -t` is used up |
//!
//! SIGXFSZ is caught, so that a write beyond the limit of `ulimit -f` fails with an error. SIGQUIT and SIGKILL keep
//! their default effect.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use mario_frontend::Diagnostic;
#[cfg(unix)]
use signal_hook::consts::{SIGHUP, SIGXCPU, SIGXFSZ};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::Failure;

/// Signals within this time after the first count as the same request, because `timeout` and other programs send one
/// signal to the process and another to its group.
const SAME_REQUEST_WITHIN: Duration = Duration::from_millis(500);

/// How often to check for a signal.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Returns a flag that is set on a request to stop. A second request, more than about half a second after the first,
/// ends the process at once.
pub(crate) fn interruptions() -> Result<Arc<AtomicBool>, Failure> {
    let (wanted, at_once) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    for signal in stopping_signals() {
        flag::register_conditional_default(signal, Arc::clone(&at_once))
            .and_then(|_| flag::register(signal, Arc::clone(&wanted)))
            .map_err(|error| {
                Failure::Environment(vec![Diagnostic::error("cannot listen for signals").caused_by(&error)])
            })?;
    }
    let raised = Arc::clone(&wanted);
    thread::spawn(move || {
        while !raised.load(Ordering::Relaxed) {
            thread::sleep(POLL_INTERVAL);
        }
        thread::sleep(SAME_REQUEST_WITHIN);
        at_once.store(true, Ordering::Relaxed);
    });
    Ok(wanted)
}

#[cfg(not(unix))]
fn stopping_signals() -> Vec<i32> {
    vec![SIGINT, SIGTERM]
}

#[cfg(unix)]
fn stopping_signals() -> Vec<i32> {
    let mut signals = vec![SIGINT, SIGTERM, SIGXCPU];
    if !ignores_hangups() {
        signals.push(SIGHUP);
    }
    signals
}

/// Whether the process was started with hangups ignored, as by `nohup`. This is known only on Linux; elsewhere a hangup
/// is a request to stop.
#[cfg(unix)]
fn ignores_hangups() -> bool {
    std::fs::read_to_string("/proc/self/status").is_ok_and(|status| is_ignored(SIGHUP, &status))
}

/// Whether a process with this content of `/proc/self/status` ignores a signal.
#[cfg(unix)]
fn is_ignored(signal: i32, status: &str) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Makes a write beyond the limit of `ulimit -f` fail with an error. By default, a signal would silently end the
/// process.
pub(crate) fn survive_file_size_limit() {
    // If the signal cannot be caught, it keeps its default effect.
    #[cfg(unix)]
    let _ = flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn reads_which_signals_are_ignored() {
        let status = "Name:\tmario\nSigBlk:\t0000000000000001\nSigIgn:\t0000000000001000\n";
        assert!(!is_ignored(SIGHUP, status), "only SIGPIPE is");
        assert!(is_ignored(SIGHUP, &status.replace("1000", "1001")));
        assert!(!is_ignored(SIGHUP, "") && !is_ignored(SIGHUP, "SigIgn:\tnonsense"));
    }
}
