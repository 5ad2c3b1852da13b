//! The content of one frame: sender, receiver and message.

use std::sync::Arc;

use mario_colony::routing::{
    CERTIFICATE_BYTES_MAX, NAMES_MAX, Names, RouteAnnouncement, RouteLabel, RoutingMessage, SequenceRequest, Update,
};
use mario_colony::{
    AgentSnapshot, Descriptor, Epoch, HELD_MAX, HeldInstance, Hello, JournalId, Message, PeerRecord, Prepare, Token,
    TransferId, TransferKind,
};
use mario_domain::{ApplicationId, Fact, FlavourIndex, Inhibition, InstanceId, Wakefulness};

use crate::bounds::{FACTS_MAX, FRAME_BYTES_MAX, NAME_BYTES_MAX, OPEN_TRANSFERS_MAX, ROUTES_MAX};
use crate::error::{DecodeError, EncodeError, Problem};
use crate::raw::{Content, Fields, put_nested};
use crate::schema::{
    Bits128, Codec, Flag, List, Nested, Octets, Optional, OrDefault, Page, Presence, Required, Row, Schema, Text,
    Unknown, Unsigned, Word, alternatives, message, read_fields, row, slot, write_fields,
};
use crate::versions::Versions;

/// The content of one frame.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Envelope {
    /// The journal of the sending node. Not meaningful in a ping or a pong.
    pub sender: JournalId,
    /// The journal that the sender expects the receiver to have; `None` in hellos, routing messages, pings and pongs.
    pub receiver: Option<JournalId>,
    /// The versions that the sender speaks. Present only in a hello.
    pub versions: Option<Versions>,
    /// The hybrid logical clock of the sender: milliseconds since 1970 times 65,536, plus a counter. Used only to
    /// order traces; `None` in routing messages, pings and pongs.
    pub clock: Option<u64>,
    /// The message.
    pub body: Body,
}

/// The message of an envelope.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Body {
    /// A message of the transfer protocol, or a hello.
    Colony(Message),
    /// A message of the routing protocol.
    Routing(RoutingMessage),
    /// Asks for an immediate pong.
    Ping(Ping),
    /// Answers a ping.
    Pong(Pong),
    /// Says why the sender closes the connection.
    Goodbye(Goodbye),
}

/// Says why the sender closes the connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Goodbye {
    /// The reason.
    pub reason: GoodbyeReason,
}

/// Why a node closes a connection of a neighbour.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GoodbyeReason {
    /// The node does not list the other as a neighbour.
    NotListed,
    /// A node with the id of the other is connected already, and answers.
    TwoNodes,
    /// The other must wait until this node connects, because its id is the greater one.
    Wait,
}

/// Asks for an immediate pong, to measure the round-trip time without synchronised clocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ping {
    /// When the ping was sent, in microseconds of the sender's own clock.
    pub sent: u64,
}

/// Answers a ping. The round-trip time is the time since the ping was sent, minus the time that the answering node held
/// the ping.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pong {
    /// Copied from [`Ping::sent`].
    pub ping_sent: u64,
    /// When the ping arrived, in microseconds of the answering node's own clock.
    pub received: u64,
    /// When the pong was sent, in microseconds of the same clock.
    pub sent: u64,
}

impl Pong {
    /// The round-trip time in microseconds. `now` is the arrival of the pong by the clock of the ping's sender. `None`
    /// if the timestamps contradict each other.
    pub fn round_trip(self, now: u64) -> Option<u64> {
        let held = self.sent.checked_sub(self.received)?;
        now.checked_sub(self.ping_sent)?.checked_sub(held)
    }
}

impl Envelope {
    /// An envelope around a message, without a clock. A hello carries the versions of this build.
    pub fn new(sender: JournalId, receiver: Option<JournalId>, body: Body) -> Envelope {
        let versions = matches!(body, Body::Colony(Message::Hello(_))).then_some(Versions::OURS);
        Envelope { sender, receiver, versions, clock: None, body }
    }
}

/// Appends an envelope to `out`; on an error, `out` is unchanged.
pub fn encode(envelope: &Envelope, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let start = out.len();
    let written = envelope.write(out).and_then(|()| {
        let bytes = out.len() - start;
        if bytes > FRAME_BYTES_MAX {
            return Err(Problem::TooLong { bytes, bytes_max: FRAME_BYTES_MAX }.into());
        }
        Ok(())
    });
    if written.is_err() {
        out.truncate(start);
    }
    written
}

/// Decodes the envelope that takes all of `bytes`. Never panics, whatever the input.
///
/// If the error [is newer](DecodeError::is_newer), the message contains an alternative that this version does not know,
/// such as a new kind of message. The caller should drop such a message, and end the session on any other error.
pub fn decode(bytes: &[u8]) -> Result<Envelope, DecodeError> {
    if bytes.len() > FRAME_BYTES_MAX {
        return Err(Problem::TooLong { bytes: bytes.len(), bytes_max: FRAME_BYTES_MAX }.into());
    }
    let envelope = Envelope::read(Fields::new(bytes), Unknown::Skip)?;
    if matches!(envelope.body, Body::Colony(Message::Hello(_))) && envelope.versions.is_none() {
        return Err(DecodeError::from(Problem::Missing).inside("versions"));
    }
    Ok(envelope)
}

message! { Envelope {
    1 sender: JournalId = Required(Bits128),
    2 receiver: Option<JournalId> = Optional(Bits128),
    3 versions: Option<Versions> = Optional(Nested),
    4 body: Body = Required(Nested),
    5 clock: Option<u64> = Optional(Unsigned),
} }

message! { Versions { 1 min: u32 = Required(Unsigned), 2 max: u32 = Required(Unsigned) } }

alternatives! { Body {
    values {
        1 colony: Colony(Message) = Nested,
        2 routing: Routing(RoutingMessage) = Nested,
        3 ping: Ping(Ping) = Nested,
        4 pong: Pong(Pong) = Nested,
        5 goodbye: Goodbye(Goodbye) = Nested,
    }
    fields {}
} }

message! { Ping { 1 sent: u64 = Required(Unsigned) } }

message! { Pong {
    1 ping_sent: u64 = Required(Unsigned),
    2 received: u64 = Required(Unsigned),
    3 sent: u64 = Required(Unsigned),
} }

const GOODBYE_REASON: Word<GoodbyeReason> = Word(&[
    (0, "not listed", GoodbyeReason::NotListed),
    (1, "two nodes", GoodbyeReason::TwoNodes),
    (2, "wait", GoodbyeReason::Wait),
]);

message! { Goodbye { 1 reason: GoodbyeReason = Required(GOODBYE_REASON) } }

alternatives! { Message {
    values {
        1 hello: Hello(Hello) = Nested,
        2 prepare: Prepare(Arc<Prepare>) = Nested,
    }
    fields {
        3 ready: Ready { 1 transfer: TransferId = Required(Nested), 2 token: Token = Required(Bits128) },
        4 inhibit: Inhibit {
            1 transfer: TransferId = Required(Nested),
            2 inhibition: Inhibition = Required(Nested),
        },
        5 abort: Abort { 1 transfer: TransferId = Required(Nested) },
        6 transfer: Transfer {
            1 transfer: TransferId = Required(Nested),
            2 token: Token = Required(Bits128),
            3 snapshot: Arc<AgentSnapshot> = Required(Nested),
            4 concerning: u64 = Required(Unsigned),
            5 is_anchor: bool = OrDefault(Flag),
        },
        7 taken: Taken { 1 transfer: TransferId = Required(Nested), 2 concerning: u64 = Required(Unsigned) },
        8 not_taken: NotTaken { 1 transfer: TransferId = Required(Nested) },
        9 forget: Forget { 1 transfer: TransferId = Required(Nested) },
    }
} }

message! { Hello {
    1 journal: JournalId = Required(Bits128),
    2 sequence: u64 = Required(Unsigned),
    3 open: Vec<TransferId> = List(Nested, OPEN_TRANSFERS_MAX),
    4 facts: Vec<Fact> = List(Nested, FACTS_MAX),
    5 concerning: u64 = Required(Unsigned),
    6 knows: Option<PeerRecord> = Optional(Nested),
    7 held: Vec<HeldInstance> = List(Nested, HELD_MAX),
} }

message! { HeldInstance { 1 instance: InstanceId = Required(Nested), 2 epoch: Epoch = Required(Unsigned) } }

const KIND: Word<TransferKind> =
    Word(&[(0, "migrate", TransferKind::Migrate), (1, "replicate", TransferKind::Replicate)]);

message! { Prepare {
    1 transfer: TransferId = Required(Nested),
    2 kind: TransferKind = Required(KIND),
    3 instance: InstanceId = Required(Nested),
    4 asked_by: InstanceId = Required(Nested),
    5 epoch: Epoch = Required(Unsigned),
    6 descriptor: Arc<Descriptor> = Required(Nested),
    7 replications_left: Option<u32> = Optional(Unsigned),
    8 snapshot_bytes: u64 = Required(Unsigned),
    9 flavour: FlavourIndex = OrDefault(Unsigned),
    10 wakefulness: Wakefulness = OrDefault(Flag),
} }

alternatives! { RoutingMessage {
    values {
        1 update: Update(Update) = Nested,
        2 request: Request(SequenceRequest) = Nested,
    }
    fields { 3 repeat: Repeat {} }
} }

message! { Update {
    1 number: u64 = Required(Unsigned),
    2 is_table: bool = Required(Flag),
    3 routes: Vec<RouteAnnouncement> = List(Nested, ROUTES_MAX),
} }

message! { RouteAnnouncement {
    1 application: ApplicationId = Required(Nested),
    2 label: Option<RouteLabel> = Optional(Nested),
    3 names: Option<Arc<Names>> = Optional(Nested),
} }

message! { Names {
    1 version: u64 = Required(Unsigned),
    2 hosts: Vec<String> = List(Text(NAME_BYTES_MAX), NAMES_MAX),
    3 prefixes: Vec<String> = List(Text(NAME_BYTES_MAX), NAMES_MAX),
    4 certificate: Arc<[u8]> = Required(Octets(CERTIFICATE_BYTES_MAX)),
} }

message! { SequenceRequest {
    1 application: ApplicationId = Required(Nested),
    2 sequence: u64 = Required(Unsigned),
    3 hops_left: u8 = Required(Unsigned),
} }

message! { RouteLabel { 1 sequence: u64 = Required(Unsigned), 2 metric: u32 = Required(Unsigned) } }
