//! Tests that encoded values decode to the same values, and that values of newer versions are skipped or rejected.

use std::sync::Arc;

use mario_colony::rules::RememberedOperation;
use mario_colony::{AgentSnapshot, Descriptor, JournalId, JournalRecord, Ledger, Message, Prepare, Token, TransferId};
use mario_domain::{
    AgentOperation, Capacity, Flavour, FlavourId, FlavourIndex, Hardware, HardwareKind, Inhibition, NodeId, Quantity,
    Rule, Sleep, Target, Wakefulness,
};
use mario_wire::{
    Body, Envelope, Framer, Ping, Pong, Problem, RECORD_FORMAT, decode, decode_ledger, decode_record, encode,
    encode_frame, encode_ledger, encode_record,
};

use crate::drawn::Draw;

fn encoded(envelope: &Envelope) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode(envelope, &mut bytes).expect("drawn values keep their bounds");
    bytes
}

#[test]
fn every_generated_envelope_round_trips() {
    for seed in 0..3_000 {
        let envelope = Draw::new(seed).envelope();
        let bytes = encoded(&envelope);
        assert_eq!(decode(&bytes).as_ref(), Ok(&envelope), "seed {seed}");
        assert_eq!(encoded(&envelope), bytes, "seed {seed}");
    }
}

#[test]
fn the_past_of_an_agent_round_trips() {
    for seed in 0..500 {
        let snapshot = Draw::new(seed).past();
        let transfer = TransferId { journal: JournalId(7), boot: 1, counter: 2 };
        let message = Message::Transfer { transfer, token: Token(9), snapshot, is_anchor: false, concerning: 1 };
        let envelope = Envelope::new(JournalId(7), Some(JournalId(8)), Body::Colony(message));
        assert_eq!(decode(&encoded(&envelope)), Ok(envelope), "seed {seed}");
    }
}

#[test]
fn hardware_of_several_kinds_round_trips() {
    let hardware = Hardware::units(3).with(HardwareKind::MemoryMb, 2_048).expect("counted");
    let free = Capacity::Bounded(Hardware::NONE.with(HardwareKind::Gpu, 1).expect("counted"));
    let rule = Rule::Capacity { needed: hardware, free };
    let inhibition = Inhibition { node: NodeId::number(3), rule };
    let transfer = TransferId { journal: JournalId(7), boot: 1, counter: 2 };
    let body = Body::Colony(Message::Inhibit { transfer, inhibition });
    let envelope = Envelope::new(JournalId(7), Some(JournalId(8)), body);
    assert_eq!(decode(&encoded(&envelope)), Ok(envelope));
}

#[test]
fn flavours_round_trip() {
    let flavour = |name: &str, units: u64| Flavour {
        id: FlavourId::name(name).expect("a name"),
        hardware: Hardware::units(units).with(HardwareKind::Gpu, units % 2).expect("counted"),
        max_rate: Quantity::whole(7),
        max_latency: Quantity::fraction(2.5).expect("finite"),
        quality: Quantity::fraction(0.5).expect("finite"),
    };
    for seed in 0..200 {
        let mut draw = Draw::new(seed);
        // `Prepare` is the only message with a descriptor.
        let Message::Prepare(drawn) = draw.message(1) else { panic!("not what was drawn") };
        let mut descriptor = Descriptor::clone(&drawn.descriptor);
        descriptor.application.flavours = vec![flavour("full", seed), flavour("lite", 1), flavour("self", 0)];
        let prepare = Prepare { descriptor: Arc::new(descriptor), flavour: FlavourIndex(2), ..Prepare::clone(&drawn) };
        let transfer = prepare.transfer;
        let target = Target::Flavour(FlavourId::number(seed as i64));
        let adapted = RememberedOperation { evaluation: 3, operation: AgentOperation::Adapt, target };
        let snapshot = AgentSnapshot { memory: vec![adapted], ..AgentSnapshot::default() };
        let rule = Rule::Flavour { flavour: FlavourId::name("huge").expect("a name") };
        for message in [
            Message::Prepare(Arc::new(prepare)),
            Message::Transfer {
                transfer,
                token: Token(9),
                snapshot: Arc::new(snapshot),
                is_anchor: false,
                concerning: 5,
            },
            Message::Inhibit { transfer, inhibition: Inhibition { node: NodeId::number(3), rule } },
        ] {
            let envelope = Envelope::new(JournalId(7), Some(JournalId(8)), Body::Colony(message));
            assert_eq!(decode(&encoded(&envelope)), Ok(envelope), "seed {seed}");
        }
        let JournalRecord::Own { mut owned, cause } = draw.record(1) else { panic!("not what was drawn") };
        owned.flavour = FlavourIndex(seed as u16);
        let record = JournalRecord::Own { owned, cause };
        let mut bytes = Vec::new();
        encode_record(&record, &mut bytes).expect("drawn values keep their bounds");
        assert_eq!(decode_record(&bytes), Ok(record), "seed {seed}");
    }
}

#[test]
fn anchors_round_trip_and_only_they_need_the_newer_format() {
    for seed in 0..200 {
        let mut draw = Draw::new(seed);
        let Message::Transfer { transfer, token, snapshot, concerning, .. } = draw.message(5) else {
            panic!("not what was drawn")
        };
        let sent = [false, true].map(|is_anchor| {
            let snapshot = Arc::clone(&snapshot);
            let message = Message::Transfer { transfer, token, snapshot, is_anchor, concerning };
            let envelope = Envelope::new(JournalId(7), Some(JournalId(8)), Body::Colony(message));
            let bytes = encoded(&envelope);
            assert_eq!(decode(&bytes), Ok(envelope), "seed {seed}");
            bytes
        });
        assert!(sent[0].len() < sent[1].len(), "a transfer of another instance has the bytes of older versions");
        let JournalRecord::Own { mut owned, cause } = draw.record(1) else { panic!("not what was drawn") };
        for is_anchor in [false, true] {
            owned.is_anchor = is_anchor;
            let instance = owned.instance.clone();
            let mut ledger = Ledger::default();
            for record in [
                JournalRecord::Own { owned: owned.clone(), cause: cause.clone() },
                JournalRecord::Anchored { instance: instance.clone(), is_anchor },
            ] {
                let mut bytes = Vec::new();
                encode_record(&record, &mut bytes).expect("drawn values keep their bounds");
                let is_newer = is_anchor || matches!(record, JournalRecord::Anchored { .. });
                assert_eq!(u64::from(bytes[0]), if is_newer { RECORD_FORMAT } else { 1 }, "seed {seed}");
                ledger.apply(&record);
                assert_eq!(decode_record(&bytes), Ok(record), "seed {seed}");
            }
            let mut bytes = Vec::new();
            encode_ledger(&ledger, &mut bytes).expect("drawn values keep their bounds");
            assert_eq!(u64::from(bytes[0]), if is_anchor { RECORD_FORMAT } else { 1 }, "seed {seed}");
            assert_eq!(decode_ledger(&bytes), Ok(ledger), "seed {seed}");
        }
    }
}

#[test]
fn sleepers_round_trip() {
    for seed in 0..200 {
        let mut draw = Draw::new(seed);
        let Message::Prepare(drawn) = draw.message(1) else { panic!("not what was drawn") };
        let mut descriptor = Descriptor::clone(&drawn.descriptor);
        let start = Quantity::fraction(seed as f64 / 4.0).expect("finite");
        descriptor.application.sleep = Some(Sleep { keeps: Hardware::units(seed), start });
        let (descriptor, wakefulness) = (Arc::new(descriptor), Wakefulness::Asleep);
        let prepare = Prepare { descriptor: Arc::clone(&descriptor), wakefulness, ..Prepare::clone(&drawn) };
        let transfer = prepare.transfer;
        let done = |operation| RememberedOperation { evaluation: 3, operation, target: Target::Own };
        let memory = [AgentOperation::Sleep, AgentOperation::Wake].map(done).to_vec();
        let snapshot = Arc::new(AgentSnapshot { memory, ..AgentSnapshot::default() });
        let inhibit = |rule| {
            let inhibition = Inhibition { node: NodeId::number(3), rule };
            Message::Inhibit { transfer, inhibition }
        };
        for message in [
            Message::Prepare(Arc::new(prepare)),
            Message::Transfer { transfer, token: Token(9), snapshot, is_anchor: false, concerning: 5 },
            inhibit(Rule::Asleep),
            inhibit(Rule::Awake),
            inhibit(Rule::Sleepless),
        ] {
            let envelope = Envelope::new(JournalId(7), Some(JournalId(8)), Body::Colony(message));
            assert_eq!(decode(&encoded(&envelope)), Ok(envelope), "seed {seed}");
        }
        let JournalRecord::Own { mut owned, cause } = draw.record(1) else { panic!("not what was drawn") };
        let instance = owned.instance.clone();
        (owned.wakefulness, owned.descriptor) = (wakefulness, descriptor);
        for record in [
            JournalRecord::Own { owned, cause },
            JournalRecord::Slept { instance: instance.clone() },
            JournalRecord::Woke { instance },
            JournalRecord::Drained { is_draining: seed % 2 == 0 },
        ] {
            let mut bytes = Vec::new();
            encode_record(&record, &mut bytes).expect("drawn values keep their bounds");
            assert_eq!(decode_record(&bytes), Ok(record), "seed {seed}");
        }
    }
}

#[test]
fn every_generated_record_round_trips() {
    for seed in 0..3_000 {
        let record = Draw::new(seed).record(seed % Draw::RECORDS);
        let mut bytes = vec![1, 2, 3];
        encode_record(&record, &mut bytes).expect("drawn values keep their bounds");
        assert_eq!(decode_record(&bytes[3..]), Ok(record), "seed {seed}");
    }
}

#[test]
fn frames_are_split_from_a_stream_that_arrives_in_pieces() {
    let envelopes: Vec<Envelope> = (0..200).map(|seed| Draw::new(seed).envelope()).collect();
    let mut stream = Vec::new();
    for envelope in &envelopes {
        encode_frame(envelope, &mut stream).expect("drawn values keep their bounds");
    }
    let longest = envelopes.iter().map(|envelope| encoded(envelope).len()).max().expect("some");
    for seed in 0..20 {
        let (mut draw, mut framer, mut read, mut rest) = (Draw::new(seed), Framer::default(), Vec::new(), &stream[..]);
        while !rest.is_empty() {
            let (piece, after) = rest.split_at((1 + draw.below(500) as usize).min(rest.len()));
            framer.extend(piece);
            while let Some(frame) = framer.next_frame().expect("short enough") {
                read.push(decode(frame).expect("as it was written"));
            }
            assert!(framer.held() <= longest + 4, "a frame that is complete is taken out");
            rest = after;
        }
        assert_eq!(read, envelopes);
        assert_eq!(framer.held(), 0);
    }
}

#[test]
fn fields_of_newer_versions_are_skipped_in_messages() {
    let newer = [
        [&[0x98, 0x06, 0x05][..], b"".as_slice()].concat(),
        [&[0x9a, 0x06, 0x03][..], b"new".as_slice()].concat(),
        [&[0x99, 0x06][..], &[0; 8]].concat(),
        [&[0x9d, 0x06][..], &[0; 4]].concat(),
    ];
    for seed in 0..300 {
        let envelope = Draw::new(seed).envelope();
        for field in &newer {
            let mut bytes = encoded(&envelope);
            bytes.extend_from_slice(field);
            assert_eq!(decode(&bytes).as_ref(), Ok(&envelope), "seed {seed}");
        }
    }
}

#[test]
fn messages_of_newer_kinds_are_distinguished_from_garbage() {
    let envelope = Envelope::new(JournalId(1), None, Body::Ping(Ping { sent: 5 }));
    let mut bytes = encoded(&envelope);
    // The body is the last field. Its alternative is changed from number 3 to number 9.
    let place = bytes.len() - 4;
    assert_eq!(bytes[place], 3 << 3 | 2);
    bytes[place] = 9 << 3 | 2;
    let error = decode(&bytes).expect_err("unknown");
    assert!(error.is_newer());
    assert_eq!(error.to_string(), "cannot read `body`: alternative 9 is unknown to this version");
    assert!(!decode(b"GET / HTTP/1.1\r\n").expect_err("garbage").is_newer());
}

#[test]
fn a_journal_of_a_newer_format_is_rejected() {
    for kind in 0..Draw::RECORDS {
        let mut bytes = Vec::new();
        encode_record(&Draw::new(kind).record(kind), &mut bytes).expect("drawn values keep their bounds");
        let mut newer = bytes.clone();
        newer[0] = RECORD_FORMAT as u8 + 1;
        let error = decode_record(&newer).expect_err("a newer format");
        assert_eq!(error.problem(), &Problem::UnknownFormat { format: RECORD_FORMAT + 1, format_max: RECORD_FORMAT });
        assert!(error.is_newer());
        // An unknown field, which would be skipped in a message.
        bytes.extend_from_slice(&[0x98, 0x06, 0x05]);
        assert!(decode_record(&bytes).expect_err("a newer field").is_newer());
    }
    assert_eq!(
        decode_record(&[0]).expect_err("no format").problem(),
        &Problem::UnknownFormat { format: 0, format_max: RECORD_FORMAT }
    );
}

#[test]
fn only_a_hello_carries_versions_and_every_hello_does() {
    let hello = Envelope::new(JournalId(1), None, Body::Colony(Message::Hello(Draw::new(1).hello())));
    assert!(hello.versions.is_some());
    let silent = Envelope { versions: None, ..hello };
    assert_eq!(
        decode(&encoded(&silent)).expect_err("which versions?").to_string(),
        "cannot read `versions`: it is missing"
    );
    assert_eq!(Envelope::new(JournalId(1), None, Body::Ping(Ping { sent: 0 })).versions, None);
}

#[test]
fn a_round_trip_excludes_the_time_that_the_neighbour_held_the_ping() {
    let pong = Pong { ping_sent: 1_000, received: 77_000, sent: 77_400 };
    assert_eq!(pong.round_trip(2_000), Some(600));
    assert_eq!(pong.round_trip(1_399), None, "the neighbour held it longer than it took");
    assert_eq!(pong.round_trip(999), None, "the own clock went back");
    assert_eq!(Pong { sent: 76_999, ..pong }.round_trip(2_000), None, "the neighbour's clock went back");
}

#[test]
fn a_ledger_round_trips_and_a_mutated_one_fails_or_round_trips() {
    for seed in 0..200 {
        let mut draw = Draw::new(seed);
        let mut ledger = Ledger::default();
        for _ in 0..30 {
            let kind = draw.below(Draw::RECORDS);
            ledger.apply(&draw.record(kind));
        }
        let mut bytes = Vec::new();
        encode_ledger(&ledger, &mut bytes).expect("drawn values keep their bounds");
        assert_eq!(decode_ledger(&bytes).as_ref(), Ok(&ledger), "seed {seed}");
        for _ in 0..20 {
            let mut changed = bytes.clone();
            let place = draw.below(changed.len() as u64) as usize;
            changed[place] ^= 1 << draw.below(8);
            if let Err(error) = decode_ledger(&changed) {
                assert!(error.to_string().starts_with("cannot read "), "{error}");
            }
        }
    }
}
