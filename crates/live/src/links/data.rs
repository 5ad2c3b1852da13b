//! Data connections: client requests over HTTP/2.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Instant;

use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use mario_domain::NodeId;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinSet;
use tokio_rustls::TlsConnector;

use super::control::connect;
use super::{Attempt, Connection, LinkEvent, Links};
use crate::api::NodeEvent;
use crate::config::Neighbour;
use crate::daemon::Event;
use crate::error::LiveError;
use crate::identity::{DATA_PROTOCOL, ExpectedPeer, Subject};
use crate::seams::{DataLink, Forward};

/// The maximum number of open requests on a connection from a neighbour.
const STREAMS_MAX: u32 = 1_024;

/// The maximum size of the headers of one request or response, in bytes.
const HEADER_BYTES_MAX: u32 = 64 << 10;

/// Spawns a task that connects to a neighbour, and reconnects whenever the connection fails or ends.
pub(super) fn dial(links: &Links, neighbour: &Neighbour, tasks: &mut JoinSet<()>) -> Result<(), LiveError> {
    let expected = ExpectedPeer::Exactly(Subject::Node(neighbour.id.clone()));
    let connector = TlsConnector::from(links.shared.identity.client(expected, DATA_PROTOCOL)?);
    let (links, neighbour) = (links.clone(), neighbour.clone());
    tasks.spawn(async move {
        let mut backoff = links.backoff(&neighbour.id, Connection::Data);
        loop {
            let mut attempt = Attempt::Failed;
            // Failures are not reported, because the control connection determines whether the link is up.
            if let Ok(stream) = connect(&connector, &neighbour.address).await {
                let interval = links.shared.silence / 3;
                let handshake = hyper::client::conn::http2::Builder::new(TokioExecutor::new())
                    .timer(TokioTimer::new())
                    .keep_alive_interval(interval)
                    .keep_alive_timeout(interval * 2)
                    .keep_alive_while_idle(true)
                    .adaptive_window(false)
                    .initial_stream_window_size(256 << 10)
                    .initial_connection_window_size(4 << 20)
                    .max_header_list_size(HEADER_BYTES_MAX)
                    .handshake(TokioIo::new(stream))
                    .await;
                if let Ok((sender, connection)) = handshake {
                    let begun = Instant::now();
                    links.set_data(&neighbour.id, Some(DataLink::new(sender))).await;
                    let _ = connection.await;
                    links.set_data(&neighbour.id, None).await;
                    attempt = Attempt::since(begun);
                }
            }
            backoff.wait(attempt).await;
        }
    });
    Ok(())
}

/// Serves the requests of a neighbour until the connection ends.
pub(super) async fn serve<S>(links: &Links, neighbour: &NodeId, stream: S, forward: Arc<dyn Forward>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let from = neighbour.clone();
    let counted = links.clone();
    let service = service_fn(move |request| {
        let (forward, from, links) = (Arc::clone(&forward), from.clone(), counted.clone());
        async move {
            let quanta = links.quanta(&from);
            Ok::<_, Infallible>(forward.forward(request, &from, quanta).await)
        }
    });
    let interval = links.shared.silence / 3;
    let served = hyper::server::conn::http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .keep_alive_interval(interval)
        .keep_alive_timeout(interval * 2)
        .max_concurrent_streams(STREAMS_MAX)
        .max_header_list_size(HEADER_BYTES_MAX)
        .initial_stream_window_size(256 << 10)
        .initial_connection_window_size(4 << 20)
        .enable_connect_protocol()
        .serve_connection(TokioIo::new(stream), service)
        .await;
    if let Err(error) = served {
        links.shared.events.publish(NodeEvent::LinkFailed {
            neighbour: neighbour.clone(),
            cause: format!("its data connection: {error}"),
        });
    }
}

impl Links {
    async fn set_data(&self, neighbour: &NodeId, data: Option<DataLink>) {
        if let Some(link) = self.table().get_mut(neighbour) {
            link.data = data;
        }
        let _ = self.shared.core.send(Event::Link(LinkEvent::Changed)).await;
    }
}
