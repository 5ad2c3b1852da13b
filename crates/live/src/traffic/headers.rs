//! The headers that nodes exchange, the encoding of ids in them, and the headers that must not be forwarded.

use std::fmt::Write as _;

use http::header::{CONNECTION, CONTENT_LENGTH, EXPECT, HOST, TE, TRANSFER_ENCODING, UPGRADE};
use http::{HeaderMap, HeaderName, HeaderValue};
use mario_domain::Id;

/// The application that a request between nodes is for.
pub(super) const APPLICATION: HeaderName = HeaderName::from_static("mario-application");
/// The itinerary of a request between nodes.
pub(super) const ITINERARY: HeaderName = HeaderName::from_static("mario-itinerary");
/// In a response between nodes: no copy has received the request. The value is the itinerary at the dead end.
pub(super) const DEAD_END: HeaderName = HeaderName::from_static("mario-dead-end");
/// In a response between nodes: a copy may have received the request, and no byte of its response arrived. The value is
/// the itinerary of the request, with all nodes that it visited.
pub(super) const NO_RESPONSE: HeaderName = HeaderName::from_static("mario-no-response");

/// The maximum number of hops between nodes for a request, including hops to dead ends. The count restarts when the
/// request has waited at its ingress.
pub const HOPS_MAX: u8 = 16;
const ITINERARY_BYTES_MAX: usize = 4096;

/// The state of a request in transit: hops left, sum of the links' latencies, and nodes visited.
///
/// Encoded as `15;7;edge-3,fog-1`: 15 hops left, 7 quanta, two nodes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Itinerary {
    pub(super) hops_left: u8,
    pub(super) latency_quanta: u32,
    /// The encoded visited nodes, separated by commas.
    visited: String,
}

impl Itinerary {
    /// The itinerary of a request at its ingress.
    pub(super) fn new() -> Itinerary {
        Itinerary { hops_left: HOPS_MAX, latency_quanta: 0, visited: String::new() }
    }

    pub(super) fn parse(value: &HeaderValue) -> Option<Itinerary> {
        let text = value.to_str().ok().filter(|text| text.len() <= ITINERARY_BYTES_MAX)?;
        let (hops_left, rest) = text.split_once(';')?;
        let (latency, visited) = rest.split_once(';')?;
        let hops_left = hops_left.parse().ok().filter(|&hops| hops <= HOPS_MAX)?;
        let is_name = |name: &str| {
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b';' | b','))
        };
        // At most the node of the ingress and one node per hop.
        let is_fit = visited.split(',').all(is_name) && visited.split(',').count() <= usize::from(HOPS_MAX) + 1;
        is_fit.then(|| {
            Some(Itinerary { hops_left, latency_quanta: latency.parse().ok()?, visited: visited.to_owned() })
        })?
    }

    pub(super) fn value(&self) -> HeaderValue {
        let mut text = String::with_capacity(self.visited.len() + 16);
        let _ = write!(text, "{};{};{}", self.hops_left, self.latency_quanta, self.visited);
        HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static("0;0;-"))
    }

    pub(super) fn has_visited(&self, node: &str) -> bool {
        self.visited.split(',').any(|visited| visited == node)
    }

    pub(super) fn visit(&mut self, node: &str) {
        if !self.has_visited(node) {
            if !self.visited.is_empty() {
                self.visited.push(',');
            }
            self.visited.push_str(node);
        }
    }

    /// Merges the itinerary of an attempt that failed on a node farther on: adds its visited nodes, and takes the
    /// smaller number of hops left. The latency stays that of the path to this node.
    pub(super) fn learn(&mut self, dead_end: &Itinerary) {
        self.hops_left = self.hops_left.min(dead_end.hops_left);
        for node in dead_end.visited.split(',') {
            self.visit(node);
        }
    }
}

/// Percent-encodes an id for headers. Most ids stay unchanged. A name that looks like a number is encoded differently
/// from that number.
pub fn encode_id(id: &Id) -> String {
    let (text, is_number) = match id {
        Id::Number(number) => (number.to_string(), true),
        Id::Name(name) => (name.as_str().to_owned(), false),
    };
    let looks_like_number = text.parse::<i64>().is_ok();
    let mut written = String::with_capacity(text.len());
    for (index, byte) in text.bytes().enumerate() {
        let is_plain = byte.is_ascii_graphic() && !matches!(byte, b';' | b',' | b'%');
        if is_plain && (is_number || !looks_like_number || index > 0) {
            written.push(char::from(byte));
        } else {
            let _ = write!(written, "%{byte:02X}");
        }
    }
    written
}

/// Decodes an id; `None` if the text is not an encoded id.
pub(super) fn read(text: &str) -> Option<Id> {
    if text.len() > ITINERARY_BYTES_MAX {
        return None;
    }
    if let Ok(number) = text.parse() {
        return Some(Id::Number(number));
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut parts = text.split('%');
    bytes.extend_from_slice(parts.next()?.as_bytes());
    for part in parts {
        let (code, rest) = (part.get(..2)?, part.get(2..)?);
        bytes.push(u8::from_str_radix(code, 16).ok()?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    Id::name(std::str::from_utf8(&bytes).ok()?).ok()
}

/// Removes headers that only nodes may set.
pub(super) fn strip_own(headers: &mut HeaderMap) {
    headers.remove(APPLICATION);
    headers.remove(ITINERARY);
    headers.remove(DEAD_END);
    headers.remove(NO_RESPONSE);
}

/// Removes hop-by-hop headers (RFC 9110, section 7.6.1), proxy authentication, and `Expect`. `TE: trailers` stays, for
/// gRPC.
pub(super) fn strip_hop_by_hop(headers: &mut HeaderMap) {
    if headers.contains_key(CONNECTION) {
        let named: Vec<HeaderName> = headers
            .get_all(CONNECTION)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','))
            .filter_map(|name| HeaderName::from_bytes(name.trim().as_bytes()).ok())
            // A client must not be able to remove these headers by listing them.
            .filter(|name| *name != HOST && *name != CONTENT_LENGTH)
            .collect();
        for name in named {
            headers.remove(name);
        }
        headers.remove(CONNECTION);
    }
    let takes_trailers = headers.get(TE).is_some_and(|value| {
        value.to_str().is_ok_and(|value| value.split(',').any(|coding| coding.trim().eq_ignore_ascii_case("trailers")))
    });
    for name in [TE, TRANSFER_ENCODING, UPGRADE, EXPECT] {
        headers.remove(name);
    }
    for name in ["keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authorization"] {
        headers.remove(name);
    }
    if takes_trailers {
        headers.insert(TE, HeaderValue::from_static("trailers"));
    }
}

/// Detects headers that leave the end or the host of a request ambiguous (request smuggling), in case the HTTP parser
/// accepts them. Returns the problem; `None` if there is none.
pub(super) fn framing_fault(headers: &HeaderMap) -> Option<&'static str> {
    if headers.contains_key(TRANSFER_ENCODING) && headers.contains_key(CONTENT_LENGTH) {
        return Some("a request has a content-length or a transfer-encoding, not both");
    }
    if headers.get_all(CONTENT_LENGTH).iter().count() > 1 {
        return Some("a request has one content-length");
    }
    if headers.get_all(HOST).iter().count() > 1 {
        return Some("a request has one host");
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn itinerary(text: &str) -> Option<Itinerary> {
        Itinerary::parse(&HeaderValue::from_bytes(text.as_bytes()).unwrap())
    }

    #[test]
    fn an_itinerary_round_trips() {
        let mut at = Itinerary::new();
        at.visit("edge-3");
        at.visit("fog-1");
        at.visit("edge-3");
        at.latency_quanta = 7;
        at.hops_left -= 1;
        assert_eq!(at.value(), "15;7;edge-3,fog-1");
        assert_eq!(itinerary("15;7;edge-3,fog-1"), Some(at.clone()));
        let mut back = itinerary("15;7;edge-3,fog-1").unwrap();
        back.learn(&itinerary("12;99;edge-3,fog-1,fog-2").unwrap());
        assert_eq!(back.value(), "12;7;edge-3,fog-1,fog-2");
    }

    #[test]
    fn invalid_itineraries_are_rejected() {
        let many = format!("1;1;{}", ["a"; 18].join(","));
        let long = format!("1;1;{}", "a".repeat(5000));
        for text in [
            "",
            "1",
            "1;1",
            "1;1;",
            "17;1;a",
            "-1;1;a",
            "1;-1;a",
            "1;1;a,,b",
            "1;1;a b",
            "1;1;a;b",
            "1;99999999999;a",
            &many,
            &long,
        ] {
            assert_eq!(itinerary(text), None, "{text}");
        }
        assert_eq!(Itinerary::parse(&HeaderValue::from_bytes(b"1;1;\xff").unwrap()), None);
    }

    #[test]
    fn encoded_nodes_are_distinct() {
        let name = |text: &str| {
            let id = Id::name(text).unwrap();
            assert_eq!(read(&encode_id(&id)), Some(id.clone()));
            encode_id(&id)
        };
        assert_eq!(name("edge-3"), "edge-3");
        assert_eq!(name("a,b;c d%"), "a%2Cb%3Bc%20d%25");
        assert_eq!(name("é"), "%C3%A9");
        assert_eq!(encode_id(&Id::number(17)), "17");
        assert_eq!(read("17"), Some(Id::number(17)));
        for text in ["", "%", "%4", "%zz", "a%FF"] {
            assert_eq!(read(text), None, "{text}");
        }
        assert_eq!(name("17"), "%317");
    }

    #[test]
    fn hop_by_hop_headers_are_removed() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("connection", "close, X-Private, host, content-length"),
            ("x-private", "1"),
            ("keep-alive", "timeout=5"),
            ("te", "gzip, Trailers"),
            ("transfer-encoding", "chunked"),
            ("upgrade", "h2c"),
            ("proxy-authorization", "Basic x"),
            ("host", "a"),
            ("content-length", "3"),
            ("accept", "*/*"),
            ("mario-dead-end", "x"),
            ("mario-itinerary", "x"),
            ("mario-application", "x"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        strip_hop_by_hop(&mut headers);
        strip_own(&mut headers);
        let mut names: Vec<&str> = headers.keys().map(HeaderName::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, ["accept", "content-length", "host", "te"]);
        assert_eq!(headers["te"], "trailers");
    }
}
