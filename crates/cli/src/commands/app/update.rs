//! `mario app update`.

use std::path::PathBuf;

use clap::Args;
use mario_check::{Bounds, check};
use mario_live::application::{VerifiedDocument, digest, open_now};
use mario_live::identity::Identity;
use mario_live::rollout::{Nodes, Update};
use mario_live::{BUDGET, LiveError};
use mario_policy::PolicySettings;

use super::rollout::{counted, failure_after, fault, show};
use super::shadow;
use crate::commands::policy::found;
use crate::live::{NodesArguments, engine, failure};
use crate::{Console, Failure, Outcome};

pub(super) const LONG_ABOUT: &str = "Replace the description of an application's running instances, e.g. to change its policy.

The policy is first checked as by `mario policy check`; if there are findings, nothing is updated unless --force is given. Then \
the instances of the application on the named nodes get the description one by one. An agent keeps its memory. The workload of \
an instance keeps running, unless the new description changes `[run]` or the instance's flavour (its variant of the application): then the workload finishes its \
requests and restarts, and the next instance is updated once it is healthy. The node keeps the previous description for \
`mario app rollback`.

The command can be repeated: instances that have the description already stay as they are. So an update that was interrupted is \
resumed, and a canary is followed by all other instances, with the same command.";

/// Arguments of `mario app update`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  mario app update shop.signed --canary --node 127.0.0.1:7441 --as ada.pem
  mario app update shop.signed --node 127.0.0.1:7441 --node 127.0.0.1:7451 --as ada.pem
  mario app update shop.signed --shadow --node 127.0.0.1:7441 --as ada.pem

A node updates only the instances that it hosts: name all nodes that host the application.")]
pub struct UpdateArguments {
    /// A signed description; its version must be higher than the one that it replaces, except with --shadow
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Update a single instance, unless one has this description already: the first one on the first node named that
    /// hosts the application
    #[arg(long)]
    pub canary: bool,
    /// Update nothing: evaluate the new policy beside the one in use, and count how often they differ; `mario app
    /// shadow` shows the counts
    #[arg(long, conflicts_with = "canary")]
    pub shadow: bool,
    /// Update even if `mario policy check` reports problems
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub nodes: NodesArguments,
}

/// Checks the policy of a description, then updates the application's instances one at a time. With `--canary`, updates
/// only the first; with `--shadow`, starts a shadow instead.
pub(super) fn update(arguments: &UpdateArguments, console: &Console) -> Result<Outcome, Failure> {
    let path = &arguments.file;
    let document = super::signed_document(path)?;
    let identity = Identity::load_bundle(&arguments.nodes.operator).map_err(|fault| failure(&fault))?;
    let opened = open_now(&document, &identity).map_err(|fault| failure(&fault))?;
    if !is_sound(&opened, console)? && !arguments.force {
        let fault =
            LiveError::new(format!("the policy of `{}` is not deployed: see the findings above", path.display()));
        let hint = "`mario policy check` tells more; mend it, allow the findings in its text, or update with --force";
        return Err(failure(&fault.hint(hint)));
    }
    let application = opened.descriptor.application.id.to_string();
    let nodes = Nodes { identity, addresses: arguments.nodes.nodes.clone() };
    if arguments.shadow {
        return shadow::set(&application, &document, &nodes, arguments.nodes.format, console);
    }
    let wanted = Update { version: opened.descriptor.version, digest: digest(&document), application, document };
    let mut done = Vec::new();
    let result =
        if arguments.canary { wanted.roll_out_to_one(&nodes, &mut done) } else { wanted.roll_out(&nodes, &mut done) };
    let Update { application, version, .. } = &wanted;
    result.map_err(|error| failure_after(&fault(error, application), &done, &format!("version {version}")))?;
    show(arguments.nodes.format, console, &done)?;
    let updated = done.iter().filter(|one| one.updated.is_changed).count();
    console.inform(format!(
        "application {application}: {} updated to version {version}, {} had it already",
        counted(updated),
        counted(done.len() - updated)
    ));
    Ok(Outcome::Done)
}

/// Whether an application has a policy, and the checks of `mario policy check` find no problem in it. Prints the
/// findings.
fn is_sound(opened: &VerifiedDocument, console: &Console) -> Result<bool, Failure> {
    let text = &opened.descriptor.policy;
    let Some((name, main)) = text.main() else { return Ok(false) };
    let settings = PolicySettings { memory: text.memory, budget: BUDGET };
    let mut progress = console.progress("worlds");
    let resolver = || text.resolver();
    let report = check(engine(), name, main, &resolver, settings, &Bounds::default(), &mut |worlds| {
        progress.done(worlds);
    });
    drop(progress);
    let report = report.map_err(|error| Failure::input(mario_frontend::Diagnostic::from_error(&error)))?;
    console.show(&found(&report));
    Ok(report.findings.is_empty())
}
