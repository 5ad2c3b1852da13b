//! Peers that are not neighbours, peers that send garbage, and a second daemon on the same data directory.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::Duration;

use mario_live::identity::{CONTROL_PROTOCOL, ExpectedPeer, Identity, Subject, node_id};
use rustls::pki_types::ServerName;

use crate::colony::Colony;

/// Connects to the link port of `a` with the certificate in `NAME.pem`, and waits until the daemon's log has the
/// expected entry.
fn knock(colony: &mut Colony, name: &str, expected: &str) {
    let certificate = colony.directory.join(format!("{name}.pem"));
    let authority = colony.directory.join("ca.pem");
    let identity = Identity::read(&authority, &certificate, &certificate.with_extension("key")).expect("readable");
    let a = Subject::Node(node_id("a").expect("a name"));
    let config = identity.client(ExpectedPeer::Exactly(a), CONTROL_PROTOCOL).expect("TLS");
    let server = ServerName::try_from("node.mario").expect("a name");
    let mut connection = rustls::ClientConnection::new(config, server).expect("TLS");
    let mut stream = TcpStream::connect(colony.daemons[0].links).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_secs(10))).expect("a timeout");
    let mut tls = rustls::Stream::new(&mut connection, &mut stream);
    let _ = tls.write_all(b"hello");
    let _ = tls.read(&mut [0; 16]);
    let log = colony.directory.join("a.log");
    colony.wait(expected, |_| fs::read_to_string(&log).is_ok_and(|log| log.contains(expected)));
}

#[test]
fn strangers_are_rejected_and_neighbours_served_meanwhile() {
    let mut colony = Colony::new("strangers", &["a", "b"], 2);
    colony.start(0, None);
    colony.start(1, None);
    colony.wait("the link is up", |colony| colony.get(0, "/v1/links")["links"][0]["is_up"] == true);

    // Peers that send garbage, or nothing.
    for bytes in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[0xff; 5_000], b""] {
        let mut stream = TcpStream::connect(colony.daemons[0].links).expect("it listens");
        let _ = stream.write_all(bytes);
    }
    let silent: Vec<TcpStream> =
        (0..20).map(|_| TcpStream::connect(colony.daemons[0].links).expect("it listens")).collect();
    // A node of the colony that is not a neighbour, an operator, and a neighbour whose certificate has expired.
    let stranger = colony.authority.node(node_id("z").expect("a name"), Vec::new());
    colony.certificate("z", &stranger, 5);
    knock(&mut colony, "z", "`a` does not list `z` as a neighbour");
    knock(&mut colony, "ada", "is not a node");
    let neighbour = colony.authority.node(node_id("b").expect("a name"), Vec::new());
    colony.certificate("expired", &neighbour, -1);
    knock(&mut colony, "expired", "certificate expired");
    drop(silent);

    // The link to the neighbour is still up, and the node is healthy.
    let status = colony.get(0, "/v1/status");
    assert_eq!(status["links_up"], 1, "{status}");
    assert_eq!(colony.get(0, "/healthz")["is_healthy"], true);
}

#[test]
fn a_second_daemon_on_the_data_directory_is_rejected_and_the_first_keeps_running() {
    let mut colony = Colony::new("second", &["a"], 2);
    colony.start(0, None);
    let config = fs::read_to_string(&colony.daemons[0].config).expect("a configuration");
    let other = colony.daemons[0].config.with_file_name("other.toml");
    // The second daemon has other ports and the same data directory.
    let ports = |text: &str| {
        let lines = text.lines().map(|line| match line.split_once(" = \"127.0.0.1:") {
            Some((key, _)) => format!("{key} = \"127.0.0.1:0\""),
            None => line.to_owned(),
        });
        lines.collect::<Vec<_>>().join("\n")
    };
    fs::write(&other, ports(&config)).expect("written");
    let output = Command::new(env!("CARGO_BIN_EXE_workload")).arg("node").arg(&other).output().expect("it runs");
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("another daemon uses it"), "{message}");
    assert_eq!(colony.get(0, "/healthz")["is_healthy"], true);
}
