//! Addresses for the processes that a test starts.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

/// The first port, and the number of ports. The range ends below Linux's ephemeral ports, so that the system does not
/// assign one of these ports to another connection or listener before the test's process uses it.
const FIRST: u32 = 10_000;
const COUNT: u32 = 22_000;

/// The distance between the first ports of processes with consecutive ids, so that parallel test processes try
/// different ports.
const STRIDE: u32 = 61;

/// Returns a loopback address that is not in use. Calls in the same process return different addresses until the range
/// is used up.
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
    fn returns_distinct_addresses_that_can_be_bound() {
        let [one, other] = [free_address(), free_address()];
        assert_ne!(one, other);
        let taken = [one, other].map(|address| TcpListener::bind(address).expect("it is free"));
        assert!(!taken.map(|listener| listener.local_addr().expect("bound")).contains(&free_address()));
    }
}
