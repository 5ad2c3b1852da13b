//! File descriptors: each connection of a client, each link and each file takes one, and the system limits their number.

use std::io;

use rustix::io::Errno;

/// Whether an operation failed because the system or this process has no resources left for it, such as file
/// descriptors. Such a failure says nothing about what the operation was for.
pub(crate) fn is_exhausted(error: &io::Error) -> bool {
    let errno = error.raw_os_error().map(Errno::from_raw_os_error);
    matches!(errno, Some(Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::NOBUFS))
}
