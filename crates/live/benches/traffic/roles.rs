//! The bench's own process `role-node`: the data plane of one node, without a daemon.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use http::Request;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use mario_domain::NodeId;
use mario_live::seams::{DataLink, Forward, NextHop, Protocol, Routes};
use mario_live::traffic::{Forwarder, Ingress, TrafficLimits};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::WebPkiClientVerifier;
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_rustls::{TlsAcceptor, TlsConnector};

use crate::nodes::{application, copy};

/// Runs the data plane of one node. The arguments are the directory with its keys, and four addresses, each `-` if
/// absent: where it listens for clients, where it listens for the other node, the other node to which it forwards
/// requests, and the copy that it serves.
pub fn node(arguments: &[String]) {
    let [directory, ingress, link, next, served] = arguments else { panic!("five arguments") };
    let address = |text: &String| text.parse::<SocketAddr>().ok();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(run(Path::new(directory), address(ingress), address(link), address(next), address(served)));
}

async fn run(
    directory: &Path,
    ingress: Option<SocketAddr>,
    link: Option<SocketAddr>,
    next: Option<SocketAddr>,
    served: Option<SocketAddr>,
) {
    let mut routes = Routes {
        node: if ingress.is_some() { "first" } else { "second" }.to_owned(),
        hosts: [("video.test".to_owned(), application())].into(),
        are_complete: true,
        ..Routes::default()
    };
    if let Some(address) = served {
        routes.copies.insert(application(), vec![copy(1, address, Protocol::Http1)]);
    }
    if let Some(address) = next {
        let link = dial(directory, address).await;
        let hop = NextHop { neighbour: NodeId::name("second").expect("a name"), link, latency_quanta: 1 };
        routes.next_hops.insert(application(), vec![hop]);
    }
    let forwarder = Forwarder::new(Arc::new(ArcSwap::from_pointee(routes)), TrafficLimits::default());
    let (_stop, ending) = watch::channel(false);
    if let Some(address) = ingress {
        let listener = TcpListener::bind(address).await.expect("a free port");
        let serving = Ingress::new(forwarder.clone(), None);
        tokio::spawn(async move { serving.serve(listener, ending, Duration::ZERO).await });
    }
    if let Some(address) = link {
        let listener = TcpListener::bind(address).await.expect("a free port");
        let acceptor = TlsAcceptor::from(server(directory));
        loop {
            let (stream, _) = listener.accept().await.expect("a connection");
            let (acceptor, forwarder) = (acceptor.clone(), forwarder.clone());
            tokio::spawn(async move {
                stream.set_nodelay(true).expect("a socket");
                let Ok(stream) = acceptor.accept(stream).await else { return };
                let from = NodeId::name("first").expect("a name");
                let service = service_fn(move |request: Request<Incoming>| {
                    let (forwarder, from) = (forwarder.clone(), from.clone());
                    async move { Ok::<_, Infallible>(forwarder.forward(request, &from, 1).await) }
                });
                let _ = hyper::server::conn::http2::Builder::new(TokioExecutor::new())
                    .timer(TokioTimer::new())
                    .max_concurrent_streams(1024)
                    .initial_stream_window_size(256 << 10)
                    .initial_connection_window_size(4 << 20)
                    .enable_connect_protocol()
                    .serve_connection(TokioIo::new(stream), service)
                    .await;
            });
        }
    }
    std::future::pending::<()>().await;
}

async fn dial(directory: &Path, address: SocketAddr) -> DataLink {
    let connector = TlsConnector::from(client(directory));
    let stream = loop {
        match TcpStream::connect(address).await {
            Ok(stream) => break stream,
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    };
    stream.set_nodelay(true).expect("a socket");
    let name = ServerName::try_from("node.test").expect("a name");
    let stream = connector.connect(name, stream).await.expect("a handshake");
    let (sender, connection) = hyper::client::conn::http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .initial_stream_window_size(256 << 10)
        .initial_connection_window_size(4 << 20)
        .handshake(TokioIo::new(stream))
        .await
        .expect("a handshake");
    tokio::spawn(connection);
    DataLink::new(sender)
}

fn files(directory: &Path) -> [PathBuf; 3] {
    ["root.pem", "node.pem", "node.key"].map(|name| directory.join(name))
}

fn roots(path: &Path) -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(path).expect("a certificate")).expect("a root");
    roots
}

fn server(directory: &Path) -> Arc<ServerConfig> {
    let [root, certificate, key] = files(directory);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots(&root)), Arc::clone(&provider))
        .build()
        .expect("a verifier");
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_client_cert_verifier(verifier)
        .with_single_cert(
            vec![CertificateDer::from_pem_file(certificate).expect("a certificate")],
            PrivateKeyDer::from_pem_file(key).expect("a key"),
        )
        .expect("a certificate that fits");
    config.alpn_protocols = vec![b"h2".to_vec()];
    Arc::new(config)
}

fn client(directory: &Path) -> Arc<ClientConfig> {
    let [root, certificate, key] = files(directory);
    let mut config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots(&root))
        .with_client_auth_cert(
            vec![CertificateDer::from_pem_file(certificate).expect("a certificate")],
            PrivateKeyDer::from_pem_file(key).expect("a key"),
        )
        .expect("a certificate that fits");
    config.alpn_protocols = vec![b"h2".to_vec()];
    Arc::new(config)
}
