//! Client requests across data planes of several nodes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper_util::rt::{TokioExecutor, TokioIo};
use mario_domain::NodeId;
use mario_live::seams::{Body, Protocol};
use mario_live::traffic::TrafficLimits;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::nodes::{Authority, TestNode, copy, fixed, link, serve, text};

/// Sends one request over a new HTTP/1.1 connection.
pub async fn ask(address: std::net::SocketAddr, request: Request<Full<Bytes>>) -> (StatusCode, HeaderMap, String) {
    let stream = TcpStream::connect(address).await.unwrap();
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let response = sender.send_request(request).await.unwrap();
    let (head, body) = response.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    (head.status, head.headers, String::from_utf8_lossy(&body).into_owned())
}

pub fn get(path: &str) -> Request<Full<Bytes>> {
    Request::get(path).header("host", "video.test").body(Full::default()).unwrap()
}

pub fn post(path: &str, body: impl Into<Bytes>) -> Request<Full<Bytes>> {
    Request::post(path).header("host", "video.test").body(Full::new(body.into())).unwrap()
}

/// A chain of three nodes without copies: `a` forwards to `b`, and `b` to `c`.
async fn row(authority: &Authority) -> [TestNode; 3] {
    let nodes = [TestNode::new("a").await, TestNode::new("b").await, TestNode::new("c").await];
    nodes[0].set_hops(vec![link(authority, &nodes[0], &nodes[1], 3).await]);
    nodes[1].set_hops(vec![link(authority, &nodes[1], &nodes[2], 4).await]);
    nodes
}

#[tokio::test]
async fn a_request_goes_hop_by_hop_and_is_counted_by_last_hop_and_latency() {
    let authority = Authority::new();
    let [a, b, c] = row(&authority).await;
    let served = copy(1, fixed("here").await, Protocol::Http1);
    c.set_copies(vec![served.clone()]);
    for _ in 0..3 {
        assert_eq!(ask(a.ingress, get("/x?y=1")).await.2, "here");
    }
    assert_eq!(ask(b.ingress, get("/")).await.2, "here");
    assert_eq!(ask(c.ingress, get("/")).await.2, "here");
    let counts: Vec<_> = served.backend.counts.drain().into_iter().collect();
    let from_b = Some(NodeId::name("b").unwrap());
    assert_eq!(counts, [((None, 0), 1), ((from_b.clone(), 4), 1), ((from_b, 7), 3)]);
    assert_eq!(served.backend.open_requests(), 0);
}

#[tokio::test]
async fn hosts_and_prefixes_select_an_application_and_others_are_unknown() {
    let node = TestNode::new("a").await;
    node.set_copies(vec![copy(1, fixed("here").await, Protocol::Http1)]);
    let with_host = |path: &str, host: &str| Request::get(path).header("host", host).body(Full::default()).unwrap();
    assert_eq!(ask(node.ingress, with_host("/", "VIDEO.test:80")).await.2, "here");
    assert_eq!(ask(node.ingress, with_host("/video/1", "10.1.1.1")).await.2, "here");
    let (status, _, body) = ask(node.ingress, with_host("/videos", "10.1.1.1")).await;
    assert_eq!((status, body.as_str()), (StatusCode::NOT_FOUND, "no application has this host name or path\n"));
}

#[tokio::test]
async fn clients_cannot_forge_and_copies_cannot_see_headers_of_nodes() {
    let authority = Authority::new();
    let [a, _, c] = row(&authority).await;
    let address = serve(|request: Request<Incoming>| async move {
        let names: Vec<String> = request.headers().keys().map(ToString::to_string).collect();
        let forwarded = request.headers()["x-forwarded-for"].to_str().unwrap().to_owned();
        // The copy claims to be a dead end.
        Response::builder().header("mario-dead-end", "1;1;a").body(text(format!("{names:?} {forwarded}"))).unwrap()
    })
    .await;
    let served = copy(1, address, Protocol::Http1);
    c.set_copies(vec![served.clone()]);
    let mut request = get("/");
    for (name, value) in [
        ("mario-itinerary", "16;4000;b,c"),
        ("mario-application", "other"),
        ("x-forwarded-for", "6.6.6.6"),
        ("forwarded", "for=6.6.6.6"),
    ] {
        request.headers_mut().insert(name, value.parse().unwrap());
    }
    let (status, headers, body) = ask(a.ingress, request).await;
    assert_eq!(status, StatusCode::OK);
    assert!(!body.contains("mario-") && !body.contains("\"forwarded\"") && body.ends_with(" 127.0.0.1"), "{body}");
    assert!(!headers.contains_key("mario-dead-end"));
    assert_eq!(served.backend.counts.drain().into_keys().next().unwrap().1, 7);
}

#[tokio::test]
async fn a_dead_end_goes_back_one_hop_and_is_tried_elsewhere() {
    let authority = Authority::new();
    // The nodes are linked a - b - d and a - c. Node d has lost its copy and only has a route back; c has a copy.
    let (a, b) = (TestNode::new("a").await, TestNode::new("b").await);
    let (c, d) = (TestNode::new("c").await, TestNode::new("d").await);
    a.set_hops(vec![link(&authority, &a, &b, 1).await, link(&authority, &a, &c, 9).await]);
    b.set_hops(vec![link(&authority, &b, &d, 1).await, link(&authority, &b, &a, 1).await]);
    d.set_hops(vec![link(&authority, &d, &b, 1).await]);
    let served = copy(1, fixed("far").await, Protocol::Http1);
    c.set_copies(vec![served.clone()]);
    // This also works for methods that are not idempotent, because no copy has received the request.
    assert_eq!(ask(a.ingress, post("/", "some body")).await.2, "far");
    assert_eq!(a.forwarder.totals().backed_up.load(Ordering::Relaxed), 1);
    assert_eq!(b.forwarder.totals().backed_up.load(Ordering::Relaxed), 1);
    assert_eq!(d.forwarder.totals().from_neighbours.load(Ordering::Relaxed), 1);
    // The detour to the dead ends is not part of the latency.
    assert_eq!(served.backend.counts.drain().into_keys().next().unwrap().1, 9);
}

#[tokio::test]
async fn routing_loops_end_in_an_answer() {
    let authority = Authority::new();
    let settings = TrafficLimits { hold: Duration::ZERO, ..TrafficLimits::default() };
    let (a, b, c) = (
        TestNode::with("a", settings.clone()).await,
        TestNode::with("b", settings.clone()).await,
        TestNode::with("c", settings).await,
    );
    a.set_hops(vec![link(&authority, &a, &b, 1).await]);
    b.set_hops(vec![link(&authority, &b, &c, 1).await]);
    c.set_hops(vec![link(&authority, &c, &a, 1).await]);
    let (status, headers, body) = ask(a.ingress, get("/")).await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "{body}");
    assert!(!headers.contains_key("mario-dead-end"));
    let passed: u64 =
        [&a, &b, &c].iter().map(|node| node.forwarder.totals().from_neighbours.load(Ordering::Relaxed)).sum();
    assert_eq!(passed, 2);
}

#[tokio::test]
async fn a_request_without_a_route_waits_for_one() {
    let node = TestNode::new("a").await;
    let asked = tokio::spawn(ask(node.ingress, post("/", "patient")));
    tokio::time::sleep(Duration::from_millis(100)).await;
    node.set_copies(vec![copy(1, fixed("late").await, Protocol::Http1)]);
    assert_eq!(asked.await.unwrap().2, "late");
}

/// Starts a server that reads the start of each request, and closes the connection without an answer. Returns its
/// address and a counter of the requests.
pub async fn silent() -> (std::net::SocketAddr, Arc<AtomicU32>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let seen = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&seen);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.read(&mut [0; 1000]).await;
            counted.fetch_add(1, Ordering::SeqCst);
        }
    });
    (address, seen)
}

#[tokio::test]
async fn a_request_that_a_copy_may_have_seen_is_retried_only_if_idempotent() {
    let node = TestNode::new("a").await;
    let (address, seen) = silent().await;
    let silent_copy = copy(1, address, Protocol::Http1);
    let healthy = copy(2, fixed("healthy").await, Protocol::Http1);
    node.set_copies(vec![silent_copy.clone(), healthy]);
    for (request, expected) in [
        (get("/"), StatusCode::OK),
        (Request::put("/").header("host", "video.test").body(Full::from("kept")).unwrap(), StatusCode::OK),
        (post("/", "not idempotent"), StatusCode::BAD_GATEWAY),
        // A body longer than the buffer.
        (
            Request::put("/").header("host", "video.test").body(Full::from(vec![b'x'; 1 << 20])).unwrap(),
            StatusCode::BAD_GATEWAY,
        ),
    ] {
        let method = request.method().clone();
        let (status, _, body) = ask(node.ingress, request).await;
        assert_eq!(status, expected, "{method} {body}");
    }
    assert_eq!(seen.load(Ordering::SeqCst), 4);
    // Two copies fail: the request is retried once only.
    let (other_address, other_seen) = silent().await;
    let third = copy(4, fixed("never asked").await, Protocol::Http1);
    node.set_copies(vec![silent_copy, copy(3, other_address, Protocol::Http1), third]);
    assert_eq!(ask(node.ingress, get("/")).await.0, StatusCode::BAD_GATEWAY);
    assert_eq!((seen.load(Ordering::SeqCst), other_seen.load(Ordering::SeqCst)), (5, 1));
}

#[tokio::test]
async fn an_unsent_request_is_retried_whatever_its_method() {
    let node = TestNode::new("a").await;
    let gone = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    node.set_copies(vec![copy(1, gone, Protocol::Http1), copy(2, fixed("alive").await, Protocol::Http1)]);
    assert_eq!(ask(node.ingress, post("/", vec![b'x'; 60_000])).await.2, "alive");
}

#[tokio::test]
async fn a_copy_drains_without_a_failed_request() {
    let node = TestNode::new("a").await;
    let slow = |name: &'static str| {
        serve(move |request: Request<Incoming>| async move {
            let _ = request.into_body().collect().await;
            tokio::time::sleep(Duration::from_millis(30)).await;
            Response::new(text(name))
        })
    };
    let mut current = copy(0, slow("copy").await, Protocol::Http1);
    node.set_copies(vec![current.clone()]);
    let stop = Arc::new(AtomicU32::new(0));
    let (failed, done) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let clients: Vec<_> = (0..8)
        .map(|_| {
            let (stop, failed, done, ingress) = (stop.clone(), failed.clone(), done.clone(), node.ingress);
            tokio::spawn(async move {
                while stop.load(Ordering::SeqCst) == 0 {
                    let (status, ..) = ask(ingress, post("/", "body")).await;
                    if status != StatusCode::OK {
                        failed.fetch_add(1, Ordering::SeqCst);
                    }
                    done.fetch_add(1, Ordering::SeqCst);
                }
            })
        })
        .collect();
    for number in 1..20 {
        tokio::time::sleep(Duration::from_millis(20)).await;
        let next = copy(number, slow("copy").await, Protocol::Http1);
        // The old copy is closed while it is still in the routes. Requests then go to the new copy.
        node.set_copies(vec![current.clone(), next.clone()]);
        current.backend.close();
        tokio::time::timeout(Duration::from_secs(10), current.backend.emptied()).await.expect("it is emptied");
        node.set_copies(vec![next.clone()]);
        assert_eq!(current.backend.open_requests(), 0);
        current = next;
    }
    stop.store(1, Ordering::SeqCst);
    for client in clients {
        client.await.unwrap();
    }
    assert_eq!(failed.load(Ordering::SeqCst), 0);
    assert!(done.load(Ordering::SeqCst) > 50);
}

#[tokio::test]
async fn http_2_and_grpc_pass_with_trailers_both_ways() {
    let authority = Authority::new();
    let [a, _, c] = row(&authority).await;
    let address = serve(|request: Request<Incoming>| async move {
        assert_eq!(request.headers()["te"], "trailers");
        let body = request.into_body().collect().await.unwrap();
        let sent = body.trailers().map_or(0, HeaderMap::len);
        let data = body.to_bytes();
        let mut trailers = HeaderMap::new();
        trailers.insert("grpc-status", "0".parse().unwrap());
        trailers.insert("trailers-seen", sent.into());
        let frames = [Ok(Frame::data(data)), Ok(Frame::trailers(trailers))];
        let body: Body = BodyExt::boxed(StreamBody::new(Frames(frames.into_iter().collect())));
        Response::builder().header("content-type", "application/grpc").body(body).unwrap()
    })
    .await;
    c.set_copies(vec![copy(1, address, Protocol::H2c)]);
    let stream = TcpStream::connect(a.ingress).await.unwrap();
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let ask = |path: &str, host: &str| {
        let mut trailers = HeaderMap::new();
        trailers.insert("checksum", "1".parse().unwrap());
        let frames = [Ok(Frame::data(Bytes::from_static(b"\0\0\0\0\x05hello"))), Ok(Frame::trailers(trailers))];
        let body: Body = BodyExt::boxed(StreamBody::new(Frames(frames.into_iter().collect())));
        Request::post(format!("http://{host}{path}"))
            .header("content-type", "application/grpc")
            .header("te", "trailers")
            .body(body)
            .unwrap()
    };
    for _ in 0..3 {
        let response = sender.send_request(ask("/svc/Unary", "video.test")).await.unwrap();
        let body = response.into_body().collect().await.unwrap();
        let trailers = body.trailers().unwrap();
        assert_eq!(
            (&trailers["grpc-status"], &trailers["trailers-seen"]),
            (&"0".parse().unwrap(), &"1".parse().unwrap())
        );
        assert_eq!(body.to_bytes(), &b"\0\0\0\0\x05hello"[..]);
    }
    // Unreachable services are reported as a gRPC status.
    c.set_copies(vec![]);
    let response = sender.send_request(ask("/svc/Unary", "video.test")).await.unwrap();
    assert_eq!((response.status(), &response.headers()["grpc-status"]), (StatusCode::OK, &"14".parse().unwrap()));
}

/// A body of given frames.
struct Frames(std::collections::VecDeque<Result<Frame<Bytes>, mario_live::seams::BodyError>>);

impl futures_core::Stream for Frames {
    type Item = Result<Frame<Bytes>, mario_live::seams::BodyError>;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        std::task::Poll::Ready(self.0.pop_front())
    }
}

#[tokio::test]
async fn upgraded_connections_and_raw_tcp_are_tunnelled_over_hops() {
    let authority = Authority::new();
    let [a, _, c] = row(&authority).await;
    // A copy that echoes after an upgrade.
    let address = serve(|mut request: Request<Incoming>| async move {
        let key = request.headers()["sec-websocket-key"].clone();
        let upgrade = hyper::upgrade::on(&mut request);
        tokio::spawn(async move {
            let mut io = TokioIo::new(upgrade.await.unwrap());
            let mut buffer = [0; 100];
            while let Ok(count @ 1..) = io.read(&mut buffer).await {
                io.write_all(&buffer[..count]).await.unwrap();
            }
        });
        Response::builder()
            .status(StatusCode::SWITCHING_PROTOCOLS)
            .header("connection", "upgrade")
            .header("upgrade", "websocket")
            .header("sec-websocket-accept", key)
            .body(text(""))
            .unwrap()
    })
    .await;
    let served = copy(1, address, Protocol::Http1);
    c.set_copies(vec![served.clone()]);
    let mut stream = TcpStream::connect(a.ingress).await.unwrap();
    let head = "GET /chat HTTP/1.1\r\nhost: video.test\r\nconnection: keep-alive, Upgrade\r\nupgrade: websocket\r\nsec-websocket-key: k3y\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    let answer = read_head(&mut stream).await.to_ascii_lowercase();
    assert!(
        answer.starts_with("http/1.1 101")
            && answer.contains("sec-websocket-accept: k3y")
            && answer.contains("upgrade: websocket"),
        "{answer}"
    );
    echo(&mut stream).await;
    assert_eq!(served.backend.open_requests(), 1);
    drop(stream);
    tokio::time::timeout(Duration::from_secs(5), served.backend.emptied()).await.expect("the tunnel ended");

    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let raw = copy(2, listener.local_addr().unwrap(), Protocol::Http1);
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let (mut read, mut write) = stream.split();
        let _ = tokio::io::copy(&mut read, &mut write).await;
    });
    c.set_copies(vec![raw]);
    let mut stream = TcpStream::connect(a.ingress).await.unwrap();
    stream.write_all(b"CONNECT video.test:443 HTTP/1.1\r\nhost: video.test:443\r\n\r\n").await.unwrap();
    assert!(read_head(&mut stream).await.starts_with("HTTP/1.1 200"));
    echo(&mut stream).await;
    // The tunnel passes the end of the stream on, in both directions.
    stream.shutdown().await.unwrap();
    assert_eq!(stream.read(&mut [0; 10]).await.unwrap(), 0);
}

async fn read_head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    String::from_utf8(head).unwrap()
}

async fn echo(stream: &mut TcpStream) {
    for word in ["one", "two", "three"] {
        stream.write_all(word.as_bytes()).await.unwrap();
        let mut answer = vec![0; word.len()];
        stream.read_exact(&mut answer).await.unwrap();
        assert_eq!(answer, word.as_bytes());
    }
}

#[tokio::test]
async fn bodies_are_bounded_and_slow_copies_time_out() {
    let settings = TrafficLimits {
        body_bytes_max: 100_000,
        response_timeout: Duration::from_millis(300),
        idle_timeout: Duration::from_millis(300),
        ..TrafficLimits::default()
    };
    let node = TestNode::with("a", settings).await;
    node.set_copies(vec![copy(1, fixed("ok").await, Protocol::Http1)]);
    assert_eq!(ask(node.ingress, post("/", vec![0; 100_000])).await.0, StatusCode::OK);
    assert_eq!(ask(node.ingress, post("/", vec![0; 100_001])).await.0, StatusCode::PAYLOAD_TOO_LARGE);
    // A body of undeclared length is rejected once it exceeds the limit.
    let mut stream = TcpStream::connect(node.ingress).await.unwrap();
    stream.write_all(b"POST / HTTP/1.1\r\nhost: video.test\r\ntransfer-encoding: chunked\r\n\r\n").await.unwrap();
    let chunk = [&b"4000\r\n"[..], &[b'x'; 0x4000], b"\r\n"].concat();
    for _ in 0..8 {
        if stream.write_all(&chunk).await.is_err() {
            break;
        }
    }
    assert!(read_head(&mut stream).await.starts_with("HTTP/1.1 413"));
    // A client that stops sending in the middle of a body.
    let mut stream = TcpStream::connect(node.ingress).await.unwrap();
    stream.write_all(b"POST / HTTP/1.1\r\nhost: video.test\r\ncontent-length: 10\r\n\r\nfew").await.unwrap();
    let answer = read_head(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 408") || answer.starts_with("HTTP/1.1 504"), "{answer}");
    let slow = serve(|_: Request<Incoming>| async {
        tokio::time::sleep(Duration::from_secs(30)).await;
        Response::new(text("late"))
    })
    .await;
    node.set_copies(vec![copy(2, slow, Protocol::Http1)]);
    let begin = Instant::now();
    assert_eq!(ask(node.ingress, get("/")).await.0, StatusCode::GATEWAY_TIMEOUT);
    assert!(begin.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn a_full_copy_rejects_clients_and_accepts_them_later() {
    let settings = TrafficLimits { requests_per_copy_max: 2, hold: Duration::ZERO, ..TrafficLimits::default() };
    let node = TestNode::with("a", settings).await;
    let gate = Arc::new(tokio::sync::Semaphore::new(0));
    let waiting = Arc::clone(&gate);
    let address = serve(move |_: Request<Incoming>| {
        let waiting = Arc::clone(&waiting);
        async move {
            waiting.acquire().await.unwrap().forget();
            Response::new(text("done"))
        }
    })
    .await;
    let served = copy(1, address, Protocol::Http1);
    node.set_copies(vec![served.clone()]);
    let inside: Vec<_> = (0..2).map(|_| tokio::spawn(ask(node.ingress, get("/")))).collect();
    while served.backend.open_requests() < 2 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let (status, headers, _) = ask(node.ingress, get("/")).await;
    assert_eq!((status, &headers["retry-after"]), (StatusCode::SERVICE_UNAVAILABLE, &"1".parse().unwrap()));
    gate.add_permits(3);
    for request in inside {
        assert_eq!(request.await.unwrap().0, StatusCode::OK);
    }
    assert_eq!(ask(node.ingress, get("/")).await.0, StatusCode::OK);
}

#[tokio::test]
async fn a_stopped_ingress_finishes_open_requests() {
    let node = TestNode::new("a").await;
    let address = serve(|_: Request<Incoming>| async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        Response::new(text("finished"))
    })
    .await;
    let served = copy(1, address, Protocol::Http1);
    node.set_copies(vec![served.clone()]);
    let asked = tokio::spawn(ask(
        node.ingress,
        Request::builder().method(Method::GET).uri("/").header("host", "video.test").body(Full::default()).unwrap(),
    ));
    while served.backend.open_requests() == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    node.stop();
    assert_eq!(asked.await.unwrap().2, "finished");
    assert!(TcpStream::connect(node.ingress).await.is_err());
}
