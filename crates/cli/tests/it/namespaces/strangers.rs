//! Peers that must be rejected: strangers, and neighbours that violate the protocol.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use mario_live::identity::{CONTROL_PROTOCOL, ExpectedPeer, Identity, Subject, node_id};
use rustls::client::ResolvesClientCert;
use rustls::pki_types::ServerName;
use rustls::sign::CertifiedKey;
use rustls::{ClientConfig, ClientConnection, SignatureScheme, Stream};

use super::nodes::Nodes;

/// Connects to the root as each kind of peer that must be rejected. Checks that the root logs each, and that its links
/// to its neighbours are up at the end.
pub fn connect_as_each_stranger(nodes: &Nodes) {
    let root = Nodes::index("r");
    let neighbour = nodes.authority.node(node_id("mute").expect("a name"), Vec::new());
    nodes.certificate("expired", &neighbour, -3, -1);
    // A certificate that is not valid yet.
    nodes.certificate("early", &neighbour, 2, 5);
    nodes.certificate("stranger", &nodes.authority.node(node_id("stranger").expect("a name"), Vec::new()), 0, 5);
    for (name, says, told) in [
        ("expired", &b"hello"[..], "certificate expired"),
        ("early", b"hello", "certificate not valid yet"),
        ("stranger", b"hello", "as a neighbour"),
        ("babble", &[0xff; 2_000], "it does not keep to the protocol"),
        ("mute", b"", "nothing was heard"),
    ] {
        let before = nodes.log(root).matches(told).count();
        let config = identity(nodes, name).client(expected(), CONTROL_PROTOCOL).expect("TLS");
        let connection = speak(config, says);
        super::wait(nodes, &format!("the root tells of `{name}`"), || nodes.log(root).matches(told).count() > before);
        drop(connection);
    }
    let before = nodes.log(root).matches("\"event\":\"refused\"").count();
    speak(without_certificate(nodes), b"hello");
    super::wait(nodes, "the root tells of somebody without a certificate", || {
        nodes.log(root).matches("\"event\":\"refused\"").count() > before
    });
    let daemons = Nodes::neighbours(root).len();
    assert_eq!(nodes.get(root, "/v1/status")["links_up"], daemons, "its links to neighbours are up");
}

fn expected() -> ExpectedPeer {
    ExpectedPeer::Exactly(Subject::Node(node_id("r").expect("a name")))
}

fn identity(nodes: &Nodes, name: &str) -> Identity {
    let certificate = nodes.directory.join(format!("{name}.pem"));
    let authority = nodes.directory.join("ca.pem");
    Identity::read(&authority, &certificate, &certificate.with_extension("key")).expect("readable")
}

/// The TLS setup that the root expects, but without a client certificate.
fn without_certificate(nodes: &Nodes) -> Arc<ClientConfig> {
    let known = identity(nodes, "mute").client(expected(), CONTROL_PROTOCOL).expect("TLS");
    let mut config = ClientConfig::clone(&known);
    config.client_auth_cert_resolver = Arc::new(NoCertificate);
    Arc::new(config)
}

/// A client without a certificate.
#[derive(Debug)]
struct NoCertificate;

impl ResolvesClientCert for NoCertificate {
    fn resolve(&self, _: &[&[u8]], _: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        None
    }

    fn has_certs(&self) -> bool {
        false
    }
}

/// Sends bytes to the root over TLS, and ignores errors. The connection stays open until it is dropped.
fn speak(config: Arc<ClientConfig>, says: &[u8]) -> (ClientConnection, TcpStream) {
    let server = ServerName::try_from("node.mario").expect("a name");
    let mut connection = ClientConnection::new(config, server).expect("TLS");
    let mut stream = TcpStream::connect(Nodes::links(Nodes::index("r"))).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_secs(2))).expect("a timeout");
    {
        let mut tls = Stream::new(&mut connection, &mut stream);
        let _ = tls.write_all(says);
        let _ = tls.flush();
        let _ = tls.read(&mut [0; 16]);
    }
    (connection, stream)
}
