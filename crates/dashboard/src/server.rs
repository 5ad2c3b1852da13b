//! Answers browsers on this machine.
//!
//! `mario_page::server` rejects invalid requests and enforces the limits. Event streams may use at most half of the
//! connections.

mod answer;
mod stream;

use std::io;
use std::sync::Arc;

use hyper::header::HeaderValue;
use mario_page::server::{self, ServerLimits};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use crate::hub::Hub;

/// The page may load scripts and styles from this server, connect to it, and show images from `data:` addresses, and
/// nothing else. Scripts and styles are separate files, so that no inline code has to be allowed by its hash.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; \
                      form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/// Answers requests. A clone is a handle to the same state.
#[derive(Clone)]
struct Desk {
    hub: Arc<Hub>,
    /// How many event streams may still be opened.
    streams: Arc<Semaphore>,
}

/// Answers browsers until accepting connections fails repeatedly.
pub(crate) async fn serve(hub: Arc<Hub>, listener: TcpListener, limits: ServerLimits) -> io::Result<()> {
    let desk = Desk { hub, streams: Arc::new(Semaphore::new((limits.connections / 2).max(1))) };
    let answer = move |request| {
        let desk = desk.clone();
        async move { desk.answer(&request).await }
    };
    server::serve(listener, limits, HeaderValue::from_static(POLICY), answer).await
}
