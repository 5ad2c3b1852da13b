use mario_prolog::Engine;
use mario_testing::{Scratch, check_stored};

use super::*;
use crate::identity::{Authority, write_private, write_public};

const TEXT: &str = r#"
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

[[neighbours]]
id = "edge-2"
address = "127.0.0.1:7440"
"#;

fn read(text: &str) -> Result<NodeConfig, ConfigError> {
    NodeConfig::read("node.toml", text, Path::new("/etc/mario"))
}

#[test]
fn a_minimal_file_is_enough_and_paths_are_relative_to_it() {
    let config = read(TEXT).expect("valid");
    assert_eq!(config.node, NodeId::name("edge-1").expect("a name"));
    assert_eq!(config.data, Path::new("/etc/mario/data"));
    assert_eq!(config.identity.key, Path::new("/etc/mario/edge-1.key"));
    assert_eq!(config.evaluation_period(), Duration::from_secs(5));
    assert_eq!(config.facts.len(), 2);
}

#[test]
fn every_error_is_reported_with_its_position() {
    // The text to replace, its replacement, the expected message, and the expected position.
    let cases = [
        ("id = \"edge-1\"\nc", "id = \"edge 1\"\nc", "cannot be called", "\"edge 1\""),
        ("capacity = 8", "capacity = \"many\"", "expected a whole number that is not negative", "\"many\""),
        ("capacity = 8", "capacity = 8\ncolour = 1", "unknown key `colour`", "colour"),
        ("links = \"127.0.0.1:0\"", "links = \"here\"", "not an address with a port", "\"here\""),
        ("id = \"edge-2\"", "id = \"edge-1\"", "not its own neighbour", "\"edge-1\""),
        ("address = \"127.0.0.1:7440\"", "address = \"nowhere\"", "not a host and a port", "\"nowhere\""),
        (
            "[[neighbours]]",
            "[timing]\nsilence_ms = 5\n[[neighbours]]",
            "`silence_ms` must be from 300 to 60000, not 5",
            "5",
        ),
        (
            "[[neighbours]]",
            "[workloads]\ndrivers = [\"magic\"]\n[[neighbours]]",
            "`magic` is not a driver",
            "\"magic\"",
        ),
        ("[[neighbours]]", "[[tls]]\ncertificate = \"a.pem\"\n[[neighbours]]", "`key` is missing", "[[tls]]"),
        (
            "[[neighbours]]",
            "[timing]\nlatency_quantum_ms = nan\n[[neighbours]]",
            "`latency_quantum_ms` must be from 0.001 to 1000, not NaN",
            "nan",
        ),
    ];
    for (from, to, message, place) in cases {
        assert!(TEXT.contains(from), "{from}");
        let text = TEXT.replace(from, to);
        let error = read(&text).expect_err(message);
        let found = error.mistakes.iter().find(|mistake| mistake.message.contains(message));
        let mistake = found.unwrap_or_else(|| panic!("{message}: {error:?}"));
        let span = mistake.place.clone().expect("a place").span;
        assert_eq!(&text[span], place, "{message}");
        assert!(mistake.hint.is_some(), "{mistake:?}");
    }
    let twice = format!("{TEXT}\n[[neighbours]]\nid = \"edge-2\"\naddress = \"a:1\"\n");
    assert!(read(&twice).expect_err("twice").mistakes[0].message.contains("a neighbour already"));
    let same = TEXT
        .replace("links = \"127.0.0.1:0\"", "links = \"127.0.0.1:9\"")
        .replace("ingress = \"127.0.0.1:0\"", "ingress = \"127.0.0.1:9\"");
    assert!(read(&same).expect_err("the same").mistakes[0].message.contains("the same address"));
}

#[test]
fn errors_of_structure_and_of_ranges_are_reported_together_from_top_to_bottom() {
    let text = TEXT.replace("capacity = 8", "capacity = -1").replace("key = \"edge-1.key\"\n", "")
        + "\n[timing]\nsilence_ms = 5\nnotise = 4\n";
    let error = read(&text).expect_err("four mistakes");
    let lines: Vec<String> = error.mistakes.iter().map(ToString::to_string).collect();
    let expected = [
        "node.toml:3:12: expected a whole number that is not negative, found the number -1 (write a number such as 8)",
        "node.toml:11:1: `key` is missing (add `key = …`)",
        "node.toml:20:14: `silence_ms` must be from 300 to 60000, not 5 (write a number in that range)",
        "node.toml:21:1: unknown key `notise` in `timing` (did you mean `notice`?)",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn all_problems_of_a_machine_are_reported_together() {
    let scratch = Scratch::new("check");
    let engine = Engine::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("bound").to_string();
    let text = TEXT
        .replace("links = \"127.0.0.1:0\"", &format!("links = \"{address}\""))
        .replace("capacity = 8", "capacity = 8\npolicy = \"accept.pl\"");
    std::fs::write(scratch.path().join("accept.pl"), "accept(request(_, _, _) :- true.").expect("written");
    let config = NodeConfig::read("node.toml", &text, scratch.path()).expect("valid");
    let error = check(&config, &engine).expect_err("much is missing");
    let lines: Vec<String> = error.mistakes.iter().map(ToString::to_string).collect();
    for expected in ["cannot read", "cannot be used", "another program listens there"] {
        assert!(lines.iter().any(|line| line.contains(expected)), "{expected}: {lines:#?}");
    }
    assert_eq!(lines.len(), 3, "{lines:#?}");

    let authority = Authority::new("harbour", 10).expect("an authority");
    authority.save(scratch.path()).expect("saved");
    let other = authority.issue(&authority.node(node_id("edge-7").expect("a name"), Vec::new()), 5).expect("issued");
    write_public(&scratch.path().join("edge-1.pem"), &other.certificate_pem).expect("written");
    write_private(&scratch.path().join("edge-1.key"), &other.key_pem).expect("written");
    let config = NodeConfig::read("node.toml", TEXT, scratch.path()).expect("valid");
    let error = check(&config, &engine).expect_err("another node's certificate");
    assert!(
        error.mistakes[0].message.contains("that of spiffe://harbour/node/edge-7, and this is node edge-1"),
        "{error:?}"
    );
    assert!(!config.data.exists(), "a check creates nothing");
    let elsewhere = TEXT.replace("capacity = 8", "capacity = 8\ndata = \"no/such/data\"");
    let elsewhere = NodeConfig::read("node.toml", &elsewhere, scratch.path()).expect("valid");
    let error = check(&elsewhere, &engine).expect_err("its parent is missing");
    let is_told = |mistake: &Mistake| mistake.message.contains("no/such does not exist");
    assert!(error.mistakes.iter().any(is_told) && !scratch.path().join("no").exists(), "{error:?}");
    let _journal = DiskJournalGuard::open(&config);
    let error = check(&config, &engine).expect_err("the data directory is in use");
    assert!(error.mistakes.iter().any(|mistake| mistake.message.contains("another daemon uses it")), "{error:?}");
}

struct DiskJournalGuard(
    #[expect(dead_code, reason = "held, so that the journal is in use")] crate::journal::DiskJournal,
);

impl DiskJournalGuard {
    fn open(config: &NodeConfig) -> DiskJournalGuard {
        DiskJournalGuard(crate::journal::DiskJournal::open(&config.data, &config.node).expect("a journal").0)
    }
}

#[test]
fn the_schema_file_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("node.schema.json");
    check_stored(&path, &schema_text(), "UPDATE_DOCUMENTS");
}
