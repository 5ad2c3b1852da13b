//! Open-loop clients: they send at a fixed rate, whether or not earlier requests were answered.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::Handle;

use super::nodes::Nodes;

/// How often each client sends.
const EVERY: Duration = Duration::from_millis(200);

/// How long a client waits for an answer.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Clients that send until stopped.
pub struct Load {
    shared: Arc<Shared>,
    runtime: Handle,
}

#[derive(Default)]
struct Shared {
    is_over: AtomicBool,
    answered: AtomicU64,
    failed: AtomicU64,
    open: AtomicU64,
}

impl Load {
    /// Starts a client for each pair of a node and an application. The client sends to the ingress of the node.
    pub fn begin(runtime: &Handle, clients: &[(&str, &str)]) -> Load {
        let shared: Arc<Shared> = Arc::default();
        for (node, host) in clients {
            let (address, host) = (Nodes::ingress(Nodes::index(node)), (*host).to_owned());
            let shared = Arc::clone(&shared);
            runtime.spawn(async move {
                let mut ticks = tokio::time::interval(EVERY);
                while !shared.is_over.load(Ordering::Relaxed) {
                    ticks.tick().await;
                    let (shared, host) = (Arc::clone(&shared), host.clone());
                    shared.open.fetch_add(1, Ordering::Relaxed);
                    tokio::spawn(async move {
                        let is_good = request(address, &host).await == Some(200);
                        let count = if is_good { &shared.answered } else { &shared.failed };
                        count.fetch_add(1, Ordering::Relaxed);
                        shared.open.fetch_sub(1, Ordering::Relaxed);
                    });
                }
            });
        }
        Load { shared, runtime: runtime.clone() }
    }

    /// Returns the number of requests answered with 200, and of those that failed. Open requests are in neither.
    pub fn counts(&self) -> (u64, u64) {
        (self.shared.answered.load(Ordering::Relaxed), self.shared.failed.load(Ordering::Relaxed))
    }

    /// Ends the load, and waits for open requests. Returns the final counts.
    pub fn stop(self) -> (u64, u64) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        self.runtime.block_on(async {
            while self.shared.open.load(Ordering::Relaxed) > 0 {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        });
        self.counts()
    }
}

async fn request(address: SocketAddr, host: &str) -> Option<u16> {
    let asked = async {
        let mut stream = TcpStream::connect(address).await.ok()?;
        let text = format!("GET / HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
        stream.write_all(text.as_bytes()).await.ok()?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.ok()?;
        String::from_utf8_lossy(&answer).split(' ').nth(1)?.parse().ok()
    };
    tokio::time::timeout(TIMEOUT, asked).await.ok()?
}

/// Whether a client of a node gets an answer with status 200 from an application.
pub fn is_served(nodes: &Nodes, index: usize, host: &str) -> bool {
    nodes.block_on(request(Nodes::ingress(index), host)) == Some(200)
}
