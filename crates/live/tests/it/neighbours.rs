//! Neighbours that do not agree: one does not list the other, or two nodes have the same id.

use std::fs;
use std::time::Duration;

use mario_live::operators::Method;
use mario_testing::free_address;

use crate::colony::{Colony, Daemon};

fn log(colony: &Colony, name: &str) -> String {
    fs::read_to_string(colony.directory.join(format!("{name}.log"))).unwrap_or_default()
}

fn count(text: &str, part: &str) -> usize {
    text.matches(part).count()
}

/// Removes the neighbours from the configuration of a daemon.
fn forget_neighbours(colony: &Colony, index: usize) {
    let path = &colony.daemons[index].config;
    let text = fs::read_to_string(path).expect("written");
    fs::write(path, text.split("[[neighbours]]").next().unwrap_or_default()).expect("written");
}

/// Starts two nodes of which one does not list the other, and returns their logs after some seconds.
fn one_sided(test: &str, forgetful: usize) -> [String; 2] {
    let mut colony = Colony::new(test, &["a", "b"], 2);
    forget_neighbours(&colony, forgetful);
    colony.start(0, None);
    colony.start(1, None);
    let (one, other) = (["a", "b"][forgetful], ["a", "b"][1 - forgetful]);
    let cause = format!("`{one}` does not list `{other}` as a neighbour");
    colony.wait("the cause is in the state of the link", |colony| {
        colony.get(1 - forgetful, "/v1/links")["links"][0]["fault"] == cause.as_str()
    });
    let sessions = colony.get(1 - forgetful, "/v1/links")["links"][0]["sessions"].clone();
    assert_eq!(sessions, 0, "the link never came up");
    colony.wait("both logs have it", |colony| ["a", "b"].iter().all(|name| log(colony, name).contains(&cause)));
    std::thread::sleep(Duration::from_secs(8));
    let logs = ["a", "b"].map(|name| log(&colony, name));
    for log in &logs {
        assert_eq!(count(log, &cause), 1, "one line, and a count after a minute: {log}");
        assert_eq!(count(log, "\"event\":\"link-up\"") + count(log, "docs.rs"), 0, "{log}");
        assert!(log.lines().count() <= 6, "{log}");
    }
    // Once both list each other, the link comes up at once.
    colony.kill(forgetful);
    let text = fs::read_to_string(&colony.daemons[forgetful].config).expect("written");
    let address = colony.daemons[1 - forgetful].links;
    let entry = format!("{text}[[neighbours]]\nid = \"{other}\"\naddress = \"{address}\"\n");
    fs::write(&colony.daemons[forgetful].config, entry).expect("written");
    colony.start(forgetful, None);
    let begun = std::time::Instant::now();
    colony.wait("the link is up", |colony| {
        (0..2).all(|index| {
            let link = &colony.get(index, "/v1/links")["links"][0];
            link["is_up"] == true && link["has_data"] == true && link["fault"].is_null()
        })
    });
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
    logs
}

#[test]
fn a_neighbour_that_does_not_list_the_node_that_connects_is_named_once_on_both_sides() {
    one_sided("unlisted", 1);
}

#[test]
fn a_neighbour_that_should_connect_and_does_not_list_the_node_is_named_once_on_both_sides() {
    one_sided("unlisted-greater", 0);
}

#[test]
fn of_two_nodes_with_one_id_the_first_keeps_its_link_and_all_are_told() {
    let mut colony = Colony::new("twins", &["a", "b"], 2);
    let twin = colony.directory.join("twin");
    fs::create_dir_all(&twin).expect("made");
    let text = fs::read_to_string(&colony.daemons[0].config).expect("written");
    let (links, ingress, operators) = (free_address(), free_address(), free_address());
    let own = &colony.daemons[0];
    let text = text
        .replace(&own.links.to_string(), &links.to_string())
        .replace(&own.ingress.to_string(), &ingress.to_string())
        .replace(&own.operators.to_string(), &operators.to_string());
    let config = twin.join("node.toml");
    fs::write(&config, text).expect("written");
    colony.daemons.push(Daemon::new("twin", config, [links, ingress, operators]));
    colony.start(0, None);
    colony.start(1, None);
    let is_up = |colony: &Colony, index: usize| colony.get(index, "/v1/links")["links"][0]["is_up"] == true;
    colony.wait("the link is up", |colony| is_up(colony, 0) && is_up(colony, 1));
    colony.start(2, None);
    let cause = "two nodes have the id `a`";
    colony.wait("the second one is told", |colony| {
        let fault = colony.get(2, "/v1/links")["links"][0]["fault"].clone();
        fault.as_str().is_some_and(|fault| fault.contains(cause))
    });
    std::thread::sleep(Duration::from_secs(5));
    assert!(is_up(&colony, 0) && is_up(&colony, 1) && !is_up(&colony, 2));
    let fault = colony.get(1, "/v1/links")["links"][0]["fault"].clone();
    assert!(fault.as_str().is_some_and(|fault| fault.contains(cause)), "the refusing node shows it, too: {fault}");
    assert_eq!(colony.get(1, "/v1/links")["links"][0]["sessions"], 1, "the link of the first did not flap");
    let health = colony.ask(2, Method::GET, "/healthz", &[], Vec::new()).expect("an answer");
    assert!(health.status == 503 && health.text.contains(cause), "{}", health.text);
    let status = colony.get(2, "/v1/status");
    assert!(status["id_fault"].as_str().is_some_and(|fault| fault.contains(cause)), "{status}");
    assert_eq!(colony.get(0, "/healthz")["is_healthy"], true, "the first one is as before");
    for name in ["b", "twin"] {
        let log = log(&colony, name);
        assert_eq!(count(&log, cause), 1, "{log}");
    }
    // When the first one is gone, the other one takes its place.
    colony.kill(0);
    colony.wait("the second one is connected", |colony| is_up(colony, 2));
    assert_eq!(colony.get(2, "/healthz")["is_healthy"], true);
}
