//! What updates and rollbacks share: the instances of an application on several nodes, and one change after the other.

use std::thread::sleep;
use std::time::{Duration, Instant};

use mario_live::LiveError;
use mario_live::api::{Instance, Instances, OwnedInstance, RestartStatus, Updated};
use mario_live::operators::Method;
use serde::Serialize;

use super::copy_text;
use crate::live::{Format, NodeArguments, NodesArguments, Shown, failure, json_text, table};
use crate::{Console, Failure};

/// How long a restarted copy may take beyond the start and drain timeouts of its description.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The start and drain timeouts of a description by default, for nodes that do not report them.
const RESTART_TIMEOUT_MS: u64 = 50_000;

/// An instance that a node owns.
pub(super) struct Running {
    pub(super) node: NodeArguments,
    pub(super) application: String,
    pub(super) instance: String,
    pub(super) version: u64,
    /// The version that a rollback restores.
    pub(super) previous: Option<u64>,
    /// The digest of its description; `None` if the node is too old to report it.
    pub(super) digest: Option<String>,
}

/// An instance that was changed, and the address of its node.
#[derive(Debug, Serialize)]
pub(super) struct Done {
    #[serde(flatten)]
    pub(super) updated: Updated,
    node: String,
}

/// What became of a change.
pub(super) enum Change {
    Done,
    /// The instance is no longer on its node.
    Left,
}

/// The instances of an application that the nodes own, and how many they are handing over to others.
pub(super) fn running(nodes: &NodesArguments, application: &str) -> Result<(Vec<Running>, usize), LiveError> {
    let (mut found, mut moving) = (Vec::new(), 0);
    for node in nodes.each() {
        let Instances { instances } = node.try_ask(Method::GET, "/v1/instances", &[], Vec::new())?.known()?;
        let is_wanted = |one: &Instance| one.application().is_some_and(|id| id.to_string() == application);
        for one in instances.into_iter().filter(is_wanted) {
            let Some(OwnedInstance { instance, version, previous_version, digest, .. }) = one.owned() else {
                moving += 1;
                continue;
            };
            found.push(Running {
                node: node.clone(),
                application: application.to_owned(),
                instance: instance.to_string(),
                version: *version,
                previous: previous_version.filter(|previous| previous < version),
                digest: digest.clone(),
            });
        }
    }
    Ok((found, moving))
}

/// Changes the description of an instance, and waits until its copy is healthy. Adds the node's answer to `done`.
pub(super) fn change(
    one: &Running,
    method: Method,
    query: &str,
    body: Vec<u8>,
    done: &mut Vec<Done>,
) -> Result<Change, LiveError> {
    let path = format!("/v1/instances/{}", one.instance);
    let is_update = method == Method::PUT;
    let reply = one.node.try_ask(method, &format!("{path}/application{query}"), &[], body)?;
    // The instance may have left the node, or may be about to, since the node listed it.
    if matches!(reply.status, 404 | 409) && one.node.try_ask(Method::GET, &path, &[], Vec::new())?.status == 404 {
        return Ok(Change::Left);
    }
    let updated: Updated = reply.known()?;
    let version = updated.version.filter(|_| is_update);
    let restart_ms = updated.restart_timeout_ms.unwrap_or(RESTART_TIMEOUT_MS);
    done.push(Done { updated, node: one.node.node.concat() });
    wait(one, version, Duration::from_millis(restart_ms) + TIMEOUT)?;
    Ok(Change::Done)
}

/// Waits until the copy of an instance is healthy, or the instance sleeps or is no longer on the node. Returns an error
/// with the cause on timeout, or after the next failure if its program cannot be executed. `version` is the one that an update gave it.
fn wait(one: &Running, version: Option<u64>, timeout: Duration) -> Result<(), LiveError> {
    let deadline = Instant::now() + timeout;
    let Running { node, application, instance, .. } = one;
    // The last failure may be that of the description before.
    let mut first_seen = None;
    loop {
        let reply = node.try_ask(Method::GET, &format!("/v1/instances/{instance}"), &[], Vec::new())?;
        // Status 404: the instance has migrated or ended since, so there is nothing to wait for on this node.
        if reply.status == 404 {
            return Ok(());
        }
        let answer: Instance = reply.known()?;
        let owned = answer.owned();
        if owned.is_some_and(OwnedInstance::serves) {
            return Ok(());
        }
        let restart = owned.and_then(|owned| owned.restart.as_ref());
        let failures = restart.map(|restart| restart.failures);
        let has_failed = *first_seen.get_or_insert(failures) != failures;
        if Instant::now() > deadline || (has_failed && restart.is_some_and(RestartStatus::is_hopeless)) {
            let cause = owned.map_or_else(|| "it was handed over".to_owned(), copy_text);
            let undo = version.map(|version| {
                format!("; `mario app rollback {application} --from {version} …` restores the earlier version")
            });
            return Err(LiveError::new(format!("the copy of instance {instance} does not become healthy"))
                .caused_by(cause)
                .hint(format!("`mario app logs {instance}` shows what it says{}", undo.unwrap_or_default())));
        }
        sleep(Duration::from_millis(100));
    }
}

/// Converts a fault to a failure, which says how many instances were changed before it.
pub(super) fn failure_after(fault: &LiveError, done: &[Done], effect: &str) -> Failure {
    match done.len() {
        0 => failure(fault),
        count => {
            let text = format!("{} with {effect} so far, and then: {}", counted(count), fault.line_without_hint());
            let hint = fault.help().unwrap_or("repeat the command to continue; `mario app rollback` undoes an update");
            failure(&LiveError::new(text).hint(hint))
        }
    }
}

/// The changed instances, for programs.
#[derive(Serialize)]
struct Changed<'a> {
    instances: &'a [Done],
}

/// Prints the changed instances.
pub(super) fn show(nodes: &NodesArguments, console: &Console, done: &[Done]) -> Result<(), Failure> {
    let row = |Done { updated, node }: &Done| {
        let Updated { instance, from, version, is_changed, .. } = updated;
        [instance.word(), node.word(), from.word(), version.word(), is_changed.word()]
    };
    let shown = match nodes.format {
        Format::Json => json_text(&Changed { instances: done }),
        Format::Text => table(["INSTANCE", "NODE", "FROM", "VERSION", "CHANGED"], done.iter().map(row)),
    };
    console.write_data(|stdout| stdout.write_all(shown.as_bytes()))
}

/// A number of instances, in words.
pub(super) fn counted(count: usize) -> String {
    format!("{count} instance{}", if count == 1 { "" } else { "s" })
}
