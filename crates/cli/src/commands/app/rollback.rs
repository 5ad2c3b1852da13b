//! `mario app rollback`.

use std::collections::BTreeMap;

use clap::Args;
use mario_live::LiveError;
use mario_live::identity::application_id;
use mario_live::rollout::{Change, Rollback, Running, running};

use super::rollout::{counted, failure_after, fault, no_instance, show};
use crate::live::{NodesArguments, failure};
use crate::{Console, Failure, Outcome};

/// Arguments of `mario app rollback`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  mario app rollback shop --from 2 --node 127.0.0.1:7441 --node 127.0.0.1:7451 --as ada.pem

Only instances with this version are changed, one after the other; each gets the description that it had before. Repeating the \
command changes nothing more. Only a node that updated an instance itself can roll it back: an instance that migrated or was \
replicated since is named, and left unchanged.")]
pub struct RollbackArguments {
    /// The id of the application
    #[arg(value_name = "APPLICATION")]
    pub application: String,
    /// The version to undo. Without it, nothing is changed, and the versions that can be undone are listed
    #[arg(long, value_name = "VERSION")]
    pub from: Option<u64>,
    #[command(flatten)]
    pub nodes: NodesArguments,
}

/// Restores the previous description of the instances that run the named version.
pub(super) fn rollback(arguments: &RollbackArguments, console: &Console) -> Result<Outcome, Failure> {
    let RollbackArguments { application, from, nodes } = arguments;
    application_id(application).map_err(|fault| failure(&fault))?;
    let format = nodes.format;
    let nodes = nodes.load()?;
    let (known, _) = running(&nodes, application).map_err(|fault| failure(&fault))?;
    if known.is_empty() {
        return Err(failure(&no_instance(application)));
    }
    let Some(from) = *from else { return Err(failure(&unnamed(application, &known))) };
    let rollback = Rollback::plan(&known, from);
    let Rollback { undone, stay, .. } = &rollback;
    if undone.is_empty() && stay.is_empty() {
        show(format, console, &[])?;
        let versions = versions(&known);
        console.inform(format!(
            "nothing to undo: no instance of {application} runs version {from} on the nodes, which run {versions}"
        ));
        return Ok(Outcome::Done);
    }
    console.inform(format!(
        "undoing version {from} of {application} on {}; {} stay as they are",
        counted(undone.len()),
        counted(known.len() - undone.len())
    ));
    let mut done = Vec::new();
    for one in undone {
        let changed = rollback.undo(one, &mut done);
        match changed.map_err(|error| failure_after(&fault(error, application), &done, "their previous version"))? {
            Change::Done => {}
            Change::Left => {
                console.inform(format!("instance {} has left node {}", one.instance, one.address()));
            }
        }
    }
    show(format, console, &done)?;
    if stay.is_empty() {
        return Ok(Outcome::Done);
    }
    let names: Vec<&str> = stay.iter().map(|one| one.instance.as_str()).collect();
    let text = format!("{} still run version {from}: their nodes have no earlier description", names.join(", "));
    Err(failure(&LiveError::new(text).hint("sign the earlier description with a higher version, and update to it")))
}

/// The error of a rollback that does not say what to undo: it lists what can be undone.
fn unnamed(application: &str, known: &[Running<'_>]) -> LiveError {
    let fault = LiveError::new(format!(
        "which version of {application} to undo is not said; the nodes run {}",
        versions(known)
    ));
    let newest = known.iter().filter(|one| one.previous.is_some()).map(|one| one.version).max();
    fault.hint(match newest {
        Some(version) => format!("name it: `mario app rollback {application} --from {version} …`"),
        None => "no instance was updated on these nodes, so there is nothing to undo".to_owned(),
    })
}

/// The running versions as text, the newest first: each with the number of its instances, and the version before it.
fn versions(known: &[Running<'_>]) -> String {
    let mut groups: BTreeMap<(u64, Option<u64>), usize> = BTreeMap::new();
    for one in known {
        *groups.entry((one.version, one.previous)).or_default() += 1;
    }
    let groups = groups.iter().rev().map(|((version, previous), count)| match previous {
        Some(previous) => format!("version {version} ({}, before that {previous})", counted(*count)),
        None => format!("version {version} ({})", counted(*count)),
    });
    groups.collect::<Vec<_>>().join(", ")
}
