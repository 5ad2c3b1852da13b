//! Turns a request into a reply: checks the request, and adds the headers that every reply has.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use tokio::sync::{mpsc, oneshot};

use super::Question;
use super::policy::content_security_policy;
use super::site::{Answer, TEXT, Target};

/// A reply with its whole content.
pub(super) type Reply = Response<Content>;

/// The content of a reply; `None` after it was sent.
pub(super) struct Content(Option<Bytes>);

/// The security headers of every reply.
const HEADERS: [(HeaderName, &str); 6] = [
    (header::CACHE_CONTROL, "no-store"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// The supported methods.
const METHODS: &str = "GET, HEAD";

/// The reply to a request. The body of a request is never read.
pub(super) async fn to(request: Request<Incoming>, questions: &mpsc::Sender<Question>) -> Reply {
    let has_body = !request.body().is_end_stream();
    let mut reply = match refuse(&request) {
        Some(refused) => refused,
        None => match Target::of(request.uri().path()) {
            Some(target) => ask(target, questions).await,
            None => plain(StatusCode::NOT_FOUND, "There is nothing here.\n"),
        },
    };
    if has_body {
        // The bytes after the head are not a request, so the connection cannot be reused.
        reply.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    reply
}

/// Returns the rejection of a request; `None` if it is valid.
fn refuse<B: Body>(request: &Request<B>) -> Option<Reply> {
    if !is_for_this_machine(request) {
        return Some(plain(StatusCode::FORBIDDEN, "This server answers on 127.0.0.1 and localhost only.\n"));
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let mut reply = plain(StatusCode::METHOD_NOT_ALLOWED, "Only GET and HEAD are answered.\n");
        reply.headers_mut().insert(header::ALLOW, HeaderValue::from_static(METHODS));
        return Some(reply);
    }
    if !request.body().is_end_stream() {
        return Some(plain(StatusCode::PAYLOAD_TOO_LARGE, "A request has no body here.\n"));
    }
    None
}

/// Whether the request names this machine. This prevents DNS rebinding: a foreign page whose name resolves to this
/// address must not read runs.
fn is_for_this_machine<B>(request: &Request<B>) -> bool {
    let mut hosts = request.headers().get_all(header::HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else { return false };
    host.to_str().is_ok_and(is_this_machine)
        && request.uri().authority().is_none_or(|name| is_this_machine(name.as_str()))
}

/// Whether a host name, with or without a port, is one of this machine.
fn is_this_machine(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    name == "127.0.0.1" || name.eq_ignore_ascii_case("localhost")
}

async fn ask(target: Target, questions: &mpsc::Sender<Question>) -> Reply {
    let (sender, answer) = oneshot::channel();
    if questions.send((target, sender)).await.is_ok()
        && let Ok(Answer { kind, content }) = answer.await
    {
        return reply(StatusCode::OK, kind, content);
    }
    plain(StatusCode::INTERNAL_SERVER_ERROR, "The report cannot be made.\n")
}

fn plain(status: StatusCode, content: &'static str) -> Reply {
    reply(status, TEXT, Bytes::from_static(content.as_bytes()))
}

fn reply(status: StatusCode, kind: &'static str, content: Bytes) -> Reply {
    let mut reply = Response::new(Content(Some(content)));
    *reply.status_mut() = status;
    let headers = reply.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::CONTENT_SECURITY_POLICY, content_security_policy());
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    reply
}

impl Body for Content {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.take().map(|content| Ok(Frame::data(content))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.as_ref().is_none_or(Bytes::is_empty)
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.as_ref().map_or(0, |content| content.len() as u64))
    }
}

#[cfg(test)]
mod tests {
    use hyper::Uri;

    use super::*;

    fn request(target: &str, hosts: &[&str]) -> Request<Content> {
        let mut request = Request::new(Content(None));
        *request.uri_mut() = target.parse::<Uri>().expect("an address");
        for host in hosts {
            request.headers_mut().append(header::HOST, HeaderValue::from_str(host).expect("ASCII"));
        }
        request
    }

    #[test]
    fn only_requests_to_this_machine_are_answered() {
        let cases: &[(&str, &[&str], bool)] = &[
            ("/", &["127.0.0.1:8080"], true),
            ("/", &["127.0.0.1"], true),
            ("/", &["LocalHost:1"], true),
            ("http://localhost:8080/", &["localhost:8080"], true),
            ("/", &[], false),
            ("/", &[""], false),
            ("/", &["evil.example"], false),
            ("/", &["evil.example:127.0.0.1"], false),
            ("/", &["127.0.0.1.evil.example"], false),
            ("/", &["user@localhost"], false),
            ("/", &["127.0.0.1", "evil.example"], false),
            ("http://evil.example/", &["127.0.0.1"], false),
        ];
        for (target, hosts, is_answered) in cases {
            assert_eq!(is_for_this_machine(&request(target, hosts)), *is_answered, "{target} {hosts:?}");
        }
    }

    #[test]
    fn only_reading_methods_are_answered() {
        for method in [Method::POST, Method::PUT, Method::DELETE, Method::OPTIONS, Method::TRACE, Method::CONNECT] {
            let mut request = request("/", &["localhost"]);
            *request.method_mut() = method.clone();
            let reply = refuse(&request).expect("it is refused");
            assert_eq!(reply.status(), StatusCode::METHOD_NOT_ALLOWED, "{method}");
            assert_eq!(reply.headers()[header::ALLOW], METHODS);
        }
        assert!(refuse(&request("/", &["localhost"])).is_none());
    }
}
