//! The data plane: forwards client requests, hop by hop, to the nearest copy.
//!
//! Start at [`Forwarder`]: it handles a request on one node.
//!
//! ```text
//! client ────HTTP/1.1, HTTP/2────► Ingress ─┐               ┌─► a copy here, over HTTP/1.1 or HTTP/2
//!                                           ├─► Forwarder ──┤
//! neighbour ──HTTP/2, mutual TLS──► link ───┘               └─► the next hop, over a persistent link
//! ```
//!
//! Each request is routed separately, even on a persistent connection, so that it follows the latest routes. Between
//! nodes, a request carries its application and its itinerary: hops left, latency so far, nodes visited. A request that
//! a node can neither serve nor forward is at a *dead end*: the previous node then tries its next neighbour, and the
//! ingress waits for new routes. A request that reaches a copy is counted by last hop and latency. These counts become
//! facts for the agents.
//!
//! **Invariant:** a request, unless it is for a tunnel, is retried only if no byte of a copy's response arrived, its
//! body so far is buffered completely ([`TrafficLimits::kept_bytes_max`]), and either no copy received any of it or
//! its method is idempotent.
//!
//! **Invariant:** a closed copy admits no requests. A draining copy is asked to end when its open requests have ended
//! or its drain timeout has passed.
//!
//! **Invariant:** the headers that nodes exchange are never accepted from clients or copies, and never sent to them.

mod forward;

mod answers;
mod backend;
mod body;
mod counts;
mod forms;
mod framing;
mod headers;
mod ingress;
mod opening;
mod select;
mod tls;
mod tunnel;

use std::time::Duration;

pub use backend::Backend;
pub use counts::RequestCounts;
pub use forward::{Forwarder, Totals};
pub use headers::{HOPS_MAX, encode_id};
pub use ingress::Ingress;
pub use tls::{ServerCertificate, client_tls_config};

/// The limits of a node's data plane.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TrafficLimits {
    /// The timeout for the head of the response of a copy or a neighbour.
    pub response_timeout: Duration,
    /// The idle timeout of the body of a request or a response.
    pub idle_timeout: Duration,
    /// The timeout for the head of a client's HTTP/1.1 request, from the first moment of the connection, and the interval of keep-alive pings to HTTP/2 clients.
    pub head_timeout: Duration,
    /// How long a client's request may wait at its ingress for an instance that can take it. Also how long it may wait
    /// there for the routes of all neighbours, if this node knows no application with its host name or path. This
    /// should exceed the time to detect a broken link and reroute.
    pub hold: Duration,
    /// How long a request waits at most for the cold start of a sleeping or waking instance.
    pub wake: Duration,
    /// The maximum size of a request's body, in bytes.
    pub body_bytes_max: u64,
    /// How many bytes of a request's body are buffered for a retry. After more have been read, the request is not
    /// retried.
    pub kept_bytes_max: usize,
    /// The maximum size of all headers of a client's request, in bytes. For HTTP/1.1, smaller values count as 8192, and
    /// there may be at most 128 headers.
    pub header_bytes_max: u32,
    /// The maximum number of client connections. Further ones wait until one ends, or take the place of one that has
    /// not sent anything yet.
    pub connections_max: usize,
    /// The maximum number of connections of one client address. Further ones take the place of one that has not sent
    /// anything yet, or are closed.
    pub connections_per_address_max: usize,
    /// The maximum number of connections to copies. Further requests wait for one, for at most two seconds.
    pub copy_connections_max: usize,
    /// The maximum number of concurrent requests of one HTTP/2 connection.
    pub streams_max: u32,
    /// The maximum number of concurrent requests in one copy. Further ones go to other copies or neighbours, or wait at
    /// their ingress.
    pub requests_per_copy_max: u64,
}

impl Default for TrafficLimits {
    fn default() -> TrafficLimits {
        TrafficLimits {
            response_timeout: Duration::from_mins(1),
            idle_timeout: Duration::from_mins(1),
            head_timeout: Duration::from_secs(30),
            hold: Duration::from_secs(5),
            wake: Duration::from_secs(30),
            body_bytes_max: 64 << 20,
            kept_bytes_max: 64 << 10,
            header_bytes_max: 32 << 10,
            connections_max: 4096,
            connections_per_address_max: 1024,
            copy_connections_max: 4096,
            streams_max: 256,
            requests_per_copy_max: 1024,
        }
    }
}
