//! `mario view` ends on a signal, whatever its clients do.

use std::io::{Read, Write};
use std::net::TcpStream;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::{TRACE, get, run_directory, view};

#[test]
fn view_ends_with_its_own_code_when_it_is_interrupted() {
    for (signal, name) in [(Signal::SIGINT, "interrupted"), (Signal::SIGTERM, "terminated")] {
        let directory = run_directory(name, TRACE);
        let (mut view, address) = view(&directory);
        // A client that stops in the middle of a request head, and one that stops in the middle of the body.
        let mut clients = Vec::new();
        for begun in ["GET / HT", "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000000000000\r\n\r\nabc"] {
            let mut client = TcpStream::connect(&address).expect("it listens");
            client.write_all(begun.as_bytes()).expect("it reads");
            clients.push(client);
        }
        assert!(get(&address, "/version", &address).starts_with("HTTP/1.1 200"), "others are answered");
        kill(Pid::from_raw(view.0.id() as i32), signal).expect("it is there");
        assert_eq!(view.0.wait().expect("it ends").code(), Some(130), "{signal}");
        for mut client in clients {
            let _ = client.read_to_end(&mut Vec::new());
        }
    }
}
