//! Sends arbitrary bytes to the ingress of a node: the connection must end, and the node must serve the next client.
//!
//! `cargo +nightly fuzz run ingress`

#![no_main]

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use mario_live::seams::Routes;
use mario_live::traffic::{Forwarder, Ingress, Settings};

/// An ingress that knows an application but has no route to it.
static INGRESS: LazyLock<SocketAddr> = LazyLock::new(|| {
    let (sender, address) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let application = mario_domain::ApplicationId::name("shop").expect("a name");
            let routes = Routes {
                node: "a".to_owned(),
                hosts: [("shop".to_owned(), application.clone())].into(),
                prefixes: vec![("/shop".to_owned(), application)],
                ..Routes::default()
            };
            let second = Duration::from_secs(1);
            let settings = Settings {
                hold: Duration::ZERO,
                idle_timeout: second,
                head_timeout: second,
                response_timeout: second,
                ..Settings::default()
            };
            let forwarder = Forwarder::new(Arc::new(arc_swap::ArcSwap::from_pointee(routes)), settings);
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
            sender.send(listener.local_addr().expect("bound")).expect("the other end waits");
            let (_stop, ending) = tokio::sync::watch::channel(false);
            Ingress::new(forwarder, None).serve(listener, ending, second).await;
        });
    });
    address.recv().expect("it listens")
});

/// Sends bytes and returns the answer. If the client `shut` its side, the ingress treats it as gone, and need not
/// answer.
fn ask(bytes: &[u8], shut: bool) -> Vec<u8> {
    let mut stream = TcpStream::connect(*INGRESS).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_secs(10))).expect("a timeout");
    let _ = stream.write_all(bytes);
    if shut {
        let _ = stream.shutdown(Shutdown::Write);
    }
    let mut answer = Vec::new();
    match stream.read_to_end(&mut answer) {
        Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => panic!("the connection stays open"),
        _ => answer,
    }
}

fuzz_target!(|bytes: &[u8]| {
    ask(bytes, true);
    let answer = ask(b"GET / HTTP/1.1\r\nhost: nobody\r\nconnection: close\r\n\r\n", false);
    assert!(answer.starts_with(b"HTTP/1.1 404"), "{}", String::from_utf8_lossy(&answer));
});
