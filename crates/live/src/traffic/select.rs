//! Selects the application of a client's request.

use http::header::HOST;
use http::request::Parts;
use mario_domain::ApplicationId;

use crate::seams::Routes;

use super::answers::Failure;

/// The host of a request, without user, port and final dot. The target of the request takes precedence over the header:
/// RFC 9112, section 3.2.2.
pub(super) fn host(parts: &Parts) -> Result<&str, Failure> {
    let named = match parts.uri.authority() {
        Some(authority) => authority.as_str(),
        None => match parts.headers.get(HOST).map(|value| value.to_str()) {
            Some(Ok(host)) => host,
            Some(Err(_)) => return Err(Failure::Bad("the host is not a name")),
            None => return Err(Failure::Bad("a request names its host")),
        },
    };
    // An authority may contain a user and a password, which are not part of the host.
    let named = named.rsplit_once('@').map_or(named, |(_, host)| host);
    let host = match named.strip_prefix('[') {
        Some(address) => address.split_once(']').map(|(address, _)| address),
        None => Some(named.split_once(':').map_or(named, |(host, _)| host)),
    };
    host.map(|host| host.strip_suffix('.').unwrap_or(host))
        .filter(|host| !host.is_empty() && host.len() <= 253)
        .ok_or(Failure::Bad("the host is not a name"))
}

/// Returns the application of the host name, or else that of the longest matching path prefix; `None` if neither is
/// known.
pub(super) fn application<'a>(routes: &'a Routes, host: &str, path: &str) -> Option<&'a ApplicationId> {
    let by_host = if host.bytes().any(|byte| byte.is_ascii_uppercase()) {
        routes.hosts.get(&host.to_ascii_lowercase())
    } else {
        routes.hosts.get(host)
    };
    by_host.or_else(|| {
        let is_below = |prefix: &str| {
            let prefix = prefix.strip_suffix('/').unwrap_or(prefix);
            path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        routes.prefixes.iter().find(|(prefix, _)| is_below(prefix)).map(|(_, application)| application)
    })
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    fn routes() -> Routes {
        let id = |name: &str| ApplicationId::name(name).unwrap();
        Routes {
            hosts: [("video.example".to_owned(), id("video"))].into(),
            prefixes: vec![("/shop/cart".to_owned(), id("cart")), ("/shop".to_owned(), id("shop"))],
            ..Routes::default()
        }
    }

    #[test]
    fn a_host_takes_precedence_and_prefixes_end_at_segments() {
        let routes = routes();
        let find = |host: &str, path: &str| application(&routes, host, path).map(ToString::to_string);
        assert_eq!(find("VIDEO.example", "/shop").as_deref(), Some("video"));
        assert_eq!(find("10.0.0.1", "/shop").as_deref(), Some("shop"));
        assert_eq!(find("10.0.0.1", "/shop/").as_deref(), Some("shop"));
        assert_eq!(find("10.0.0.1", "/shop/cart/3").as_deref(), Some("cart"));
        assert_eq!(find("10.0.0.1", "/shopping"), None);
        assert_eq!(find("10.0.0.1", "/"), None);
        assert_eq!(find("example", "/"), None);
    }

    #[test]
    fn hosts_are_read_without_ports_and_users() {
        let check = |uri: &str, header: Option<&str>, expected: Option<&str>| {
            let mut request = Request::builder().uri(uri);
            if let Some(header) = header {
                request = request.header(HOST, header);
            }
            let (parts, ()) = request.body(()).unwrap().into_parts();
            assert_eq!(host(&parts).ok(), expected, "{uri} {header:?}");
        };
        check("/", Some("a.example:80"), Some("a.example"));
        check("http://b.example/x", Some("a.example"), Some("b.example"));
        check("/", Some("[::1]:80"), Some("::1"));
        check("/", Some("user:word@a.example:80"), Some("a.example"));
        check("/", Some("a.example."), Some("a.example"));
        check("/", Some(""), None);
        check("/", Some(":80"), None);
        check("/", Some("[::1"), None);
        check("/", None, None);
    }
}
