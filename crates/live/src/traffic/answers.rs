//! The answers of the data plane itself, when no copy answered.

use http::header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, Response, StatusCode};

use crate::seams::Body;

use super::body;

/// Why no copy answered a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Failure {
    /// The request itself is at fault.
    Bad(&'static str),
    /// No application has this host name or path.
    Unknown,
    /// This node knows no application with this host name or path, but not every neighbour has sent its routes yet.
    UnknownYet,
    /// No route to an instance is known or left to try, or the request cannot be sent once more.
    Unreachable,
    /// The copies on this node admit no more requests, and there is no other route.
    Busy,
    /// The request has no hops left.
    TooFar,
    /// A copy or a link did not answer, and a retry was not allowed, was not answered either, or found no route.
    Failed(String),
    /// The head of the response did not arrive in time.
    Late,
    /// The body is too long.
    TooLong,
    /// The body of the request was idle for too long.
    Stalled,
}

impl Failure {
    fn status(&self) -> StatusCode {
        match self {
            Failure::Bad(_) => StatusCode::BAD_REQUEST,
            Failure::Unknown => StatusCode::NOT_FOUND,
            Failure::UnknownYet | Failure::Unreachable | Failure::Busy => StatusCode::SERVICE_UNAVAILABLE,
            Failure::TooFar => StatusCode::LOOP_DETECTED,
            Failure::Failed(_) => StatusCode::BAD_GATEWAY,
            Failure::Late => StatusCode::GATEWAY_TIMEOUT,
            Failure::TooLong => StatusCode::PAYLOAD_TOO_LARGE,
            Failure::Stalled => StatusCode::REQUEST_TIMEOUT,
        }
    }

    fn text(&self) -> String {
        match self {
            Failure::Bad(problem) => (*problem).to_owned(),
            Failure::Unknown => "no application has this host name or path".to_owned(),
            Failure::UnknownYet => {
                "no application is known here by this host name or path, and a neighbour is out of reach".to_owned()
            }
            Failure::Unreachable => {
                "no instance of the application serves at the moment: it starts, restarts or is out of reach".to_owned()
            }
            Failure::Busy => "all instances in reach are busy".to_owned(),
            Failure::TooFar => "the request has passed too many nodes".to_owned(),
            Failure::Failed(cause) => format!("the instance did not answer: {cause}"),
            Failure::Late => "the instance did not answer in time".to_owned(),
            Failure::TooLong => "the body of the request is too long".to_owned(),
            Failure::Stalled => "the body of the request stopped".to_owned(),
        }
    }

    /// The answer to a request with these headers. gRPC clients get a gRPC status.
    pub(super) fn answer(&self, request: &HeaderMap) -> Response<Body> {
        let is_grpc = request.get(CONTENT_TYPE).is_some_and(|value| value.as_bytes().starts_with(b"application/grpc"));
        let text = self.text();
        if is_grpc {
            let mut response = Response::new(body::empty());
            let headers = response.headers_mut();
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
            // 14 is UNAVAILABLE, 8 RESOURCE_EXHAUSTED, 12 UNIMPLEMENTED, 4 DEADLINE_EXCEEDED, 3 INVALID_ARGUMENT.
            let status = match self {
                Failure::Bad(_) => 3,
                Failure::Unknown => 12,
                Failure::Late | Failure::Stalled => 4,
                Failure::TooLong => 8,
                _ => 14,
            };
            headers.insert("grpc-status", HeaderValue::from(status));
            headers.insert(
                "grpc-message",
                HeaderValue::from_str(
                    &text.replace(|character: char| !(' '..='~').contains(&character) || character == '%', " "),
                )
                .unwrap_or(HeaderValue::from_static("failed")),
            );
            return response;
        }
        let mut response = Response::new(body::full(format!("{text}\n")));
        *response.status_mut() = self.status();
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
        // An answer of a node says how things are now: a cache must not repeat it once the application serves.
        response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if self.status() == StatusCode::SERVICE_UNAVAILABLE {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}
