//! Polls one node, and follows its events.

use std::sync::Arc;
use std::time::Duration;

use mario_live::LiveError;
use mario_live::api::TestbedData;
use mario_live::operators::{Client, Connection};
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep, timeout};

use crate::NodeSource;
use crate::hub::Hub;
use crate::picture::{Answer, Topic};

/// The polling interval of a node without events, if there are at most [`NODES_AT_FULL_PACE`] nodes.
const ASK_EVERY: Duration = Duration::from_secs(1);
/// With more nodes than this, each is polled less often.
const NODES_AT_FULL_PACE: u32 = 24;
/// The longest polling interval. It must be less than 10 seconds, after which nodes close idle connections.
const ASK_EVERY_MAX: Duration = Duration::from_secs(8);
/// The minimum interval between two polls of data that rarely changes: routes and journal.
const SELDOM: Duration = Duration::from_secs(5);
/// How long further events are awaited after an event, before the node is polled.
const GATHERING: Duration = Duration::from_millis(80);
/// The delay before a node that did not answer is polled again, and before an event stream is reopened.
const RETRY_AFTER: Duration = Duration::from_secs(1);
/// How long a node may take to answer.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The maximum size of an answer in bytes.
const ANSWER_BYTES_MAX: usize = 8 << 20;

/// Polls a node and follows its events. Never returns; dropping the future stops it.
pub(crate) async fn watch(hub: Arc<Hub>, index: usize, source: NodeSource) {
    let mut address = source.address.clone();
    loop {
        let current = address.borrow_and_update().clone();
        hub.moved(index, &current);
        let attending = async {
            match Client::new(&source.identity, &current) {
                Ok(client) => attend(&hub, index, &client).await,
                Err(fault) => hub.silent(index, &fault.line()),
            }
            sleep(RETRY_AFTER).await;
        };
        tokio::select! {
            () = attending => {}
            () = changed(&mut address) => {}
        }
    }
}

/// Waits until the address changes; waits for ever if the sender is gone.
async fn changed(address: &mut watch::Receiver<String>) {
    if address.changed().await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Polls a node and follows its events until a poll fails. Events are followed from the first answer on, so that they
/// bear the id of the node and not its address.
async fn attend(hub: &Hub, index: usize, client: &Client) {
    let (happened, answers) = (Notify::new(), Notify::new());
    if hub.knows_id(index) {
        answers.notify_one();
    }
    let following = async {
        answers.notified().await;
        follow(hub, index, client, &happened).await;
    };
    tokio::select! {
        Err(fault) = ask(hub, index, client, &happened, &answers) => hub.silent(index, &fault.line()),
        () = following => {}
    }
}

async fn ask(hub: &Hub, index: usize, client: &Client, happened: &Notify, answers: &Notify) -> Result<(), LiveError> {
    let mut connection = patient(client.connect()).await?;
    let pace = ASK_EVERY * (hub.sources.len() as u32).div_ceil(NODES_AT_FULL_PACE).max(1);
    let pace = pace.min(ASK_EVERY_MAX);
    let mut seldom_at = Instant::now();
    loop {
        for topic in [Topic::Status, Topic::Instances, Topic::Links, Topic::Metrics] {
            question(hub, index, &mut connection, topic).await?;
            answers.notify_one();
        }
        if Instant::now() >= seldom_at {
            seldom_at = Instant::now() + SELDOM;
            for topic in [Topic::Routes, Topic::Journal] {
                question(hub, index, &mut connection, topic).await?;
            }
        }
        if timeout(pace, happened.notified()).await.is_ok() {
            sleep(GATHERING).await;
        }
    }
}

async fn question(hub: &Hub, index: usize, connection: &mut Connection, topic: Topic) -> Result<(), LiveError> {
    let reply = patient(connection.get(topic.path(), ANSWER_BYTES_MAX)).await?;
    let answer = match topic {
        Topic::Metrics => Answer::metrics(&reply.into_text()?),
        Topic::Status | Topic::Instances | Topic::Links | Topic::Routes | Topic::Journal => {
            Answer::json(topic, reply.known()?)
        }
    };
    hub.answered(index, answer);
    Ok(())
}

/// Follows events, reopening the stream when it ends. Never returns: only a failure in [`ask`] ends [`attend`].
async fn follow(hub: &Hub, index: usize, client: &Client, happened: &Notify) {
    loop {
        // Requests all events that the node still keeps. Events that were already seen are recognised, even when a
        // restarted daemon counts from 1 again.
        if let Ok(mut stream) = patient(client.follow(0)).await {
            while let Ok(Some(event)) = stream.next().await {
                if hub.happened(index, &event) {
                    happened.notify_one();
                }
            }
        }
        sleep(RETRY_AFTER).await;
    }
}

async fn patient<T>(asking: impl Future<Output = Result<T, LiveError>>) -> Result<T, LiveError> {
    let late = || Err(LiveError::new(format!("the node did not answer within {} seconds", TIMEOUT.as_secs())));
    timeout(TIMEOUT, asking).await.unwrap_or_else(|_| late())
}

/// Updates the picture with the testbed's data whenever it changes. Returns when the sender is gone.
pub(crate) async fn take_extra(hub: Arc<Hub>, mut extra: watch::Receiver<TestbedData>) {
    loop {
        extra.mark_unchanged();
        hub.extra_changed();
        if extra.changed().await.is_err() {
            return;
        }
    }
}
