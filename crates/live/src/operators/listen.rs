//! Accepts operators, and identifies them by their certificates.

use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use super::{HalfClosed, Operator, OperatorApi, REQUEST_TIMEOUT, converse};
use crate::admission::Admission;
use crate::error::LiveError;
use crate::identity::{HTTP_PROTOCOL, Identity, Subject, peer};

/// The maximum number of connections of peers with other certificates than operators', which read health and metrics.
const MONITORS_MAX: usize = 16;

/// The places of the peers of the operators' interface.
#[derive(Clone)]
struct Places {
    /// Connections whose peers are not identified yet.
    strangers: Admission,
    operators: Arc<Semaphore>,
    monitors: Arc<Semaphore>,
}

/// Spawns a task that serves operators. Peers that are not identified yet have places of their own. Identified peers
/// beyond the maximum are closed at once.
pub(crate) fn spawn(
    api: OperatorApi,
    identity: &Identity,
    listener: TcpListener,
    (strangers, operators_max): (Admission, usize),
    tasks: &mut JoinSet<()>,
) -> Result<(), LiveError> {
    let acceptor = TlsAcceptor::from(identity.server(&[HTTP_PROTOCOL])?);
    let colony = identity.certified().colony.clone();
    let [operators, monitors] = [operators_max, MONITORS_MAX].map(|places| Arc::new(Semaphore::new(places)));
    let places = Places { strangers, operators, monitors };
    tasks.spawn(async move {
        let mut connections = JoinSet::new();
        loop {
            while connections.try_join_next().is_some() {}
            let (stream, address) = match listener.accept().await {
                Ok(accepted) => accepted,
                Err(error) => {
                    places.strangers.not_accepted(&error);
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            };
            let Ok(place) = places.strangers.admit(address.ip()) else { continue };
            let (api, acceptor, colony, places) = (api.clone(), acceptor.clone(), colony.clone(), places.clone());
            connections.spawn(async move {
                let identified = tokio::select! {
                    () = place.replaced() => return,
                    identified = timeout(REQUEST_TIMEOUT, identify(&acceptor, &colony, stream)) => identified,
                };
                match identified {
                    Ok(Some((operator, stream))) => {
                        drop(place);
                        serve(api, operator, stream, &places).await;
                    }
                    Ok(None) => {}
                    Err(_) => places.strangers.was_silent(address.ip()),
                }
            });
        }
    });
    Ok(())
}

type Stream = tokio_rustls::server::TlsStream<TcpStream>;

/// Makes the handshake with a peer; `None` if it has no certificate of this colony.
async fn identify(acceptor: &TlsAcceptor, colony: &str, stream: TcpStream) -> Option<(Operator, Stream)> {
    let stream = acceptor.accept(stream).await.ok()?;
    let certified = peer(stream.get_ref().1.peer_certificates()).ok().filter(|peer| peer.colony == colony)?;
    let (uri, has_operator_certificate) = (certified.uri(), matches!(certified.subject, Subject::Operator(_)));
    // A peer that is not an operator, such as a node, gets no roles.
    let roles = if has_operator_certificate { certified.roles } else { Vec::new() };
    Some((Operator { roles, uri, has_operator_certificate }, stream))
}

async fn serve(api: OperatorApi, operator: Operator, stream: Stream, places: &Places) {
    let places = if operator.has_operator_certificate { &places.operators } else { &places.monitors };
    let Ok(_place) = Arc::clone(places).try_acquire_owned() else { return };
    converse(api, operator, stream, HalfClosed::Gone).await;
}
