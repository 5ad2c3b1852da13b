//! `mario dashboard`: shows a colony, or reports why it cannot.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use mario_testing::{Scratch, free_address, wait_for};

use crate::{mario, stderr, stdout};

const TIMEOUT: Duration = Duration::from_mins(1);

/// A directory with the files of a colony of one node, `a`, and its daemon, once started. Dropping it kills the daemon.
struct Colony {
    directory: Scratch,
    operators: SocketAddr,
    daemon: Option<Child>,
}

impl Colony {
    fn new(test: &str) -> Colony {
        let directory = Scratch::new(test);
        let colony = Colony { directory, operators: free_address(), daemon: None };
        for arguments in
            [&["ca", "init", "harbour"][..], &["ca", "node", "a"], &["ca", "operator", "ada", "--role", "look"]]
        {
            let made = colony.run(arguments);
            assert!(made.status.success(), "{arguments:?}: {}", stderr(&made));
        }
        let config = format!(
            "id = \"a\"\ncapacity = 2\n[listen]\nlinks = \"{}\"\ningress = \"{}\"\noperators = \"{}\"\n[identity]\n\
             authority = \"ca/ca.pem\"\ncertificate = \"a.pem\"\nkey = \"a.key\"\n",
            free_address(),
            free_address(),
            colony.operators
        );
        fs::write(colony.directory.join("a.toml"), config).expect("written");
        colony
    }

    fn command(&self) -> Command {
        let mut command = mario();
        command.current_dir(&self.directory).stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command().args(arguments).output().expect("the binary was built and runs")
    }

    fn start(&mut self) {
        let started =
            self.command().args(["node", "--config", "a.toml"]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut daemon = started.expect("it starts");
        let mut line = String::new();
        let _ = BufReader::new(daemon.stdout.take().expect("piped")).read_line(&mut line);
        assert!(line.contains("operators"), "{line}");
        self.daemon = Some(daemon);
    }

    fn refused(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let output = self.run(&[&["dashboard"], arguments].concat());
        assert_eq!(stdout(&output), "");
        (output.status.code(), stderr(&output))
    }
}

impl Drop for Colony {
    fn drop(&mut self) {
        if let Some(mut daemon) = self.daemon.take() {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}

/// A process that is killed when this value is dropped.
struct Serving(Child);

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("it listens");
    write!(stream, "GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    answer
}

#[test]
fn reports_what_keeps_a_colony_from_being_shown() {
    let mut colony = Colony::new("refused");
    let address = colony.operators.to_string();
    // No server listens at the address.
    let (code, message) = colony.refused(&["--node", &address, "--as", "ada.pem"]);
    assert_eq!(code, Some(2), "{message}");
    assert!(message.contains(&address) && message.contains("see that the daemon runs"), "{message}");
    colony.start();
    // The port is in use.
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("an address").port().to_string();
    let (code, message) = colony.refused(&["--node", &address, "--as", "ada.pem", "--port", &port]);
    assert_eq!(code, Some(3), "{message}");
    assert!(message.contains(&format!("cannot listen on port {port}")) && message.contains("--port"), "{message}");
    // The operator belongs to another colony, or lacks the role.
    let foreign = Colony::new("foreign");
    let stranger = foreign.directory.join("ada.pem");
    let stranger = stranger.to_str().expect("a path of text");
    let (code, message) = colony.refused(&["--node", &address, "--as", stranger]);
    assert_eq!(code, Some(2), "{message}");
    assert!(message.contains("not one of this colony's authority"), "{message}");
    assert!(colony.run(&["ca", "operator", "bob", "--role", "deploy"]).status.success());
    let (code, message) = colony.refused(&["--node", &address, "--as", "bob.pem"]);
    assert_eq!(code, Some(2), "{message}");
    assert!(message.contains("does not have the role `look`") && message.contains("mario ca operator"), "{message}");
}

#[test]
fn a_colony_is_shown_until_the_command_is_interrupted() {
    let mut colony = Colony::new("shown");
    colony.start();
    // One of two nodes answers, which is enough to start.
    let [here, nowhere] = [colony.operators.to_string(), free_address().to_string()];
    let mut command = colony.command();
    command
        .args(["dashboard", "--node", &nowhere, "--node", &here, "--as", "ada.pem"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut serving = Serving(command.spawn().expect("it starts"));
    let mut line = String::new();
    let _ = BufReader::new(serving.0.stdout.take().expect("piped")).read_line(&mut line);
    let address = line.trim().trim_start_matches("http://").trim_end_matches('/').to_owned();
    assert!(get(&address, "/").contains("<title>Colony"), "{line}");
    wait_for("one node answers and the other does not", TIMEOUT, || {
        let shown = get(&address, "/snapshot.json");
        (shown.contains("\"answering\":1") && shown.contains("has not answered")).then_some(())
    });
    interrupt(&serving.0);
    assert_eq!(serving.0.wait().expect("it ends").code(), Some(130));
}

fn interrupt(child: &Child) {
    let pid = nix::unistd::Pid::from_raw(child.id().cast_signed());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).expect("it runs");
}
