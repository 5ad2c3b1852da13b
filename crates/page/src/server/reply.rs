//! Replies: which requests are rejected, and the headers of every reply.

use std::convert::Infallible;

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Bytes};
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};

/// A reply to a request.
pub type Reply = Response<BoxBody<Bytes, Infallible>>;

/// The media type of plain text.
pub const TEXT: &str = "text/plain; charset=utf-8";
/// The media type of a page.
pub const HTML: &str = "text/html; charset=utf-8";
/// The media type of a script.
pub const JAVASCRIPT: &str = "text/javascript; charset=utf-8";
/// The media type of a style sheet.
pub const STYLES: &str = "text/css; charset=utf-8";
/// The media type of JSON.
pub const JSON: &str = "application/json";
/// The media type of tables as comma-separated values.
pub const CSV: &str = "text/csv; charset=utf-8";

/// The headers of every reply, in addition to the content security policy.
const HEADERS: [(HeaderName, &str); 6] = [
    (header::CACHE_CONTROL, "no-store"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// The methods that are answered.
const METHODS: &str = "GET, HEAD";

/// A reply whose content is complete.
pub fn whole(status: StatusCode, kind: &'static str, content: impl Into<Bytes>) -> Reply {
    of_kind(status, kind, Full::new(content.into()).boxed())
}

/// A reply whose content is sent as it becomes available.
pub fn streamed<B>(kind: &'static str, content: B) -> Reply
where
    B: Body<Data = Bytes, Error = Infallible> + Send + Sync + 'static,
{
    of_kind(StatusCode::OK, kind, content.boxed())
}

/// A reply of plain text.
pub fn plain(status: StatusCode, content: &'static str) -> Reply {
    whole(status, TEXT, content)
}

/// The reply to a request for something that does not exist.
pub fn not_found() -> Reply {
    plain(StatusCode::NOT_FOUND, "There is nothing here.\n")
}

fn of_kind(status: StatusCode, kind: &'static str, content: BoxBody<Bytes, Infallible>) -> Reply {
    let mut reply = Response::new(content);
    *reply.status_mut() = status;
    reply.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    reply
}

/// Adds the headers that every reply has, and `Connection: close` if the request has a body.
pub(super) fn add_headers(reply: &mut Reply, policy: &HeaderValue, request_has_body: bool) {
    let headers = reply.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, policy.clone());
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if request_has_body {
        // The bytes after the head are not read, so the connection cannot be reused.
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
}

/// Returns the rejection of a request; `None` if it is to be answered.
pub(super) fn refuse<B: Body>(request: &Request<B>) -> Option<Reply> {
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

/// Whether the request has exactly one `Host` header and names only this machine as its host. This prevents DNS
/// rebinding: a foreign page whose name resolves to this address must not read what is served here.
fn is_for_this_machine<B>(request: &Request<B>) -> bool {
    let mut hosts = request.headers().get_all(header::HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else { return false };
    host.to_str().is_ok_and(is_this_machine)
        && request.uri().authority().is_none_or(|name| is_this_machine(name.as_str()))
}

/// Whether a host, with or without a port, is `127.0.0.1` or `localhost`.
fn is_this_machine(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    name == "127.0.0.1" || name.eq_ignore_ascii_case("localhost")
}

#[cfg(test)]
mod tests {
    use hyper::Uri;

    use super::*;

    fn request(target: &str, hosts: &[&str]) -> Request<Full<Bytes>> {
        let mut request = Request::new(Full::default());
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
            let request = request(target, hosts);
            assert_eq!(is_for_this_machine(&request), *is_answered, "{target} {hosts:?}");
            assert_eq!(refuse(&request).is_none(), *is_answered, "{target} {hosts:?}");
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

    #[test]
    fn every_reply_has_the_policy_and_one_to_a_body_closes_the_connection() {
        let policy = HeaderValue::from_static("default-src 'none'");
        for has_body in [false, true] {
            let mut reply = not_found();
            add_headers(&mut reply, &policy, has_body);
            assert_eq!(reply.headers()[header::CONTENT_SECURITY_POLICY], policy);
            assert_eq!(reply.headers()[header::X_FRAME_OPTIONS], "DENY");
            assert_eq!(reply.headers().contains_key(header::CONNECTION), has_body);
        }
    }
}
