//! Allocates the ports on which workloads listen.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, TcpListener};
use std::ops::RangeInclusive;
use std::sync::{Mutex, PoisonError};

/// Allocates ports from a range that are free on the loopback address.
///
/// Between the check and the workload's own bind, another program may take the port. The workload then fails to start;
/// its next start gets another port.
#[derive(Debug)]
pub struct Ports {
    range: RangeInclusive<u16>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    taken: BTreeSet<u16>,
    next: u16,
}

impl Ports {
    /// Creates an allocator for this range. `seed` selects the first port, so that several daemons on one machine
    /// seldom collide.
    pub fn new(range: RangeInclusive<u16>, seed: u64) -> Ports {
        let length = u64::from(range.end().saturating_sub(*range.start())) + 1;
        let next = *range.start() + (seed % length) as u16;
        Ports { range, state: Mutex::new(State { taken: BTreeSet::new(), next }) }
    }

    /// Returns a free port; `None` if no port of the range is free. Allocates round robin, so that late clients of an
    /// ended workload seldom reach the next one.
    pub(super) fn take(&self) -> Option<u16> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        for _ in self.range.clone() {
            let port = state.next;
            state.next = if port >= *self.range.end() { *self.range.start() } else { port + 1 };
            if !state.taken.contains(&port) && TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
                state.taken.insert(port);
                return Some(port);
            }
        }
        None
    }

    /// Records that a workload already uses this port.
    pub(super) fn note(&self, port: u16) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).taken.insert(port);
    }

    pub(super) fn free(&self, port: u16) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).taken.remove(&port);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_in_use_are_skipped_and_none_is_allocated_twice() {
        let occupied = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = occupied.local_addr().unwrap().port();
        let Some(last) = port.checked_add(1) else { return };
        let ports = Ports::new(port..=last, 7);
        let given = ports.take();
        // Another program on the machine may use the second port.
        assert!(given.is_none() || given == Some(last));
        assert_eq!(ports.take(), None);
        if given.is_some() {
            ports.free(last);
            assert_eq!(ports.take(), Some(last));
        }
    }
}
