//! The data plane's state of one copy: counts and admission of requests, and the connections to the copy.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use http::{Request, Response};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::seams::Body;
use crate::workloads::Protocol;

use super::counts::RequestCounts;

/// The data plane's state of one copy, from the time it becomes healthy to its end. It outlives snapshots of the
/// routes.
#[derive(Debug, Default)]
pub struct Backend {
    /// The client requests of the copy in this window.
    pub counts: RequestCounts,
    gate: Arc<Gate>,
    idle: Mutex<Vec<Idle>>,
    shared: Mutex<Option<http2::SendRequest<Body>>>,
}

/// The places of connections to the copies of a node.
pub(super) type CopyPlaces = Arc<Semaphore>;

struct Idle {
    sender: http1::SendRequest<Body>,
    since: Instant,
}

/// Counts the open requests. The highest bit means closed.
#[derive(Debug, Default)]
struct Gate {
    state: AtomicU64,
    left: Notify,
}

/// An admitted request. The gate counts it until this value is dropped.
#[derive(Debug)]
pub(super) struct Admission(Arc<Gate>);

/// Why a copy did not answer.
#[derive(Debug)]
pub(super) enum CopyError {
    /// No byte of the request was sent.
    NotSent(String),
    /// The request, or a part of it, was sent, and no byte of a response arrived.
    NoResponse(String),
}

const CLOSED: u64 = 1 << 63;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// Connections that were idle for longer are not used again. Servers commonly close them after five seconds, and a
/// request must not race with that.
const IDLE_MAX: Duration = Duration::from_secs(4);
const IDLE_CONNECTIONS_MAX: usize = 128;
const HEADER_BYTES_MAX: usize = 64 << 10;

impl Backend {
    /// Admits no more requests, and closes idle connections. Requests that find the copy in an older snapshot of the
    /// routes are not admitted either.
    pub fn close(&self) {
        self.gate.state.fetch_or(CLOSED, Ordering::SeqCst);
        self.gate.left.notify_waiters();
        self.forget_connections();
    }

    /// The number of open requests.
    pub fn open_requests(&self) -> u64 {
        self.gate.state.load(Ordering::SeqCst) & !CLOSED
    }

    /// Waits until no request is open.
    pub async fn emptied(&self) {
        loop {
            let left = self.gate.left.notified();
            let mut left = std::pin::pin!(left);
            left.as_mut().enable();
            if self.open_requests() == 0 {
                return;
            }
            left.await;
        }
    }

    /// Admits a request, unless the copy is closed or full.
    pub(super) fn enter(&self, requests_max: u64) -> Option<Admission> {
        let before = self.gate.state.fetch_add(1, Ordering::SeqCst);
        let admission = Admission(Arc::clone(&self.gate));
        (before & CLOSED == 0 && before < requests_max).then_some(admission)
    }

    fn forget_connections(&self) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
        *self.shared.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    pub(super) async fn send(
        self: &Arc<Backend>,
        address: SocketAddr,
        protocol: Protocol,
        places: &CopyPlaces,
        request: Request<Body>,
    ) -> Result<(Response<Incoming>, Connection), CopyError> {
        match protocol {
            Protocol::Http1 => self.send_http1(address, places, request).await,
            Protocol::H2c => self.send_h2c(address, places, request).await,
        }
    }

    async fn send_http1(
        self: &Arc<Backend>,
        address: SocketAddr,
        places: &CopyPlaces,
        mut request: Request<Body>,
    ) -> Result<(Response<Incoming>, Connection), CopyError> {
        loop {
            let (mut sender, is_new) = match self.take_idle() {
                Some(sender) => (sender, false),
                None => (connect_http1(address, places).await?, true),
            };
            if sender.ready().await.is_err() {
                if is_new {
                    return Err(CopyError::NotSent("it closed the connection at once".to_owned()));
                }
                continue;
            }
            match sender.try_send_request(request).await {
                Ok(response) => {
                    let connection = Connection { backend: Some((Arc::clone(self), sender)) };
                    return Ok((response, connection));
                }
                Err(mut error) => match error.take_message() {
                    // The connection ended while it was idle: nothing was sent.
                    Some(unsent) if !is_new => request = unsent,
                    Some(_) => return Err(CopyError::NotSent(error.into_error().to_string())),
                    None => return Err(CopyError::NoResponse(error.into_error().to_string())),
                },
            }
        }
    }

    fn take_idle(&self) -> Option<http1::SendRequest<Body>> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(Idle { sender, since }) = idle.pop() {
            if since.elapsed() > IDLE_MAX {
                // The other connections of the stack have been idle for even longer.
                idle.clear();
                return None;
            }
            if !sender.is_closed() {
                return Some(sender);
            }
        }
        None
    }

    fn put_idle(&self, sender: http1::SendRequest<Body>) {
        if self.gate.state.load(Ordering::Relaxed) & CLOSED != 0 || sender.is_closed() {
            return;
        }
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        // The oldest come first. They would not be used again, and each holds a file descriptor.
        let expired = idle.iter().take_while(|one| one.since.elapsed() > IDLE_MAX).count();
        idle.drain(..expired);
        if idle.len() < IDLE_CONNECTIONS_MAX {
            idle.push(Idle { sender, since: Instant::now() });
        }
    }

    async fn send_h2c(
        &self,
        address: SocketAddr,
        places: &CopyPlaces,
        request: Request<Body>,
    ) -> Result<(Response<Incoming>, Connection), CopyError> {
        let mut sender = self.shared_sender(address, places).await?;
        match sender.try_send_request(request).await {
            Ok(response) => Ok((response, Connection { backend: None })),
            Err(mut error) => Err(match error.take_message() {
                Some(_) => CopyError::NotSent(error.into_error().to_string()),
                None => CopyError::NoResponse(error.into_error().to_string()),
            }),
        }
    }

    async fn shared_sender(
        &self,
        address: SocketAddr,
        places: &CopyPlaces,
    ) -> Result<http2::SendRequest<Body>, CopyError> {
        {
            let shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(sender) = shared.as_ref().filter(|sender| !sender.is_closed()) {
                return Ok(sender.clone());
            }
        }
        let (stream, place) = connect(address, places).await.map_err(|error| CopyError::NotSent(error.to_string()))?;
        let handshake = http2::Builder::new(TokioExecutor::new())
            .timer(TokioTimer::new())
            .max_header_list_size(HEADER_BYTES_MAX as u32)
            .handshake(TokioIo::new(stream));
        let (mut sender, connection) = handshake.await.map_err(|error| CopyError::NotSent(error.to_string()))?;
        tokio::spawn(async move {
            // The requests on this connection report its errors.
            let _ = connection.await;
            drop(place);
        });
        sender.ready().await.map_err(|error| CopyError::NotSent(error.to_string()))?;
        // If two connects race, the later one is shared from now on.
        *self.shared.lock().unwrap_or_else(PoisonError::into_inner) = Some(sender.clone());
        Ok(sender)
    }
}

/// When dropped, at the end of the response, returns an HTTP/1.1 connection to the pool, unless the connection or the
/// copy is closed or the pool is full. HTTP/2 connections are shared and have no pool.
pub(super) struct Connection {
    backend: Option<(Arc<Backend>, http1::SendRequest<Body>)>,
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let Some((backend, sender)) = self.backend.take() {
            backend.put_idle(sender);
        }
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        if self.0.state.fetch_sub(1, Ordering::SeqCst) & !CLOSED == 1 {
            self.0.left.notify_waiters();
        }
    }
}

impl fmt::Debug for Idle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Idle").field("since", &self.since).finish_non_exhaustive()
    }
}

/// Connects to a copy, with a timeout.
///
/// The connection has its place until the permit is dropped.
pub(super) async fn connect(address: SocketAddr, places: &CopyPlaces) -> io::Result<(TcpStream, OwnedSemaphorePermit)> {
    let connecting = async {
        let place = Arc::clone(places).acquire_owned().await.map_err(io::Error::other)?;
        Ok::<_, io::Error>((TcpStream::connect(address).await?, place))
    };
    let (stream, place) = match timeout(CONNECT_TIMEOUT, connecting).await {
        Ok(connected) => connected?,
        Err(_) if places.available_permits() == 0 => {
            return Err(io::Error::other("this node has too many connections to copies"));
        }
        Err(_) => return Err(io::Error::new(io::ErrorKind::TimedOut, "it does not accept connections")),
    };
    stream.set_nodelay(true)?;
    Ok((stream, place))
}

async fn connect_http1(address: SocketAddr, places: &CopyPlaces) -> Result<http1::SendRequest<Body>, CopyError> {
    let (stream, place) = connect(address, places).await.map_err(|error| CopyError::NotSent(error.to_string()))?;
    let (sender, connection) = http1::Builder::new()
        .max_buf_size(HEADER_BYTES_MAX)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(|error| CopyError::NotSent(error.to_string()))?;
    tokio::spawn(async move {
        // The requests on this connection report its errors.
        let _ = connection.with_upgrades().await;
        drop(place);
    });
    Ok(sender)
}

/// Opens a connection for one request that will upgrade it.
pub(super) async fn connect_for_upgrade(
    address: SocketAddr,
    places: &CopyPlaces,
) -> Result<http1::SendRequest<Body>, CopyError> {
    connect_http1(address, places).await
}
