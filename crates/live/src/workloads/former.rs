//! Processes of workloads that outlived the journal under which they were started.

use std::collections::BTreeSet;
use std::time::Instant;

use rustix::process::Signal;

use super::cgroup::Cgroups;
use super::identity::{self, Process};
use super::process::{KILL_PATIENCE, failed, wait_a_little};
use crate::seams::DriverError;

/// Kills the processes that daemons of a node started in this place under another journal than that whose marks have the
/// prefix `own`, and removes their control groups. Returns how many processes there were. Only one daemon at a time uses
/// the place, so no other daemon watches them.
pub(super) fn end(place: &str, own: &str, cgroups: &Cgroups) -> Result<usize, DriverError> {
    let deadline = Instant::now() + KILL_PATIENCE;
    let mut ended = 0;
    let mut journals = BTreeSet::new();
    loop {
        let former = identity::placed(place, |mark| !mark.starts_with(own)).map_err(failed("cannot list processes"))?;
        let (former, marks): (Vec<Process>, Vec<String>) = former.into_iter().unzip();
        journals.extend(marks.iter().filter_map(|mark| Some(mark.split_once('/')?.0.to_owned())));
        if former.is_empty() {
            journals.iter().for_each(|journal| cgroups.remove_former(journal));
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
