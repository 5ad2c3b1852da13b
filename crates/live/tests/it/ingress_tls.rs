//! Clients that speak TLS to an ingress.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use mario_live::identity::{write_private, write_public};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore};

use crate::colony::Colony;

/// Writes the certificate of an authority that clients trust, `public.pem`, and the certificates and keys of hosts,
/// `NAME.pem` and `NAME.key`.
fn sites(directory: &Path, sites: &[(&str, &[&str])]) {
    let key = KeyPair::generate().expect("a key");
    let mut params = CertificateParams::new(Vec::new()).expect("no names");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = params.clone().self_signed(&key).expect("signed");
    write_public(&directory.join("public.pem"), &authority.pem()).expect("written");
    let issuer = Issuer::new(params, key);
    for (name, hosts) in sites {
        let key = KeyPair::generate().expect("a key");
        let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
        let signed = CertificateParams::new(hosts).expect("names").signed_by(&key, &issuer).expect("signed");
        write_public(&directory.join(format!("{name}.pem")), &signed.pem()).expect("written");
        write_private(&directory.join(format!("{name}.key")), &key.serialize_pem()).expect("written");
    }
}

/// Requests `/shop` of a host over TLS, as a client that trusts the public authority and offers only `protocol`.
/// Returns the answer, or an error if the client rejects the certificate.
fn get(colony: &Colony, host: &str, protocol: &[u8]) -> Result<String, String> {
    let text = fs::read(colony.directory.join("public.pem")).expect("written");
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(&text).expect("a certificate")).expect("an authority");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().expect("versions");
    let mut config = builder.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![protocol.to_vec()];
    let name = ServerName::try_from(host.to_owned()).expect("a host");
    let mut connection = ClientConnection::new(Arc::new(config), name).expect("TLS");
    let mut stream = TcpStream::connect(colony.daemons[0].ingress).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout");
    let mut tls = rustls::Stream::new(&mut connection, &mut stream);
    let request = format!("GET /shop HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    tls.write_all(request.as_bytes()).map_err(|error| error.to_string())?;
    let agreed = tls.conn.alpn_protocol().map(<[u8]>::to_vec);
    assert_eq!(agreed.as_deref(), Some(protocol));
    let mut answer = Vec::new();
    let _ = tls.read_to_end(&mut answer);
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

#[test]
fn an_ingress_speaks_tls_with_the_certificate_of_the_host() {
    let mut colony = Colony::new("ingress-tls", &["a"], 2);
    let directory = colony.directory.to_path_buf();
    sites(&directory, &[("first", &["harbour.example"]), ("second", &["shop", "*.shop.example"])]);
    for name in ["first", "second"] {
        let path = directory.join(name);
        let [certificate, key] = ["pem", "key"].map(|ending| path.with_extension(ending).display().to_string());
        colony.configure(0, &format!("[[tls]]\ncertificate = \"{certificate}\"\nkey = \"{key}\"\n"));
    }
    colony.start(0, None);
    let document = colony.signed("operation(_, _, _) :- fail.");
    colony.deploy(0, "1", &document).expect("an answer").json().expect("accepted");
    colony.wait("it is healthy", |colony| colony.healthy(0).len() == 1);
    for host in ["shop", "harbour.example", "eu.shop.example"] {
        let answer = get(&colony, host, b"http/1.1").expect("the certificate is for this host");
        assert!(answer.starts_with("HTTP/1.1 200"), "{host}: {answer}");
    }
    // No certificate is for this host: the client gets the first one, and rejects it.
    let refused = get(&colony, "other.example", b"http/1.1").expect_err("not for this host");
    assert!(refused.contains("certificate"), "{refused}");
    // HTTP/2 is negotiated, but the request that follows is not HTTP/2, so the node closes the connection.
    get(&colony, "shop", b"h2").expect("agreed");
    // A client without TLS gets no answer, and does not disturb others.
    assert_eq!(colony.client(0, "/shop"), None);
    assert!(get(&colony, "shop", b"http/1.1").is_ok());
}

#[test]
fn certificate_errors_are_reported_before_a_node_starts() {
    let colony = Colony::new("bad-tls", &["a"], 2);
    let directory = colony.directory.to_path_buf();
    sites(&directory, &[("first", &["a.example"]), ("second", &["b.example"])]);
    fs::write(directory.join("open.key"), fs::read(directory.join("first.key")).expect("a key")).expect("written");
    let original = fs::read_to_string(&colony.daemons[0].config).expect("written");
    for (certificate, key, expected) in [
        ("none.pem", "first.key", "cannot read"),
        ("first.key", "first.key", "is not a certificate in PEM"),
        ("first.pem", "first.pem", "others can read the private key"),
        ("first.pem", "second.key", "is not that of the certificate"),
        ("first.pem", "open.key", "others can read the private key"),
    ] {
        let [certificate, key] = [certificate, key].map(|name| directory.join(name).display().to_string());
        let tls = format!("[[tls]]\ncertificate = \"{certificate}\"\nkey = \"{key}\"\n");
        fs::write(&colony.daemons[0].config, format!("{original}{tls}")).expect("written");
        let mut command = Command::new(env!("CARGO_BIN_EXE_workload"));
        let output = command.arg("node").arg(&colony.daemons[0].config).output().expect("it runs");
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains(expected), "{expected}: {message}");
    }
}
