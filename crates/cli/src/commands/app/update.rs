//! `mario app update` and `mario app rollback`.

use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant};

use clap::Args;
use mario_live::application::{VerifiedDocument, open_now};
use mario_live::identity::{Identity, application_id};
use mario_live::operators::Method;
use mario_live::{BUDGET, LiveError};
use mario_policy::{Bounds, PolicySettings, check};
use serde_json::{Value, json};

use super::shadow;
use crate::commands::policy::found;
use crate::live::{Format, NodeArguments, engine, failure, table, word};
use crate::{Console, Failure, Outcome};

pub(super) const LONG_ABOUT: &str = "Replace the description of an application's running instances, e.g. to change its policy.

The policy is first checked as by `mario policy check`; if there are findings, nothing is updated unless --force is given. Then \
the instances of the application on the named nodes get the description one by one. An agent keeps its memory. The workload of \
an instance keeps running, unless the new description changes `[run]` or the instance's flavour (its variant of the application): then the workload finishes its \
requests and restarts, and the next instance is updated once it is healthy. The node keeps the previous description for \
`mario app rollback`.";

/// How long a restarted copy may take beyond the start and drain timeouts of its description.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Arguments of `mario app update`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  mario app update shop.signed --canary --node 127.0.0.1:7441 --as ada.pem
  mario app update shop.signed --node 127.0.0.1:7441 --node 127.0.0.1:7451 --as ada.pem
  mario app update shop.signed --shadow --node 127.0.0.1:7441 --as ada.pem

A node updates only the instances that it hosts: name all nodes that host the application.")]
pub struct UpdateArguments {
    /// A signed description; its version must be higher than the one in use, except with --shadow
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Update a single instance: the first one on the first node named that hosts the application
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

/// Arguments of `mario app rollback`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  mario app rollback shop --node 127.0.0.1:7441 --node 127.0.0.1:7451 --as ada.pem

Only a node that updated an instance itself can roll it back; an instance that migrated since is left unchanged.")]
pub struct RollbackArguments {
    /// The id of the application
    #[arg(value_name = "APPLICATION")]
    pub application: String,
    #[command(flatten)]
    pub nodes: NodesArguments,
}

/// Arguments that name the nodes to query and the operator who queries them.
#[derive(Clone, Debug, Args)]
pub struct NodesArguments {
    /// The operator address of a node, e.g. 127.0.0.1:7441; may be repeated
    #[arg(long = "node", value_name = "ADDRESS", required = true)]
    pub nodes: Vec<String>,
    /// The certificate of the operator, e.g. ada.pem; its private key, ada.key, must be in the same directory
    #[arg(long = "as", value_name = "FILE")]
    pub operator: PathBuf,
    /// How to print the answer
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

impl NodesArguments {
    pub(super) fn each(&self) -> impl Iterator<Item = NodeArguments> + '_ {
        let operator = &self.operator;
        self.nodes.iter().map(|node| NodeArguments {
            node: node.clone(),
            operator: operator.clone(),
            format: self.format,
        })
    }

    fn show(&self, console: &Console, changed: &[Value]) -> Result<(), Failure> {
        let answer = json!({ "instances": changed });
        let shown = match self.format {
            Format::Json => format!("{answer:#}\n"),
            Format::Text => table(
                &answer["instances"],
                &[("INSTANCE", "/instance"), ("NODE", "/node"), ("FROM", "/from"), ("VERSION", "/version")],
            ),
        };
        console.write_data(|stdout| stdout.write_all(shown.as_bytes()))
    }
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
    let application = word(&json!(opened.descriptor.application.id));
    if arguments.shadow {
        return shadow::set(&application, &document, &arguments.nodes, console);
    }
    let mut changed = Vec::new();
    for node in arguments.nodes.each() {
        let stopped = |fault: &LiveError, changed: &[Value]| failure_after(fault, changed, "run the new version");
        for instance in instances(&node, &application).map_err(|fault| stopped(&fault, &changed))? {
            let path = format!("/v1/instances/{instance}/application");
            let reply = node.try_ask(Method::PUT, &path, &[], document.clone());
            let answer = reply.and_then(|reply| reply.json()).map_err(|fault| stopped(&fault, &changed))?;
            changed.push(named(answer, &node));
            wait(&node, &instance, &opened).map_err(|fault| stopped(&fault, &changed))?;
            if arguments.canary {
                arguments.nodes.show(console, &changed)?;
                return Ok(Outcome::Done);
            }
        }
    }
    if changed.is_empty() {
        let fault = LiveError::new(format!("no instance of application `{application}` is on the nodes"));
        return Err(failure(&fault.hint("`mario app list` shows the instances of a node")));
    }
    arguments.nodes.show(console, &changed)?;
    Ok(Outcome::Done)
}

/// Restores the previous description of an application's instances. Instances without one are skipped.
pub(super) fn rollback(arguments: &RollbackArguments, console: &Console) -> Result<Outcome, Failure> {
    application_id(&arguments.application).map_err(|fault| failure(&fault))?;
    let mut changed = Vec::new();
    for node in arguments.nodes.each() {
        let stopped =
            |fault: &LiveError, changed: &[Value]| failure_after(fault, changed, "have the previous version again");
        for instance in instances(&node, &arguments.application).map_err(|fault| stopped(&fault, &changed))? {
            let shown = node.try_ask(Method::GET, &format!("/v1/instances/{instance}"), &[], Vec::new());
            let shown = shown.and_then(|shown| shown.json()).map_err(|fault| stopped(&fault, &changed))?;
            if shown["previous_version"].is_null() {
                continue;
            }
            let path = format!("/v1/instances/{instance}/application");
            let reply = node.try_ask(Method::DELETE, &path, &[], Vec::new());
            let answer = reply.and_then(|reply| reply.json()).map_err(|fault| stopped(&fault, &changed))?;
            changed.push(named(answer, &node));
        }
    }
    if changed.is_empty() {
        let fault = LiveError::new(format!("no instance of `{}` was updated on the nodes", arguments.application));
        return Err(failure(&fault.hint("`mario app show` tells which version an instance had before")));
    }
    arguments.nodes.show(console, &changed)?;
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
    let report = report.map_err(|error| Failure::input(mario_diagnostics::Diagnostic::from_error(&error)))?;
    console.show(&found(&report));
    Ok(report.findings.is_empty())
}

/// The ids of the instances of an application that a node owns.
fn instances(node: &NodeArguments, application: &str) -> Result<Vec<String>, LiveError> {
    let answer = node.try_ask(Method::GET, "/v1/instances", &[], Vec::new())?.json()?;
    let all = answer["instances"].as_array().cloned().unwrap_or_default();
    let own = all.iter().filter(|one| one["state"] == "owned" && word(&one["application"]) == application);
    Ok(own.map(|one| word(&one["instance"])).collect())
}

/// Waits until the copy of an instance is healthy, or the instance is no longer on the node. Returns an error on
/// timeout.
fn wait(node: &NodeArguments, instance: &str, opened: &VerifiedDocument) -> Result<(), LiveError> {
    let deadline = Instant::now() + opened.run.start_timeout + opened.run.drain_timeout + TIMEOUT;
    loop {
        let reply = node.try_ask(Method::GET, &format!("/v1/instances/{instance}"), &[], Vec::new())?;
        // Status 404: the instance has migrated or ended since, so there is nothing to wait for on this node.
        if reply.status == 404 || reply.json()?["copy"]["state"] == "healthy" {
            return Ok(());
        }
        if Instant::now() > deadline {
            return Err(LiveError::new(format!("the copy of instance {instance} does not become healthy"))
                .hint("`mario app logs` shows what it says; `mario app rollback` gives the earlier version back"));
        }
        sleep(Duration::from_millis(100));
    }
}

/// Converts a fault to a failure, which says how many instances were changed before it, and to what effect.
fn failure_after(fault: &LiveError, changed: &[Value], effect: &str) -> Failure {
    match changed.len() {
        0 => failure(fault),
        count => {
            let text = format!("{count} instances {effect}, and then: {}", fault.line());
            failure(
                &LiveError::new(text)
                    .hint("repeat the command, or reverse it: `mario app update`, `mario app rollback`"),
            )
        }
    }
}

fn named(mut answer: Value, node: &NodeArguments) -> Value {
    answer["node"] = json!(node.node);
    answer
}
