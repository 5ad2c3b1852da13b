//! The data plane: forwards client requests, hop by hop, to the nearest copy.
//!
//! Start at [`Forwarder`]: it handles a request on one node.
//!
//! ```text
//! client ──HTTP/1.1, HTTP/2──► Ingress ─┐                                   ┌─► a copy here, over HTTP/1.1 or HTTP/2
//!                                       ├─► Forwarder: one snapshot of routes ┤
//! neighbour ──HTTP/2, mutual TLS──► link ─┘                                   └─► the next hop, over a standing link
//! ```
//!
//! Each request is routed separately, so that all requests follow a migration at once. Between nodes, a request carries
//! its application and its [itinerary](Forwarder): hops left, latency so far, nodes visited. A request that can go no
//! further is at a *dead end*: it goes back one hop, where the next neighbour is tried. A request that reaches a copy
//! is counted by last hop and latency: these counts are the facts that agents decide by.
//!
//! **Invariant:** a request is retried only if no byte of a response arrived, and either no copy saw any of it or its
//! method is idempotent; in both cases only if its body is still buffered completely ([`Settings::kept_bytes_max`]).
//! **Invariant:** a request that entered a copy holds it open until its response has ended; a closed copy is entered by
//! none. **Invariant:** headers by which nodes talk to each other never come from clients or copies, and never reach
//! them.

mod forward;

mod answers;
mod backend;
mod body;
mod counts;
mod forms;
mod headers;
mod ingress;
mod select;
mod tls;
mod tunnel;

use std::time::Duration;

pub use backend::Backend;
pub use counts::RequestCounts;
pub use forward::{Forwarder, Totals};
pub use headers::{HOPS_MAX, written};
pub use ingress::Ingress;
pub use tls::{Site, clients};

/// The bounds of the data plane of a node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// The timeout for the head of a copy's response.
    pub response_timeout: Duration,
    /// The idle timeout of a body.
    pub idle_timeout: Duration,
    /// The timeout for the head of a client's request, and for idle connections.
    pub head_timeout: Duration,
    /// How long a client's request waits for routes when no instance is reachable. Longer than it takes to detect a
    /// broken link and reroute.
    pub hold: Duration,
    /// How long a request waits for the sleeping instance that it woke.
    pub wake: Duration,
    /// The maximum size of a request's body.
    pub body_bytes_max: u64,
    /// How many bytes of the body of a request are buffered for a retry.
    pub kept_bytes_max: usize,
    /// The maximum size of all headers of a request.
    pub header_bytes_max: u32,
    /// The maximum number of clients' connections; more wait until one ends.
    pub connections_max: usize,
    /// The maximum number of concurrent requests of one HTTP/2 connection.
    pub streams_max: u32,
    /// The maximum number of concurrent requests in one copy; more go elsewhere, or are told to retry later.
    pub requests_per_copy_max: u64,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            response_timeout: Duration::from_mins(1),
            idle_timeout: Duration::from_mins(1),
            head_timeout: Duration::from_secs(30),
            hold: Duration::from_secs(5),
            wake: Duration::from_secs(30),
            body_bytes_max: 64 << 20,
            kept_bytes_max: 64 << 10,
            header_bytes_max: 32 << 10,
            connections_max: 4096,
            streams_max: 256,
            requests_per_copy_max: 1024,
        }
    }
}
