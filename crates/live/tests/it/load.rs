//! Open-loop clients lose no request while an instance migrates between daemons.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::SendRequest;
use hyper_util::rt::TokioIo;
use mario_live::operators::Method;
use tokio::net::TcpStream;
use tokio::sync::Mutex;
use tokio::task::JoinSet;

use crate::colony::Colony;

/// A policy that migrates from `a` to `b`, and then back and forth between `b` and `c`, at every evaluation.
const WANDERS: &str = "operation(migrate, I, b) :- serviceInstance(I, _, a).\n\
                       operation(migrate, I, c) :- serviceInstance(I, _, b).\n\
                       operation(migrate, I, b) :- serviceInstance(I, _, c).";

/// The counts of the clients.
#[derive(Default)]
struct Tally {
    answered: AtomicU64,
    failed: AtomicU64,
    first_failure: std::sync::Mutex<Option<String>>,
}

/// Idle connections to an ingress.
type Pool = Mutex<VecDeque<SendRequest<Full<Bytes>>>>;

/// `MARIO_LOAD_REQUESTS` and `MARIO_LOAD_RATE` set the load: the number of requests (3,000 by default), and requests
/// per second (200).
#[test]
fn no_request_fails_while_an_instance_migrates_under_load() {
    let value =
        |name: &str, otherwise: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise);
    let (requests, rate) = (value("MARIO_LOAD_REQUESTS", 3_000), value("MARIO_LOAD_RATE", 200));
    let mut colony = Colony::new("load", &["a", "b", "c"], 2);
    for index in 0..3 {
        colony.start(index, None);
    }
    colony.wait("the links are up", |colony| {
        let links = colony.get(1, "/v1/links");
        (0..2_usize).all(|link| links["links"][link]["is_up"] == true && links["links"][link]["has_data"] == true)
    });
    let reply = colony.deploy(0, "1", &colony.signed(WANDERS)).expect("an answer").json().expect("accepted");
    let instance = reply["instance"].as_str().expect("an id").to_owned();
    // A node has a route once it hosts the instance or a neighbour has announced one.
    colony.wait("both nodes know the way", |colony| {
        (0..2).all(|index| colony.client(index, "/").is_some_and(|(status, _)| status == 200))
    });

    let ingresses = [colony.daemons[0].ingress, colony.daemons[1].ingress];
    let tally = Arc::new(Tally::default());
    let is_over = Arc::new(AtomicBool::new(false));
    let (counted, over) = (Arc::clone(&tally), Arc::clone(&is_over));
    let clients = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(open_loop(ingresses, counted, requests, rate));
        over.store(true, Ordering::SeqCst);
    });
    let (mut moves, mut home) = (0, 0);
    let begun = Instant::now();
    while !is_over.load(Ordering::SeqCst) {
        assert!(begun.elapsed() < Duration::from_secs(60 + requests / rate * 4), "the load does not end");
        if let Some(at) = (0..3).find(|&index| index != home && colony.healthy(index) == [instance.clone()]) {
            (moves, home) = (moves + 1, at);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    clients.join().expect("clients");
    let (answered, failed) = (tally.answered.load(Ordering::SeqCst), tally.failed.load(Ordering::SeqCst));
    println!("{answered} answered and {failed} failed of {requests} requests at {rate} per second, over {moves} moves");
    let sum = |name: &str| (0..3).map(|index| metric(&colony, index, name)).sum::<u64>();
    let (records, writes) = (sum("mario_journal_records_total"), sum("mario_journal_writes_total"));
    let (per_move, seconds) = (f64::from(moves.max(1)), begun.elapsed().as_secs_f64());
    println!(
        "{:.2} moves a second; each took {:.1} records in {:.1} writes to disk, source and target together",
        per_move / seconds,
        records as f64 / per_move,
        writes as f64 / per_move,
    );
    assert_eq!((answered, failed), (requests, 0), "{:?}", tally.first_failure.lock().expect("a failure"));
    assert!(moves >= 3, "it moved {moves} times only");
}

/// An open-loop client: sends requests at fixed times, whether or not earlier ones were answered. Every other request
/// is a `POST`, two requests go to one ingress and the next two to the other, and connections are reused.
async fn open_loop(ingresses: [SocketAddr; 2], tally: Arc<Tally>, requests: u64, rate: u64) {
    let pools: Arc<[Pool; 2]> = Arc::default();
    let begin = tokio::time::Instant::now();
    let mut tasks = JoinSet::new();
    for number in 0..requests {
        tokio::time::sleep_until(begin + Duration::from_secs_f64(number as f64 / rate as f64)).await;
        let (tally, pools) = (Arc::clone(&tally), Arc::clone(&pools));
        tasks.spawn(async move {
            let at = (number / 2 % 2) as usize;
            match ask(ingresses[at], &pools[at], number % 2 == 0).await {
                Ok(()) => _ = tally.answered.fetch_add(1, Ordering::SeqCst),
                Err(cause) => {
                    tally.failed.fetch_add(1, Ordering::SeqCst);
                    tally.first_failure.lock().expect("a failure").get_or_insert(format!("request {number}: {cause}"));
                }
            }
        });
        while tasks.try_join_next().is_some() {}
    }
    while tasks.join_next().await.is_some() {}
}

async fn ask(ingress: SocketAddr, pool: &Pool, is_post: bool) -> Result<(), String> {
    let kept = pool.lock().await.pop_back().filter(|sender| !sender.is_closed());
    let mut sender = match kept {
        Some(sender) => sender,
        None => {
            let stream = TcpStream::connect(ingress).await.map_err(|error| format!("connecting: {error}"))?;
            let (sender, connection) =
                hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(|error| error.to_string())?;
            tokio::spawn(connection);
            sender
        }
    };
    sender.ready().await.map_err(|error| format!("waiting: {error}"))?;
    let (method, body) = if is_post { ("POST", &b"something to buy"[..]) } else { ("GET", &b""[..]) };
    let request = Request::builder().method(method).uri("/shop").header("host", "shop").body(Full::from(body));
    let response = sender.send_request(request.map_err(|error| error.to_string())?).await;
    let response = response.map_err(|error| format!("sending: {error}"))?;
    let status = response.status();
    let body = response.into_body().collect().await.map_err(|error| format!("reading: {error}"))?.to_bytes();
    if status != 200 || !body.starts_with(b"application shop\n") {
        return Err(format!("{status}: {}", String::from_utf8_lossy(&body)));
    }
    pool.lock().await.push_back(sender);
    Ok(())
}

/// Reads one of a node's metrics.
fn metric(colony: &Colony, index: usize, name: &str) -> u64 {
    let reply = colony.ask(index, Method::GET, "/metrics", &[], Vec::new()).expect("an answer");
    let value = reply.text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
    value.unwrap_or_else(|| panic!("{name} is not told: {}", reply.text))
}
