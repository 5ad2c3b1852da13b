//! Turns a request into a reply: which requests are answered, and the headers of every reply.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{self, HeaderName, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Body;
use mario_live::operators::{Client, Reply as NodeReply};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::Handler;
use super::stream::EventBody;
use crate::hub::now_ms;

pub(super) type Reply = Response<BoxBody<Bytes, Infallible>>;

const TEXT: &str = "text/plain; charset=utf-8";
const PAGE: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const DATA: &str = "application/json";

/// The security headers of every reply. The page may load scripts and styles from this server and connect to it, and
/// nothing else. Scripts and styles are separate files, so that no inline code has to be allowed by its hash.
const HEADERS: [(HeaderName, &str); 7] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    ),
    (header::CACHE_CONTROL, "no-store"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// The methods that are answered.
const METHODS: &str = "GET, HEAD";

/// How long a node may take to explain a decision.
const EXPLANATION_TIMEOUT: Duration = Duration::from_secs(30);

const MARKUP: &str = include_str!("../../assets/dashboard.html");

/// The parts of the script. Some are shared with the report, so that both pages look alike.
const PROGRAM: &[&str] = &[
    "(() => {\n\"use strict\";\n",
    include_str!("../../../experiments/assets/elements.js"),
    include_str!("../../../experiments/assets/theme.js"),
    include_str!("../../../experiments/assets/numbers.js"),
    include_str!("../../../experiments/assets/colours.js"),
    include_str!("../../../experiments/assets/download.js"),
    include_str!("../../../experiments/assets/card.js"),
    include_str!("../../../experiments/assets/explanation.js"),
    include_str!("../../assets/chart.js"),
    include_str!("../../assets/layout.js"),
    include_str!("../../assets/map.js"),
    include_str!("../../assets/details.js"),
    include_str!("../../assets/applications.js"),
    include_str!("../../assets/log.js"),
    include_str!("../../assets/dashboard.js"),
    "})();\n",
];

const STYLES: &[&str] = &[
    include_str!("../../../experiments/assets/palette.css"),
    include_str!("../../../experiments/assets/page.css"),
    include_str!("../../../experiments/assets/figures.css"),
    include_str!("../../../experiments/assets/details.css"),
    include_str!("../../../experiments/assets/replay.css"),
    include_str!("../../../experiments/assets/explanation.css"),
    include_str!("../../assets/dashboard.css"),
];

impl Handler {
    /// The reply to a request. The body of a request is never read.
    pub(super) async fn reply<B: Body>(&self, request: Request<B>) -> Reply {
        let has_body = !request.body().is_end_stream();
        let mut reply = match refuse(&request) {
            Some(refused) => refused,
            None => self.answer(&request).await,
        };
        if has_body {
            // The body of the request is not read, so the connection cannot be reused.
            reply.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        reply
    }

    async fn answer<B>(&self, request: &Request<B>) -> Reply {
        let path = request.uri().path();
        match path {
            "/" => whole(StatusCode::OK, PAGE, MARKUP),
            "/dashboard.js" => whole(StatusCode::OK, SCRIPT, PROGRAM.concat()),
            "/dashboard.css" => whole(StatusCode::OK, STYLE, STYLES.concat()),
            "/snapshot.json" => data(StatusCode::OK, &self.hub.picture().everything(now_ms())),
            // Otherwise a `HEAD` request would be answered with a stream.
            "/events" if request.method() == Method::HEAD => whole(StatusCode::OK, "text/event-stream", ""),
            "/events" => self.events(request),
            _ => self.details(path).await,
        }
    }

    /// The details of one node or instance.
    async fn details(&self, path: &str) -> Reply {
        let missing = || plain(StatusCode::NOT_FOUND, "There is nothing here.\n");
        let Some((kind, id)) = path.strip_prefix('/').and_then(|rest| rest.split_once('/')) else { return missing() };
        let id = decoded(id);
        let found = match kind {
            "nodes" => self.hub.picture().node_details(&id),
            "instances" => self.hub.picture().instance_details(&id),
            "explanations" => return self.explanation(&id).await,
            _ => None,
        };
        found.map_or_else(missing, |found| data(StatusCode::OK, &found))
    }

    /// The explanation of an instance's last decision, as its node returns it.
    async fn explanation(&self, instance: &str) -> Reply {
        let source = self.hub.picture().source_of(instance);
        let Some(source) = source.and_then(|index| self.hub.sources.get(index)) else {
            return data(StatusCode::NOT_FOUND, &json!({ "error": "no node that is asked has this instance" }));
        };
        let address = source.address.borrow().clone();
        let asking = async {
            let client = Client::new(&source.identity, &address)?;
            client.ask(Method::GET, &format!("/v1/instances/{instance}/explanation"), &[], Vec::new()).await
        };
        match timeout(EXPLANATION_TIMEOUT, asking).await {
            Ok(Ok(NodeReply { status, text })) => {
                let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
                let value = serde_json::from_str::<Value>(&text);
                let unreadable = |_| json!({ "error": "the answer of the node cannot be read" });
                data(status, &value.unwrap_or_else(unreadable))
            }
            Ok(Err(fault)) => data(StatusCode::BAD_GATEWAY, &json!({ "error": fault.line() })),
            Err(_) => data(StatusCode::GATEWAY_TIMEOUT, &json!({ "error": "the node did not answer in time" })),
        }
    }

    fn events<B>(&self, request: &Request<B>) -> Reply {
        let Ok(place) = Arc::clone(&self.streams).try_acquire_owned() else {
            return plain(StatusCode::SERVICE_UNAVAILABLE, "Too many pages are open.\n");
        };
        let last = request.uri().query().and_then(|query| query.strip_prefix("last="));
        let last = last.and_then(|id| self.hub.last_seen(id));
        let body = EventBody::new(&self.hub, last, place);
        with_headers(Response::new(body.boxed()), StatusCode::OK, "text/event-stream")
    }
}

/// The reason for rejecting a request, if it is rejected.
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

/// Whether the request is addressed to this machine by name. This prevents DNS rebinding: a foreign page whose name
/// resolves to this address must not read the nodes' answers.
fn is_for_this_machine<B>(request: &Request<B>) -> bool {
    let mut hosts = request.headers().get_all(header::HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else { return false };
    host.to_str().is_ok_and(is_this_machine)
        && request.uri().authority().is_none_or(|name| is_this_machine(name.as_str()))
}

/// Whether a host, with or without a port, is a name of this machine.
fn is_this_machine(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    name == "127.0.0.1" || name.eq_ignore_ascii_case("localhost")
}

/// Decodes the escapes of a part of a path. Invalid escapes are left unchanged.
fn decoded(part: &str) -> String {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.as_bytes();
    while let [first, tail @ ..] = rest {
        let escaped = match (first, tail) {
            (b'%', [high, low, ..]) => char::from(*high).to_digit(16).zip(char::from(*low).to_digit(16)),
            _ => None,
        };
        match escaped {
            Some((high, low)) => {
                bytes.push((high << 4 | low) as u8);
                rest = &tail[2..];
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn plain(status: StatusCode, content: &'static str) -> Reply {
    whole(status, TEXT, content)
}

fn data(status: StatusCode, value: &Value) -> Reply {
    whole(status, DATA, format!("{value}\n"))
}

fn whole(status: StatusCode, kind: &'static str, content: impl Into<Bytes>) -> Reply {
    with_headers(Response::new(Full::new(content.into()).boxed()), status, kind)
}

fn with_headers(mut reply: Reply, status: StatusCode, kind: &'static str) -> Reply {
    *reply.status_mut() = status;
    let headers = reply.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    reply
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_of_a_path_are_read_and_nothing_else_is_changed() {
        for (part, text) in [("n1", "n1"), ("a%2Fb", "a/b"), ("%", "%"), ("%2", "%2"), ("%zz%41", "%zzA")] {
            assert_eq!(decoded(part), text);
        }
        assert_eq!(decoded("%ff"), "\u{fffd}");
    }

    #[test]
    fn only_names_of_this_machine_are_answered() {
        let cases: &[(&[&str], bool)] = &[
            (&["127.0.0.1:8080"], true),
            (&["LocalHost:1"], true),
            (&[], false),
            (&["evil.example"], false),
            (&["127.0.0.1.evil.example"], false),
            (&["127.0.0.1", "evil.example"], false),
        ];
        for (hosts, is_answered) in cases {
            let mut request = Request::builder().uri("/");
            for host in *hosts {
                request = request.header(header::HOST, *host);
            }
            let request = request.body(Full::<Bytes>::default()).expect("a request");
            assert_eq!(refuse(&request).is_none(), *is_answered, "{hosts:?}");
        }
    }

    #[test]
    fn the_script_never_inserts_data_as_markup() {
        let program = PROGRAM.concat();
        for forbidden in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("] {
            assert!(!program.contains(forbidden), "{forbidden}");
        }
        assert!(!MARKUP.contains("<script>") && !MARKUP.contains("style="), "the policy allows no inline text");
    }
}
