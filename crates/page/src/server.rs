//! Serves a page to browsers on this machine, within limits.
//!
//! Start at [`serve`]. The report and the dashboard differ only in how they answer a request; the rules for rejecting
//! requests, the limits and the security headers are the same (`docs/decisions/0009-hyper-as-http-server.md`).
//!
//! **Invariant:** no client can stop the server or exhaust its memory. A client that sends or reads too slowly is
//! disconnected.
//!
//! **Invariant:** the body of a request is never used; a request with a body is rejected.

mod connections;
mod reply;
mod timed;

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use hyper::Request;
use hyper::body::{Body, Incoming};
use hyper::header::HeaderValue;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};

use connections::{Activity, Connections};
use timed::TimedStream;

pub use reply::{CSV, HTML, JAVASCRIPT, JSON, Reply, STYLES, TEXT, not_found, plain, streamed, whole};

/// Resource limits for browsers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ServerLimits {
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

impl Default for ServerLimits {
    fn default() -> ServerLimits {
        ServerLimits {
            connections: 64,
            head_bytes: 32 << 10,
            head_timeout: Duration::from_secs(10),
            write_timeout: Duration::from_secs(30),
        }
    }
}

/// How long the server waits when no connection is idle and no more are allowed, or when accepting fails, e.g. for lack
/// of file descriptors.
const PAUSE: Duration = Duration::from_millis(50);

/// After this many failures in a row, the server gives up accepting connections.
const ACCEPT_FAILURES_MAX: u32 = 100;

/// Answers browsers until accepting connections fails 100 times in a row. Open connections are closed when the future
/// is dropped.
///
/// `policy` is the content security policy of every reply. `answer` gets only `GET` and `HEAD` requests that have no
/// body and whose host is `127.0.0.1` or `localhost`.
pub async fn serve<A, F>(listener: TcpListener, limits: ServerLimits, policy: HeaderValue, answer: A) -> io::Result<()>
where
    A: Fn(Request<Incoming>) -> F + Send + Sync + 'static,
    F: Future<Output = Reply> + Send + 'static,
{
    let responder = Arc::new(Responder { policy, answer });
    let mut connections = Connections::default();
    let mut failures = 0;
    loop {
        if !connections.has_room(limits.connections) {
            sleep(PAUSE).await;
            continue;
        }
        // Waits no longer than the pause: an idle connection that could be closed may have become busy meanwhile.
        let Ok(accepted) = timeout(PAUSE, listener.accept()).await else { continue };
        match accepted {
            Ok((stream, _)) => {
                failures = 0;
                let activity = Activity::default();
                let talking = talk(Arc::clone(&responder), stream, activity.clone(), limits);
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

/// Turns requests into replies.
struct Responder<A> {
    policy: HeaderValue,
    answer: A,
}

impl<A, F> Responder<A>
where
    A: Fn(Request<Incoming>) -> F,
    F: Future<Output = Reply>,
{
    async fn reply(&self, request: Request<Incoming>) -> Reply {
        let has_body = !request.body().is_end_stream();
        let mut reply = match reply::refuse(&request) {
            Some(refused) => refused,
            None => (self.answer)(request).await,
        };
        reply::add_headers(&mut reply, &self.policy, has_body);
        reply
    }
}

/// Answers the requests of one connection until the client closes it or exceeds a limit.
async fn talk<A, F>(responder: Arc<Responder<A>>, stream: TcpStream, activity: Activity, limits: ServerLimits)
where
    A: Fn(Request<Incoming>) -> F,
    F: Future<Output = Reply>,
{
    // Disables Nagle's algorithm: events must be visible at once, not when a packet is full.
    let _ = stream.set_nodelay(true);
    let stream = TimedStream::new(stream, limits.write_timeout, activity.clone());
    let service = service_fn(|request| {
        let (responder, activity) = (Arc::clone(&responder), activity.clone());
        async move {
            activity.answering();
            let reply = responder.reply(request).await;
            activity.writing();
            Ok::<_, Infallible>(reply)
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_timeout)
        .max_buf_size(limits.head_bytes)
        .serve_connection(TokioIo::new(stream), service);
    // An error concerns only this connection, e.g. if the client violates the protocol.
    let _ = connection.await;
}
