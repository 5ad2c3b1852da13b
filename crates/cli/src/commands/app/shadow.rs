//! `mario app shadow`, and `mario app update --shadow`.

use clap::Args;
use mario_live::LiveError;
use mario_live::api::{Difference, DifferentDecision, Shadow};
use mario_live::identity::application_id;
use mario_live::rollout::{Nodes, OnNode, ShadowSum};
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

/// The shadows that were started.
#[derive(Serialize)]
struct Started {
    shadows: Vec<OnNode<Shadow>>,
}

/// Starts to shadow an application with the policy of a signed description, on each node.
pub(super) fn set(
    application: &str,
    document: &[u8],
    nodes: &Nodes,
    format: Format,
    console: &Console,
) -> Result<Outcome, Failure> {
    let mut shadows = Vec::new();
    let started = nodes.start_shadow(application, document, &mut shadows);
    started.map_err(|fault| failure_after(&fault, shadows.len()))?;
    write(format, console, &Started { shadows }, |Started { shadows }| {
        let row =
            |OnNode { answer, node }: &OnNode<Shadow>| [node.word(), answer.application.word(), answer.version.word()];
        table(["NODE", "APPLICATION", "SHADOW VERSION"], shadows.iter().map(row))
    })
}

/// Shows how a shadow policy differs from the policy in use; with `--end`, also ends the shadow. Nodes without a shadow
/// are skipped.
pub(super) fn run(arguments: &ShadowArguments, console: &Console) -> Result<Outcome, Failure> {
    let ShadowArguments { application, end, nodes } = arguments;
    application_id(application).map_err(|fault| failure(&fault))?;
    let mut shadows = Vec::new();
    let read = nodes.load()?.read_shadow(application, *end, &mut shadows);
    read.map_err(|fault| failure_after(&fault, shadows.len()))?;
    if shadows.is_empty() {
        let fault = LiveError::new(format!("application `{application}` has no shadow on the nodes"));
        return Err(failure(&fault.hint("`mario app update FILE --shadow` sets one")));
    }
    write(nodes.format, console, &ShadowSum::of(application, &shadows), shown)
}

fn shown(sum: &ShadowSum) -> String {
    let ShadowSum { nodes, evaluations, same, differ, failed, differences, last, .. } = sum;
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
        let row = |OnNode { answer, node }: &OnNode<DifferentDecision>| {
            [answer.instance.word(), node.word(), answer.policy.word(), answer.shadow.word()]
        };
        text += &table(["INSTANCE", "NODE", "RUNS", "SHADOW"], last.iter().map(row));
    }
    text
}

fn write<T: Serialize>(
    format: Format,
    console: &Console,
    answer: &T,
    shown: impl FnOnce(&T) -> String,
) -> Result<Outcome, Failure> {
    let text = match format {
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
