//! The report server: hostile clients are rejected or disconnected, and well-behaved clients are still answered.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use mario_report::{Report, Server, ServerLimits, Source};

/// How long the server may take to answer before a test fails.
const PATIENCE: Duration = Duration::from_mins(1);

/// A timeout of the server that is short enough for a test.
const SHORT: Duration = Duration::from_millis(200);

struct Titled(String);

impl Source for Titled {
    fn version(&self) -> String {
        "1".to_owned()
    }

    fn report(&mut self) -> Result<Report, String> {
        Ok(Report { title: self.0.clone(), ..Report::default() })
    }
}

/// A server in its own thread, which is stopped on drop.
struct Running {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<std::io::Result<()>>>,
}

impl Running {
    fn new(limits: ServerLimits, source: impl Source) -> Running {
        let server = Server::bind(0).expect("a port is free").with_limits(limits);
        let (address, stop) = (server.address(), Arc::new(AtomicBool::new(false)));
        let is_stopped = Arc::clone(&stop);
        let thread = Some(thread::spawn(move || server.serve(source, &is_stopped)));
        Running { address, stop, thread }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout can be set");
        stream
    }

    /// Sends bytes. Returns the connection, and the head of the first answer. The head is empty or incomplete if the
    /// server closes the connection.
    fn send(&self, bytes: &[u8]) -> (TcpStream, String) {
        let mut stream = self.connect();
        // The server may close the connection before everything is sent.
        let _ = stream.write_all(bytes);
        let head = read_head(&mut stream);
        (stream, head)
    }

    /// The answer to a well-formed request.
    fn get(&self, path: &str) -> String {
        let request = format!("GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.address);
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        answer
    }

    fn is_unharmed(&self, after: &str) {
        let answer = self.get("/data.json");
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.contains("the title"), "after {after}: {answer}");
    }

    /// Stops the server and returns the result of its thread.
    fn end(&mut self) -> Option<thread::Result<std::io::Result<()>>> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().map(JoinHandle::join)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let ended = self.end();
        if let Some(ended) = ended
            && !thread::panicking()
        {
            ended.expect("it does not panic").expect("it ends well");
        }
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

fn titled() -> Titled {
    Titled("the title".to_owned())
}

/// Requests with the statuses that they may get. An empty status stands for a connection closed without an answer.
const HOSTILE: &[(&str, &[&str])] = &[
    ("GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 18446744073709551615\r\n\r\n", &["400", "413", "431"]),
    ("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 18446744073709551615\r\n\r\n", &["400", "405", "431"]),
    ("GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000000000000\r\n\r\n", &["413"]),
    ("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000000000000\r\n\r\n", &["405"]),
    ("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc", &["405"]),
    ("GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc", &["413"]),
    ("GET / HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 10\r\n\r\n", &["413"]),
    ("GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", &["413"]),
    ("GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n", &["413"]),
    ("GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n", &["400"]),
    ("GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", &["400"]),
    ("GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999999999\r\n\r\n", &["400"]),
    ("GET / HTTP/1.1\r\nHost localhost\r\n\r\n", &["400"]),
    ("GET / HTTP/9.9\r\nHost: localhost\r\n\r\n", &["", "400", "505"]),
    ("\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\u{0}\u{1}\r\n\r\n", &["", "400"]),
    ("nonsense\r\n\r\n", &["400"]),
    ("\r\n\r\n\r\n\r\nnonsense\r\n\r\n", &["400"]),
    ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", &["", "400"]),
    ("DELETE / HTTP/1.1\r\nHost: localhost\r\n\r\n", &["405"]),
    ("OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n", &["405"]),
    ("CONNECT localhost:1 HTTP/1.1\r\nHost: localhost:1\r\n\r\n", &["405"]),
    ("GET / HTTP/1.1\r\n\r\n", &["403"]),
    ("GET / HTTP/1.0\r\n\r\n", &["403"]),
    ("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", &["403"]),
    ("GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n", &["403"]),
    ("GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n", &["403"]),
    ("GET /../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", &["404"]),
    ("GET /%2e%2e/etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", &["404"]),
];

#[test]
fn rejects_hostile_requests_and_answers_others_meanwhile() {
    let server = Running::new(ServerLimits::default(), titled());
    let mut open = Vec::new();
    for (request, expected) in HOSTILE {
        let (stream, head) = server.send(request.as_bytes());
        let status = head.split(' ').nth(1).unwrap_or_default();
        assert!(expected.contains(&status), "{request:?}: {head}");
        server.is_unharmed(request);
        // The client stays connected.
        open.push(stream);
    }
}

#[test]
fn an_endless_head_is_rejected() {
    let server = Running::new(ServerLimits::default(), titled());
    for opening in ["GET / HTTP/1.1\r\nHost: localhost\r\nX: ", "GET /", "X"] {
        let mut stream = server.connect();
        let _ = stream.write_all(opening.as_bytes());
        let piece = vec![b'x'; 1 << 20];
        let sent = (0..200).take_while(|_| stream.write_all(&piece).is_ok()).count();
        assert!(sent < 100, "{sent} MiB were taken");
        server.is_unharmed(opening);
    }
    let many = format!("GET / HTTP/1.1\r\nHost: localhost\r\n{}\r\n", "A: b\r\n".repeat(2_000));
    let (_, head) = server.send(many.as_bytes());
    assert!(head.starts_with("HTTP/1.1 431 "), "{head}");
    server.is_unharmed("many headers");
}

#[test]
fn answers_requests_that_precede_garbage() {
    let server = Running::new(ServerLimits::default(), titled());
    let mut stream = server.connect();
    let good = "GET /version HTTP/1.1\r\nHost: localhost\r\n\r\n";
    stream.write_all(format!("{good}{good}\0garbage\r\n\r\n{good}").as_bytes()).expect("it reads");
    let mut all = Vec::new();
    let _ = stream.read_to_end(&mut all);
    let all = String::from_utf8_lossy(&all);
    assert_eq!(all.matches("HTTP/1.1 200 OK").count(), 2, "{all}");
    assert_eq!(all.matches("HTTP/1.1 400 ").count(), 1, "{all}");
    server.is_unharmed("garbage");
}

#[test]
fn a_slow_request_is_cut_off() {
    let server = Running::new(ServerLimits { head_timeout: SHORT, ..ServerLimits::default() }, titled());
    // One client sends nothing, and one stops in the middle. The server closes both connections.
    for begun in ["", "GET / HTTP/1.1\r\nHost: loc"] {
        let (_, head) = server.send(begun.as_bytes());
        assert!(head.is_empty() || head.starts_with("HTTP/1.1 408"), "{head}");
    }
    // This client sends a byte every 20 milliseconds and never completes its request. The server closes its connection,
    // too.
    let mut stream = server.connect();
    let trickle = "GET / HTTP/1.1\r\nHost: localhost\r\nX: ".bytes().chain(std::iter::repeat(b'x'));
    let is_cut_off = trickle.take(3_000).any(|byte| {
        thread::sleep(SHORT / 10);
        stream.write_all(&[byte]).is_err()
    });
    assert!(is_cut_off, "it was listened to for far longer than the timeout");
    server.is_unharmed("slow clients");
}

#[test]
fn idle_connections_are_closed_for_an_active_client() {
    // With this timeout, no idle connection is closed because of its age.
    let limits = ServerLimits { connections: 4, head_timeout: Duration::from_hours(1), ..ServerLimits::default() };
    let server = Running::new(limits, titled());
    let mut idle: Vec<TcpStream> = (0..50).map(|_| server.connect()).collect();
    server.is_unharmed("fifty idle connections");
    // A connection whose request was answered is idle as well.
    for _ in 0..10 {
        let (stream, head) = server.send(b"GET /version HTTP/1.1\r\nHost: localhost\r\n\r\n");
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        idle.push(stream);
    }
    server.is_unharmed("connections that are kept alive");
}

#[test]
fn a_connection_in_use_is_not_closed_for_another() {
    let (begun, has_begun) = mpsc::channel();
    let (finish, end) = mpsc::channel();
    let limits = ServerLimits { connections: 2, ..ServerLimits::default() };
    let server = Running::new(limits, Endless { begun, end });
    let mut waiting = server.connect();
    waiting.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("it reads");
    has_begun.recv_timeout(PATIENCE).expect("the report is being made");
    // The nine oldest of these idle connections are closed to make room for the newest. The connection that waits for
    // the report stays open.
    let others: Vec<TcpStream> = (0..10).map(|_| server.connect()).collect();
    for mut closed in others.into_iter().take(9) {
        assert_eq!(read_head(&mut closed), "");
    }
    finish.send(()).expect("it waits");
    assert!(read_head(&mut waiting).starts_with("HTTP/1.1 200"));
}

#[test]
fn a_client_that_does_not_read_its_answer_is_cut_off() {
    let limits = ServerLimits { connections: 1, write_timeout: SHORT, ..ServerLimits::default() };
    let server = Running::new(limits, Titled(format!("the title{}", "!".repeat(64 << 20))));
    let mut stream = server.connect();
    stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("it reads");
    assert!(read_head(&mut stream).starts_with("HTTP/1.1 200"), "the answer has begun");
    // The limit is one connection, so this request is answered after the other client was cut off.
    assert!(server.get("/version").starts_with("HTTP/1.1 200"));
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    assert!(answer.len() < 64 << 20, "it got {} bytes", answer.len());
}

#[test]
fn a_head_request_is_answered_without_a_body() {
    let server = Running::new(ServerLimits::default(), titled());
    let mut stream = server.connect();
    stream.write_all(b"HEAD / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    let length = format!("content-length: {}\r\n", server.get("/").split_once("\r\n\r\n").expect("a head").1.len());
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.contains(&length), "{answer}");
    assert!(answer.ends_with("\r\n\r\n"), "{answer}");
}

#[test]
fn every_answer_has_security_headers() {
    let server = Running::new(ServerLimits::default(), titled());
    for path in ["/", "/data.json", "/version", "/nothing"] {
        let answer = server.get(path);
        let head = answer.split_once("\r\n\r\n").expect("a head").0;
        for wanted in [
            "content-security-policy: default-src 'none'; script-src 'sha256-",
            "frame-ancestors 'none'",
            "x-content-type-options: nosniff",
            "x-frame-options: DENY",
            "referrer-policy: no-referrer",
            "cross-origin-resource-policy: same-origin",
            "cache-control: no-store",
        ] {
            assert!(head.contains(wanted), "{path}: {wanted} is not in {head}");
        }
        assert!(!head.contains("unsafe-inline"), "{head}");
    }
    let (_, head) = server.send(b"POST / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert!(head.contains("\r\nallow: GET, HEAD\r\n"), "{head}");
}

/// A source whose report fails, but not before `end` receives a message or is closed.
struct Endless {
    begun: mpsc::Sender<()>,
    end: Receiver<()>,
}

impl Source for Endless {
    fn version(&self) -> String {
        "1".to_owned()
    }

    fn report(&mut self) -> Result<Report, String> {
        let _ = self.begun.send(());
        let _ = self.end.recv();
        Err("it was never finished".to_owned())
    }
}

#[test]
fn stops_on_request_while_a_report_is_being_made_and_clients_wait() {
    let (begun, has_begun) = mpsc::channel();
    let (never, end) = mpsc::channel();
    let mut server = Running::new(ServerLimits::default(), Endless { begun, end });
    let mut waiting = server.connect();
    waiting.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("it reads");
    let idle = server.connect();
    has_begun.recv_timeout(PATIENCE).expect("the report is being made");
    assert!(matches!(server.end(), Some(Ok(Ok(())))));
    drop((never, idle, waiting));
}

struct Broken;

impl Source for Broken {
    fn version(&self) -> String {
        "1".to_owned()
    }

    fn report(&mut self) -> Result<Report, String> {
        panic!("a bug in whatever makes the report");
    }
}

#[test]
fn a_panic_while_making_a_report_is_propagated() {
    let mut server = Running::new(ServerLimits::default(), Broken);
    assert!(server.get("/").starts_with("HTTP/1.1 500"));
    let thread = server.thread.take().expect("it runs");
    assert!(thread.join().is_err(), "the panic goes on where the server was started");
}
