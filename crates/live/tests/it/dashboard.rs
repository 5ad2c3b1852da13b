//! A colony of daemons on the dashboard, in a real browser.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use mario_dashboard::{Dashboard, NodeSource};
use mario_live::identity::Identity;
use mario_live::operators::Method;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use crate::browser::Browser;
use crate::colony::Colony;
use crate::daemons::STAYS;

/// A policy that migrates its instance from `b` to `c` when client requests arrive, and proposes nothing there.
const FOLLOWS: &str = "operation(migrate, I, c) :- serviceInstance(I, _, b), requests(I, _, R, _), R > 0.";

/// Starts a dashboard of all daemons of a colony. Returns the runtime that keeps it running, and its address.
fn dashboard(colony: &Colony) -> (Runtime, SocketAddr) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a thread");
    let ada = Arc::new(Identity::load_bundle(&colony.directory.join("ada.pem")).expect("an identity"));
    let sources = colony.daemons.iter().map(|daemon| NodeSource::fixed(Arc::clone(&ada), daemon.operators.to_string()));
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("a free port");
    let address = listener.local_addr().expect("an address");
    runtime.spawn(Dashboard::new(sources.collect(), None).serve(listener, std::future::pending()));
    (runtime, address)
}

fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_millis() as u64
}

#[test]
fn the_page_shows_a_migration_and_a_dead_daemon() {
    let Some(browser) = Browser::start(1280, 900) else { return };
    let mut colony = Colony::new("page", &["a", "b", "c"], 2);
    for index in 0..3 {
        colony.start(index, None);
    }
    let (_runtime, address) = dashboard(&colony);
    browser.visit(&format!("http://{address}/"));
    browser.wait_for("document.querySelectorAll('.stage .node:not(.unwatched)').length === 3");
    browser.wait_for("document.querySelectorAll('.stage .link:not(.down)').length === 2");
    let reply = colony.deploy(1, "1", &colony.signed(FOLLOWS)).expect("an answer").json().expect("accepted");
    let instance = reply["instance"].as_str().expect("an id").to_owned();
    let chip = format!(".chip[data-instance='{instance}']");
    browser.wait_for(&format!("document.querySelector(\"{chip}\")?.dataset.on === 'b'"));
    colony.wait("it is healthy", |colony| colony.healthy(1) == [instance.clone()]);
    // The page records when the chip appears on the other node. The browser and the daemons use the same clock.
    browser.evaluate(&format!(
        "window.seenAt = null; new MutationObserver(() => {{ const chip = document.querySelector(\"{chip}\"); \
         if (chip?.dataset.on === 'c') window.seenAt ??= Date.now(); }}).observe(document.querySelector('.stage'), \
         {{subtree: true, childList: true, attributes: true}}); 1"
    ));
    let begun = Instant::now();
    while browser.evaluate("window.seenAt") == Value::Null {
        assert!(begun.elapsed() < crate::colony::TIMEOUT, "the migration was never seen");
        let _ = colony.client(1, "/");
        std::thread::sleep(Duration::from_millis(50));
    }
    let seen_ms = browser.evaluate("window.seenAt").as_u64().expect("a time");
    // The target reports the arrival of the instance only after recording it in its journal.
    let log = std::fs::read_to_string(colony.directory.join("c.log")).expect("a log");
    let arrived = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let arrived =
        arrived.filter(|event| event["report"]["kind"] == "arrived").find_map(|event| event["time_ms"].as_u64());
    let arrived_ms = arrived.expect("it arrived");
    println!("seen on the page {} ms after it was in the journal", seen_ms.saturating_sub(arrived_ms));
    assert!(seen_ms <= now_ms());
    browser.wait_for("document.querySelector('#log').textContent.includes('migrates to c')");
    browser.wait_for("document.querySelector('.problems').textContent.includes('Nothing is wrong')");

    // Opens the details of the instance by a synthetic click, because the chip may still be moving, and then the
    // explanation of its last decision.
    browser.evaluate(&format!(
        "document.querySelector(\"{chip}\").dispatchEvent(new MouseEvent('click', {{bubbles: true}})); 1"
    ));
    browser.wait_for("document.querySelector('.details h3')?.textContent.startsWith('Instance ')");
    browser.wait_for("document.querySelector('[data-key=explain]') !== null");
    browser.wait_for("document.querySelector('.player').textContent.includes('asked for nothing')");
    browser.evaluate("document.querySelector('[data-key=explain]').click(); 1");
    browser.wait_for("document.querySelector('.reasons').textContent.includes('migrate')");
    let reasons = browser.text(".reasons");
    assert!(reasons.contains("Why not") && reasons.contains("serviceInstance"), "{reasons}");

    // A killed daemon is shown as down, until it is back.
    colony.kill(0);
    browser.wait_for("document.querySelector('.problems').textContent.includes('Node a has not answered')");
    browser.wait_for("document.querySelector(\".node[data-node='a']\").classList.contains('down')");
    colony.start(0, None);
    browser.wait_for("!document.querySelector('.problems').textContent.includes('Node a has not answered')");
    let complaints =
        browser.complaints().into_iter().filter(|complaint| !complaint.starts_with("asked for http://127.0.0.1:"));
    assert_eq!(complaints.collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
fn a_node_explains_the_last_decision_of_an_instance() {
    let mut colony = Colony::new("explains", &["a"], 2);
    colony.start(0, None);
    let reply = colony.deploy(0, "1", &colony.signed(STAYS)).expect("an answer").json().expect("accepted");
    let instance = reply["instance"].as_str().expect("an id").to_owned();
    let path = format!("/v1/instances/{instance}/explanation");
    colony.wait("it has decided", |colony| !colony.get(0, &path)["parts"].is_null());
    let explained = colony.get(0, &path);
    assert_eq!((&explained["is_complete"], &explained["error"]), (&true.into(), &Value::Null), "{explained}");
    assert_eq!(explained["parts"][0][0]["text"], format!("nop: {instance} proposes nothing"), "{explained}");
    let missed = &explained["explanation"]["missed"];
    let undeploy = missed.as_array().expect("a list").iter().find(|missed| missed["operation"] == "undeploy");
    assert!(undeploy.expect("it is there")["clauses"].to_string().contains("serviceInstance"), "{missed}");
    let unknown = colony.ask(0, Method::GET, "/v1/instances/nobody/explanation", &[], Vec::new()).expect("an answer");
    assert_eq!(unknown.status, 404, "{}", unknown.text);
}
