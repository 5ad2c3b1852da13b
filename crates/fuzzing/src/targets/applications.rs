//! Descriptions of applications, which their owners write and sign.

use std::sync::LazyLock;

use mario_live::application::{ApplicationFile, MAGIC, open_now, sign};
use mario_live::identity::{Authority, Identity, application_id, write_private, write_public};
use mario_policy::PolicyText;

use super::{Outcome, Target};
use crate::scratch::Scratch;

/// The identity of the application `shop`, with keys that are new in each process.
static SHOP: LazyLock<Identity> = LazyLock::new(|| {
    let scratch = Scratch::new("application");
    let authority = Authority::new("harbour", 10).expect("an authority");
    authority.save(scratch.path()).expect("the temporary directory is writable");
    let id = application_id("shop").expect("a name");
    let certified = authority.application(id, vec!["shop.example.org".to_owned()], vec!["/shop".to_owned()]);
    let issued = authority.issue(&certified, 5).expect("issued");
    let [certificate, key] = ["shop.pem", "shop.key"].map(|name| scratch.path().join(name));
    write_public(&certificate, &issued.certificate_pem).expect("the temporary directory is writable");
    write_private(&key, &issued.key_pem).expect("the temporary directory is writable");
    Identity::load(&scratch.path().join("ca.pem"), &certificate, &key).expect("valid")
});

const FILE: &str = r#"
id = "shop"
version = 3
owner = "ada"
hardware = 2
max_rate = 10
max_latency = 2.5
policy = "idle.pl"
hosts = ["Shop.Example.org"]
prefixes = ["/shop"]
facts = { region = "eu", cores = 4, share = 0.5 }

[[flavour]]
id = "full"
hardware = 2
max_rate = 10
max_latency = 2.5
quality = 1

[[flavour]]
id = "lite"
hardware = 1
max_rate = 20
max_latency = 2.5
quality = 0.5

[sleep]
keeps = 1

[run]
driver = "process"
command = ["server", "--port"]
health_path = "/health"
environment = { MODE = "fast" }
from_store = ["TOKEN"]
"#;

const PIECES: &[&str] = &[
    "null",
    "\"\"",
    "1e300",
    "-1",
    "\"MARIO_X\"",
    "\"PORT\"",
    "\"..\"",
    "\"*.example.org\"",
    "[]",
    "{}",
    "\\u0000",
    "true",
];

fn policy() -> PolicyText {
    let files = vec![("idle.pl".to_owned(), "operation(_, _, _) :- fail.".to_owned())];
    PolicyText { name: "idle".to_owned(), files, memory: 0 }
}

/// Reads and signs a text as the description of an application. A signed description must open.
pub(super) const APPLICATION_FILE: Target = Target {
    name: "application_file",
    reads: "the description of an application that an owner writes",
    run: application_file,
    seeds: || vec![FILE.as_bytes().to_vec()],
    pieces: PIECES,
    inputs: 1_000,
};

fn application_file(bytes: &[u8]) -> Outcome {
    let Ok(file) = toml::from_str::<ApplicationFile>(&String::from_utf8_lossy(bytes)) else { return Outcome::Rejected };
    match sign(&file, &policy(), &SHOP) {
        Ok(document) => {
            assert!(open_now(&document, &SHOP).is_ok(), "what was signed can be opened");
            Outcome::Accepted
        }
        Err(fault) => {
            assert!(!fault.to_string().is_empty());
            Outcome::Rejected
        }
    }
}

/// Opens bytes as a signed document. Also signs them as the text of a document and opens that, because a mutated
/// document never has a valid signature.
pub(super) const APPLICATION: Target = Target {
    name: "application",
    reads: "the signed description of an application, as operators and nodes send it",
    run: application,
    seeds: || {
        let file: ApplicationFile = toml::from_str(FILE).expect("an application");
        let text = serde_json::json!({ "file": file, "policy": policy() }).to_string().into_bytes();
        // The certificate is from another authority, and the signature is invalid: keys are random, but seeds must be
        // the same in every process.
        let document = document(&text, &super::file("crates/fuzzing/data/application.der"), &[7; 70]);
        vec![text, document]
    },
    pieces: PIECES,
    inputs: 1_000,
};

/// Joins the parts of a signed document.
fn document(text: &[u8], certificate: &[u8], signature: &[u8]) -> Vec<u8> {
    let mut document = MAGIC.to_vec();
    for part in [text, certificate, signature] {
        document.extend_from_slice(&(part.len() as u32).to_be_bytes());
        document.extend_from_slice(part);
    }
    document
}

fn application(bytes: &[u8]) -> Outcome {
    let signature = SHOP.sign(bytes).expect("a key signs any bytes");
    let signed = document(bytes, SHOP.certificate(), &signature);
    let results = [open_now(bytes, &SHOP), open_now(&signed, &SHOP)];
    for fault in results.iter().filter_map(|result| result.as_ref().err()) {
        assert!(!fault.to_string().is_empty());
    }
    Outcome::of(results.iter().any(Result::is_ok))
}
