//! Answers browsers on this machine.
//!
//! The server has the same limits as the report server and rejects the same requests (decision 9 in `docs/decisions`).
//! It also serves event streams, which may use at most half of the connections.
//!
//! **Invariant:** no client can stop the server, exhaust its memory, or delay the answers to others for longer than a
//! timeout.
//!
//! **Invariant:** only the head of a request is read, never its body.

mod connections;
mod reply;
mod stream;
mod timed;

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::sleep;

use crate::hub::Hub;
use connections::{Activity, Connections};
use timed::TimedStream;

/// Resource limits for browsers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// The maximum number of open connections. A further connection replaces the oldest idle one; if none is idle, it
    /// waits.
    pub connections: usize,
    /// The maximum size of a request's head in bytes. The HTTP library accepts no limit below 8192.
    pub head_bytes: usize,
    /// How long a client may take to send the head of a request, and how long a connection may be idle.
    pub head_timeout: Duration,
    /// How long a client may take to read the next 16 KiB of an answer.
    pub write_timeout: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            connections: 64,
            head_bytes: 32 << 10,
            head_timeout: Duration::from_secs(10),
            write_timeout: Duration::from_secs(30),
        }
    }
}

/// How long the server waits when all connections are being answered, or when accepting fails.
const PAUSE: Duration = Duration::from_millis(50);

/// After this many failures in a row, the server gives up accepting connections.
const ACCEPT_FAILURES_MAX: u32 = 100;

/// Answers requests. A clone is a handle to the same state.
#[derive(Clone)]
pub(crate) struct Handler {
    hub: Arc<Hub>,
    /// How many event streams may still be opened.
    streams: Arc<Semaphore>,
}

/// Answers browsers until accepting connections fails.
pub(crate) async fn serve(hub: Arc<Hub>, listener: TcpListener, limits: Limits) -> io::Result<()> {
    let handler = Handler { hub, streams: Arc::new(Semaphore::new((limits.connections / 2).max(1))) };
    let mut connections = Connections::default();
    let mut failures = 0;
    loop {
        if !connections.has_room(limits.connections) {
            sleep(PAUSE).await;
            continue;
        }
        match listener.accept().await {
            Ok((stream, _)) => {
                failures = 0;
                let activity = Activity::default();
                let talking = talk(handler.clone(), stream, activity.clone(), limits);
                connections.add(talking, activity, limits.connections);
            }
            Err(error) => {
                failures += 1;
                if failures == ACCEPT_FAILURES_MAX {
                    return Err(error);
                }
                sleep(PAUSE).await;
            }
        }
    }
}

/// Answers the requests of one connection until the client closes it or exceeds a limit.
async fn talk(handler: Handler, stream: TcpStream, activity: Activity, limits: Limits) {
    // Disables Nagle's algorithm: events must be visible at once, not when a packet is full.
    let _ = stream.set_nodelay(true);
    let stream = TimedStream::new(stream, limits.write_timeout, activity.clone());
    let service = service_fn(|request| {
        let (handler, activity) = (handler.clone(), activity.clone());
        async move {
            activity.answering();
            let reply = handler.reply(request).await;
            activity.writing();
            Ok::<_, Infallible>(reply)
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_timeout)
        .max_buf_size(limits.head_bytes)
        .serve_connection(TokioIo::new(stream), service);
    // A client that violates the protocol or disconnects does not stop the server.
    let _ = connection.await;
}
