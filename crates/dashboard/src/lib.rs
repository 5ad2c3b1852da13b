//! A page that shows a live colony while it runs.
//!
//! Start at [`Dashboard::serve`]. One task per [`NodeSource`] polls its node over the operators' interface and follows
//! its events. A [`Picture`] merges the answers, and a local server shows it to browsers.
//!
//! ```text
//! nodes ──► watch: questions and events ──► Picture ──► server: page, snapshot.json, server-sent events ──► browser
//!                              the testbed's extra ──┘
//! ```
//!
//! | module | what is in it |
//! |---|---|
//! | [`picture`] | the nodes' answers, merged: nodes, links, instances, events, problems |
//! | `watch` | polls one node and follows its events, with retries |
//! | `hub` | the state of the running dashboard, and its subscribers |
//! | `server` | answers browsers, within [`ServerLimits`] |
//!
//! A picture needs no network, so it works without nodes:
//!
//! ```
//! use mario_dashboard::Picture;
//!
//! let mut picture = Picture::new(vec!["127.0.0.1:7441".to_owned()]);
//! picture.silent(0, 60_000, "connection refused");
//! let problems = picture.problems(60_000);
//! assert!(problems.iter().any(|problem| problem.text.contains("127.0.0.1:7441")), "{problems:?}");
//! ```
//!
//! **Invariant:** state is kept in memory only, and nodes are queried only for what the role `look` allows.
//!
//! **Invariant:** data from nodes takes bounded memory, and reaches the page as text, never as markup.
//!
//! **Invariant:** a node that is silent, slow or gone does not keep other nodes from being shown.
//!
//! This crate is internal to mario: its interface changes without notice.

#![allow(clippy::disallowed_methods, reason = "a shell: files, clocks and the environment are its work")]

mod hub;
mod server;
mod watch;

pub mod picture;

use std::future::Future;
use std::io;
use std::sync::Arc;

use mario_live::api::TestbedData;
use mario_live::identity::Identity;
use tokio::net::TcpListener;
use tokio::sync::watch as cell;
use tokio::task::JoinSet;

pub use mario_page::server::ServerLimits;
pub use picture::Picture;

use hub::Hub;

/// The maximum number of nodes that are polled.
pub const SOURCES_MAX: usize = 256;

/// A node to poll: the operator's identity, and the address at which the node listens for operators.
#[derive(Clone)]
pub struct NodeSource {
    identity: Arc<Identity>,
    address: cell::Receiver<String>,
}

impl NodeSource {
    /// Creates a source for a node with a fixed address.
    pub fn fixed(identity: Arc<Identity>, address: impl Into<String>) -> NodeSource {
        // A receiver keeps the last value when the sender is gone.
        NodeSource { identity, address: cell::channel(address.into()).1 }
    }

    /// Creates a source for a node whose address may change, for example when its daemon is restarted on another port.
    pub fn moving(identity: Arc<Identity>, address: cell::Receiver<String>) -> NodeSource {
        NodeSource { identity, address }
    }
}

/// A dashboard of several nodes.
///
/// `extra` carries data that a testbed knows and nodes do not. An application's `requests_per_s` replaces the rate computed
/// from its instances. `outcome` says that the run is over, and how it ended. From then on, the picture no longer changes:
/// the testbed stops the daemons on purpose, and sets `outcome` before it stops the first one.
pub struct Dashboard {
    sources: Vec<NodeSource>,
    extra: Option<cell::Receiver<TestbedData>>,
    limits: ServerLimits,
}

impl Dashboard {
    /// Creates a dashboard of these nodes. Only the first [`SOURCES_MAX`] are polled.
    pub fn new(mut sources: Vec<NodeSource>, extra: Option<cell::Receiver<TestbedData>>) -> Dashboard {
        sources.truncate(SOURCES_MAX);
        Dashboard { sources, extra, limits: ServerLimits::default() }
    }

    /// Replaces the limits of the server.
    #[must_use]
    pub fn with_limits(mut self, limits: ServerLimits) -> Dashboard {
        self.limits = limits;
        self
    }

    /// Polls the nodes and answers browsers until `stop` completes, or until listening fails. The listener should be on
    /// 127.0.0.1: only clients that address the server by that name or `localhost` are answered.
    pub async fn serve(self, listener: TcpListener, stop: impl Future<Output = ()>) -> io::Result<()> {
        let addresses = self.sources.iter().map(|source| source.address.borrow().clone()).collect();
        let hub = Hub::new(Picture::new(addresses), self.sources.clone(), self.extra.clone());
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

/// Serves a static picture, for tests of the page.
#[doc(hidden)]
pub async fn serve_picture(
    picture: Picture,
    extra: Option<cell::Receiver<TestbedData>>,
    listener: TcpListener,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let hub = Hub::new(picture, Vec::new(), extra.clone());
    let mut tasks = JoinSet::new();
    if let Some(extra) = extra {
        tasks.spawn(watch::take_extra(Arc::clone(&hub), extra));
    }
    tasks.spawn(hub::publish(Arc::clone(&hub)));
    tokio::select! {
        served = server::serve(hub, listener, ServerLimits::default()) => served,
        () = stop => Ok(()),
    }
}

#[cfg(test)]
#[path = "../../page/tests/page/declarations.rs"]
mod declarations;
