//! Data planes on loopback, connected by links over mutual TLS. The copies are HTTP servers in this process.

#![allow(dead_code, reason = "tests and benches use different parts of it")]

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;

use arc_swap::ArcSwap;
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use mario_colony::WorkloadId;
use mario_domain::{ApplicationId, InstanceId, NodeId};
use mario_live::seams::{Backend, Body, DataLink, Forward, LocalCopy, NextHop, Protocol, Routes};
use mario_live::traffic::{Forwarder, Ingress, TrafficLimits};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::WebPkiClientVerifier;
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_rustls::{TlsAcceptor, TlsConnector};

/// One node's data plane.
pub struct TestNode {
    pub id: NodeId,
    pub routes: Arc<ArcSwap<Routes>>,
    pub forwarder: Forwarder,
    pub ingress: SocketAddr,
    stop: watch::Sender<bool>,
}

pub fn application() -> ApplicationId {
    ApplicationId::name("video").unwrap()
}

impl TestNode {
    pub async fn new(name: &str) -> TestNode {
        TestNode::with(name, TrafficLimits::default()).await
    }

    pub async fn with(name: &str, settings: TrafficLimits) -> TestNode {
        let routes = Routes {
            node: name.to_owned(),
            hosts: [("video.test".to_owned(), application())].into(),
            prefixes: vec![("/video".to_owned(), application())],
            are_complete: true,
            ..Routes::default()
        };
        let routes = Arc::new(ArcSwap::from_pointee(routes));
        let forwarder = Forwarder::new(Arc::clone(&routes), settings);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let ingress = listener.local_addr().unwrap();
        let (stop, ending) = watch::channel(false);
        let serving = Ingress::new(forwarder.clone(), None);
        tokio::spawn(async move { serving.serve(listener, ending, std::time::Duration::from_secs(5)).await });
        TestNode { id: NodeId::name(name).unwrap(), routes, forwarder, ingress, stop }
    }

    pub fn change(&self, change: impl FnOnce(&mut Routes)) {
        let mut routes = Routes::clone(&self.routes.load());
        change(&mut routes);
        self.routes.store(Arc::new(routes));
    }

    pub fn set_copies(&self, copies: Vec<LocalCopy>) {
        self.change(|routes| {
            routes.copies = BTreeMap::from([(application(), copies)]);
        });
    }

    pub fn set_hops(&self, hops: Vec<NextHop>) {
        self.change(|routes| {
            routes.next_hops = BTreeMap::from([(application(), hops)]);
        });
    }

    pub fn stop(&self) {
        let _ = self.stop.send(true);
    }
}

/// A copy at an address.
pub fn copy(number: u32, address: SocketAddr, protocol: Protocol) -> LocalCopy {
    LocalCopy {
        workload: WorkloadId { boot: 1, counter: number },
        instance: InstanceId::number(i64::from(number)),
        address,
        protocol,
        backend: Arc::new(Backend::default()),
    }
}

/// Starts a server for HTTP/1.1, HTTP/2 and upgrades on a free port. Returns its address.
pub async fn serve<F, A>(answer: F) -> SocketAddr
where
    F: Fn(Request<Incoming>) -> A + Clone + Send + Sync + 'static,
    A: Future<Output = Response<Body>> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            stream.set_nodelay(true).unwrap();
            let answer = answer.clone();
            tokio::spawn(async move {
                let service = service_fn(move |request| {
                    let answer = answer.clone();
                    async move { Ok::<_, Infallible>(answer(request).await) }
                });
                let builder = auto::Builder::new(TokioExecutor::new());
                let _ = builder.serve_connection_with_upgrades(TokioIo::new(stream), service).await;
            });
        }
    });
    address
}

/// A body of text.
pub fn text(text: impl Into<Bytes>) -> Body {
    Full::new(text.into()).map_err(|never| match never {}).boxed()
}

/// Starts a server that answers every request with a text. Returns its address.
pub async fn fixed(answer: &'static str) -> SocketAddr {
    serve(move |request: Request<Incoming>| async move {
        // Reads the whole request, because answering before its end would close the connection.
        let _ = request.into_body().collect().await;
        Response::new(text(answer))
    })
    .await
}

/// The certificate authority of a test colony.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    root: CertificateDer<'static>,
}

impl Authority {
    pub fn new() -> Authority {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        // Some TLS implementations distinguish issuers by their names.
        params.distinguished_name.push(DnType::CommonName, "authority of tests");
        let root = params.self_signed(&key).unwrap().der().clone();
        Authority { issuer: Issuer::new(params, key), root }
    }

    pub fn certificate(&self, name: &str) -> (CertificateDer<'static>, PrivateKeyDer<'static>, String, String) {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![name.to_owned(), "127.0.0.1".to_owned()]).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let pem = (certificate.pem(), key.serialize_pem());
        (certificate.der().clone(), PrivateKeyDer::Pkcs8(key.serialize_der().into()), pem.0, pem.1)
    }

    pub fn root_pem(&self) -> String {
        pem(&self.root)
    }

    fn roots(&self) -> RootCertStore {
        let mut roots = RootCertStore::empty();
        roots.add(self.root.clone()).unwrap();
        roots
    }

    pub fn server(&self, name: &str) -> Arc<ServerConfig> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let verifier =
            WebPkiClientVerifier::builder_with_provider(Arc::new(self.roots()), Arc::clone(&provider)).build().unwrap();
        let (certificate, key, _, _) = self.certificate(name);
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_client_cert_verifier(verifier)
            .with_single_cert(vec![certificate], key)
            .unwrap();
        config.alpn_protocols = vec![b"h2".to_vec()];
        Arc::new(config)
    }

    pub fn client(&self, name: &str) -> Arc<ClientConfig> {
        let (certificate, key, _, _) = self.certificate(name);
        let mut config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(self.roots())
            .with_client_auth_cert(vec![certificate], key)
            .unwrap();
        config.alpn_protocols = vec![b"h2".to_vec()];
        Arc::new(config)
    }
}

fn pem(der: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for (index, chunk) in der.chunks(3).enumerate() {
        if index % 16 == 0 {
            text.push('\n');
        }
        let bits = chunk.iter().fold(0_u32, |bits, &byte| bits << 8 | u32::from(byte)) << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let sextet = (bits >> (18 - 6 * place) & 63) as usize;
            text.push(if place > chunk.len() { '=' } else { char::from(ALPHABET[sextet]) });
        }
    }
    format!("-----BEGIN CERTIFICATE-----{text}\n-----END CERTIFICATE-----\n")
}

/// Opens a link from one node to another. Requests over the link are counted with `quanta` more latency, but not
/// delayed.
pub async fn link(authority: &Authority, from: &TestNode, to: &TestNode, quanta: u32) -> NextHop {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let acceptor = TlsAcceptor::from(authority.server("to.test"));
    let (forwarder, neighbour) = (to.forwarder.clone(), from.id.clone());
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        stream.set_nodelay(true).unwrap();
        let stream = acceptor.accept(stream).await.unwrap();
        let service = service_fn(move |request: Request<Incoming>| {
            let (forwarder, neighbour) = (forwarder.clone(), neighbour.clone());
            async move { Ok::<_, Infallible>(forwarder.forward(request, &neighbour, quanta).await) }
        });
        let served = hyper::server::conn::http2::Builder::new(TokioExecutor::new())
            .timer(TokioTimer::new())
            .max_concurrent_streams(1024)
            .initial_stream_window_size(256 << 10)
            .initial_connection_window_size(4 << 20)
            .enable_connect_protocol()
            .serve_connection(TokioIo::new(stream), service)
            .await;
        if let Err(error) = served {
            eprintln!("a link ended: {error:?}");
        }
    });
    let stream = TcpStream::connect(address).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let connector = TlsConnector::from(authority.client("from.test"));
    let stream = connector.connect(ServerName::try_from("to.test").unwrap(), stream).await.unwrap();
    let (sender, connection) = hyper::client::conn::http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .initial_stream_window_size(256 << 10)
        .initial_connection_window_size(4 << 20)
        .handshake(TokioIo::new(stream))
        .await
        .unwrap();
    let name = to.id.clone();
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            eprintln!("the link to {name} ended: {error:?}");
        }
    });
    NextHop { neighbour: to.id.clone(), link: DataLink::new(sender), latency_quanta: quanta }
}
