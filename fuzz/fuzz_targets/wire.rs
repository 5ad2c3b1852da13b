//! Decodes arbitrary bytes as a message between nodes, as a record of a journal and as a ledger: each must yield a
//! value that encodes to what was read, or an error with its position.
//!
//! `cargo +nightly fuzz run wire`

#![no_main]

use libfuzzer_sys::fuzz_target;
use mario_wire::{Framer, decode, decode_ledger, decode_record, encode, encode_ledger, encode_record};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(envelope) = decode(bytes) {
        let mut again = Vec::new();
        encode(&envelope, &mut again).expect("what was read keeps its bounds");
        assert_eq!(decode(&again), Ok(envelope));
    }
    if let Ok(record) = decode_record(bytes) {
        let mut again = Vec::new();
        encode_record(&record, &mut again).expect("what was read keeps its bounds");
        assert_eq!(decode_record(&again), Ok(record));
    }
    if let Ok(ledger) = decode_ledger(bytes) {
        let mut again = Vec::new();
        encode_ledger(&ledger, &mut again).expect("what was read keeps its bounds");
        assert_eq!(decode_ledger(&again), Ok(ledger));
    }
    let mut framer = Framer::default();
    for piece in bytes.chunks(7) {
        framer.extend(piece);
        while let Ok(Some(frame)) = framer.next_frame() {
            let _ = decode(frame);
        }
    }
});
