//! Links with delays like those between machines: each connection goes through a relay that delays it and can cut it.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::nodes::{Nodes, TREE, relay_port};

/// The relays of all links, both ways.
pub struct Relays {
    cut: Arc<Mutex<Vec<(usize, usize)>>>,
}

impl Relays {
    pub fn new(runtime: &Handle) -> Relays {
        let cut: Arc<Mutex<Vec<(usize, usize)>>> = Arc::default();
        for from in 0..TREE.len() {
            for name in Nodes::neighbours(from) {
                let to = Nodes::index(name);
                let address = SocketAddr::from(([10, 77, 0, 1], relay_port(from, to)));
                // Links further from the root are slower.
                let delay = Duration::from_millis(if from.max(to) > 3 { 5 } else { 2 });
                let relay = Relay {
                    link: (from.min(to), from.max(to)),
                    target: Nodes::links(to),
                    delay,
                    cut: Arc::clone(&cut),
                };
                let listener = runtime.block_on(TcpListener::bind(address)).expect("a port");
                runtime.spawn(relay.serve(listener));
            }
        }
        Relays { cut }
    }

    /// Cuts these links, and restores all others. Open connections of a cut link go silent, and new ones are closed.
    pub fn cut(&self, links: &[(&str, &str)]) {
        let index = |name: &str| TREE.iter().position(|(known, _)| *known == name).expect("a node");
        let ends = links.iter().map(|(one, other)| (index(one).min(index(other)), index(one).max(index(other))));
        *self.cut.lock().unwrap_or_else(PoisonError::into_inner) = ends.collect();
    }

    /// Restores all links.
    pub fn heal(&self) {
        self.cut.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

#[derive(Clone)]
struct Relay {
    link: (usize, usize),
    target: SocketAddr,
    delay: Duration,
    cut: Arc<Mutex<Vec<(usize, usize)>>>,
}

impl Relay {
    fn is_cut(&self) -> bool {
        self.cut.lock().unwrap_or_else(PoisonError::into_inner).contains(&self.link)
    }

    async fn serve(self, listener: TcpListener) {
        while let Ok((near, _)) = listener.accept().await {
            let relay = self.clone();
            tokio::spawn(async move {
                if relay.is_cut() {
                    return;
                }
                let Ok(far) = TcpStream::connect(relay.target).await else { return };
                let _ = (near.set_nodelay(true), far.set_nodelay(true));
                let ((near_in, near_out), (far_in, far_out)) = (near.into_split(), far.into_split());
                tokio::spawn(relay.clone().pass(near_in, far_out));
                relay.pass(far_in, near_out).await;
            });
        }
    }

    /// Forwards bytes in one direction, after the delay. If bytes arrive while the link is cut, they are lost, and this
    /// direction ends half a minute later.
    async fn pass(self, mut from: OwnedReadHalf, mut to: OwnedWriteHalf) {
        let (sender, mut waiting) = mpsc::channel::<(Instant, Vec<u8>)>(256);
        let writing = tokio::spawn(async move {
            while let Some((at, bytes)) = waiting.recv().await {
                sleep_until(at).await;
                if to.write_all(&bytes).await.is_err() {
                    return;
                }
            }
            let _ = to.shutdown().await;
        });
        let mut buffer = vec![0; 16 << 10];
        while let Ok(count @ 1..) = from.read(&mut buffer).await {
            if self.is_cut() {
                // Like a cut wire: for longer than the nodes tolerate silence, nothing arrives, not even the end of the
                // connection.
                tokio::time::sleep(Duration::from_secs(30)).await;
                break;
            }
            if sender.send((Instant::now() + self.delay, buffer[..count].to_vec())).await.is_err() {
                break;
            }
        }
        drop(sender);
        let _ = writing.await;
    }
}
