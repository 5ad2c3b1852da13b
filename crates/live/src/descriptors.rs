//! File descriptors: each connection of a client, each link and each file takes one, and the system limits their number.

use std::io;
use std::sync::OnceLock;

use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Whether an operation failed because the system or this process has no resources left for it, such as file
/// descriptors. Such a failure says nothing about what the operation was for.
pub(crate) fn is_exhausted(error: &io::Error) -> bool {
    let errno = error.raw_os_error().map(Errno::from_raw_os_error);
    matches!(errno, Some(Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::NOBUFS))
}

/// The limit of open files of this process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct OpenFiles {
    /// The soft limit with which the process was started; `None` for no limit.
    pub(crate) before: Option<u64>,
    /// The soft limit now: the hard limit, if it could be raised.
    pub(crate) limit: Option<u64>,
}

static BEFORE: OnceLock<Option<u64>> = OnceLock::new();

/// How many descriptors the node needs besides those for neighbours, clients and copies: its journal, trace, logs and
/// listeners, health probes, and starting copies.
const OWN_FILES: u64 = 128;

/// How many descriptors one neighbour needs: a control connection, and data connections in both directions, each twice
/// while a connection replaces another.
const FILES_PER_NEIGHBOUR: u64 = 6;

/// The least number of clients, even if the limit of open files is too low for everything.
const CLIENTS_MIN: u64 = 16;

/// Raises the soft limit of open files to the hard limit.
pub(crate) fn raise_limit() -> OpenFiles {
    let before = getrlimit(Resource::Nofile);
    let _ = BEFORE.set(before.current);
    let raised = Rlimit { current: before.maximum, maximum: before.maximum };
    let _ = setrlimit(Resource::Nofile, raised);
    OpenFiles { before: before.current, limit: getrlimit(Resource::Nofile).current }
}

/// The soft limit of open files; `None` for no limit.
pub(crate) fn limit() -> Option<u64> {
    getrlimit(Resource::Nofile).current
}

/// The soft limit with which this process was started, for the programs that it starts: some are slow or fail with a
/// high one. `None` if there was no limit, or if it was not raised.
pub(crate) fn limit_before() -> Option<u64> {
    BEFORE.get().copied().flatten()
}

/// How many files this process has open; `None` if the system does not tell.
pub(crate) fn count_open() -> Option<u64> {
    // The directory itself is open meanwhile.
    Some((std::fs::read_dir("/proc/self/fd").ok()?.count() as u64).saturating_sub(1))
}

impl OpenFiles {
    /// How many clients the node can serve at once, if each takes a descriptor here and another one for the connection
    /// to a copy, and links, operators, health probes and the journal keep theirs.
    pub(crate) fn clients_max(&self, neighbours: usize, operators_max: usize, strangers_max: usize) -> usize {
        let Some(limit) = self.limit else { return usize::MAX };
        let operators = operators_max as u64 + 2 * strangers_max as u64;
        let reserved = OWN_FILES + FILES_PER_NEIGHBOUR * neighbours as u64 + operators;
        (limit.saturating_sub(reserved) / 2).max(CLIENTS_MIN) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_leave_descriptors_for_links_operators_probes_and_the_journal() {
        let files = |limit| OpenFiles { before: Some(1_024), limit };
        assert_eq!(files(Some(1_024)).clients_max(2, 64, 64), (1_024 - 128 - 12 - 192) / 2);
        assert_eq!(files(Some(64)).clients_max(2, 64, 64), 16);
        assert_eq!(files(None).clients_max(2, 64, 64), usize::MAX);
    }
}
