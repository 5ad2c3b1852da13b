//! Control connections: frames, and pings as heartbeats. A link that is silent for too long goes down.

use std::io;
use std::time::{Duration, Instant};

use mario_colony::Message;
use mario_domain::NodeId;
use mario_wire::{Body, Envelope, Framer, Goodbye, GoodbyeReason, Ping, Pong, Versions, decode, encode_frame};
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::{Attempt, Connection, HANDSHAKE_TIMEOUT, LASTING, LinkEvent, Links};
use crate::config::Neighbour;
use crate::daemon::Event;
use crate::error::LiveError;
use crate::identity::{CONTROL_PROTOCOL, ExpectedPeer, Subject};

/// The rate limit of a neighbour: how many frames it may send in a burst, and per second on average. Beyond that, this
/// node reads more slowly, so that further frames wait in the neighbour's send queue.
const BURST_FRAMES: f64 = 4_000.0;
const FRAMES_PER_SECOND: f64 = 2_000.0;

/// The journal id in pings and pongs, which do not belong to any journal.
const NO_JOURNAL: mario_colony::JournalId = mario_colony::JournalId(0);

/// How long a neighbour may take to send its first frame.
const FIRST_FRAME_TIMEOUT: Duration = Duration::from_secs(5);

/// Spawns a task that connects to a neighbour, and reconnects whenever the connection fails or ends.
pub(super) fn dial(links: &Links, neighbour: &Neighbour, tasks: &mut JoinSet<()>) -> Result<(), LiveError> {
    let connector = connector(links, neighbour)?;
    let (links, neighbour) = (links.clone(), neighbour.clone());
    tasks.spawn(async move {
        let mut backoff = links.backoff(&neighbour.id, Connection::Control);
        loop {
            let attempt = match connect(&connector, &neighbour.address).await {
                Ok(mut stream) => match first_bytes(&mut stream).await {
                    Ok(Opening::Session(early)) => {
                        let begun = Instant::now();
                        run(&links, &neighbour.id, stream, early).await;
                        Attempt::since(begun)
                    }
                    Ok(Opening::Refused(reason)) => {
                        links.failed(&neighbour.id, &links.rejection_by(&neighbour.id, reason));
                        Attempt::Refused
                    }
                    Err(cause) => {
                        links.failed(&neighbour.id, &cause);
                        Attempt::Refused
                    }
                },
                Err(cause) => {
                    links.failed(&neighbour.id, &cause);
                    Attempt::Failed
                }
            };
            backoff.wait(attempt).await;
        }
    });
    Ok(())
}

/// Spawns a task that, while the neighbour that has to open the control connection does not open it, connects to it
/// and asks why.
pub(super) fn ask(links: &Links, neighbour: &Neighbour, tasks: &mut JoinSet<()>) -> Result<(), LiveError> {
    let connector = connector(links, neighbour)?;
    let (links, neighbour) = (links.clone(), neighbour.clone());
    tasks.spawn(async move {
        let mut backoff = links.backoff(&neighbour.id, Connection::Control);
        let mut attempt = Attempt::Lasted;
        loop {
            // The neighbour usually connects within that time.
            tokio::time::sleep(LASTING).await;
            backoff.wait(attempt).await;
            if links.has_session(&neighbour.id) {
                attempt = Attempt::Lasted;
                continue;
            }
            let asked = async {
                let mut stream = connect(&connector, &neighbour.address).await?;
                match first_bytes(&mut stream).await? {
                    Opening::Refused(reason) => Ok(links.rejection_by(&neighbour.id, reason)),
                    Opening::Session(_) => Err("the neighbour does not connect".to_owned()),
                }
            };
            let (cause, next) = match asked.await {
                Ok(cause) => (cause, Attempt::Refused),
                Err(cause) => (cause, Attempt::Failed),
            };
            links.failed(&neighbour.id, &cause);
            attempt = next;
        }
    });
    Ok(())
}

fn connector(links: &Links, neighbour: &Neighbour) -> Result<TlsConnector, LiveError> {
    let expected = ExpectedPeer::Exactly(Subject::Node(neighbour.id.clone()));
    Ok(TlsConnector::from(links.shared.identity.client(expected, CONTROL_PROTOCOL)?))
}

/// How a neighbour answers a control connection.
enum Opening {
    /// With its first frames: the session begins.
    Session(Vec<u8>),
    /// With a goodbye.
    Refused(GoodbyeReason),
}

/// Waits for the first frame of a neighbour. Neighbours send it at once, because it is a ping.
async fn first_bytes<S: AsyncRead + Unpin>(stream: &mut S) -> Result<Opening, String> {
    let reading = async {
        let (mut bytes, mut buffer) = (Vec::new(), vec![0; 4 << 10]);
        loop {
            match stream.read(&mut buffer).await {
                Ok(0) => {
                    return Err("the neighbour closed the connection without a reason: does its configuration list \
                                this node as a neighbour?"
                        .to_owned());
                }
                Ok(count) => bytes.extend_from_slice(&buffer[..count]),
                Err(error) => return Err(super::in_words(&error)),
            }
            let mut framer = Framer::default();
            framer.extend(&bytes);
            match framer.next_frame() {
                Ok(None) => {}
                Ok(Some(frame)) => {
                    return Ok(match decode(frame) {
                        Ok(Envelope { body: Body::Goodbye(goodbye), .. }) => Opening::Refused(goodbye.reason),
                        _ => Opening::Session(bytes),
                    });
                }
                Err(error) => return Err(format!("it does not keep to the protocol: {error}")),
            }
        }
    };
    timeout(FIRST_FRAME_TIMEOUT, reading).await.unwrap_or_else(|_| Err("the neighbour says nothing".to_owned()))
}

/// Ends a connection that this node does not want, and tells the peer why.
pub(super) async fn reject<S: AsyncWrite + Unpin>(mut stream: S, reason: GoodbyeReason) {
    let mut frame = Vec::new();
    let goodbye = Envelope::new(NO_JOURNAL, None, Body::Goodbye(Goodbye { reason }));
    if encode_frame(&goodbye, &mut frame).is_ok() && stream.write_all(&frame).await.is_ok() {
        let _ = stream.shutdown().await;
    }
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
        connector.connect(name, stream).await.map_err(|error| handshake_fault(address, &error))
    };
    timeout(HANDSHAKE_TIMEOUT, connecting).await.unwrap_or_else(|_| Err(format!("{address} does not answer")))
}

/// Why a TLS handshake with the neighbour at an address failed. A connection that merely ends proves nothing about who
/// listens there.
fn handshake_fault(address: &str, error: &io::Error) -> String {
    if super::is_closed(error) {
        return format!("{address} closed the connection during the handshake: is it starting or stopping?");
    }
    format!("{address} is not the neighbour: {}", super::in_words(error))
}

/// Runs a control connection until it ends. `early` are bytes of the neighbour that were read already.
pub(super) async fn run<S>(links: &Links, neighbour: &NodeId, stream: S, early: Vec<u8>)
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
    let cause = read(links, neighbour, session, reader, &early).await;
    links.close(neighbour, session);
    writing.abort();
    links.failed(neighbour, &cause);
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
async fn read<R: AsyncRead + Unpin>(
    links: &Links,
    neighbour: &NodeId,
    session: u64,
    mut reader: R,
    early: &[u8],
) -> String {
    let silence = links.shared.silence;
    let start = Instant::now();
    let mut inward = Inward { links, neighbour, session, framer: Framer::default(), bucket: Bucket::new(), start };
    let mut buffer = vec![0; 16 << 10];
    let mut pings = tokio::time::interval(silence / 3);
    let mut heard = Instant::now();
    if let Err(cause) = inward.take(early).await {
        return cause;
    }
    loop {
        if !links.is_current(neighbour, session) {
            return "another connection replaced this one".to_owned();
        }
        let count = tokio::select! {
            read = reader.read(&mut buffer) => match read {
                Ok(0) => return "the neighbour closed the connection".to_owned(),
                Ok(count) => count,
                Err(error) => return format!("the connection failed: {}", super::in_words(&error)),
            },
            _ = pings.tick() => {
                if heard.elapsed() > silence {
                    return format!("nothing was heard for {} ms", heard.elapsed().as_millis());
                }
                links.send_raw(neighbour, session, Body::Ping(Ping { sent: inward.clock() }));
                continue;
            }
        };
        heard = Instant::now();
        if let Err(cause) = inward.take(&buffer[..count]).await {
            return cause;
        }
    }
}

/// The receiving side of a session.
struct Inward<'a> {
    links: &'a Links,
    neighbour: &'a NodeId,
    session: u64,
    framer: Framer,
    bucket: Bucket,
    start: Instant,
}

impl Inward<'_> {
    fn clock(&self) -> u64 {
        self.start.elapsed().as_micros() as u64
    }

    /// Handles received bytes. Returns an error if the session must end.
    async fn take(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.framer.extend(bytes);
        loop {
            let envelope = match self.framer.next_frame().map(|frame| frame.map(decode)) {
                Ok(Some(Ok(envelope))) => envelope,
                Ok(None) => return Ok(()),
                // A message of a kind that only newer versions know is dropped.
                Ok(Some(Err(error))) if error.is_newer() => continue,
                Ok(Some(Err(error))) => return Err(format!("it does not keep to the protocol: {error}")),
                Err(error) => return Err(format!("it does not keep to the protocol: {error}")),
            };
            self.links.count_received(self.neighbour);
            if let Some(wait) = self.bucket.take() {
                tokio::time::sleep(wait).await;
            }
            self.handle(envelope).await?;
        }
    }

    async fn handle(&self, envelope: Envelope) -> Result<(), String> {
        let Inward { links, neighbour, session, .. } = *self;
        match envelope.body {
            Body::Ping(ping) => {
                let pong = Pong { ping_sent: ping.sent, received: self.clock(), sent: self.clock() };
                links.send_raw(neighbour, session, Body::Pong(pong));
            }
            Body::Pong(pong) if pong.ping_sent == PROBE => links.has_answered(neighbour, session),
            Body::Pong(pong) => {
                if pong.round_trip(self.clock()).is_some_and(|round_trip| links.measured(neighbour, round_trip)) {
                    let _ = links.shared.core.send(Event::Link(LinkEvent::Changed)).await;
                }
            }
            Body::Goodbye(goodbye) => return Err(links.rejection_by(neighbour, goodbye.reason)),
            Body::Colony(_) | Body::Routing(_) => {
                if let (Body::Colony(Message::Hello(_)), Some(theirs)) = (&envelope.body, envelope.versions) {
                    Versions::OURS.agree(theirs).map_err(|error| error.to_string())?;
                }
                let envelope = Box::new(envelope);
                let event = LinkEvent::Received { neighbour: neighbour.clone(), session, envelope };
                links.shared.core.send(Event::Link(event)).await.map_err(|_| "the daemon ends".to_owned())?;
            }
        }
        Ok(())
    }
}

/// The time in a ping that only asks whether the neighbour still answers. No clock of a session reaches it.
const PROBE: u64 = u64::MAX;

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

    /// Whether the neighbour still answers in its current session. A node opens a control connection only after its
    /// last one has ended on its side, so if both exist, there are two nodes.
    pub(super) async fn answers(&self, neighbour: &NodeId) -> bool {
        let probed = self.table().get_mut(neighbour).and_then(|link| {
            let session = link.session.as_mut()?;
            session.has_answered = false;
            Some(session.number)
        });
        let Some(session) = probed else { return false };
        self.send_raw(neighbour, session, Body::Ping(Ping { sent: PROBE }));
        let deadline = Instant::now() + self.shared.silence / 3;
        while Instant::now() < deadline {
            tokio::time::sleep(Duration::from_millis(10)).await;
            let table = self.table();
            let current = table.get(neighbour).and_then(|link| link.session.as_ref());
            match current.filter(|current| current.number == session) {
                None => return false,
                Some(current) if current.has_answered => return true,
                Some(_) => {}
            }
        }
        false
    }

    fn has_answered(&self, neighbour: &NodeId, session: u64) {
        let mut table = self.table();
        let current = table.get_mut(neighbour).and_then(|link| link.session.as_mut());
        if let Some(current) = current.filter(|current| current.number == session) {
            current.has_answered = true;
        }
    }

    fn has_session(&self, neighbour: &NodeId) -> bool {
        self.table().get(neighbour).is_some_and(|link| link.session.is_some())
    }

    /// Why a neighbour rejects this node, in words.
    fn rejection_by(&self, neighbour: &NodeId, reason: GoodbyeReason) -> String {
        let own = &self.shared.node;
        match reason {
            GoodbyeReason::NotListed => not_listed(neighbour, own),
            GoodbyeReason::TwoNodes => {
                if let Some(link) = self.table().get_mut(neighbour) {
                    link.rejected_as_twin_at = Some(Instant::now());
                }
                is_twin(own, neighbour)
            }
            GoodbyeReason::Wait => format!(
                "`{neighbour}` has not connected yet: it reaches this node by the address in its own configuration"
            ),
        }
    }

    fn count_received(&self, neighbour: &NodeId) {
        if let Some(link) = self.table().get_mut(neighbour) {
            link.counts.received += 1;
        }
    }
}

pub(super) fn not_listed(node: &NodeId, neighbour: &NodeId) -> String {
    format!("`{node}` does not list `{neighbour}` as a neighbour")
}

pub(super) fn two_nodes(id: &NodeId) -> String {
    format!("two nodes have the id `{id}`")
}

/// What a node says whose neighbour is connected to another one with its id.
pub(super) fn is_twin(own: &NodeId, neighbour: &NodeId) -> String {
    format!("{}: `{neighbour}` is connected to another one", two_nodes(own))
}

/// What a node that has two neighbours with one id says about the second one.
pub(super) fn another(id: &NodeId) -> String {
    format!("{}: one is connected, and another one tried to connect", two_nodes(id))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_connection_says_nothing_about_who_listens() {
        let closed = handshake_fault("10.0.0.1:7440", &io::ErrorKind::ConnectionReset.into());
        assert!(closed.starts_with("10.0.0.1:7440 closed the connection"), "{closed}");
        let other = handshake_fault("10.0.0.1:7440", &io::Error::other("invalid peer certificate: UnknownIssuer"));
        assert_eq!(other, "10.0.0.1:7440 is not the neighbour: invalid peer certificate: UnknownIssuer");
    }
}
