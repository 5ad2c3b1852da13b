//! What updates and rollbacks share: the words for their faults, and the table of their results.

use mario_live::LiveError;
use mario_live::api::Updated;
use mario_live::rollout::{Done, RolloutError};
use serde::Serialize;

use super::copy_text;
use crate::live::{Format, Shown, failure, json_text, table};
use crate::{Console, Failure};

/// Words why the instances of an application were not changed.
pub(super) fn fault(error: RolloutError, application: &str) -> LiveError {
    match error {
        RolloutError::Node(fault) => fault,
        RolloutError::NoInstance => no_instance(application),
        RolloutError::Moving(count) => {
            LiveError::new(format!("{} of application `{application}` moves between nodes", counted(count)))
                .hint("repeat the command, and name all nodes that may host the application")
        }
        RolloutError::Unhealthy { instance, owned, version } => {
            let cause = owned.map_or_else(|| "it was handed over".to_owned(), |owned| copy_text(&owned));
            let undo = version.map(|version| {
                format!("; `mario app rollback {application} --from {version} …` restores the earlier version")
            });
            LiveError::new(format!("the copy of instance {instance} does not become healthy"))
                .caused_by(cause)
                .hint(format!("`mario app logs {instance}` shows what it says{}", undo.unwrap_or_default()))
        }
        RolloutError::Newer { instance, version, wanted } => LiveError::new(format!(
            "instance {instance} runs version {version}, and the description has version {wanted}"
        ))
        .hint("sign it with a higher version; `mario app rollback` undoes an update"),
        RolloutError::OtherDigest { instance, version, digest, wanted } => LiveError::new(format!(
            "instance {instance} runs version {version} with digest {digest}, and the new description has \
             version {version} with digest {wanted}"
        ))
        .hint("sign the changed description with a higher version"),
    }
}

/// The fault that the nodes have no instance of an application.
pub(super) fn no_instance(application: &str) -> LiveError {
    LiveError::new(format!("no instance of application `{application}` is on the nodes"))
        .hint("`mario app list` shows the instances of a node")
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
pub(super) fn show(format: Format, console: &Console, done: &[Done]) -> Result<(), Failure> {
    let row = |Done { updated, node }: &Done| {
        let Updated { instance, from, version, is_changed, .. } = updated;
        [instance.word(), node.word(), from.word(), version.word(), is_changed.word()]
    };
    let shown = match format {
        Format::Json => json_text(&Changed { instances: done }),
        Format::Text => table(["INSTANCE", "NODE", "FROM", "VERSION", "CHANGED"], done.iter().map(row)),
    };
    console.write_data(|stdout| stdout.write_all(shown.as_bytes()))
}

/// A number of instances, in words.
pub(super) fn counted(count: usize) -> String {
    format!("{count} instance{}", if count == 1 { "" } else { "s" })
}
