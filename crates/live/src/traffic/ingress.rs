//! The ingress, which accepts connections from clients.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderName, HeaderValue, Request};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

use super::forward::Forwarder;

/// Accepts clients and hands their requests to the forwarder.
#[derive(Clone, Debug)]
pub struct Ingress {
    forwarder: Forwarder,
    tls: Option<Arc<ServerConfig>>,
}

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

impl Ingress {
    /// Creates an ingress, with TLS if certificates are configured.
    pub fn new(forwarder: Forwarder, tls: Option<Arc<ServerConfig>>) -> Ingress {
        Ingress { forwarder, tls }
    }

    /// Serves clients until `ending` is true. Then accepts no more clients, and returns when the open requests have
    /// ended or `patience` has passed.
    pub async fn serve(&self, listener: TcpListener, mut ending: watch::Receiver<bool>, patience: Duration) {
        let places = Arc::new(Semaphore::new(self.forwarder.settings.connections_max));
        let mut connections = JoinSet::new();
        let stop = ending.clone();
        loop {
            // Clients beyond the maximum wait in the listen backlog of the system.
            let accepted = tokio::select! {
                biased;
                _ = ending.wait_for(|&is_ending| is_ending) => break,
                Some(_) = connections.join_next() => continue,
                accepted = async {
                    let place = Arc::clone(&places).acquire_owned().await.ok()?;
                    Some((place, listener.accept().await))
                } => accepted,
            };
            match accepted {
                Some((place, Ok((stream, client)))) => {
                    let (ingress, stop) = (self.clone(), stop.clone());
                    connections.spawn(async move {
                        ingress.serve_connection(stream, client, stop).await;
                        drop(place);
                    });
                }
                // Out of file descriptors, or the client has already disconnected.
                Some((_, Err(_))) => sleep(Duration::from_millis(20)).await,
                None => break,
            }
        }
        drop(listener);
        let all = async { while connections.join_next().await.is_some() {} };
        let _ = timeout(patience, all).await;
    }

    async fn serve_connection(&self, stream: TcpStream, client: SocketAddr, stop: watch::Receiver<bool>) {
        // Nagle's algorithm would only delay small answers.
        let _ = stream.set_nodelay(true);
        match &self.tls {
            None => self.serve_stream(stream, client, stop).await,
            Some(tls) => {
                let handshake = TlsAcceptor::from(Arc::clone(tls)).accept(stream);
                if let Ok(Ok(stream)) = timeout(HANDSHAKE_TIMEOUT, handshake).await {
                    self.serve_stream(stream, client, stop).await;
                }
            }
        }
    }

    async fn serve_stream<S>(&self, stream: S, client: SocketAddr, mut stop: watch::Receiver<bool>)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let settings = &self.forwarder.settings;
        let mut builder = auto::Builder::new(TokioExecutor::new());
        builder
            .http1()
            .timer(TokioTimer::new())
            .header_read_timeout(settings.head_timeout)
            .max_headers(128)
            .max_buf_size((settings.header_bytes_max as usize).max(8 << 10));
        builder
            .http2()
            .timer(TokioTimer::new())
            .keep_alive_interval(settings.head_timeout)
            .max_concurrent_streams(settings.streams_max)
            .max_header_list_size(settings.header_bytes_max)
            .initial_stream_window_size(256 << 10)
            .initial_connection_window_size(1 << 20)
            .enable_connect_protocol();
        let client = Client {
            address: HeaderValue::try_from(client.ip().to_string()).unwrap_or(HeaderValue::from_static("unknown")),
            scheme: HeaderValue::from_static(if self.tls.is_some() { "https" } else { "http" }),
        };
        let forwarder = self.forwarder.clone();
        let service = service_fn(move |request| {
            let (forwarder, client) = (forwarder.clone(), client.clone());
            async move { Ok::<_, Infallible>(forwarder.serve_client(client.introduce(request)).await) }
        });
        let mut connection = pin!(builder.serve_connection_with_upgrades(TokioIo::new(stream), service));
        tokio::select! {
            // An error of a client's connection concerns only the client.
            _ = connection.as_mut() => return,
            _ = stop.wait_for(|&is_ending| is_ending) => connection.as_mut().graceful_shutdown(),
        }
        let _ = connection.await;
    }
}

/// The client of a connection.
#[derive(Clone)]
struct Client {
    address: HeaderValue,
    scheme: HeaderValue,
}

impl Client {
    /// Sets the headers with the address and the scheme of the client. If the client sent these headers, they are
    /// replaced, and `Forwarded` is removed, because they cannot be trusted.
    fn introduce(&self, mut request: Request<Incoming>) -> Request<Incoming> {
        let headers = request.headers_mut();
        headers.insert(FORWARDED_FOR, self.address.clone());
        headers.insert(FORWARDED_PROTO, self.scheme.clone());
        headers.remove("forwarded");
        request
    }
}
