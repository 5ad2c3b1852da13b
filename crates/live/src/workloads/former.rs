//! Processes of workloads that outlived the journal under which they were started.

use std::time::Instant;

use rustix::process::Signal;

use super::identity;
use super::process::{KILL_PATIENCE, failed, wait_a_little};
use crate::seams::DriverError;

/// Kills the processes that daemons of a node started in this place under another journal than that whose marks have the
/// prefix `own`. Returns how many there were. Only one daemon at a time uses the place, so no other daemon watches them.
pub(super) fn end(place: &str, own: &str) -> Result<usize, DriverError> {
    let deadline = Instant::now() + KILL_PATIENCE;
    let mut ended = 0;
    loop {
        let former = identity::placed(place, |mark| !mark.starts_with(own)).map_err(failed("cannot list processes"))?;
        if former.is_empty() {
            return Ok(ended);
        }
        if Instant::now() > deadline {
            let attempted = format!("cannot kill {} processes of a former journal", former.len());
            return Err(DriverError { attempted, cause: None });
        }
        ended = ended.max(former.len());
        for process in &former {
            process.signal(Signal::KILL).map_err(failed("cannot kill a process of a former journal"))?;
        }
        wait_a_little(&former);
    }
}
