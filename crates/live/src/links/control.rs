//! Control connections: frames, and pings as heartbeats. A link that is silent for too long goes down.

use std::time::{Duration, Instant};

use mario_colony::Message;
use mario_domain::NodeId;
use mario_wire::{Body, Envelope, Framer, Ping, Pong, Versions, decode, encode_frame};
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::{Connection, HANDSHAKE_TIMEOUT, LinkEvent, Links};
use crate::config::Neighbour;
use crate::daemon::{Event, NodeEvent};
use crate::error::LiveError;
use crate::identity::{CONTROL_PROTOCOL, ExpectedPeer, Subject};

/// The rate limit of a neighbour: how many frames it may send in a burst, and per second on average. Beyond that, this
/// node reads more slowly, so that further frames wait in the neighbour's send queue.
const BURST_FRAMES: f64 = 4_000.0;
const FRAMES_PER_SECOND: f64 = 2_000.0;

/// The journal id in pings and pongs, which do not belong to any journal.
const NO_JOURNAL: mario_colony::JournalId = mario_colony::JournalId(0);

/// Spawns a task that connects to a neighbour, and reconnects whenever the connection fails or ends.
pub(super) fn dial(links: &Links, neighbour: &Neighbour, tasks: &mut JoinSet<()>) -> Result<(), LiveError> {
    let expected = ExpectedPeer::Exactly(Subject::Node(neighbour.id.clone()));
    let connector = TlsConnector::from(links.shared.identity.client(expected, CONTROL_PROTOCOL)?);
    let (links, neighbour) = (links.clone(), neighbour.clone());
    tasks.spawn(async move {
        let mut backoff = links.backoff(&neighbour.id, Connection::Control);
        let mut last_error = String::new();
        loop {
            match connect(&connector, &neighbour.address).await {
                Ok(stream) => {
                    last_error.clear();
                    backoff.reset();
                    run(&links, &neighbour.id, stream).await;
                }
                Err(error) if error != last_error => {
                    links
                        .shared
                        .events
                        .publish(NodeEvent::LinkFailed { neighbour: neighbour.id.clone(), cause: error.clone() });
                    last_error = error;
                }
                Err(_) => {}
            }
            backoff.wait().await;
        }
    });
    Ok(())
}

/// Opens a TLS connection to an address.
pub(super) async fn connect(
    connector: &TlsConnector,
    address: &str,
) -> Result<tokio_rustls::client::TlsStream<TcpStream>, String> {
    let connecting = async {
        let stream =
            TcpStream::connect(address).await.map_err(|error| format!("cannot connect to {address}: {error}"))?;
        let _ = stream.set_nodelay(true);
        // Nodes are identified by their certificates only, so the server name is arbitrary.
        let name = ServerName::try_from("node.mario").map_err(|error| error.to_string())?;
        connector.connect(name, stream).await.map_err(|error| format!("{address} is not the neighbour: {error}"))
    };
    timeout(HANDSHAKE_TIMEOUT, connecting).await.unwrap_or_else(|_| Err(format!("{address} does not answer")))
}

/// Runs a control connection until it ends.
pub(super) async fn run<S>(links: &Links, neighbour: &NodeId, stream: S)
where
    S: AsyncRead + AsyncWrite + Send + 'static,
{
    let (session, frames, before) = links.begin_session(neighbour);
    let core = &links.shared.core;
    if let Some(before) = before {
        let _ = core.send(Event::Link(LinkEvent::Down { neighbour: neighbour.clone(), session: before })).await;
    }
    let _ = core.send(Event::Link(LinkEvent::Up { neighbour: neighbour.clone(), session })).await;
    let (reader, writer) = tokio::io::split(stream);
    let writing = tokio::spawn(write(writer, frames));
    let cause = read(links, neighbour, session, reader).await;
    links.close(neighbour, session);
    writing.abort();
    links.shared.events.publish(NodeEvent::LinkFailed { neighbour: neighbour.clone(), cause });
    let _ = core.send(Event::Link(LinkEvent::Down { neighbour: neighbour.clone(), session })).await;
}

async fn write<W: AsyncWrite + Unpin>(mut writer: W, mut frames: mpsc::Receiver<Vec<u8>>) {
    while let Some(mut bytes) = frames.recv().await {
        // Frames that are already queued are sent together.
        while bytes.len() < 64 << 10
            && let Ok(more) = frames.try_recv()
        {
            bytes.extend_from_slice(&more);
        }
        if writer.write_all(&bytes).await.is_err() || writer.flush().await.is_err() {
            return;
        }
    }
    let _ = writer.shutdown().await;
}

/// Handles received frames and sends pings until the connection ends. Returns why it ended.
async fn read<R: AsyncRead + Unpin>(links: &Links, neighbour: &NodeId, session: u64, mut reader: R) -> String {
    let silence = links.shared.silence;
    let start = Instant::now();
    let clock = || start.elapsed().as_micros() as u64;
    let mut framer = Framer::default();
    let mut buffer = vec![0; 16 << 10];
    let mut pings = tokio::time::interval(silence / 3);
    let mut heard = Instant::now();
    let mut bucket = Bucket::new();
    loop {
        if !links.is_current(neighbour, session) {
            return "another connection took its place".to_owned();
        }
        let count = tokio::select! {
            read = reader.read(&mut buffer) => match read {
                Ok(0) => return "the neighbour closed it".to_owned(),
                Ok(count) => count,
                Err(error) => return format!("it broke: {error}"),
            },
            _ = pings.tick() => {
                if heard.elapsed() > silence {
                    return format!("nothing was heard for {} ms", heard.elapsed().as_millis());
                }
                links.send_raw(neighbour, session, Body::Ping(Ping { sent: clock() }));
                continue;
            }
        };
        heard = Instant::now();
        framer.extend(&buffer[..count]);
        loop {
            let frame = match framer.next_frame() {
                Ok(Some(frame)) => frame,
                Ok(None) => break,
                Err(error) => return format!("it does not keep to the protocol: {error}"),
            };
            let envelope = match decode(frame) {
                Ok(envelope) => envelope,
                // A message of a kind that only newer versions know is dropped.
                Err(error) if error.is_newer() => continue,
                Err(error) => return format!("it does not keep to the protocol: {error}"),
            };
            links.count_received(neighbour);
            if let Some(wait) = bucket.take() {
                tokio::time::sleep(wait).await;
            }
            match envelope.body {
                Body::Ping(ping) => {
                    let pong = Pong { ping_sent: ping.sent, received: clock(), sent: clock() };
                    links.send_raw(neighbour, session, Body::Pong(pong));
                }
                Body::Pong(pong) => {
                    if pong.round_trip(clock()).is_some_and(|round_trip| links.measured(neighbour, round_trip)) {
                        let _ = links.shared.core.send(Event::Link(LinkEvent::Changed)).await;
                    }
                }
                _ => {
                    if let (Body::Colony(Message::Hello(_)), Some(theirs)) = (&envelope.body, envelope.versions)
                        && let Err(error) = Versions::OURS.agree(theirs)
                    {
                        return error.to_string();
                    }
                    let envelope = Box::new(envelope);
                    let event = LinkEvent::Received { neighbour: neighbour.clone(), session, envelope };
                    if links.shared.core.send(Event::Link(event)).await.is_err() {
                        return "the daemon ends".to_owned();
                    }
                }
            }
        }
    }
}

impl Links {
    /// Sends a ping or a pong; drops it if the session is no longer the current one or its queue is full.
    fn send_raw(&self, neighbour: &NodeId, session: u64, body: Body) {
        let mut frame = Vec::new();
        if encode_frame(&Envelope::new(NO_JOURNAL, None, body), &mut frame).is_err() {
            return;
        }
        let table = self.table();
        let current = table.get(neighbour).and_then(|link| link.session.as_ref());
        if let Some(current) = current.filter(|current| current.number == session) {
            let _ = current.outbox.try_send(frame);
        }
    }

    fn count_received(&self, neighbour: &NodeId) {
        if let Some(link) = self.table().get_mut(neighbour) {
            link.counts.received += 1;
        }
    }
}

/// A token bucket for received frames.
struct Bucket {
    left: f64,
    filled: Instant,
}

impl Bucket {
    fn new() -> Bucket {
        Bucket { left: BURST_FRAMES, filled: Instant::now() }
    }

    /// Takes a token, in advance if there is none. Returns how long to wait until it is earned; `None` if there was
    /// one.
    fn take(&mut self) -> Option<Duration> {
        let now = Instant::now();
        let earned = now.duration_since(self.filled).as_secs_f64() * FRAMES_PER_SECOND;
        self.left = (self.left + earned).min(BURST_FRAMES) - 1.0;
        self.filled = now;
        (self.left < 0.0).then(|| Duration::from_secs_f64(-self.left / FRAMES_PER_SECOND))
    }
}
