//! Counts failed requests while a copy moves among three nodes.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::SendRequest;
use hyper_util::rt::TokioIo;
use mario_live::seams::{LocalCopy, NextHop, Protocol};
use tokio::net::TcpStream;
use tokio::sync::Mutex;
use tokio::time::{sleep, sleep_until};

use crate::Options;
use crate::nodes::{Authority, TestNode, copy, fixed, link};

/// Idle connections to an ingress.
type Pool = Mutex<VecDeque<SendRequest<Full<Bytes>>>>;

#[derive(Default)]
struct Tally {
    answered: AtomicU64,
    failed: AtomicU64,
    late: AtomicU64,
    slowest_us: AtomicU64,
}

pub fn count_failures(options: &Options) {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    runtime.block_on(run(options));
}

async fn run(options: &Options) {
    let authority = Authority::new();
    let nodes = [TestNode::new("a").await, TestNode::new("b").await, TestNode::new("c").await];
    let mut links = Vec::new();
    for from in &nodes {
        let mut row = Vec::new();
        for to in &nodes {
            row.push(if from.id == to.id { None } else { Some(link(&authority, from, to, 2).await) });
        }
        links.push(row);
    }
    let nodes = Arc::new(nodes);
    let tally = Arc::new(Tally::default());
    let load = tokio::spawn(open_loop(Arc::clone(&nodes), Arc::clone(&tally), options.requests, options.rate));
    let mut home = 0;
    let mut served = copy(0, fixed("served").await, Protocol::Http1);
    nodes[home].set_copies(vec![served.clone()]);
    for (from, node) in nodes.iter().enumerate() {
        node.set_hops(hops(&links, from, home));
    }
    let mut moves = 0_u32;
    while !load.is_finished() {
        sleep(Duration::from_millis(400)).await;
        moves += 1;
        let target = (home + 1 + moves as usize % 2) % nodes.len();
        served = migrate(&nodes, &links, home, target, served, moves).await;
        home = target;
    }
    load.await.expect("the load");
    let sum = |count: fn(&TestNode) -> u64| nodes.iter().map(count).sum::<u64>();
    println!(
        "moves: {moves} of one copy among three nodes; {} requests at {} per second in an open loop: {} failed (goal: 0)",
        tally.answered.load(Ordering::Relaxed) + tally.failed.load(Ordering::Relaxed),
        options.rate,
        tally.failed.load(Ordering::Relaxed),
    );
    println!(
        "  backed up {}, sent once more {}, slowest {:.1} ms, {} begun more than 10 ms late",
        sum(|node| node.forwarder.totals().backed_up.load(Ordering::Relaxed)),
        sum(|node| node.forwarder.totals().retried.load(Ordering::Relaxed)),
        tally.slowest_us.load(Ordering::Relaxed) as f64 / 1000.0,
        tally.late.load(Ordering::Relaxed),
    );
}

/// The next hops to the copy, the shortest path first; none on the node that has the copy.
fn hops(links: &[Vec<Option<NextHop>>], from: usize, home: usize) -> Vec<NextHop> {
    let mut order: Vec<usize> = (0..links.len()).filter(|&to| to != from).collect();
    order.sort_by_key(|&to| to != home);
    if from == home {
        return Vec::new();
    }
    order.into_iter().filter_map(|to| links[from][to].clone()).collect()
}

/// Migrates the copy as a transfer does: the copy on the target is ready first, then the source forwards to it and
/// drains. The third node learns of the move late, and until then sends requests to the old node.
async fn migrate(
    nodes: &[TestNode; 3],
    links: &[Vec<Option<NextHop>>],
    home: usize,
    target: usize,
    old: LocalCopy,
    number: u32,
) -> LocalCopy {
    let new = copy(number, fixed("served").await, Protocol::Http1);
    nodes[target].set_copies(vec![new.clone()]);
    nodes[target].set_hops(Vec::new());
    old.backend.close();
    nodes[home].set_hops(hops(links, home, target));
    nodes[home].set_copies(Vec::new());
    let third = 3 - home - target;
    sleep(Duration::from_millis(u64::from(number) * 7 % 60)).await;
    nodes[third].set_hops(hops(links, third, target));
    tokio::time::timeout(Duration::from_secs(10), old.backend.emptied()).await.expect("requests end");
    new
}

/// An open-loop client: sends requests at fixed times, whether or not earlier ones were answered. Half of them are
/// `POST` with a body, half `GET`, and connections are reused.
async fn open_loop(nodes: Arc<[TestNode; 3]>, tally: Arc<Tally>, requests: u64, rate: u64) {
    let pools: Arc<[Pool; 3]> = Arc::default();
    let begin = tokio::time::Instant::now() + Duration::from_millis(300);
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..requests {
        let due = begin + Duration::from_secs_f64(number as f64 / rate as f64);
        sleep_until(due).await;
        if due.elapsed() > Duration::from_millis(10) {
            tally.late.fetch_add(1, Ordering::Relaxed);
        }
        let (nodes, tally, pools) = (Arc::clone(&nodes), Arc::clone(&tally), Arc::clone(&pools));
        tasks.spawn(async move {
            let at = (number % 3) as usize;
            let started = Instant::now();
            let is_fine = ask(nodes[at].ingress, &pools[at], number % 2 == 0).await;
            tally.slowest_us.fetch_max(started.elapsed().as_micros() as u64, Ordering::Relaxed);
            let count = if is_fine { &tally.answered } else { &tally.failed };
            count.fetch_add(1, Ordering::Relaxed);
        });
        while tasks.try_join_next().is_some() {}
    }
    while tasks.join_next().await.is_some() {}
}

async fn ask(ingress: std::net::SocketAddr, pool: &Pool, is_post: bool) -> bool {
    let kept = pool.lock().await.pop_back();
    let mut sender = match kept.filter(|sender| !sender.is_closed()) {
        Some(sender) => sender,
        None => {
            let Ok(stream) = TcpStream::connect(ingress).await else { return false };
            let Ok((sender, connection)) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await else {
                return false;
            };
            tokio::spawn(connection);
            sender
        }
    };
    if sender.ready().await.is_err() {
        return false;
    }
    let method = if is_post { "POST" } else { "GET" };
    let body = Full::from(if is_post { &b"a body that is sent"[..] } else { b"" });
    let Ok(request) = Request::builder().method(method).uri("/").header("host", "video.test").body(body) else {
        return false;
    };
    let Ok(response) = sender.send_request(request).await else { return false };
    let is_ok = response.status() == 200;
    let body = response.into_body().collect().await.map(http_body_util::Collected::to_bytes);
    let is_fine = is_ok && body.is_ok_and(|body| body == "served");
    if is_fine {
        pool.lock().await.push_back(sender);
    }
    is_fine
}
