//! Accepts connections, and dispatches them by the identity and protocol of the peer.

use std::sync::Arc;

use mario_domain::NodeId;
use mario_wire::GoodbyeReason;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use super::{HANDSHAKE_TIMEOUT, Links, control, data};
use crate::api::NodeEvent;
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
            let (stream, address) = match listener.accept().await {
                Ok(accepted) => accepted,
                // The usual cause is a lack of file descriptors, so this waits for some to be closed.
                Err(error) => {
                    links.shared.strangers.not_accepted(&error);
                    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
                    continue;
                }
            };
            // A new connection takes the place of one that has not identified itself yet; a neighbour that has needs no
            // place here.
            let Ok(place) = links.shared.strangers.admit(address.ip()) else { continue };
            let (links, forward, acceptor) = (links.clone(), Arc::clone(&forward), acceptor.clone());
            connections.spawn(async move {
                let greeted = tokio::select! {
                    () = place.replaced() => return,
                    greeted = timeout(HANDSHAKE_TIMEOUT, greet(&links, &acceptor, stream)) => greeted,
                };
                drop(place);
                let refused = |cause: String| {
                    links.shared.events.publish(NodeEvent::Refused { address: address.ip().to_string(), cause });
                };
                let (neighbour, protocol, stream) = match greeted {
                    Ok(Ok(known)) => known,
                    Ok(Err(Rejection::Unknown(cause))) => return refused(cause),
                    Ok(Err(Rejection::NotListed(node, protocol, stream))) => {
                        refused(control::not_listed(&links.shared.node, &node));
                        return say_goodbye(protocol, *stream, GoodbyeReason::NotListed).await;
                    }
                    Err(_) => return links.shared.strangers.was_silent(address.ip()),
                };
                if matches!(protocol, Protocol::Control) {
                    if links.answers(&neighbour).await {
                        links.met_twin(&neighbour);
                        refused(control::another(&neighbour));
                        return say_goodbye(protocol, stream, GoodbyeReason::TwoNodes).await;
                    }
                    if neighbour > links.shared.node {
                        links.heard_from(&neighbour);
                        return say_goodbye(protocol, stream, GoodbyeReason::Wait).await;
                    }
                }
                links.heard_from(&neighbour);
                match protocol {
                    Protocol::Control => control::run(&links, &neighbour, stream, Vec::new()).await,
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

/// Why a connection is rejected.
enum Rejection {
    /// The peer is not a node of this colony, or does not prove it.
    Unknown(String),
    /// The peer is a node of this colony, but not a neighbour.
    NotListed(NodeId, Protocol, Box<Stream>),
}

/// Closes a connection, and says why if its protocol has words for it.
async fn say_goodbye(protocol: Protocol, mut stream: Stream, reason: GoodbyeReason) {
    let closing = async {
        match protocol {
            Protocol::Control => control::reject(stream, reason).await,
            Protocol::Data => {
                let _ = stream.shutdown().await;
            }
        }
    };
    let _ = timeout(HANDSHAKE_TIMEOUT, closing).await;
}

/// Identifies the peer, and checks that it is a neighbour.
async fn greet(
    links: &Links,
    acceptor: &TlsAcceptor,
    stream: TcpStream,
) -> Result<(NodeId, Protocol, Stream), Rejection> {
    let _ = stream.set_nodelay(true);
    let unknown = |cause: String| Err(Rejection::Unknown(cause));
    let stream = match acceptor.accept(stream).await {
        Ok(stream) => stream,
        Err(error) => return unknown(super::in_words(&error)),
    };
    let connection = stream.get_ref().1;
    let protocol = match connection.alpn_protocol() {
        Some(protocol) if protocol == CONTROL_PROTOCOL => Protocol::Control,
        Some(protocol) if protocol == DATA_PROTOCOL => Protocol::Data,
        _ => return unknown("it speaks neither protocol of a link".to_owned()),
    };
    let certified = match peer(connection.peer_certificates()) {
        Ok(certified) => certified,
        Err(fault) => return unknown(fault.line()),
    };
    let uri = certified.uri();
    let Subject::Node(node) = certified.subject else { return unknown(format!("{uri} is not a node")) };
    if certified.colony != links.shared.identity.certified().colony {
        return unknown(format!("{uri} is of another colony"));
    }
    if !links.shared.neighbours.iter().any(|neighbour| neighbour.id == node) {
        return Err(Rejection::NotListed(node, protocol, Box::new(stream)));
    }
    Ok((node, protocol, stream))
}
