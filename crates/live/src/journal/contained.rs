//! Contains panics of the database: redb may panic on a file that is damaged in a place which its checksums do not
//! cover. To the node, such a file is damaged like any other.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static IS_CONTAINED: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic of this thread is caught by the journal and reported as damage of its file, so that a panic hook
/// should not report it as a bug.
pub fn contains_panics() -> bool {
    IS_CONTAINED.get()
}

/// Calls the database. If it panics, returns the message of the panic. The database must not be used after that, except
/// to drop it, which may panic as well.
pub(super) fn contained<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    let outer = IS_CONTAINED.replace(true);
    let result = catch_unwind(AssertUnwindSafe(call));
    IS_CONTAINED.set(outer);
    result.map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        let text = text.unwrap_or_else(|| "no reason".to_owned());
        // Some messages of assertions have several lines.
        format!("the database failed: {}", text.split_whitespace().collect::<Vec<_>>().join(" "))
    })
}
