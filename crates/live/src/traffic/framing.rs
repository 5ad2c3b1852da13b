//! Finds requests of HTTP/1.1 with both a content length and a transfer encoding, in the bytes of a connection.
//!
//! Such a request is rejected, because two servers may disagree about where it ends (RFC 9112, section 6.1). hyper drops
//! the length if it follows the encoding, so that the request does not show it any more.

/// The maximum size of a head or of a chunk's size, in bytes. Beyond it, nothing more is checked; hyper rejects the head.
const LINES_MAX: usize = 64 << 10;

/// Follows the requests of one connection.
#[derive(Debug)]
pub(super) struct Framing {
    state: State,
    /// The line that is being read, without its end.
    line: Vec<u8>,
    /// The size of the lines of this head.
    size: usize,
    head: Head,
    /// The number of the request that is being read, from 0.
    request: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Head,
    /// A body of this length follows.
    Body(u64),
    /// The line with the size of the next chunk follows.
    Size,
    /// The rest of a chunk follows, with the end of its line.
    Chunk(u64),
    /// The lines after the last chunk follow.
    Trailers,
    /// Nothing more is checked: the bytes are not, or not any more, those of HTTP/1.1.
    Over,
}

/// What is known of a head.
#[derive(Default, Debug)]
struct Head {
    has_lines: bool,
    length: Option<u64>,
    has_encoding: bool,
    /// Whether something other than requests may follow.
    may_switch: bool,
}

impl Framing {
    pub(super) fn new() -> Framing {
        Framing { state: State::Head, line: Vec::new(), size: 0, head: Head::default(), request: 0 }
    }

    /// Takes the next bytes. Returns the number of the first request with both headers, if it is among them.
    pub(super) fn feed(&mut self, mut bytes: &[u8]) -> Option<u64> {
        while !bytes.is_empty() {
            match self.state {
                State::Over => return None,
                State::Body(left) | State::Chunk(left) => {
                    let count = left.min(bytes.len() as u64);
                    bytes = &bytes[count as usize..];
                    self.state = match (self.state, left - count) {
                        (State::Body(_), 0) => State::Head,
                        (State::Body(_), left) => State::Body(left),
                        (_, 0) => State::Size,
                        (_, left) => State::Chunk(left),
                    };
                }
                State::Head | State::Size | State::Trailers => {
                    let end = bytes.iter().position(|&byte| byte == b'\n');
                    let (part, rest) = bytes.split_at(end.map_or(bytes.len(), |end| end + 1));
                    bytes = rest;
                    self.line.extend_from_slice(part);
                    self.size += part.len();
                    if self.size > LINES_MAX {
                        self.state = State::Over;
                    } else if end.is_some() {
                        let line = std::mem::take(&mut self.line);
                        if self.end_of_line(line.trim_ascii_end()) {
                            return Some(self.request);
                        }
                    }
                }
            }
        }
        None
    }

    /// Handles a line. Returns whether it ends the head of a request with both headers.
    fn end_of_line(&mut self, line: &[u8]) -> bool {
        match (self.state, line) {
            // Servers ignore empty lines before a request.
            (State::Head, []) if !self.head.has_lines => {}
            (State::Head, []) => return self.end_of_head(),
            (State::Head, line) => self.header(line),
            (State::Size, line) => {
                let digits = line.split(|&byte| byte == b';').next().unwrap_or_default().trim_ascii();
                let size = std::str::from_utf8(digits).ok().and_then(|digits| u64::from_str_radix(digits, 16).ok());
                self.enter(match size {
                    Some(0) => State::Trailers,
                    Some(size) => State::Chunk(size.saturating_add(2)),
                    None => State::Over,
                });
            }
            (State::Trailers, []) => self.enter(State::Head),
            _ => {}
        }
        false
    }

    fn header(&mut self, line: &[u8]) {
        if !self.head.has_lines {
            self.head.has_lines = true;
            // The preface of HTTP/2, and a method after which the connection is a tunnel.
            self.head.may_switch = line.starts_with(b"CONNECT ");
            if line.starts_with(b"PRI ") {
                self.state = State::Over;
            }
            return;
        }
        let Some(colon) = line.iter().position(|&byte| byte == b':') else { return };
        let (name, value) = (line[..colon].to_ascii_lowercase(), line[colon + 1..].trim_ascii());
        match name.as_slice() {
            b"content-length" => {
                let length = std::str::from_utf8(value).ok().and_then(|value| value.parse().ok());
                self.head.length = Some(length.unwrap_or(0));
            }
            b"transfer-encoding" => self.head.has_encoding = true,
            b"upgrade" => self.head.may_switch = true,
            _ => {}
        }
    }

    fn end_of_head(&mut self) -> bool {
        let Head { length, has_encoding, may_switch, .. } = std::mem::take(&mut self.head);
        if length.is_some() && has_encoding {
            self.state = State::Over;
            return true;
        }
        let body = match length {
            _ if may_switch => State::Over,
            _ if has_encoding => State::Size,
            Some(length @ 1..) => State::Body(length),
            _ => State::Head,
        };
        self.request += 1;
        self.enter(body);
        false
    }

    fn enter(&mut self, state: State) {
        (self.state, self.size) = (state, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of the first request with both headers, whatever the size of the pieces in which it arrives.
    fn found(text: &str) -> Option<u64> {
        let in_pieces = |size: usize| {
            let mut framing = Framing::new();
            text.as_bytes().chunks(size).find_map(|piece| framing.feed(piece))
        };
        let whole = in_pieces(text.len());
        for size in 1..12 {
            assert_eq!(in_pieces(size), whole, "in pieces of {size}: {text:?}");
        }
        whole
    }

    #[test]
    fn both_headers_are_found_in_any_order_and_in_any_request() {
        let both = "POST / HTTP/1.1\r\nhost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n";
        let other = "POST / HTTP/1.1\ncontent-length: 3\ntransfer-encoding: chunked\n\n0\n\n";
        assert_eq!((found(both), found(other)), (Some(0), Some(0)));
        let sized = format!("POST / HTTP/1.1\r\ncontent-length: {}\r\n\r\n{both}", both.len());
        assert_eq!(found(&sized), None, "they are a body");
        assert_eq!(found(&format!("{sized}{both}")), Some(1));
        let chunked = format!(
            "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n{:x};x=y\r\n{both}\r\n0\r\na: b\r\n\r\n",
            both.len()
        );
        assert_eq!(found(&chunked), None, "they are a chunk");
        assert_eq!(found(&format!("GET / HTTP/1.1\r\n\r\n{chunked}\r\n{both}")), Some(2));
    }

    #[test]
    fn what_is_not_http_1_is_not_checked() {
        let both = "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\ncontent-length: 3\r\n\r\n";
        for first in [
            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            "CONNECT a:1 HTTP/1.1\r\nhost: a:1\r\n\r\n",
            "GET / HTTP/1.1\r\nupgrade: x\r\n\r\n",
        ] {
            assert_eq!(found(&format!("{first}{both}")), None, "{first:?}");
        }
        let long = format!("GET / HTTP/1.1\r\nx: {}\r\n\r\n{both}", "y".repeat(LINES_MAX));
        assert_eq!(found(&long), None);
    }
}
