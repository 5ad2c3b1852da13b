//! Connections that outlast one response: upgrades and raw TCP.
//!
//! A client requests a tunnel by `Upgrade` (HTTP/1.1), by an extended `CONNECT` (HTTP/2, RFC 8441) or by a plain
//! `CONNECT`, which is raw TCP to the copy. Between nodes a tunnel is always an extended `CONNECT`, over the link that
//! requests use. A tunnel is routed once. A draining copy keeps running until its tunnels end or its drain times out.

use std::sync::atomic::Ordering;
use std::time::Duration;

use http::header::{CONNECTION, CONTENT_LENGTH, UPGRADE};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Version};
use hyper::body::Incoming;
use hyper::ext::Protocol as TunnelProtocol;
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, copy_bidirectional_with_sizes};
use tokio::time::timeout;

use crate::seams::{Body, LinkError, LocalCopy, NextHop, Protocol};

use super::answers::Failure;
use super::backend::{self, Admission, CopyError};
use super::forms::{label, to_absolute_form, to_origin_form};
use super::forward::{Forwarder, Journey, NextStep, count, status};
use super::{body, headers};

/// The protocol name, between nodes, of a tunnel that a client requested by a plain `CONNECT`.
const RAW: &str = "mario-tcp";
const BUFFER_BYTES: usize = 16 << 10;
/// How long each end may take to switch protocols after the response that permits it.
const SWITCH_TIMEOUT: Duration = Duration::from_secs(10);
/// The websocket key for a copy if the client sent none, as over HTTP/2. HTTP/1.1 servers require a key, but only hash
/// it.
const WEBSOCKET_KEY: &str = "bWFyaW8gd2Vic29ja2V0IQ==";

/// Whether a request is for a tunnel.
pub(super) fn is_wanted(parts: &Parts) -> bool {
    parts.method == Method::CONNECT || upgrade(parts).is_some()
}

/// Returns the protocol that an HTTP/1.1 client wants to switch to; `None` for an ordinary request. Upgrades to HTTP/2
/// are not tunnels: clients negotiate HTTP/2 in TLS or use it from the start.
fn upgrade(parts: &Parts) -> Option<&str> {
    if parts.version != Version::HTTP_11 {
        return None;
    }
    let is_asked = parts.headers.get_all(CONNECTION).iter().any(|value| {
        value.to_str().is_ok_and(|value| value.split(',').any(|name| name.trim().eq_ignore_ascii_case("upgrade")))
    });
    let protocol = parts.headers.get(UPGRADE)?.to_str().ok()?.trim();
    let is_token = !protocol.is_empty()
        && protocol.len() <= 64
        && protocol.bytes().all(|byte| byte.is_ascii_graphic() && byte != b',');
    (is_asked && is_token && !protocol.eq_ignore_ascii_case("h2c")).then_some(protocol)
}

/// How the client or the previous node requested the tunnel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum TunnelRequest {
    /// With the `Upgrade` header of HTTP/1.1, which is answered with 101.
    Upgrade,
    /// With the method `CONNECT`, which is answered with 200.
    Connect,
}

/// The end of a tunnel at a copy or at the next node.
enum FarEnd {
    Upgraded(Box<OnUpgrade>),
    Tcp(tokio::net::TcpStream, tokio::sync::OwnedSemaphorePermit),
}

enum Attempt {
    Open {
        head: HeaderMap,
        far_end: FarEnd,
    },
    /// No tunnel was opened. This is the answer of the copy, of a node farther on, or of this node.
    Declined(Response<Body>),
    DeadEnd(headers::Itinerary),
    NotOpened(String),
}

impl Forwarder {
    /// Opens a tunnel. After a dead end, the next route is tried. After a copy or a link that does not answer, the next
    /// route is tried once: nothing has been sent through the tunnel yet.
    pub(super) async fn tunnel(&self, mut parts: Parts, incoming: Incoming, mut journey: Journey) -> Response<Body> {
        let (request_kind, protocol) = match parts.extensions.get::<TunnelProtocol>() {
            Some(protocol) => (TunnelRequest::Connect, protocol.as_str().to_owned()),
            None if parts.method == Method::CONNECT => (TunnelRequest::Connect, RAW.to_owned()),
            None => (TunnelRequest::Upgrade, upgrade(&parts).unwrap_or_default().to_owned()),
        };
        headers::strip_hop_by_hop(&mut parts.headers);
        parts.headers.remove(CONTENT_LENGTH);
        let near_end = {
            let mut request = Request::from_parts(parts.clone(), incoming);
            hyper::upgrade::on(&mut request)
        };
        loop {
            let (attempt, admission) = match self.next_step(&journey) {
                NextStep::Copy(copy, admission) => {
                    journey.failed_copies.push(copy.workload);
                    let attempt = self.open_copy(&parts, &protocol, &journey, &copy).await;
                    (attempt, Some(admission))
                }
                NextStep::Wake(dormant) => {
                    self.wake(&dormant, &mut journey).await;
                    continue;
                }
                NextStep::Hop(hop) => {
                    journey.itinerary.hops_left -= 1;
                    let attempt = self.open_hop(&parts, &protocol, &journey, &hop).await;
                    journey.itinerary.visit(&headers::encode_id(hop.neighbour.id()));
                    (attempt, None)
                }
                NextStep::DeadEnd(failure) => return self.give_up(&failure, &parts, &journey),
            };
            match attempt {
                Attempt::Open { head, far_end } => {
                    self.totals.tunnelled.fetch_add(1, Ordering::Relaxed);
                    tokio::spawn(join(near_end, far_end, admission));
                    return switched(request_kind, &protocol, head);
                }
                Attempt::Declined(response) => return response,
                Attempt::DeadEnd(dead_end) => journey.itinerary.learn(&dead_end),
                Attempt::NotOpened(cause) if journey.has_retried => {
                    return self.give_up(&Failure::Failed(cause), &parts, &journey);
                }
                Attempt::NotOpened(_) => journey.has_retried = true,
            }
        }
    }

    async fn open_copy(&self, parts: &Parts, protocol: &str, journey: &Journey, copy: &LocalCopy) -> Attempt {
        if protocol == RAW {
            return match backend::connect(copy.address, &self.copy_places).await {
                Ok((stream, place)) => {
                    count(&copy.backend.counts, journey);
                    Attempt::Open { head: HeaderMap::new(), far_end: FarEnd::Tcp(stream, place) }
                }
                Err(error) => Attempt::NotOpened(error.to_string()),
            };
        }
        if copy.protocol == Protocol::H2c {
            return Attempt::Declined(status(StatusCode::NOT_IMPLEMENTED));
        }
        let mut request = Request::new(body::empty());
        *request.method_mut() = Method::GET;
        *request.headers_mut() = parts.headers.clone();
        to_origin_form(&mut request, parts);
        let headers = request.headers_mut();
        headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
        let Ok(value) = HeaderValue::from_str(protocol) else {
            return Attempt::Declined(status(StatusCode::BAD_REQUEST));
        };
        headers.insert(UPGRADE, value);
        if protocol.eq_ignore_ascii_case("websocket") && !headers.contains_key("sec-websocket-key") {
            headers.insert("sec-websocket-key", HeaderValue::from_static(WEBSOCKET_KEY));
        }
        let sent = async {
            let mut sender = backend::connect_for_upgrade(copy.address, &self.copy_places).await?;
            sender.send_request(request).await.map_err(|error| CopyError::NoResponse(error.to_string()))
        };
        let response = match timeout(self.settings.response_timeout, sent).await {
            Ok(Ok(response)) => response,
            Ok(Err(CopyError::NotSent(cause) | CopyError::NoResponse(cause))) => return Attempt::NotOpened(cause),
            Err(_) => return Attempt::NotOpened("no response came in time".to_owned()),
        };
        count(&copy.backend.counts, journey);
        self.opened(response, StatusCode::SWITCHING_PROTOCOLS)
    }

    async fn open_hop(&self, parts: &Parts, protocol: &str, journey: &Journey, hop: &NextHop) -> Attempt {
        let mut request = Request::new(body::empty());
        *request.headers_mut() = parts.headers.clone();
        to_absolute_form(&mut request, parts);
        *request.method_mut() = Method::CONNECT;
        label(request.headers_mut(), journey);
        request.extensions_mut().insert(TunnelProtocol::from(protocol));
        match timeout(self.settings.response_timeout, hop.link.send(request)).await {
            Ok(Ok(response)) => match response.headers().get(headers::DEAD_END).map(headers::Itinerary::parse) {
                Some(dead_end) => Attempt::DeadEnd(dead_end.unwrap_or_else(|| journey.itinerary.clone())),
                None => self.opened(response, StatusCode::OK),
            },
            Ok(Err(error @ (LinkError::NotSent(_) | LinkError::NoResponse(_)))) => {
                Attempt::NotOpened(error.to_string())
            }
            Err(_) => Attempt::NotOpened("no response came in time".to_owned()),
        }
    }

    fn opened(&self, mut response: Response<Incoming>, expected: StatusCode) -> Attempt {
        headers::strip_own(response.headers_mut());
        headers::strip_hop_by_hop(response.headers_mut());
        if response.status() == expected {
            let far_end = FarEnd::Upgraded(Box::new(hyper::upgrade::on(&mut response)));
            return Attempt::Open { head: response.into_parts().0.headers, far_end };
        }
        let (mut head, incoming) = response.into_parts();
        head.version = Version::default();
        let held = body::Held::new(incoming, self.settings.idle_timeout, ());
        Attempt::Declined(Response::from_parts(head, http_body_util::BodyExt::boxed(held)))
    }
}

/// The response that opens the tunnel for the client or the previous node.
fn switched(request_kind: TunnelRequest, protocol: &str, mut head: HeaderMap) -> Response<Body> {
    head.remove(CONTENT_LENGTH);
    let mut response = match request_kind {
        TunnelRequest::Upgrade => status(StatusCode::SWITCHING_PROTOCOLS),
        TunnelRequest::Connect => status(StatusCode::OK),
    };
    *response.headers_mut() = head;
    if request_kind == TunnelRequest::Upgrade
        && let Ok(protocol) = HeaderValue::from_str(protocol)
    {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("upgrade"));
        response.headers_mut().insert(UPGRADE, protocol);
    }
    response
}

/// Copies bytes in both directions until both sides have ended. Meanwhile the request counts as open in the copy, if
/// the copy is on this node.
async fn join(near_end: OnUpgrade, far_end: FarEnd, _admission: Option<Admission>) {
    let Ok(Ok(near)) = timeout(SWITCH_TIMEOUT, near_end).await else { return };
    match far_end {
        FarEnd::Tcp(stream, _place) => copy(near, stream).await,
        FarEnd::Upgraded(far_end) => {
            if let Ok(Ok(far)) = timeout(SWITCH_TIMEOUT, *far_end).await {
                copy(near, TokioIo::new(far)).await;
            }
        }
    }
}

async fn copy(near: Upgraded, mut far: impl AsyncRead + AsyncWrite + Unpin) {
    // If one side aborts, the other one is closed too.
    let _ = copy_bidirectional_with_sizes(&mut TokioIo::new(near), &mut far, BUFFER_BYTES, BUFFER_BYTES).await;
}
