//! Rewrites a request for its next recipient: a copy over HTTP/1.1 or HTTP/2, or a neighbour.

use http::header::HOST;
use http::request::Parts;
use http::uri::{Authority, PathAndQuery, Scheme};
use http::{HeaderValue, Request, Uri, Version};

use super::forward::Journey;
use super::headers::{self, APPLICATION, ITINERARY};

/// Sets the headers with the application and the itinerary for the next node.
pub(super) fn label(headers: &mut http::HeaderMap, journey: &Journey) {
    let application = headers::encode_id(journey.application.id());
    if let Ok(value) = HeaderValue::try_from(application) {
        headers.insert(APPLICATION, value);
    }
    headers.insert(ITINERARY, journey.itinerary.value());
}

/// Rewrites a request for HTTP/1.1: `/path?query`, with the host in the `Host` header.
pub(super) fn to_origin_form<B>(request: &mut Request<B>, parts: &Parts) {
    let path = parts.uri.path_and_query().cloned().unwrap_or(PathAndQuery::from_static("/"));
    *request.uri_mut() = Uri::from(path);
    if let Some(authority) = parts.uri.authority()
        && let Ok(host) = HeaderValue::from_str(without_user(authority))
    {
        request.headers_mut().insert(HOST, host);
    }
}

/// Rewrites a request for HTTP/2: `http://host/path?query`, without the `Host` header.
pub(super) fn to_absolute_form<B>(request: &mut Request<B>, parts: &Parts) {
    let mut uri = http::uri::Parts::default();
    uri.scheme = Some(Scheme::HTTP);
    let named = parts.headers.get(HOST).and_then(|host| Authority::try_from(host.as_bytes()).ok());
    let authority =
        parts.uri.authority().and_then(|authority| Authority::try_from(without_user(authority)).ok()).or(named);
    uri.authority = Some(authority.unwrap_or(Authority::from_static("unknown.invalid")));
    uri.path_and_query = Some(parts.uri.path_and_query().cloned().unwrap_or(PathAndQuery::from_static("/")));
    if let Ok(uri) = Uri::from_parts(uri) {
        *request.uri_mut() = uri;
    }
    request.headers_mut().remove(HOST);
    *request.version_mut() = Version::HTTP_2;
}

fn without_user(authority: &Authority) -> &str {
    let text = authority.as_str();
    text.rsplit_once('@').map_or(text, |(_, host)| host)
}
