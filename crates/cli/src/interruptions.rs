//! Somebody wants the process to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use mario_diagnostics::Diagnostic;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::Failure;

/// How long what comes after the first signal counts as the same wish: `timeout` and others send one to a process and another to
/// its whole group.
const ONE_WISH: Duration = Duration::from_millis(500);

/// How often somebody looks whether there was a signal.
const GLANCE: Duration = Duration::from_millis(50);

/// A flag that is raised when somebody wants the process to stop. When they want it again a little later, it stops at once.
pub(crate) fn interruptions() -> Result<Arc<AtomicBool>, Failure> {
    let (wanted, at_once) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    for signal in [SIGINT, SIGTERM] {
        flag::register_conditional_default(signal, Arc::clone(&at_once))
            .and_then(|_| flag::register(signal, Arc::clone(&wanted)))
            .map_err(|error| {
                Failure::Environment(vec![Diagnostic::error("cannot listen for signals").caused_by(&error)])
            })?;
    }
    let raised = Arc::clone(&wanted);
    thread::spawn(move || {
        while !raised.load(Ordering::Relaxed) {
            thread::sleep(GLANCE);
        }
        thread::sleep(ONE_WISH);
        at_once.store(true, Ordering::Relaxed);
    });
    Ok(wanted)
}
