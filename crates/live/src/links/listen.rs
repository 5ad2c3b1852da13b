//! Accepts connections, and dispatches them by the identity and protocol of the peer.

use std::sync::Arc;

use mario_domain::NodeId;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use super::{HANDSHAKE_TIMEOUT, Links, control, data};
use crate::daemon::NodeEvent;
use crate::error::LiveError;
use crate::identity::{CONTROL_PROTOCOL, DATA_PROTOCOL, Subject, peer};
use crate::seams::Forward;

pub(super) fn spawn(
    links: &Links,
    listener: TcpListener,
    forward: &Arc<dyn Forward>,
    tasks: &mut JoinSet<()>,
) -> Result<(), LiveError> {
    let acceptor = TlsAcceptor::from(links.shared.identity.server(&[CONTROL_PROTOCOL, DATA_PROTOCOL])?);
    let (links, forward) = (links.clone(), Arc::clone(forward));
    tasks.spawn(async move {
        let mut connections = JoinSet::new();
        loop {
            while connections.try_join_next().is_some() {}
            let Ok((stream, address)) = listener.accept().await else {
                // The usual cause is a lack of file descriptors, so this waits for some to be closed.
                tokio::time::sleep(std::time::Duration::from_millis(50)).await;
                continue;
            };
            // Beyond the maximum of unidentified connections, new ones are closed at once.
            let Ok(permit) = Arc::clone(&links.shared.strangers).try_acquire_owned() else { continue };
            let (links, forward, acceptor) = (links.clone(), Arc::clone(&forward), acceptor.clone());
            connections.spawn(async move {
                let greeted = timeout(HANDSHAKE_TIMEOUT, greet(&links, &acceptor, stream)).await;
                drop(permit);
                let (neighbour, protocol, stream) = match greeted {
                    Ok(Ok(known)) => known,
                    Ok(Err(cause)) => {
                        links.shared.events.publish(NodeEvent::Refused { address: address.ip().to_string(), cause });
                        return;
                    }
                    Err(_) => {
                        let cause = "it did not say who it is in time".to_owned();
                        links.shared.events.publish(NodeEvent::Refused { address: address.ip().to_string(), cause });
                        return;
                    }
                };
                links.heard_from(&neighbour);
                match protocol {
                    Protocol::Control => control::run(&links, &neighbour, stream).await,
                    Protocol::Data => data::serve(&links, &neighbour, stream, forward).await,
                }
            });
        }
    });
    Ok(())
}

enum Protocol {
    Control,
    Data,
}

type Stream = tokio_rustls::server::TlsStream<TcpStream>;

/// Identifies the peer, and checks that it is a neighbour and may open this kind of connection.
async fn greet(links: &Links, acceptor: &TlsAcceptor, stream: TcpStream) -> Result<(NodeId, Protocol, Stream), String> {
    let _ = stream.set_nodelay(true);
    let stream = acceptor.accept(stream).await.map_err(|error| error.to_string())?;
    let connection = stream.get_ref().1;
    let protocol = match connection.alpn_protocol() {
        Some(protocol) if protocol == CONTROL_PROTOCOL => Protocol::Control,
        Some(protocol) if protocol == DATA_PROTOCOL => Protocol::Data,
        _ => return Err("it speaks neither protocol of a link".to_owned()),
    };
    let certified = peer(connection.peer_certificates()).map_err(|fault| fault.line())?;
    let uri = certified.uri();
    let Subject::Node(node) = certified.subject else { return Err(format!("{uri} is not a node")) };
    if certified.colony != links.shared.identity.certified().colony {
        return Err(format!("{uri} is of another colony"));
    }
    if !links.shared.neighbours.iter().any(|neighbour| neighbour.id == node) {
        return Err(format!("{uri} is not a neighbour of this node"));
    }
    if matches!(protocol, Protocol::Control) && node > links.shared.node {
        return Err(format!("{uri} is to wait until this node connects"));
    }
    Ok((node, protocol, stream))
}
