//! Tests that the encoded bytes of version 1 are unchanged. They must not change once version 1 is released, because
//! nodes of the next version must read them.

use std::fmt::Write;
use std::path::Path;

use mario_colony::JournalId;
use mario_testing::check_stored;
use mario_wire::{Envelope, decode, decode_record, encode, encode_record};

use crate::drawn::Draw;

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/version-1.txt");

/// One line for each kind of message and record that [`Draw`] generates: its number, and its bytes in hexadecimal.
fn lines() -> String {
    let mut text = String::new();
    for kind in 0..Draw::BODIES {
        let envelope = Envelope::new(JournalId(7), Some(JournalId(8)), Draw::new(kind + 40).body(kind));
        let mut bytes = Vec::new();
        encode(&envelope, &mut bytes).expect("drawn values keep their bounds");
        assert_eq!(decode(&bytes), Ok(envelope));
        line(&mut text, "message", kind, &bytes);
    }
    for kind in 0..Draw::RECORDS {
        let record = Draw::new(kind + 70).record(kind);
        let mut bytes = Vec::new();
        encode_record(&record, &mut bytes).expect("drawn values keep their bounds");
        assert_eq!(decode_record(&bytes), Ok(record));
        line(&mut text, "record", kind, &bytes);
    }
    text
}

fn line(text: &mut String, sort: &str, kind: u64, bytes: &[u8]) {
    let _ = write!(text, "{sort} {kind} ");
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text.push('\n');
}

#[test]
fn the_bytes_of_version_1_are_unchanged() {
    check_stored(Path::new(PATH), &lines(), "UPDATE_GOLDEN");
}
