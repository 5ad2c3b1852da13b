//! Sends bytes to the operators' interface without a network and without a node. Only for `mario-fuzzing`.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use arc_swap::ArcSwap;
use mario_prolog::Engine;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::{HalfClosed, Operator, OperatorApi};
use crate::api::Health;
use crate::daemon::{Copies, Event, Events, Json, Room};
use crate::identity::Role;
use crate::seams::Routes;
use crate::traffic::{Forwarder, TrafficLimits};

/// How long the node may send nothing, after the operator has closed its side, before the connection counts as stuck.
const CLOSING_MAX: Duration = Duration::from_secs(20);

/// How long to wait for the next bytes of a stream of events, which may never end.
const STREAM_MAX: Duration = Duration::from_millis(20);

/// The content type of a stream of events.
const EVENTS: &[u8] = b"text/event-stream";

/// Sends bytes to a stub of a node as an operator with all roles, closes the sending side, and returns the answer. A
/// stream of events is ended when it pauses. Panics if the interface panics, or keeps any other connection open without
/// sending anything.
pub fn converse(bytes: &[u8]) -> Vec<u8> {
    static RUNTIME: LazyLock<Runtime> =
        LazyLock::new(|| Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime"));
    RUNTIME.block_on(async {
        let (operator_side, node_side) = tokio::io::duplex(1 << 20);
        let operator = Operator {
            roles: Role::ALL.to_vec(),
            uri: "spiffe://harbour/operator/ada".to_owned(),
            has_operator_certificate: true,
        };
        let serving = tokio::spawn(super::converse(api(), operator, node_side, HalfClosed::Answered));
        let (mut answers, mut requests) = tokio::io::split(operator_side);
        // The node may close the connection before it has read everything.
        let _ = requests.write_all(bytes).await;
        let _ = requests.shutdown().await;
        let mut answer = Vec::new();
        loop {
            let is_stream = answer.windows(EVENTS.len()).any(|window| window == EVENTS);
            match timeout(if is_stream { STREAM_MAX } else { CLOSING_MAX }, answers.read_buf(&mut answer)).await {
                Ok(Ok(0) | Err(_)) => break,
                Ok(Ok(_)) => {}
                Err(_) if is_stream => {
                    serving.abort();
                    return answer;
                }
                Err(elapsed) => panic!("the connection stays open: {elapsed}"),
            }
        }
        serving.await.expect("it serves without a panic");
        answer
    })
}

/// The operators' interface of a stub of a node. The stub answers every question with an empty object, and knows no
/// decisions to explain.
fn api() -> OperatorApi {
    static ENGINE: LazyLock<Engine> = LazyLock::new(Engine::new);
    let (core, mut inbox) = mpsc::channel(16);
    tokio::spawn(async move {
        while let Some(event) = inbox.recv().await {
            match event {
                Event::Ask(ask) => drop(ask.reply.send(Ok(Json("{}".to_owned())))),
                Event::Explain(_, reply) => drop(reply.send(None)),
                Event::Health(reply) => drop(reply.send(Health { is_healthy: true, fault: None })),
                Event::Metrics(reply) => drop(reply.send(String::new())),
                Event::Workload(_, reply) => drop(reply.send(None)),
                Event::Link(_) | Event::Input(_) | Event::Stop => {}
            }
        }
    });
    let events = Events::new();
    let copies =
        Copies::new(BTreeMap::new(), Room::new(std::env::temp_dir()), core.clone(), events.clone(), Handle::current());
    let forwarder = Forwarder::new(Arc::new(ArcSwap::from_pointee(Routes::default())), TrafficLimits::default());
    OperatorApi::new(core, events, copies, forwarder, Vec::new(), &ENGINE)
}
