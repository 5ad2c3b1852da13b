//! Host names and path prefixes select an application at every ingress, whichever node hosts it.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use mario_live::application::{ApplicationFile, sign};
use mario_live::identity::{Identity, application_id};
use mario_live::operators::Method;
use mario_policy::PolicyText;

use crate::colony::Colony;

const STAYS: &str = "operation(_, _, _) :- fail.";

/// The HTTP status with which the ingress of a node answers a `GET`; `None` if there is no answer.
fn status(colony: &Colony, index: usize, host: &str, path: &str) -> Option<u16> {
    let mut stream = TcpStream::connect(colony.daemons[index].ingress).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(20))).ok()?;
    write!(stream, "GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n").ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    answer.split(' ').nth(1)?.parse().ok()
}

/// Signs an application whose certificate lists these names.
fn signed(colony: &Colony, id: &str, version: u64, hosts: &[&str], prefixes: &[&str]) -> Vec<u8> {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<String>>();
    let application = application_id(id).expect("a name");
    let pem = colony.directory.join(format!("{id}.pem"));
    if id != "shop" || !hosts.is_empty() {
        let certified = colony.authority.application(application, owned(hosts), owned(prefixes));
        colony.certificate(id, &certified, 5);
    }
    let file: ApplicationFile = toml::from_str(&format!(
        "id = \"{id}\"\nversion = {version}\nhardware = 1\nmax_rate = 100\nmax_latency = 50\npolicy = \"p.pl\"\n\
         hosts = {hosts:?}\nprefixes = {prefixes:?}\n\
         run = {{ driver = \"sample\", start_timeout_ms = 30000, drain_timeout_ms = 2000 }}\n",
    ))
    .expect("an application");
    let files = vec![("p.pl".to_owned(), STAYS.to_owned())];
    let policy = PolicyText { name: "p".to_owned(), files, memory: 0 };
    sign(&file, &policy, &Identity::load_bundle(&pem).expect("an identity")).expect("signed")
}

#[test]
fn every_ingress_knows_the_names_of_applications_elsewhere() {
    let mut colony = Colony::new("names", &["a", "b", "c"], 3);
    for index in 0..3 {
        colony.start(index, None);
    }
    let document = signed(&colony, "shop", 1, &["Shop.Example.org"], &["/shop"]);
    colony.deploy(0, "1", &document).expect("an answer").json().expect("accepted");
    // Node c is two hops away from the instance, and hosts nothing.
    for index in [0, 1, 2] {
        colony.wait("the host name selects it", |colony| status(colony, index, "shop.example.org", "/") == Some(200));
        assert_eq!(status(&colony, index, "10.0.0.1", "/shop/cart"), Some(200), "by its path");
        assert_eq!(status(&colony, index, "shop.harbour", "/"), Some(200), "by its id");
        assert_eq!(status(&colony, index, "10.0.0.1", "/shopping"), Some(404));
        assert_eq!(status(&colony, index, "bank.example.org", "/"), Some(404));
    }
    // A restarted node learns the names again.
    colony.kill(2);
    colony.start(2, None);
    colony.wait("a restarted node knows it", |colony| status(colony, 2, "shop.example.org", "/") == Some(200));

    // A name that one application holds is refused to others, on whichever node they are deployed.
    let bank = signed(&colony, "bank", 1, &["bank.example.org", "shop.example.org"], &[]);
    for index in [0, 2] {
        let refused = colony.deploy(index, "7", &bank).expect("an answer");
        assert_eq!(refused.status, 409, "{}", refused.text);
        let expected = "the host name shop.example.org of application `bank` is that of application `shop` already";
        assert!(refused.text.contains(expected), "{}", refused.text);
    }
    // An id belongs to its application.
    let thief = signed(&colony, "thief", 1, &["shop.harbour"], &[]);
    let refused = colony.deploy(1, "8", &thief).expect("an answer");
    assert!(refused.status == 409 && refused.text.contains("host name shop.harbour"), "{}", refused.text);
    // Without the name of `shop`, `bank` is accepted.
    let bank = signed(&colony, "bank", 1, &["bank.example.org"], &["/bank"]);
    colony.deploy(2, "9", &bank).expect("an answer").json().expect("accepted");
    colony.wait("both are reached", |colony| status(colony, 0, "bank.example.org", "/") == Some(200));
    assert_eq!(status(&colony, 0, "shop.example.org", "/"), Some(200));
    colony.end_instances();
}

#[test]
fn a_name_claimed_during_a_partition_stays_with_its_first_holder_and_is_reported() {
    let mut colony = Colony::new("names-twice", &["a", "b"], 3);
    // Each application is deployed while the other node is down, so neither node can detect the conflict.
    for (index, id) in [(0, "shop"), (1, "bank")] {
        colony.start(index, None);
        let document = signed(&colony, id, 1, &["www.example.org"], &[]);
        colony.deploy(index, "1", &document).expect("an answer").json().expect("accepted");
        colony.wait("it is reached", |colony| status(colony, index, "www.example.org", "/") == Some(200));
        assert!(colony.stop(index), "it ends");
    }
    colony.start(0, None);
    colony.wait("shop is back", |colony| status(colony, 0, "www.example.org", "/") == Some(200));
    colony.start(1, None);
    colony.wait("it is told", |colony| {
        let twice = colony.get(0, "/v1/routes")["names_claimed_twice"].clone();
        twice[0]["holder"] == "shop" && twice[0]["claimed_by"] == "bank"
    });
    colony.wait("both serve", |colony| {
        status(colony, 0, "bank", "/") == Some(200) && status(colony, 1, "shop", "/") == Some(200)
    });
    let log = std::fs::read_to_string(colony.directory.join("a.log")).expect("a log");
    assert!(log.contains("name-claimed-twice") && log.contains("www.example.org"), "{log}");
    let routes = colony.ask(0, Method::GET, "/v1/routes", &[], Vec::new()).expect("an answer").json().expect("routes");
    assert_eq!(routes["hosts"]["www.example.org"], "shop");
    colony.end_instances();
}
