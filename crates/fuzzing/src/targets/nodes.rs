//! Messages from other nodes to a live node, certificates, and the node's configuration.

use std::path::Path;

use mario_live::config::NodeConfig;
use mario_live::identity::CertificateContent;
use mario_wire::{Framer, decode, decode_ledger, decode_record, encode, encode_ledger, encode_record};
use rustls::pki_types::CertificateDer;

use super::{Outcome, Target, file, files};

/// Decodes bytes as a message between nodes, as a journal record and as a ledger. A decoded value must encode without
/// an error, and decode again to an equal value.
pub(super) const WIRE: Target = Target {
    name: "wire",
    reads: "messages between nodes, records of a journal and ledgers",
    run: wire,
    seeds: || {
        let text = String::from_utf8(file("crates/wire/tests/it/version-1.txt")).expect("text");
        text.lines().filter_map(|line| line.split(' ').nth(2)).map(bytes_of_hexadecimal).collect()
    },
    pieces: &[],
    inputs: 10_000,
};

fn bytes_of_hexadecimal(digits: &str) -> Vec<u8> {
    let pairs = digits.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(str::from_utf8(pair).expect("ASCII"), 16).expect("two digits")).collect()
}

fn wire(bytes: &[u8]) -> Outcome {
    let mut is_accepted = false;
    if let Ok(envelope) = decode(bytes) {
        is_accepted = true;
        let mut again = Vec::new();
        encode(&envelope, &mut again).expect("what was read keeps its bounds");
        assert_eq!(decode(&again), Ok(envelope));
    }
    if let Ok(record) = decode_record(bytes) {
        is_accepted = true;
        let mut again = Vec::new();
        encode_record(&record, &mut again).expect("what was read keeps its bounds");
        assert_eq!(decode_record(&again), Ok(record));
    }
    if let Ok(ledger) = decode_ledger(bytes) {
        is_accepted = true;
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
    Outcome::of(is_accepted)
}

/// Reads a text as `node.toml`. The result must be a configuration, or errors with positions inside the text.
pub(super) const NODE_CONFIG: Target = Target {
    name: "node_config",
    reads: "`node.toml`",
    run: node_config,
    seeds: || vec![NODE_TOML.as_bytes().to_vec()],
    pieces: &[
        "[",
        "]",
        "\"",
        "=",
        "\n",
        "é",
        "999999999999999999999",
        "nan",
        "[[tls]]\n",
        "{",
        "\0",
        "id",
        "# ",
        "[timing]\nsilence_ms = 5\n",
    ],
    inputs: 4_000,
};

const NODE_TOML: &str = r#"
id = "edge-1"
capacity = 8
facts = { zone = "north", floor = 3 }

[listen]
links = "127.0.0.1:0"
ingress = "127.0.0.1:0"
operators = "127.0.0.1:0"

[identity]
authority = "ca.pem"
certificate = "edge-1.pem"
key = "edge-1.key"

[timing]
evaluation_ms = 400

[[neighbours]]
id = "edge-2"
address = "127.0.0.1:7440"
"#;

fn node_config(bytes: &[u8]) -> Outcome {
    let text = String::from_utf8_lossy(bytes);
    match NodeConfig::read("node.toml", &text, Path::new("/nowhere")) {
        Ok(_) => Outcome::Accepted,
        Err(error) => {
            assert!(!error.mistakes.is_empty(), "an error without a mistake");
            for mistake in error.mistakes {
                assert!(!mistake.message.is_empty());
                let span = mistake.place.as_ref().map_or(0..0, |place| place.span.clone());
                assert!(text.get(span).is_some(), "{mistake:?} points into a character or beyond the text");
            }
            Outcome::Rejected
        }
    }
}

/// Reads bytes as a DER certificate, and extracts its subject and claims.
pub(super) const CERTIFICATE: Target = Target {
    name: "certificate",
    reads: "the claims of a certificate",
    run: certificate,
    seeds: || files("crates/fuzzing/data", ".der"),
    pieces: &["spiffe://", "/node/", "/operator/", "/application/", "*."],
    inputs: 3_000,
};

fn certificate(bytes: &[u8]) -> Outcome {
    match CertificateContent::read(&CertificateDer::from(bytes)) {
        Ok(certified) => {
            assert!(certified.uri().starts_with("spiffe://"), "{certified:?}");
            Outcome::Accepted
        }
        Err(fault) => {
            assert!(!fault.to_string().is_empty());
            Outcome::Rejected
        }
    }
}
