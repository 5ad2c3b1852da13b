//! Requests of clients and of operators to a live node.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use arc_swap::ArcSwap;
use mario_domain::ApplicationId;
use mario_live::operators::fuzzing::converse;
use mario_live::seams::Routes;
use mario_live::traffic::{Forwarder, Ingress, TrafficLimits};

use super::{Outcome, Target};

const PIECES: &[&str] = &[
    "\r\n",
    "\r\n\r\n",
    "\0",
    "content-length: 3\r\n",
    "transfer-encoding: chunked\r\n",
    "host: a\r\n",
    "connection: close\r\n",
    "0\r\n\r\n",
    "HTTP/1.1",
    " ",
    ":",
    "%00",
];

/// Sends bytes as a client of a node. The connection must end, and the node must serve the next client.
pub(super) const INGRESS: Target = Target {
    name: "ingress",
    reads: "requests of clients at the ingress of a node",
    run: ingress,
    seeds: || {
        let seeds: [&[u8]; 4] = [
            b"GET /shop HTTP/1.1\r\nhost: shop\r\nconnection: close\r\n\r\n",
            b"POST /shop HTTP/1.1\r\nhost: shop\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            b"GET /shop HTTP/1.1\r\nhost: shop\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n",
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0\0\0\x05\x01\x05\0\0\0\x01\x82\x84\x86\x41\x01a",
        ];
        seeds.map(<[u8]>::to_vec).into()
    },
    pieces: PIECES,
    inputs: 200,
};

/// The address of an ingress, started on first use, that knows an application but no route to it.
static ADDRESS: LazyLock<SocketAddr> = LazyLock::new(|| {
    let (sender, address) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let application = ApplicationId::name("shop").expect("a name");
            let routes = Routes {
                node: "a".to_owned(),
                hosts: [("shop".to_owned(), application.clone())].into(),
                prefixes: vec![("/shop".to_owned(), application)],
                are_complete: true,
                ..Routes::default()
            };
            let second = Duration::from_secs(1);
            let settings = TrafficLimits {
                hold: Duration::ZERO,
                idle_timeout: second,
                head_timeout: second,
                response_timeout: second,
                ..TrafficLimits::default()
            };
            let forwarder = Forwarder::new(Arc::new(ArcSwap::from_pointee(routes)), settings);
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
            sender.send(listener.local_addr().expect("bound")).expect("the other end waits");
            let (_stop, ending) = tokio::sync::watch::channel(false);
            Ingress::new(forwarder, None).serve(listener, ending, second).await;
        });
    });
    address.recv().expect("it listens")
});

/// Sends bytes and returns the answer. The answer may be empty if `shut` closes a direction, because the ingress then
/// treats the client as disconnected.
fn ask(bytes: &[u8], shut: Option<Shutdown>) -> Vec<u8> {
    let mut stream = TcpStream::connect(*ADDRESS).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout");
    let _ = stream.write_all(bytes);
    if let Some(side) = shut {
        let _ = stream.shutdown(side);
    }
    let mut answer = Vec::new();
    match stream.read_to_end(&mut answer) {
        Err(error) if error.kind() == ErrorKind::WouldBlock => panic!("the connection stays open"),
        _ => answer,
    }
}

fn ingress(bytes: &[u8]) -> Outcome {
    let answer = ask(bytes, Some(Shutdown::Write));
    let next = ask(b"GET / HTTP/1.1\r\nhost: unknown.example\r\nconnection: close\r\n\r\n", None);
    assert!(next.starts_with(b"HTTP/1.1 404"), "{}", String::from_utf8_lossy(&next));
    Outcome::of(!answer.is_empty() && !answer.starts_with(b"HTTP/1.1 400"))
}

/// Sends bytes as an operator with all roles, inside TLS. The answer must be HTTP, or empty.
pub(super) const OPERATORS: Target = Target {
    name: "operators",
    reads: "requests of operators",
    run: operators,
    seeds: || {
        let seeds = [
            "GET /v1/instances/7/explanation HTTP/1.1\r\nhost: node.mario\r\nconnection: close\r\n\r\n",
            "POST /v1/instances HTTP/1.1\r\nhost: node.mario\r\nmario-deploy-key: 17\r\ncontent-length: 5\r\n\r\nmario",
            "PUT /v1/drain HTTP/1.1\r\nhost: node.mario\r\ncontent-length: 20\r\n\r\n{\"is_draining\":true}",
            "POST /v1/lost/0123456789abcdef0123456789abcdef HTTP/1.1\r\nhost: node.mario\r\n\r\n",
            "DELETE /v1/applications/shop/shadow HTTP/1.1\r\nhost: node.mario\r\n\r\nGET /metrics HTTP/1.1\r\n\r\n",
            "GET /v1/events?since=3 HTTP/1.1\r\nhost: node.mario\r\n\r\n",
            "GET /v1/instances/a-1/log HTTP/1.1\r\nhost: node.mario\r\n\r\n",
        ];
        seeds.map(|seed| seed.as_bytes().to_vec()).into()
    },
    pieces: PIECES,
    inputs: 500,
};

fn operators(bytes: &[u8]) -> Outcome {
    let answer = converse(bytes);
    assert!(answer.is_empty() || answer.starts_with(b"HTTP/1.1 "), "{}", String::from_utf8_lossy(&answer));
    // All other answers count as accepted, although most report that the node does not have the requested instance.
    Outcome::of(!answer.is_empty() && !answer.starts_with(b"HTTP/1.1 400"))
}
