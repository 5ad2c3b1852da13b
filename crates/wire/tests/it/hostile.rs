//! Tests that mutated bytes fail to decode, or decode to a value that round-trips; that errors name the field; and that
//! bounds are enforced.

use std::sync::Arc;

use mario_colony::routing::{RouteAnnouncement, RoutingMessage, Update};
use mario_colony::{AgentSnapshot, Hello, JournalId, Message, Token, TransferId};
use mario_domain::{ApplicationId, Inhibition, NodeId, Rule};
use mario_wire::{Body, Envelope, FrameTooLong, Framer, bounds, decode, decode_record, encode, encode_record};

use crate::drawn::Draw;

/// The number of mutated messages to decode, and of random byte strings. Half as many mutated records are decoded.
/// `MARIO_WIRE_MUTATIONS` overrides the number.
fn mutations() -> u64 {
    let wanted = std::env::var("MARIO_WIRE_MUTATIONS").ok();
    wanted.and_then(|wanted| wanted.parse().ok()).unwrap_or(40_000)
}

/// Makes one to three random edits: changes, inserts, removes or copies bytes, or truncates the end.
fn mutate(draw: &mut Draw, bytes: &mut Vec<u8>) {
    for _ in 0..=draw.below(3) {
        if bytes.is_empty() {
            return;
        }
        let place = draw.below(bytes.len() as u64) as usize;
        match draw.below(6) {
            0 => bytes[place] ^= 1 << draw.below(8),
            1 => bytes[place] = draw.number() as u8,
            2 => bytes.truncate(place),
            3 => bytes.insert(place, [0, 1, 0x7f, 0x80, 0xff][draw.below(5) as usize]),
            4 => {
                let end = (place + draw.below(20) as usize).min(bytes.len());
                bytes.drain(place..end);
            }
            _ => {
                let end = (place + draw.below(20) as usize).min(bytes.len());
                let piece = bytes[place..end].to_vec();
                let at = draw.below(bytes.len() as u64) as usize;
                bytes.splice(at..at, piece);
            }
        }
    }
}

#[test]
fn mutated_messages_fail_to_decode_or_round_trip() {
    let mut read = 0u64;
    for seed in 0..mutations() {
        let mut draw = Draw::new(seed);
        let mut bytes = Vec::new();
        encode(&draw.envelope(), &mut bytes).expect("drawn values keep their bounds");
        mutate(&mut draw, &mut bytes);
        match decode(&bytes) {
            Ok(envelope) => {
                read += 1;
                let mut again = Vec::new();
                encode(&envelope, &mut again).expect("what was read keeps its bounds");
                assert_eq!(decode(&again).as_ref(), Ok(&envelope), "seed {seed}");
            }
            Err(error) => assert!(error.to_string().starts_with("cannot read "), "seed {seed}"),
        }
    }
    assert!(read > mutations() / 100, "some mutations make other values, {read} did");
}

#[test]
fn mutated_records_fail_to_decode_or_round_trip() {
    for seed in 0..mutations() / 2 {
        let mut draw = Draw::new(seed);
        let mut bytes = Vec::new();
        encode_record(&draw.record(seed % Draw::RECORDS), &mut bytes).expect("drawn values keep their bounds");
        mutate(&mut draw, &mut bytes);
        if let Ok(record) = decode_record(&bytes) {
            let mut again = Vec::new();
            encode_record(&record, &mut again).expect("what was read keeps its bounds");
            assert_eq!(decode_record(&again).as_ref(), Ok(&record), "seed {seed}");
        }
    }
}

#[test]
fn random_bytes_never_decode() {
    for seed in 0..mutations() {
        let mut draw = Draw::new(seed);
        let bytes: Vec<u8> = (0..draw.below(64)).map(|_| draw.number() as u8).collect();
        // An envelope needs a field 1 of sixteen bytes and a field with a body, which these random bytes do not have.
        assert!(decode(&bytes).is_err(), "seed {seed}");
    }
}

#[test]
fn a_truncated_message_never_decodes_as_the_same_kind() {
    for kind in 0..Draw::BODIES {
        let mut draw = Draw::new(kind);
        let envelope = Envelope::new(JournalId(1), None, draw.body(kind));
        let mut bytes = Vec::new();
        encode(&envelope, &mut bytes).expect("drawn values keep their bounds");
        for end in 0..bytes.len() {
            assert!(decode(&bytes[..end]).is_err(), "kind {kind}, {end} of {} bytes", bytes.len());
        }
    }
}

/// Returns the error of encoding a message. Asserts that nothing was written.
fn refused(message: Message) -> String {
    let mut bytes = vec![9];
    let envelope = Envelope::new(JournalId(1), Some(JournalId(2)), Body::Colony(message));
    let error = encode(&envelope, &mut bytes).expect_err("too large");
    assert_eq!(bytes, [9], "nothing is left of it");
    error.to_string()
}

const TRANSFER: TransferId = TransferId { journal: JournalId(1), boot: 0, counter: 0 };

fn hello(open: usize) -> Message {
    Message::Hello(Hello {
        journal: JournalId(1),
        sequence: 0,
        concerning: 0,
        open: vec![TRANSFER; open],
        facts: Vec::new(),
        knows: None,
        held: Vec::new(),
    })
}

#[test]
fn values_beyond_a_bound_are_not_written_and_the_error_names_the_field() {
    assert_eq!(
        refused(hello(bounds::OPEN_TRANSFERS_MAX + 1)),
        "cannot write `body.colony.hello.open`: it has more than 16384 entries"
    );
    let node = NodeId::name(&"n".repeat(bounds::NAME_BYTES_MAX + 1)).expect("a name");
    let inhibition = Inhibition { node, rule: Rule::Down };
    assert_eq!(
        refused(Message::Inhibit { transfer: TRANSFER, inhibition }),
        "cannot write `body.colony.inhibit.inhibition.node`: it has 257 bytes, and at most 256 are allowed"
    );
}

#[test]
fn values_at_a_bound_are_written_and_read() {
    let mut bytes = Vec::new();
    let envelope = Envelope::new(JournalId(1), None, Body::Colony(hello(bounds::OPEN_TRANSFERS_MAX)));
    encode(&envelope, &mut bytes).expect("just within the bound");
    assert_eq!(decode(&bytes), Ok(envelope));
    let update = |routes: usize| {
        let application = ApplicationId::number(1);
        let routes = vec![RouteAnnouncement { application, label: None, names: None }; routes];
        Body::Routing(RoutingMessage::Update(Update { number: 1, is_table: false, routes }))
    };
    let mut written = Vec::new();
    encode(&Envelope::new(JournalId(1), None, update(bounds::ROUTES_MAX)), &mut written).expect("within the bound");
    let mut longer = Vec::new();
    let error = encode(&Envelope::new(JournalId(1), None, update(bounds::ROUTES_MAX + 1)), &mut longer);
    assert!(error.is_err() && longer.is_empty() && decode(&written).is_ok());
    let oversized = vec![0; bounds::FRAME_BYTES_MAX + 1];
    assert_eq!(
        decode(&oversized).expect_err("too long").to_string(),
        "cannot read the whole: it has 1048577 bytes, and at most 1048576 are allowed"
    );
}

#[test]
fn a_list_beyond_its_bound_is_rejected_while_it_is_read() {
    // A snapshot encoded by hand: 4,096 or 4,097 inhibited undeploys with the target `self`, each in field 2.
    let entry = [0x12, 6, 0x08, 1, 0x10, 0, 0x1a, 0];
    for (entries, is_read) in [(bounds::MEMORY_MAX, true), (bounds::MEMORY_MAX + 1, false)] {
        let snapshot = [&[0x08, 0][..], &entry.repeat(entries)].concat();
        let field = |number: u8, content: &[u8]| {
            let mut bytes = vec![number << 3 | 2];
            let mut length = content.len();
            while length >= 0x80 {
                bytes.push(length as u8 | 0x80);
                length >>= 7;
            }
            bytes.push(length as u8);
            [bytes, content.to_vec()].concat()
        };
        let transfer = [field(1, &[0; 16]), vec![0x10, 0, 0x18, 0]].concat();
        let message = field(6, &[field(1, &transfer), field(2, &[0; 16]), field(3, &snapshot), vec![0x20, 0]].concat());
        let bytes = [field(1, &[0; 16]), field(4, &field(1, &message))].concat();
        match decode(&bytes) {
            Ok(envelope) => {
                let Body::Colony(Message::Transfer { snapshot, .. }) = envelope.body else { panic!("another message") };
                assert!(is_read && snapshot.memory.len() == entries);
            }
            Err(error) => {
                assert!(!is_read);
                assert_eq!(
                    error.to_string(),
                    "cannot read `body.colony.transfer.snapshot.memory`: it has more than 4096 entries"
                );
            }
        }
    }
}

#[test]
fn a_long_reason_is_truncated_between_characters() {
    let reason = "é".repeat(bounds::REASON_BYTES_MAX);
    let inhibition = Inhibition { node: NodeId::number(1), rule: Rule::Acceptance { reason } };
    let message = Message::Inhibit { transfer: TRANSFER, inhibition };
    let mut bytes = Vec::new();
    encode(&Envelope::new(JournalId(1), None, Body::Colony(message)), &mut bytes).expect("it is cut");
    let Body::Colony(Message::Inhibit { inhibition, .. }) = decode(&bytes).expect("valid").body else {
        panic!("another message")
    };
    assert_eq!(inhibition.rule, Rule::Acceptance { reason: "é".repeat(bounds::REASON_BYTES_MAX / 2) });
}

#[test]
fn no_node_is_called_self_and_no_name_is_empty() {
    for (name, is_node) in [("self", false), ("", false), ("sel", true)] {
        // The record of a peer with this name, encoded by hand.
        let id = [&[0x12, name.len() as u8][..], name.as_bytes()].concat();
        let peer = [&[0x0a, id.len() as u8][..], &id, &[0x12, 16], &[0; 16], &[0x18, 0]].concat();
        let bytes = [&[1, 0x6a, peer.len() as u8][..], &peer].concat();
        assert_eq!(decode_record(&bytes).is_ok(), is_node, "{name}");
    }
}

#[test]
fn a_frame_that_is_too_long_is_rejected_before_it_arrives() {
    let mut framer = Framer::default();
    framer.extend(&u32::MAX.to_be_bytes());
    let refused = FrameTooLong { bytes: u32::MAX as usize, bytes_max: bounds::FRAME_BYTES_MAX };
    assert_eq!(framer.next_frame(), Err(refused));
    assert_eq!(framer.next_frame(), Err(refused), "and it stays refused");
}

#[test]
fn a_full_memory_fits_into_a_frame() {
    let mut draw = Draw::new(3);
    let snapshot = (0..).find_map(|_| match draw.message(5) {
        Message::Transfer { snapshot, .. } if !snapshot.memory.is_empty() => Some(snapshot),
        _ => None,
    });
    let mut snapshot = AgentSnapshot::clone(&snapshot.expect("some has"));
    let one = snapshot.memory[0].clone();
    snapshot.memory = vec![one; bounds::MEMORY_MAX];
    let message = Message::Transfer {
        transfer: TRANSFER,
        token: Token(1),
        snapshot: Arc::new(snapshot),
        is_anchor: false,
        concerning: 0,
    };
    let mut bytes = Vec::new();
    encode(&Envelope::new(JournalId(1), None, Body::Colony(message)), &mut bytes).expect("it fits");
}
