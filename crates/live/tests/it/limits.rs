//! Limits of connections: silent and numerous clients do not shut out others, operators or neighbours.

use std::io::{Read, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use http::{Request, Response};
use hyper::body::Incoming;
use mario_live::operators::Method;
use mario_live::seams::Protocol;
use mario_live::traffic::TrafficLimits;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;

use crate::colony::Colony;
use crate::daemons::STAYS;
use crate::nodes::{TestNode, copy, serve, text};

/// A node with a copy that answers after this time.
async fn serving(limits: TrafficLimits, after: Duration) -> TestNode {
    let node = TestNode::with("here", limits).await;
    let address = serve(move |_: Request<Incoming>| async move {
        tokio::time::sleep(after).await;
        Response::new(text("served"))
    })
    .await;
    node.set_copies(vec![copy(1, address, Protocol::Http1)]);
    node
}

/// Connects from an address of the loopback network.
async fn connect(from: [u8; 4], to: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((from, 0).into()).unwrap();
    socket.connect(to).await.unwrap()
}

/// Sends a request from an address. Returns whether it was answered with 200.
async fn is_served(from: [u8; 4], to: SocketAddr) -> bool {
    let mut stream = connect(from, to).await;
    let request = b"GET / HTTP/1.1\r\nhost: video.test\r\nconnection: close\r\n\r\n";
    if stream.write_all(request).await.is_err() {
        return false;
    }
    let mut answer = Vec::new();
    let read = timeout(Duration::from_secs(10), stream.read_to_end(&mut answer)).await;
    read.is_ok() && answer.starts_with(b"HTTP/1.1 200")
}

/// Whether the node closes this connection within five seconds.
async fn is_closed(stream: &mut TcpStream) -> bool {
    matches!(timeout(Duration::from_secs(5), stream.read(&mut [0; 64])).await, Ok(Ok(0) | Err(_)))
}

#[tokio::test]
async fn a_connection_is_closed_in_time_whatever_it_does_not_send() {
    let limits = TrafficLimits { head_timeout: Duration::from_millis(300), ..TrafficLimits::default() };
    let node = serving(limits, Duration::from_secs(1)).await;
    for bytes in [&b""[..], b"P", b"PRI * HTTP/2.0", b"G", b"GET / HTTP/1.1\r\nhost: vid"] {
        let mut stream = connect([127, 0, 0, 1], node.ingress).await;
        stream.write_all(bytes).await.unwrap();
        assert!(is_closed(&mut stream).await, "after {:?}", String::from_utf8_lossy(bytes));
    }
    // The limit is that of the head: an answer may take longer.
    assert!(is_served([127, 0, 0, 1], node.ingress).await);
}

#[tokio::test]
async fn silent_clients_make_room_for_those_that_speak() {
    let limits = TrafficLimits { connections_max: 40, connections_per_address_max: 10, ..TrafficLimits::default() };
    let node = serving(limits, Duration::ZERO).await;
    let one = [127, 0, 0, 2];
    let mut silent = Vec::new();
    for _ in 0..60 {
        silent.push(connect(one, node.ingress).await);
    }
    assert!(is_served([127, 0, 0, 1], node.ingress).await, "another address");
    assert!(is_served(one, node.ingress).await, "the same address");
    // Only as many as are allowed stay open.
    let mut open = 0;
    for stream in &mut silent {
        let read = timeout(Duration::from_millis(50), stream.read(&mut [0; 8])).await;
        open += usize::from(read.is_err());
    }
    assert!(open < 10, "{open} of one address are open");
    // Silent clients from as many addresses as there are places.
    for last in 0..60 {
        silent.push(connect([127, 0, 1, last], node.ingress).await);
    }
    for _ in 0..5 {
        assert!(is_served([127, 0, 0, 1], node.ingress).await, "when all places are taken");
    }
}

#[tokio::test]
async fn an_address_has_only_its_share_of_the_places() {
    let limits = TrafficLimits { connections_max: 40, connections_per_address_max: 5, ..TrafficLimits::default() };
    let node = serving(limits, Duration::ZERO).await;
    let greedy = [127, 0, 0, 2];
    let mut busy = Vec::new();
    for _ in 0..5 {
        let mut stream = connect(greedy, node.ingress).await;
        stream.write_all(b"GET / HTTP/1.1\r\nhost: video.test\r\n\r\n").await.unwrap();
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).await.unwrap();
        assert_eq!(&answer, b"HTTP/1.1 200");
        busy.push(stream);
    }
    let mut beyond = connect(greedy, node.ingress).await;
    assert!(is_closed(&mut beyond).await, "no place is left for this address");
    assert!(is_served([127, 0, 0, 1], node.ingress).await, "others have theirs");
    busy.pop();
    let begun = Instant::now();
    while !is_served(greedy, node.ingress).await {
        assert!(begun.elapsed() < Duration::from_secs(10), "its place is free again");
    }
}

/// Opens silent connections to an address and renews them, until `stop` is set.
fn besiege(to: SocketAddr, stop: &Arc<AtomicBool>) -> std::thread::JoinHandle<usize> {
    let stop = Arc::clone(stop);
    std::thread::spawn(move || {
        let (mut open, mut count) = (std::collections::VecDeque::new(), 0);
        while !stop.load(Ordering::Relaxed) {
            if let Ok(stream) = std::net::TcpStream::connect(to) {
                open.push_back(stream);
                count += 1;
            }
            if open.len() > 120 {
                open.pop_front();
            }
            std::thread::sleep(Duration::from_millis(3));
        }
        count
    })
}

#[test]
fn silent_strangers_shut_out_neither_operators_nor_neighbours() {
    let mut colony = Colony::new("besieged", &["a", "b"], 2);
    colony.start(0, None);
    let stop = Arc::new(AtomicBool::new(false));
    let sieges = [colony.daemons[0].operators, colony.daemons[0].links].map(|address| besiege(address, &stop));
    std::thread::sleep(Duration::from_millis(800));
    for attempt in 0..15 {
        assert_eq!(colony.get(0, "/v1/status")["node"], "a", "attempt {attempt}");
    }
    colony.start(1, None);
    let begun = Instant::now();
    colony.wait("the link is up", |colony| colony.get(0, "/v1/links")["links"][0]["is_up"] == true);
    let took = begun.elapsed();
    stop.store(true, Ordering::Relaxed);
    let opened: usize = sieges.into_iter().map(|siege| siege.join().expect("it ends")).sum();
    assert!(opened > 200, "{opened} connections besiege it");
    assert!(took < Duration::from_secs(10), "the link is up after {took:?}");
    let metrics = colony.ask(0, Method::GET, "/metrics", &[], Vec::new()).expect("metrics").text;
    let replaced = |listener: &str| {
        let name = format!("mario_connections_replaced_total{{listener=\"{listener}\"}} ");
        let value = metrics.split(&name).nth(1).and_then(|rest| rest.lines().next()?.parse::<u64>().ok());
        value.unwrap_or_else(|| panic!("{metrics}"))
    };
    assert!(replaced("operators") > 0 && replaced("links") > 0, "{metrics}");
    let log = std::fs::read_to_string(colony.directory.join("a.log")).expect("a log");
    let lines = log.lines().filter(|line| line.contains("\"event\":\"connections-limited\"")).count();
    assert!((2..=12).contains(&lines), "a summary every ten seconds: {lines} lines\n{log}");
}

#[test]
fn clients_leave_files_for_everything_else_when_the_limit_of_open_files_is_low() {
    let mut colony = Colony::new("files", &["a"], 2);
    colony.open_files_max = Some(512);
    colony.start(0, None);
    let reply = colony.deploy(0, "1", &colony.signed(STAYS)).expect("an answer").json().expect("accepted");
    let instance = reply["instance"].as_str().expect("an id").to_owned();
    colony.wait("it is healthy", |colony| colony.healthy(0) == [instance.clone()]);
    let programs = colony.workload_processes();
    // Clients that keep their connections, from many addresses.
    let mut clients = Vec::new();
    for number in 0..600_u32 {
        let socket = std::net::TcpStream::connect(colony.daemons[0].ingress);
        let Ok(mut stream) = socket else { continue };
        if number.is_multiple_of(2) {
            let _ = stream.write_all(b"GET /shop HTTP/1.1\r\nhost: shop\r\n\r\n");
        }
        clients.push(stream);
    }
    std::thread::sleep(Duration::from_secs(1));
    let metrics = colony.ask(0, Method::GET, "/metrics", &[], Vec::new()).expect("operators are served").text;
    let gauge = |name: &str| {
        let value = metrics.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<f64>().ok());
        value.unwrap_or_else(|| panic!("{name}: {metrics}"))
    };
    let (open, limit) = (gauge("mario_open_files "), gauge("mario_open_files_max "));
    assert!((limit - 512.0).abs() < 0.5, "the soft limit was raised to the hard one");
    assert!(open < 400.0, "{open} files are open");
    assert!(gauge("mario_connections{listener=\"ingress\"}") <= 160.0, "{metrics}");
    // Everything else works meanwhile: the copy is probed and left as it is, and a second instance starts.
    colony.deploy(0, "2", &colony.signed(STAYS)).expect("an answer").json().expect("accepted");
    colony.wait("both are healthy", |colony| colony.healthy(0).len() == 2);
    assert!(programs.iter().all(|program| colony.workload_processes().contains(program)), "the same program");
    drop(clients);
    colony.wait("clients are served", |colony| colony.client(0, "/").is_some_and(|(status, _)| status == 200));
    let log = std::fs::read_to_string(colony.directory.join("a.log")).expect("a log");
    assert!(log.contains("\"event\":\"open-files\",\"limit\":512,\"limit_before\":300,"), "{log}");
    assert!(!log.contains("is down") && !log.contains("cannot probe"), "{log}");
    let mut environment = String::new();
    let _ = std::fs::File::open(format!("/proc/{}/limits", programs[0]))
        .map(|mut file| file.read_to_string(&mut environment));
    let limits = environment.lines().find(|line| line.starts_with("Max open files")).expect("a limit");
    assert_eq!(limits.split_whitespace().nth(3), Some("300"), "programs keep the soft limit: {limits}");
}
