//! Requests are rerouted after the node of the instance that answers them fails. The test prints how long that takes.

use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::colony::Colony;
use crate::daemons::STAYS;

/// Starts a colony with instances on `a` and `c`, and a client at `b` between them. Returns the colony and the node
/// whose instance answers the client.
fn colony(test: &str) -> (Colony, usize) {
    let mut colony = Colony::new(test, &["a", "b", "c"], 2);
    for index in 0..3 {
        colony.start(index, None);
    }
    let document = colony.signed(STAYS);
    for (index, key) in [(0, "1"), (2, "2")] {
        colony.deploy(index, key, &document).expect("an answer").json().expect("accepted");
        colony.wait("it is healthy", |colony| colony.healthy(index).len() == 1);
    }
    colony.wait("both are known", |colony| {
        colony.get(1, "/v1/routes")["next_hops"]["shop"].as_array().map(Vec::len) == Some(2)
    });
    colony.wait("it is served", |colony| answered_by(colony).is_some());
    let at = answered_by(&colony).expect("an answer");
    (colony, at)
}

/// The node whose instance answers a client of `b`; `None` if the request fails.
fn answered_by(colony: &Colony) -> Option<usize> {
    let (status, body) = colony.client(1, "/")?;
    let node = body.lines().find_map(|line| line.strip_prefix("node "))?;
    (status == 200).then(|| ["a", "b", "c"].iter().position(|name| *name == node)).flatten()
}

/// Sends requests until an instance on a node other than `gone` answers. Returns how long that took, and how many
/// requests failed or were still answered by `gone`.
fn until_rerouted(colony: &Colony, gone: usize) -> (Duration, u32) {
    let begun = Instant::now();
    let mut failed = 0;
    while answered_by(colony).is_none_or(|at| at == gone) {
        failed += 1;
        assert!(begun.elapsed() < Duration::from_secs(45), "nothing is rerouted");
        std::thread::sleep(Duration::from_millis(10));
    }
    (begun.elapsed(), failed)
}

#[test]
fn requests_are_rerouted_when_a_node_is_killed_and_when_it_falls_silent() {
    let (mut killed, at) = colony("killed");
    killed.kill(at);
    let (took, failed) = until_rerouted(&killed, at);
    println!("kill -9: rerouted after {took:?}, {failed} requests failed");

    let (silent, at) = colony("silent");
    let pid = Pid::from_raw(silent.pid(at).cast_signed());
    kill(pid, Signal::SIGSTOP).expect("it runs");
    let (took, failed) = until_rerouted(&silent, at);
    println!("silence: rerouted after {took:?}, {failed} requests failed");
    kill(pid, Signal::SIGCONT).expect("it runs");
}
