//! The ingress, which accepts connections from clients.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use http::header::{CONNECTION, CONTENT_LENGTH};
use http::{HeaderName, HeaderValue, Request};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

use crate::admission::{Admission, Full, Place};

use super::TrafficLimits;
use super::forward::Forwarder;
use super::opening::{Opening, Progress};

/// Accepts clients and hands their requests to the forwarder.
#[derive(Clone, Debug)]
pub struct Ingress {
    forwarder: Forwarder,
    tls: Option<Arc<ServerConfig>>,
    admission: Admission,
}

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

impl Ingress {
    /// Creates an ingress, with TLS if certificates are configured.
    pub fn new(forwarder: Forwarder, tls: Option<Arc<ServerConfig>>) -> Ingress {
        let TrafficLimits { connections_max, connections_per_address_max, .. } = *forwarder.settings;
        let admission = Admission::new("ingress", connections_max, connections_per_address_max);
        Ingress { forwarder, tls, admission }
    }

    /// Which connections are admitted.
    pub(crate) fn admission(&self) -> &Admission {
        &self.admission
    }

    /// Serves clients until `ending` is true. Then accepts no more clients, and returns when the open requests have
    /// ended or `patience` has passed.
    pub async fn serve(&self, listener: TcpListener, mut ending: watch::Receiver<bool>, patience: Duration) {
        let mut connections = JoinSet::new();
        let stop = ending.clone();
        // A client that was accepted while all places were taken. Meanwhile, further ones wait in the listen backlog of
        // the system.
        let mut waiting: Option<(TcpStream, SocketAddr)> = None;
        loop {
            let accepted = tokio::select! {
                biased;
                _ = ending.wait_for(|&is_ending| is_ending) => break,
                // A place may be free now.
                Some(_) = connections.join_next() => None,
                accepted = listener.accept(), if waiting.is_none() => Some(accepted),
            };
            match accepted {
                Some(Ok(client)) => waiting = Some(client),
                // Out of file descriptors, or the client has already disconnected.
                Some(Err(error)) => {
                    self.admission.not_accepted(&error);
                    sleep(Duration::from_millis(20)).await;
                }
                None => {}
            }
            let Some((stream, client)) = waiting.take() else { continue };
            match self.admission.admit(client.ip()) {
                Ok(place) => {
                    let (ingress, stop) = (self.clone(), stop.clone());
                    connections.spawn(async move { ingress.serve_connection(stream, client, place, stop).await });
                }
                Err(Full::Address) => drop(stream),
                Err(Full::Listener) => waiting = Some((stream, client)),
            }
        }
        drop(listener);
        let all = async { while connections.join_next().await.is_some() {} };
        let _ = timeout(patience, all).await;
    }

    async fn serve_connection(&self, stream: TcpStream, client: SocketAddr, place: Place, stop: watch::Receiver<bool>) {
        // Nagle's algorithm would only delay small answers.
        let _ = stream.set_nodelay(true);
        let place = Arc::new(place);
        let serving = async {
            match &self.tls {
                None => self.serve_stream(stream, client, &place, stop).await,
                Some(tls) => {
                    let handshake = TlsAcceptor::from(Arc::clone(tls)).accept(stream);
                    let patience = HANDSHAKE_TIMEOUT.min(self.forwarder.settings.head_timeout);
                    match timeout(patience, handshake).await {
                        Ok(Ok(stream)) => self.serve_stream(stream, client, &place, stop).await,
                        Ok(Err(_)) => {}
                        Err(_) => self.admission.was_silent(client.ip()),
                    }
                }
            }
        };
        tokio::select! {
            () = place.replaced() => {}
            () = serving => {}
        }
    }

    async fn serve_stream<S>(&self, stream: S, client: SocketAddr, place: &Arc<Place>, mut stop: watch::Receiver<bool>)
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
        let address = client.ip();
        let client = Client {
            address: HeaderValue::try_from(address.to_string()).unwrap_or(HeaderValue::from_static("unknown")),
            scheme: HeaderValue::from_static(if self.tls.is_some() { "https" } else { "http" }),
        };
        let (forwarder, progress) = (self.forwarder.clone(), Arc::new(Progress::new()));
        let stream = Opening::new(stream, Arc::clone(place), Arc::clone(&progress), settings.head_timeout);
        let noted = Arc::clone(&progress);
        let service = service_fn(move |request| {
            let has_two_lengths = noted.count_request();
            let (forwarder, client) = (forwarder.clone(), client.clone());
            async move {
                let mut response = forwarder.serve_client(client.introduce(request, has_two_lengths)).await;
                if has_two_lengths {
                    // Where the next request begins is ambiguous.
                    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
                }
                Ok::<_, Infallible>(response)
            }
        });
        let mut connection = pin!(builder.serve_connection_with_upgrades(TokioIo::new(stream), service));
        let is_open = tokio::select! {
            // An error of a client's connection concerns only the client.
            _ = connection.as_mut() => false,
            _ = stop.wait_for(|&is_ending| is_ending) => true,
        };
        if is_open {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
        if progress.was_silent.load(Ordering::Relaxed) {
            self.admission.was_silent(address);
        }
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
    ///
    /// A request with two lengths gets back the one that hyper may have dropped, so that it is rejected.
    fn introduce(&self, mut request: Request<Incoming>, has_two_lengths: bool) -> Request<Incoming> {
        let headers = request.headers_mut();
        if has_two_lengths {
            headers.insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
        }
        headers.insert(FORWARDED_FOR, self.address.clone());
        headers.insert(FORWARDED_PROTO, self.scheme.clone());
        headers.remove("forwarded");
        request
    }
}
