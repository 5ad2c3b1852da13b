//! Hostile clients: each is rejected or disconnected, and well-behaved clients are still answered.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use mario_dashboard::{Dashboard, ServerLimits};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

/// How long the server may take to answer before a test fails.
const TIMEOUT: Duration = Duration::from_mins(1);

struct Running {
    address: SocketAddr,
    _runtime: Runtime,
}

impl Running {
    fn new(limits: ServerLimits) -> Running {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a thread");
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("a free port");
        let address = listener.local_addr().expect("an address");
        let dashboard = Dashboard::new(Vec::new(), None).with_limits(limits);
        runtime.spawn(dashboard.serve(listener, std::future::pending()));
        Running { address, _runtime: runtime }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).expect("it listens");
        stream.set_read_timeout(Some(TIMEOUT)).expect("a timeout can be set");
        stream
    }

    /// Sends bytes. Returns the connection, which stays open, and the head of the answer.
    fn send(&self, bytes: &[u8]) -> (TcpStream, String) {
        let mut stream = self.connect();
        // The server may close the connection before everything is sent.
        let _ = stream.write_all(bytes);
        let head = read_head(&mut stream);
        (stream, head)
    }

    fn is_unharmed(&self, after: &str) {
        let request = format!("GET /snapshot.json HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.address);
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        assert!(
            answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.contains("\"nodes\":[]"),
            "after {after}: {answer}"
        );
    }
}

fn read_head(stream: &mut TcpStream) -> String {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read(&mut byte) {
            Ok(0) => break,
            Ok(_) => head.push(byte[0]),
            Err(error) if matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::BrokenPipe) => break,
            Err(error) => panic!("it neither answers nor closes: {error}"),
        }
    }
    String::from_utf8_lossy(&head).into_owned()
}

/// Requests, and the statuses that they may get. An empty status means that the connection is closed without an answer.
const HOSTILE: &[(&str, &[&str])] = &[
    ("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc", &["405"]),
    (
        "POST /events HTTP/1.1\r\nHost: localhost\r\nContent-Length: 18446744073709551615\r\n\r\n",
        &["400", "405", "431"],
    ),
    ("GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc", &["413"]),
    ("GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", &["413"]),
    ("DELETE /nodes/a HTTP/1.1\r\nHost: localhost\r\n\r\n", &["405"]),
    ("OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n", &["405"]),
    ("CONNECT localhost:1 HTTP/1.1\r\nHost: localhost:1\r\n\r\n", &["405"]),
    ("GET / HTTP/1.1\r\n\r\n", &["403"]),
    ("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", &["403"]),
    ("GET /events HTTP/1.1\r\nHost: evil.example\r\n\r\n", &["403"]),
    ("GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n", &["403"]),
    ("GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n", &["403"]),
    ("GET /../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", &["404"]),
    ("GET /nodes/%2e%2e%2f HTTP/1.1\r\nHost: localhost\r\n\r\n", &["404"]),
    ("GET /instances/nothing HTTP/1.1\r\nHost: localhost\r\n\r\n", &["404"]),
    ("GET /explanations/nothing HTTP/1.1\r\nHost: localhost\r\n\r\n", &["404"]),
    ("nonsense\r\n\r\n", &["400"]),
    ("\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\u{0}\u{1}\r\n\r\n", &["", "400"]),
];

#[test]
fn rejects_hostile_requests_and_answers_others_meanwhile() {
    let server = Running::new(ServerLimits::default());
    let mut open = Vec::new();
    for (request, expected) in HOSTILE {
        let (stream, head) = server.send(request.as_bytes());
        let status = head.split(' ').nth(1).unwrap_or_default();
        assert!(expected.contains(&status), "{request:?}: {head}");
        server.is_unharmed(request);
        open.push(stream);
    }
}

#[test]
fn every_reply_has_the_security_headers() {
    let server = Running::new(ServerLimits::default());
    for path in ["/", "/dashboard.js", "/dashboard.css", "/snapshot.json", "/events", "/nothing"] {
        let (_, head) = server.send(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes());
        let head = head.to_ascii_lowercase();
        for part in [
            "content-security-policy: default-src 'none'; script-src 'self'",
            "x-content-type-options: nosniff",
            "x-frame-options: deny",
            "cache-control: no-store",
            "cross-origin-resource-policy: same-origin",
        ] {
            assert!(head.contains(part), "{path}: {head}");
        }
    }
    let (_, head) = server.send(b"HEAD /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
}

#[test]
fn a_head_that_never_ends_is_not_read() {
    let server = Running::new(ServerLimits::default());
    for opening in ["GET / HTTP/1.1\r\nHost: localhost\r\nX: ", "GET /", "X"] {
        let mut stream = server.connect();
        let _ = stream.write_all(opening.as_bytes());
        let piece = vec![b'x'; 1 << 20];
        let sent = (0..200).take_while(|_| stream.write_all(&piece).is_ok()).count();
        assert!(sent < 100, "{sent} MiB were taken");
        server.is_unharmed(opening);
    }
}

#[test]
fn a_slow_request_is_cut_off() {
    let server = Running::new(ServerLimits { head_timeout: Duration::from_millis(200), ..ServerLimits::default() });
    for begun in ["", "GET / HTTP/1.1\r\nHost: loc"] {
        let (_, head) = server.send(begun.as_bytes());
        assert!(head.is_empty() || head.starts_with("HTTP/1.1 408"), "{head}");
    }
    server.is_unharmed("slow clients");
}

#[test]
fn idle_connections_and_streams_are_closed_for_an_active_client() {
    let limits = ServerLimits { connections: 4, head_timeout: Duration::from_hours(1), ..ServerLimits::default() };
    let server = Running::new(limits);
    let _idle: Vec<TcpStream> = (0..50).map(|_| server.connect()).collect();
    server.is_unharmed("fifty idle connections");
    let mut streams = Vec::new();
    for _ in 0..10 {
        let (stream, head) = server.send(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
        assert!(head.starts_with("HTTP/1.1 200") || head.starts_with("HTTP/1.1 503"), "{head}");
        streams.push(stream);
    }
    server.is_unharmed("ten streams");
}
