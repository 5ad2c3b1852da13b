//! Hostile clients: request smuggling (they try to confuse nodes about where a request ends), heads that are too large
//! or never end, and mutated requests.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::{Request, Response};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use mario_live::seams::Protocol;
use mario_live::traffic::TrafficLimits;
use mario_testing::Random;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::nodes::{Authority, TestNode, copy, link, serve, text};

/// The requests that a copy received: method, path and body of each.
type Seen = Arc<Mutex<Vec<String>>>;

/// Starts two nodes. The first forwards requests to a copy on the second; the copy adds them to the returned list.
async fn noting() -> (TestNode, TestNode, Seen) {
    let settings = TrafficLimits {
        idle_timeout: Duration::from_millis(500),
        head_timeout: Duration::from_millis(500),
        hold: Duration::ZERO,
        ..TrafficLimits::default()
    };
    let (near, far) = (TestNode::with("near", settings.clone()).await, TestNode::with("far", settings).await);
    near.set_hops(vec![link(&Authority::new(), &near, &far, 1).await]);
    let seen = Seen::default();
    let noted = Arc::clone(&seen);
    let address = serve(move |request: Request<Incoming>| {
        let noted = Arc::clone(&noted);
        async move {
            let (head, body) = request.into_parts();
            let body = body.collect().await.map(|body| String::from_utf8_lossy(&body.to_bytes()).into_owned());
            let note = format!("{} {} {}", head.method, head.uri.path(), body.unwrap_or("cut off".to_owned()));
            noted.lock().unwrap().push(note);
            Response::new(text("seen"))
        }
    })
    .await;
    far.set_copies(vec![copy(1, address, Protocol::Http1)]);
    (near, far, seen)
}

/// Sends bytes, reads until the connection ends or a timeout, and returns the status codes of all responses.
async fn send(node: &TestNode, bytes: &[u8]) -> Vec<u16> {
    let mut stream = TcpStream::connect(node.ingress).await.unwrap();
    // A rejected request may close the connection before all of it was sent.
    let _ = stream.write_all(bytes).await;
    let mut answers = Vec::new();
    let _ = timeout(Duration::from_secs(2), stream.read_to_end(&mut answers)).await;
    let answers = String::from_utf8_lossy(&answers).into_owned();
    answers.split("HTTP/1.1 ").skip(1).filter_map(|answer| answer.get(..3)?.parse().ok()).collect()
}

#[tokio::test]
async fn no_framing_smuggles_a_request_past_the_ingress() {
    let (near, _far, seen) = noting().await;
    let hidden = "GET /hidden HTTP/1.1\r\nhost: video.test\r\n\r\n";
    let cases = [
        // Content-Length and Transfer-Encoding, in both orders.
        format!(
            "POST /1 HTTP/1.1\r\nhost: video.test\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n{hidden}"
        ),
        format!(
            "POST /2 HTTP/1.1\r\nhost: video.test\r\ntransfer-encoding: chunked\r\ncontent-length: 60\r\n\r\n0\r\n\r\n{hidden}"
        ),
        // Two lengths, in one and in two headers.
        format!("POST /3 HTTP/1.1\r\nhost: video.test\r\ncontent-length: 0\r\ncontent-length: 44\r\n\r\n{hidden}"),
        format!("POST /4 HTTP/1.1\r\nhost: video.test\r\ncontent-length: 0, 44\r\n\r\n{hidden}"),
        // Encodings that are not quite `chunked`.
        format!("POST /5 HTTP/1.1\r\nhost: video.test\r\ntransfer-encoding: xchunked\r\n\r\n{hidden}"),
        format!("POST /6 HTTP/1.1\r\nhost: video.test\r\ntransfer-encoding: chunked, identity\r\n\r\n{hidden}"),
        format!("POST /7 HTTP/1.1\r\nhost: video.test\r\ntransfer-encoding : chunked\r\n\r\n0\r\n\r\n{hidden}"),
        format!("POST /8 HTTP/1.1\r\nhost: video.test\r\ntransfer-encoding:\x0bchunked\r\n\r\n0\r\n\r\n{hidden}"),
        // Lengths that are not quite numbers.
        format!("POST /9 HTTP/1.1\r\nhost: video.test\r\ncontent-length: +44\r\n\r\n{hidden}"),
        format!("POST /10 HTTP/1.1\r\nhost: video.test\r\ncontent-length: 0x2c\r\n\r\n{hidden}"),
        // A folded header, and a space before the first header.
        format!("POST /11 HTTP/1.1\r\nhost: video.test\r\nx: a\r\n content-length: 44\r\n\r\n{hidden}"),
        format!("GET /12 HTTP/1.1\r\n host: video.test\r\n\r\n{hidden}"),
        // Two hosts.
        format!("GET /13 HTTP/1.1\r\nhost: video.test\r\nhost: other.test\r\n\r\n{hidden}"),
        // A chunk size that overflows, and one with a sign.
        format!(
            "POST /14 HTTP/1.1\r\nhost: video.test\r\ntransfer-encoding: chunked\r\n\r\nfffffffffffffffff\r\n{hidden}"
        ),
        format!("POST /15 HTTP/1.1\r\nhost: video.test\r\ntransfer-encoding: chunked\r\n\r\n-1\r\n{hidden}"),
    ];
    for case in cases {
        seen.lock().unwrap().clear();
        let answers = send(&near, case.as_bytes()).await;
        let seen = seen.lock().unwrap().clone();
        if case.contains("transfer-encoding: chunked\r\n")
            && case.contains("content-length: ")
            && !case.contains("POST /11")
        {
            assert_eq!(answers, [400], "{case:?}");
        }
        // The copy receives as many whole requests as the ingress answered with 200. If no answer is an error, no body
        // contains the hidden request.
        let served = answers.iter().filter(|&&status| status == 200).count();
        let whole = seen.iter().filter(|note| !note.ends_with("cut off")).count();
        assert_eq!(served, whole, "{case:?} {answers:?} {seen:?}");
        assert!(
            answers.iter().any(|&status| status >= 400) || seen.iter().all(|note| !note.contains("HTTP/1.1")),
            "{case:?} {answers:?} {seen:?}"
        );
    }
    // The nodes still forward requests.
    assert_eq!(send(&near, b"GET /after HTTP/1.1\r\nhost: video.test\r\nconnection: close\r\n\r\n").await, [200]);
}

#[tokio::test]
async fn pipelined_requests_are_separate_requests() {
    let (near, _far, seen) = noting().await;
    let text = "POST /1 HTTP/1.1\r\nhost: video.test\r\ncontent-length: 3\r\n\r\nabcGET /2 HTTP/1.1\r\nhost: video.test\r\nconnection: close\r\n\r\n";
    assert_eq!(send(&near, text.as_bytes()).await, [200, 200]);
    assert_eq!(*seen.lock().unwrap(), ["POST /1 abc", "GET /2 "]);
}

#[tokio::test]
async fn heads_are_bounded_in_size_and_time() {
    let (near, _far, seen) = noting().await;
    let large = format!("GET / HTTP/1.1\r\nhost: video.test\r\nx: {}\r\n\r\n", "y".repeat(100_000));
    assert_eq!(send(&near, large.as_bytes()).await, [431]);
    let many = "x: y\r\n".repeat(500);
    assert_eq!(send(&near, format!("GET / HTTP/1.1\r\nhost: video.test\r\n{many}\r\n").as_bytes()).await, [431]);
    // A head that never ends is aborted.
    let mut stream = TcpStream::connect(near.ingress).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nhost: vid").await.unwrap();
    let mut rest = Vec::new();
    timeout(Duration::from_secs(5), stream.read_to_end(&mut rest)).await.expect("the connection ends").unwrap();
    assert!(seen.lock().unwrap().is_empty());
}

/// Sends 240 requests, each with one to four random mutations from a fixed seed. Afterwards the ingress must still
/// serve.
#[tokio::test]
async fn mutated_requests_do_no_harm() {
    let (near, _far, _seen) = noting().await;
    let seeds: [&[u8]; 4] = [
        b"POST /a HTTP/1.1\r\nhost: video.test\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhello",
        b"POST /b HTTP/1.1\r\nhost: video.test\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n3\r\nabc\r\n0\r\nx: y\r\n\r\n",
        b"GET /c HTTP/1.1\r\nhost: video.test\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\x06\x04\0\0\0\0\0\0\x03\0\0\0\x64\0\0\x05\x01\x05\0\0\0\x01\x82\x84\x86\x41\x00",
    ];
    let mut random = Random::new(1);
    let mut tries = Vec::new();
    for round in 0..240 {
        let mut bytes = seeds[round % seeds.len()].to_vec();
        for _ in 0..=random.below(4) {
            let at = random.below(bytes.len());
            match random.below(4) {
                0 => bytes[at] = random.number() as u8,
                1 => drop(bytes.remove(at)),
                2 => bytes.insert(at, random.number() as u8),
                _ => bytes.truncate(at.max(1)),
            }
        }
        tries.push(bytes);
    }
    for batch in tries.chunks(60) {
        let sent: Vec<_> = batch
            .iter()
            .map(|bytes| {
                let (bytes, ingress) = (bytes.clone(), near.ingress);
                tokio::spawn(async move {
                    let mut stream = TcpStream::connect(ingress).await.unwrap();
                    let _ = stream.write_all(&bytes).await;
                    let _ = stream.shutdown().await;
                    let mut answer = Vec::new();
                    let _ = timeout(Duration::from_secs(2), stream.read_to_end(&mut answer)).await;
                })
            })
            .collect();
        for sent in sent {
            sent.await.unwrap();
        }
    }
    assert_eq!(send(&near, b"GET /after HTTP/1.1\r\nhost: video.test\r\nconnection: close\r\n\r\n").await, [200]);
}

/// The number of mutated requests in the next test: 300, or the value of `MARIO_INGRESS_MUTATIONS`.
fn mutations() -> u64 {
    std::env::var("MARIO_INGRESS_MUTATIONS").ok().and_then(|wanted| wanted.parse().ok()).unwrap_or(300)
}

#[tokio::test]
async fn mutated_requests_are_answered_or_rejected_and_the_node_keeps_serving() {
    let (near, _far, seen) = noting().await;
    let whole: &[u8] = b"POST /video/1?x=%20 HTTP/1.1\r\nhost: video.test\r\ntransfer-encoding: chunked\r\n\
        mario-application: video\r\nmario-itinerary: 14;7;near\r\nx-forwarded-for: 1.2.3.4\r\nte: trailers\r\n\r\n\
        5\r\nhello\r\n0\r\n\r\nGET /video/2 HTTP/1.1\r\nhost: video.test\r\nconnection: close\r\n\r\n";
    let preface: &[u8] =
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0\0\0\x05\x01\x05\0\0\0\x01\x82\x84\x86\x41\x01a";
    let pieces: [&[u8]; 8] =
        [b"\r\n", b"\0", b"\xff", b"content-length: 3\r\n", b" ", b":", b"host: a\r\n", b"0\r\n\r\n"];
    let mut tasks = tokio::task::JoinSet::new();
    let address = near.ingress;
    for seed in 0..mutations() {
        let mut random = Random::new(seed);
        let mut bytes = if seed % 4 == 0 { preface.to_vec() } else { whole.to_vec() };
        for _ in 0..=random.below(3) {
            let at = random.below(bytes.len());
            match random.below(4) {
                0 => bytes[at] ^= 1 << random.below(8),
                1 => bytes.truncate(at.max(1)),
                2 => drop(bytes.splice(at..at, random.choose(&pieces).iter().copied())),
                _ => drop(bytes.drain(at..(at + random.below(9)).min(bytes.len()))),
            }
            if bytes.is_empty() {
                bytes.push(0);
            }
        }
        tasks.spawn(async move {
            let mut stream = TcpStream::connect(address).await.unwrap();
            let _ = stream.write_all(&bytes).await;
            let _ = stream.shutdown().await;
            let mut answers = Vec::new();
            // The connection ends in every case.
            let ended = timeout(Duration::from_secs(20), stream.read_to_end(&mut answers)).await;
            assert!(ended.is_ok(), "seed {seed}: the connection stays open");
        });
        if tasks.len() >= 32 {
            tasks.join_next().await.unwrap().unwrap();
        }
    }
    while let Some(ended) = tasks.join_next().await {
        ended.unwrap();
    }
    assert!(!seen.lock().unwrap().is_empty(), "some are requests still");
    assert_eq!(send(&near, b"GET /after HTTP/1.1\r\nhost: video.test\r\nconnection: close\r\n\r\n").await, [200]);
}
