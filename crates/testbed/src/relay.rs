//! Relays that emulate links between daemons: they delay every byte, and a link can be cut.
//!
//! Each node reaches its neighbours through relays. The addresses of relays are fixed before any daemon runs, whereas
//! the address of a daemon is known only once it has started, and changes on restart.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use mario_live::LiveError;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use crate::plan::Plan;

/// The capacity of a connection's buffer in each direction, in chunks.
const CHUNKS: usize = 64;
/// The maximum size of a chunk.
const CHUNK_BYTES: usize = 16 << 10;
/// The timer rounds up to whole milliseconds. Waking this much earlier makes the mean delay correct.
const TIMER_ERROR: Duration = Duration::from_micros(500);

/// All relays of a colony. They stop when this is dropped.
pub(crate) struct Relays {
    /// For each node, the address at which its daemon listens for neighbours; `None` while it is down.
    targets: Vec<watch::Sender<Option<SocketAddr>>>,
    /// For each link of the plan, whether it is cut.
    cuts: Vec<watch::Sender<bool>>,
    /// For each link, the address at which `a` reaches `b`, and the address at which `b` reaches `a`.
    addresses: Vec<(SocketAddr, SocketAddr)>,
    tasks: JoinSet<()>,
}

impl Relays {
    /// Starts the relays of all links of a plan.
    pub(crate) async fn start(plan: &Plan) -> Result<Relays, LiveError> {
        let targets: Vec<_> = plan.nodes.iter().map(|_| watch::channel(None).0).collect();
        let mut relays = Relays { targets, cuts: Vec::new(), addresses: Vec::new(), tasks: JoinSet::new() };
        for link in &plan.links {
            let cut = watch::channel(false).0;
            let to_b = relays.listen(link.b, link.delay, &cut).await?;
            let to_a = relays.listen(link.a, link.delay, &cut).await?;
            relays.cuts.push(cut);
            relays.addresses.push((to_b, to_a));
        }
        Ok(relays)
    }

    /// The address at which a node reaches a neighbour; `None` if they are not linked.
    pub(crate) fn address(&self, plan: &Plan, from: usize, to: usize) -> Option<SocketAddr> {
        plan.links.iter().zip(&self.addresses).find_map(|(link, (to_b, to_a))| match (link.a, link.b) {
            (a, b) if (a, b) == (from, to) => Some(*to_b),
            (a, b) if (b, a) == (from, to) => Some(*to_a),
            _ => None,
        })
    }

    /// Sets the address at which the daemon of a node listens for neighbours; `None` while it is down.
    pub(crate) fn set_target(&self, node: usize, address: Option<SocketAddr>) {
        self.targets[node].send_replace(address);
    }

    /// Cuts a link, or heals it. While a link is cut, no bytes arrive. When it heals, the connections that were open at
    /// the cut are closed, so that no stream continues with a gap.
    pub(crate) fn set_cut(&self, link: usize, is_cut: bool) {
        self.cuts[link].send_replace(is_cut);
    }

    async fn listen(&mut self, to: usize, delay: Duration, cut: &watch::Sender<bool>) -> Result<SocketAddr, LiveError> {
        let unable = |error| LiveError::new("cannot listen on a port of 127.0.0.1 for a link").caused_by(error);
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.map_err(unable)?;
        let address = listener.local_addr().map_err(unable)?;
        let (target, cut) = (self.targets[to].subscribe(), cut.subscribe());
        self.tasks.spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                while connections.try_join_next().is_some() {}
                match listener.accept().await {
                    Ok((stream, _)) => {
                        connections.spawn(relay(stream, target.clone(), cut.clone(), delay));
                    }
                    Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
                }
            }
        });
        Ok(address)
    }
}

/// Relays a connection to the daemon at the other end of the link. Closes it if that daemon is down, once one direction
/// has ended, and when the link heals after a cut.
async fn relay(
    stream: TcpStream,
    target: watch::Receiver<Option<SocketAddr>>,
    mut cut: watch::Receiver<bool>,
    delay: Duration,
) {
    // A connection that is opened while the link is cut stays silent until the link heals.
    if cut.wait_for(|is_cut| !is_cut).await.is_err() {
        return;
    }
    let Some(address) = *target.borrow() else { return };
    let Ok(onward) = TcpStream::connect(address).await else { return };
    let _ = (stream.set_nodelay(true), onward.set_nodelay(true));
    let (read_a, write_a) = stream.into_split();
    let (read_b, write_b) = onward.into_split();
    let is_silent = Arc::new(cut.clone());
    tokio::select! {
        () = delayed(read_a, write_b, delay, Arc::clone(&is_silent)) => {}
        () = delayed(read_b, write_a, delay, is_silent) => {}
        () = cut_and_healed(cut) => {}
    }
}

async fn cut_and_healed(mut cut: watch::Receiver<bool>) {
    let _ = cut.wait_for(|is_cut| *is_cut).await;
    let _ = cut.wait_for(|is_cut| !is_cut).await;
}

/// Forwards bytes, each after the delay. Once bytes are due while the link is cut, nothing more is forwarded, even
/// after the link heals.
async fn delayed(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    delay: Duration,
    is_cut: Arc<watch::Receiver<bool>>,
) {
    let (sender, mut receiver) = mpsc::channel::<(Instant, Bytes)>(CHUNKS);
    let reading = async move {
        loop {
            let mut chunk = BytesMut::with_capacity(CHUNK_BYTES);
            match from.read_buf(&mut chunk).await {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
            let due = Instant::now() + delay.saturating_sub(TIMER_ERROR);
            if sender.send((due, chunk.freeze())).await.is_err() {
                return;
            }
        }
    };
    let writing = async move {
        while let Some((due, chunk)) = receiver.recv().await {
            tokio::time::sleep_until(due.into()).await;
            if *is_cut.borrow() {
                // Nothing more arrives. The connection ends when the link heals.
                std::future::pending::<()>().await;
            }
            if to.write_all(&chunk).await.is_err() {
                return;
            }
        }
        // The end of the stream does not pass a link that is cut, either.
        if *is_cut.borrow() {
            std::future::pending::<()>().await;
        }
        let _ = to.shutdown().await;
    };
    // After the end of the input, the chunks in the buffer are still forwarded.
    tokio::join!(reading, writing);
}

#[cfg(test)]
mod tests {
    use mario_scenario::{Document, NoFiles};
    use tokio::time::timeout;

    use super::*;

    /// Returns relays for a tree of two levels, with an echo server as the daemon of its last node.
    async fn echoing() -> (Plan, Relays, SocketAddr) {
        let mut document = Document::preset("paper").expect("it ships");
        document.set(&["topology.size=2".to_owned()]);
        let scenario = document.resolve(&mut NoFiles).expect("valid").scenario;
        let plan = Plan::new(&scenario, 200.0).expect("it can be live");
        let relays = Relays::start(&plan).await.expect("ports");
        let echo = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
        let address = echo.local_addr().expect("an address");
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = echo.accept().await {
                tokio::spawn(async move {
                    let (mut read, mut write) = stream.split();
                    let _ = tokio::io::copy(&mut read, &mut write).await;
                });
            }
        });
        let link = plan.links[0];
        relays.set_target(link.b, Some(address));
        let relay = relays.address(&plan, link.a, link.b).expect("they are linked");
        (plan, relays, relay)
    }

    async fn round_trip(stream: &mut TcpStream, text: &[u8]) -> bool {
        let mut back = vec![0; text.len()];
        stream.write_all(text).await.is_ok() && stream.read_exact(&mut back).await.is_ok() && back == text
    }

    #[tokio::test]
    async fn bytes_arrive_complete_and_not_before_the_delay() {
        let (plan, _relays, relay) = echoing().await;
        let mut stream = TcpStream::connect(relay).await.expect("the relay listens");
        let text: Vec<u8> = (0..200_000_u32).map(|number| number as u8).collect();
        let begin = Instant::now();
        assert!(round_trip(&mut stream, b"x").await);
        let least = 2 * plan.links[0].delay.saturating_sub(2 * TIMER_ERROR);
        assert!(begin.elapsed() >= least, "{:?} is shorter than {least:?}", begin.elapsed());
        let (mut read, mut write) = stream.split();
        let mut back = vec![0; text.len()];
        let (sent, received) = tokio::join!(write.write_all(&text), read.read_exact(&mut back));
        assert!(sent.is_ok() && received.is_ok() && back == text);
    }

    #[tokio::test]
    async fn a_cut_link_is_silent_and_its_connections_end_when_it_heals() {
        let (_plan, relays, relay) = echoing().await;
        let mut stream = TcpStream::connect(relay).await.expect("the relay listens");
        assert!(round_trip(&mut stream, b"before").await);
        relays.set_cut(0, true);
        let silent = timeout(Duration::from_millis(200), round_trip(&mut stream, b"meanwhile")).await;
        assert!(silent.is_err(), "something came through a cut link");
        let mut late = TcpStream::connect(relay).await.expect("the relay listens");
        let silent = timeout(Duration::from_millis(200), round_trip(&mut late, b"meanwhile")).await;
        assert!(silent.is_err(), "a new connection came through a cut link");
        relays.set_cut(0, false);
        let mut rest = Vec::new();
        assert!(matches!(stream.read_to_end(&mut rest).await, Ok(0) | Err(_)), "the old connection goes on: {rest:?}");
        let mut stream = TcpStream::connect(relay).await.expect("the relay listens");
        assert!(round_trip(&mut stream, b"after").await);
    }
}
