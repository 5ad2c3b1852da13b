//! `mario app shadow`, and `mario app update --shadow`.

use std::collections::BTreeMap;

use clap::Args;
use mario_live::LiveError;
use mario_live::api::{Difference, DifferentDecision, Shadow};
use mario_live::identity::application_id;
use mario_live::operators::Method;
use serde::Serialize;

use crate::live::{Format, NodesArguments, Shown, failure, json_text, table};
use crate::{Console, Failure, Outcome};

/// Arguments of `mario app shadow`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  mario app shadow shop --node 127.0.0.1:7441 --as ada.pem
  mario app shadow shop --end --node 127.0.0.1:7441 --as ada.pem")]
pub struct ShadowArguments {
    /// The id of the application
    #[arg(value_name = "APPLICATION")]
    pub application: String,
    /// End the shadow, and show its result
    #[arg(long)]
    pub end: bool,
    #[command(flatten)]
    pub nodes: NodesArguments,
}

pub(super) const LONG_ABOUT: &str = "Show how a shadow policy differs from the policy in use.

`mario app update FILE --shadow` starts a shadow on the named nodes: whenever an agent of the application evaluates its policy \
there, the policy of the signed description is evaluated with the same facts. Its proposals are recorded but never carried out. \
This command adds up the counts of the nodes: how often the two policies differed, what each proposed then, and the last \
decisions in which they differed.";

/// What a node told, and its address.
#[derive(Serialize)]
struct OnNode<T> {
    #[serde(flatten)]
    told: T,
    node: String,
}

/// The shadows that were started.
#[derive(Serialize)]
struct Started {
    shadows: Vec<OnNode<Shadow>>,
}

/// The counts of all nodes.
#[derive(Serialize)]
struct Sum {
    application: String,
    nodes: usize,
    evaluations: u64,
    same: u64,
    differ: u64,
    failed: u64,
    differences: Vec<Difference>,
    last: Vec<OnNode<DifferentDecision>>,
}

/// Starts to shadow an application with the policy of a signed description, on each node.
pub(super) fn set(
    application: &str,
    document: &[u8],
    nodes: &NodesArguments,
    console: &Console,
) -> Result<Outcome, Failure> {
    let mut shadows = Vec::new();
    for node in nodes.each() {
        let reply = node.try_ask(Method::PUT, &path(application), &[], document.to_vec());
        let shadow = reply.and_then(|reply| reply.known()).map_err(|fault| failure_after(&fault, shadows.len()))?;
        shadows.push(OnNode { told: shadow, node: node.node.concat() });
    }
    write(nodes, console, &Started { shadows }, |Started { shadows }| {
        let row = |OnNode { told, node }: &OnNode<Shadow>| [node.word(), told.application.word(), told.version.word()];
        table(["NODE", "APPLICATION", "SHADOW VERSION"], shadows.iter().map(row))
    })
}

/// Shows how a shadow policy differs from the policy in use; with `--end`, also ends the shadow. Nodes without a shadow
/// are skipped.
pub(super) fn run(arguments: &ShadowArguments, console: &Console) -> Result<Outcome, Failure> {
    let ShadowArguments { application, end, nodes } = arguments;
    application_id(application).map_err(|fault| failure(&fault))?;
    let method = if *end { Method::DELETE } else { Method::GET };
    let mut summaries = Vec::new();
    for node in nodes.each() {
        let reply = node.try_ask(method.clone(), &path(application), &[], Vec::new());
        let reply = reply.map_err(|fault| failure_after(&fault, summaries.len()))?;
        if reply.status == 404 {
            continue;
        }
        let shadow = reply.known().map_err(|fault| failure_after(&fault, summaries.len()))?;
        summaries.push(OnNode { told: shadow, node: node.node.concat() });
    }
    if summaries.is_empty() {
        let fault = LiveError::new(format!("application `{application}` has no shadow on the nodes"));
        return Err(failure(&fault.hint("`mario app update FILE --shadow` sets one")));
    }
    write(nodes, console, &sum(application, &summaries), shown)
}

/// The summed counts of all nodes, and the last decisions of each that differed, ordered by time.
fn sum(application: &str, summaries: &[OnNode<Shadow>]) -> Sum {
    let total = |count: fn(&Shadow) -> u64| summaries.iter().map(|summary| count(&summary.told)).sum::<u64>();
    let mut differences: BTreeMap<(String, String), u64> = BTreeMap::new();
    for Difference { policy, shadow, count } in summaries.iter().flat_map(|summary| &summary.told.differences) {
        *differences.entry((policy.clone(), shadow.clone())).or_default() += count;
    }
    let differences = differences.into_iter().map(|((policy, shadow), count)| Difference { policy, shadow, count });
    let last = summaries.iter().flat_map(|OnNode { told, node }| {
        told.last.iter().map(|decision| OnNode { told: decision.clone(), node: node.clone() })
    });
    let mut last: Vec<OnNode<DifferentDecision>> = last.collect();
    last.sort_by_key(|decision| decision.told.time_ms);
    Sum {
        application: application.to_owned(),
        nodes: summaries.len(),
        evaluations: total(|shadow| shadow.evaluations),
        same: total(|shadow| shadow.same),
        differ: total(|shadow| shadow.differ),
        failed: total(|shadow| shadow.failed),
        differences: differences.collect(),
        last,
    }
}

fn shown(sum: &Sum) -> String {
    let Sum { nodes, evaluations, same, differ, failed, differences, last, .. } = sum;
    let mut text = format!(
        "{evaluations} evaluations on {nodes} nodes: the same {same} times, different {differ} times; the shadow had no \
         valid answer {failed} times\n"
    );
    if *differ > 0 {
        text += "\nwhere they differ\n";
        let row =
            |difference: &Difference| [difference.policy.word(), difference.shadow.word(), difference.count.word()];
        text += &table(["RUNS", "SHADOW", "TIMES"], differences.iter().map(row));
        text += "\nthe last of these decisions\n";
        let row = |OnNode { told, node }: &OnNode<DifferentDecision>| {
            [told.instance.word(), node.word(), told.policy.word(), told.shadow.word()]
        };
        text += &table(["INSTANCE", "NODE", "RUNS", "SHADOW"], last.iter().map(row));
    }
    text
}

fn path(application: &str) -> String {
    format!("/v1/applications/{application}/shadow")
}

fn write<T: Serialize>(
    nodes: &NodesArguments,
    console: &Console,
    answer: &T,
    shown: impl FnOnce(&T) -> String,
) -> Result<Outcome, Failure> {
    let text = match nodes.format {
        Format::Json => json_text(answer),
        Format::Text => shown(answer),
    };
    console.write_data(|stdout| stdout.write_all(text.as_bytes()))?;
    Ok(Outcome::Done)
}

/// Converts a fault to a failure, which says how many nodes succeeded before it.
fn failure_after(fault: &LiveError, done: usize) -> Failure {
    match done {
        0 => failure(fault),
        done => failure(&LiveError::new(format!("{done} nodes have done it, and then: {}", fault.line()))),
    }
}
