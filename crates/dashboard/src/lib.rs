//! A page that shows a live colony while it works.
//!
//! Start at [`Dashboard::serve`]. One task for each [`NodeSource`] asks its node over the interface of operators and follows its
//! events; a [`Picture`] is what they told, put together; a server on this machine shows it.
//!
//! ```text
//! nodes ──► watch: questions and events ──► Picture ──► server: page, snapshot.json, server-sent events ──► browser
//!                              the testbed's extra ──┘
//! ```
//!
//! | module | what is in it |
//! |---|---|
//! | [`picture`] | what nodes told, merged: nodes, links, instances, what happened, what is wrong |
//! | `watch` | asks one node, again after it was silent |
//! | `hub` | the picture of the running dashboard, and who is told of news |
//! | `server` | answers browsers, within [`Limits`] |
//!
//! **Invariant:** nothing is kept but in memory, and nothing is asked of nodes but what the role `look` allows.
//! **Invariant:** what a node tells takes bounded memory, and reaches the page as text, never as markup.
//! **Invariant:** a node that is silent, slow or gone keeps nothing else from being shown.

mod hub;
mod server;
mod watch;

pub mod picture;

use std::future::Future;
use std::io;
use std::sync::Arc;

use mario_live::identity::Identity;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::watch as cell;
use tokio::task::JoinSet;

pub use picture::Picture;
pub use server::Limits;

use hub::Hub;

/// The most nodes that are asked.
pub const SOURCES_MAX: usize = 256;

/// A node to ask: who asks, and where the node listens for operators.
#[derive(Clone)]
pub struct NodeSource {
    identity: Arc<Identity>,
    address: cell::Receiver<String>,
}

impl NodeSource {
    /// A node at an address that stays.
    pub fn fixed(identity: Arc<Identity>, address: impl Into<String>) -> NodeSource {
        // A receiver keeps the last value when the sender is gone.
        NodeSource { identity, address: cell::channel(address.into()).1 }
    }

    /// A node whose address changes, as when a daemon is restarted on another port.
    pub fn moving(identity: Arc<Identity>, address: cell::Receiver<String>) -> NodeSource {
        NodeSource { identity, address }
    }
}

/// A dashboard of some nodes.
///
/// `extra` carries what nodes do not know and a testbed does. All keys are optional, others are ignored:
///
/// ```json
/// {
///   "title": "paper, 60 times as fast",
///   "nodes": { "n1": { "tier": 2, "tier_name": "access points", "users": 3 } },
///   "applications": { "app1": { "requests_per_s": 12.5, "p50_ms": 4.0, "p95_ms": 9.0, "p99_ms": 20.1, "late_share": 0.01, "failed": 0 } },
///   "faults": ["the link n1 - n2 is cut"],
///   "facts": { "speed": "60×", "time": "1234" }
/// }
/// ```
///
/// `tier` counts from 0, the top. `faults` are those that the testbed causes on purpose. `facts` are shown under the title as they are.
/// `requests_per_s` of an application replaces what follows from what its instances saw.
pub struct Dashboard {
    sources: Vec<NodeSource>,
    extra: Option<cell::Receiver<Value>>,
    limits: Limits,
}

impl Dashboard {
    /// A dashboard of these nodes, of which [`SOURCES_MAX`] are asked.
    pub fn new(mut sources: Vec<NodeSource>, extra: Option<cell::Receiver<Value>>) -> Dashboard {
        sources.truncate(SOURCES_MAX);
        Dashboard { sources, extra, limits: Limits::default() }
    }

    /// Replaces the limits of the server.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Dashboard {
        self.limits = limits;
        self
    }

    /// Watches the nodes and answers browsers until `stop` completes, or until listening fails. The listener should be one on
    /// 127.0.0.1: only clients that call the server by that name or `localhost` are answered.
    pub async fn serve(self, listener: TcpListener, stop: impl Future<Output = ()>) -> io::Result<()> {
        let addresses = self.sources.iter().map(|source| source.address.borrow().clone()).collect();
        let hub = Hub::new(Picture::new(addresses), self.sources.clone());
        let mut tasks = JoinSet::new();
        for (index, source) in self.sources.into_iter().enumerate() {
            tasks.spawn(watch::watch(Arc::clone(&hub), index, source));
        }
        if let Some(extra) = self.extra {
            tasks.spawn(watch::take_extra(Arc::clone(&hub), extra));
        }
        tasks.spawn(hub::publish(Arc::clone(&hub)));
        tokio::select! {
            served = server::serve(hub, listener, self.limits) => served,
            () = stop => Ok(()),
        }
    }
}

/// Serves a picture that nothing changes: for tests of the page.
#[doc(hidden)]
pub async fn serve_picture(picture: Picture, listener: TcpListener, stop: impl Future<Output = ()>) -> io::Result<()> {
    let hub = Hub::new(picture, Vec::new());
    let mut tasks = JoinSet::new();
    tasks.spawn(hub::publish(Arc::clone(&hub)));
    tokio::select! {
        served = server::serve(hub, listener, Limits::default()) => served,
        () = stop => Ok(()),
    }
}
