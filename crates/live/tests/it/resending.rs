//! Requests that are retried or wait, because a copy closed the connection without an answer, or because the node does
//! not know all names yet.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use http::StatusCode;
use mario_live::seams::Protocol;
use mario_live::traffic::TrafficLimits;

use crate::nodes::{Authority, TestNode, application, copy, fixed, link};
use crate::traffic::{ask, get, post, silent};

#[tokio::test]
async fn an_idempotent_request_without_a_response_waits_at_its_ingress_for_another_route() {
    let authority = Authority::new();
    let (a, b) = (TestNode::new("a").await, TestNode::new("b").await);
    a.set_hops(vec![link(&authority, &a, &b, 1).await]);
    let (address, seen) = silent().await;
    b.set_copies(vec![copy(1, address, Protocol::Http1)]);
    let asking = tokio::spawn(ask(a.ingress, get("/")));
    while seen.load(Ordering::SeqCst) == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    b.set_copies(vec![copy(2, fixed("another").await, Protocol::Http1)]);
    let (status, headers, body) = asking.await.unwrap();
    assert_eq!((status, body.as_str()), (StatusCode::OK, "another"));
    assert!(headers.keys().all(|name| !name.as_str().starts_with("mario-")), "{headers:?}");

    // A request that is not idempotent is not retried, although there is another copy.
    b.set_copies(vec![copy(3, address, Protocol::Http1), copy(4, fixed("never asked").await, Protocol::Http1)]);
    let (status, headers, _) = ask(a.ingress, post("/", "once")).await;
    assert_eq!((status, seen.load(Ordering::SeqCst)), (StatusCode::BAD_GATEWAY, 2));
    assert!(headers.keys().all(|name| !name.as_str().starts_with("mario-")), "{headers:?}");
}

#[tokio::test]
async fn at_most_two_copies_see_a_request_however_many_hops() {
    let authority = Authority::new();
    let settings = || TrafficLimits { hold: Duration::from_millis(600), ..TrafficLimits::default() };
    let nodes = [
        TestNode::with("a", settings()).await,
        TestNode::with("b", settings()).await,
        TestNode::with("c", settings()).await,
    ];
    let [a, b, c] = &nodes;
    a.set_hops(vec![link(&authority, a, b, 1).await]);
    b.set_hops(vec![link(&authority, b, c, 1).await]);
    let ((one, seen), (other, seen_by_other)) = (silent().await, silent().await);
    c.set_copies(vec![copy(1, one, Protocol::Http1), copy(2, other, Protocol::Http1)]);
    assert_eq!(ask(a.ingress, get("/")).await.0, StatusCode::BAD_GATEWAY);
    assert_eq!(seen.load(Ordering::SeqCst) + seen_by_other.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn requests_wait_for_a_name_until_every_neighbour_has_sent_its_routes() {
    let settings = TrafficLimits { hold: Duration::from_secs(2), ..TrafficLimits::default() };
    let node = TestNode::with("a", settings).await;
    let named = std::mem::take(&mut node.routes.load().as_ref().clone().hosts);
    node.change(|routes| (routes.are_complete, routes.hosts) = (false, BTreeMap::default()));
    let asking = tokio::spawn(ask(node.ingress, get("/")));
    tokio::time::sleep(Duration::from_millis(100)).await;
    node.set_copies(vec![copy(1, fixed("known").await, Protocol::Http1)]);
    node.change(|routes| routes.hosts = named.clone());
    assert_eq!(asking.await.unwrap().2, "known");
    assert!(named.values().all(|known| *known == application()));

    // A request for an unknown name is answered with 503 while the routes are incomplete, because an unreachable
    // neighbour may know the name.
    node.change(|routes| routes.hosts.clear());
    let (status, _, text) = ask(node.ingress, get("/")).await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "{text}");
    assert!(text.contains("a neighbour is out of reach"), "{text}");

    node.change(|routes| routes.are_complete = true);
    let begun = Instant::now();
    assert_eq!(ask(node.ingress, get("/")).await.0, StatusCode::NOT_FOUND);
    assert!(begun.elapsed() < Duration::from_secs(2), "a node that knows all names answers at once");
}
