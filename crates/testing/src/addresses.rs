//! Addresses that a test hands to the processes it starts.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

/// The first port, and the number of ports. They end below the range from which systems take the ports of outgoing connections
/// and of listeners on port 0, so that only a test can take one before the process that it was meant for.
const FIRST: u32 = 10_000;
const COUNT: u32 = 22_000;

/// The distance between the first ports of processes whose ids follow each other: tests that run side by side do not meet.
const STRIDE: u32 = 61;

/// Returns a loopback address on which no one listens. Each call in a process returns another one.
pub fn free_address() -> SocketAddr {
    static TAKEN: AtomicU32 = AtomicU32::new(0);
    for _ in 0..COUNT {
        let offset = process::id().wrapping_mul(STRIDE).wrapping_add(TAKEN.fetch_add(1, Ordering::Relaxed));
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, (FIRST + offset % COUNT) as u16));
        if TcpListener::bind(address).is_ok() {
            return address;
        }
    }
    panic!("no port from {FIRST} to {} is free", FIRST + COUNT - 1);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returns_other_addresses_that_can_be_bound() {
        let [one, other] = [free_address(), free_address()];
        assert_ne!(one, other);
        let taken = [one, other].map(|address| TcpListener::bind(address).expect("it is free"));
        assert!(!taken.map(|listener| listener.local_addr().expect("bound")).contains(&free_address()));
    }
}
