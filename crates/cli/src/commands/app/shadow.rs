//! `mario app shadow`, and `mario app update --shadow`.

use std::collections::BTreeMap;

use clap::Args;
use mario_live::LiveError;
use mario_live::identity::application_id;
use mario_live::operators::Method;
use serde_json::{Value, json};

use crate::live::{Format, NodesArguments, failure, table, word};
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
        let mut answer = reply.and_then(|reply| reply.json()).map_err(|fault| failure_after(&fault, shadows.len()))?;
        answer["node"] = json!(node.node.concat());
        shadows.push(answer);
    }
    let answer = json!({ "shadows": shadows });
    write(nodes, console, &answer, |answer| {
        table(&answer["shadows"], &[("NODE", "/node"), ("APPLICATION", "/application"), ("SHADOW VERSION", "/version")])
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
        let mut answer = reply.json().map_err(|fault| failure_after(&fault, summaries.len()))?;
        answer["node"] = json!(node.node.concat());
        summaries.push(answer);
    }
    if summaries.is_empty() {
        let fault = LiveError::new(format!("application `{application}` has no shadow on the nodes"));
        return Err(failure(&fault.hint("`mario app update FILE --shadow` sets one")));
    }
    write(nodes, console, &sum(application, &summaries), shown)
}

/// The summed counts of all nodes, and the last decisions of each that differed, ordered by time.
fn sum(application: &str, summaries: &[Value]) -> Value {
    let total = |key: &str| summaries.iter().filter_map(|summary| summary[key].as_u64()).sum::<u64>();
    let mut differences: BTreeMap<(String, String), u64> = BTreeMap::new();
    for difference in summaries.iter().filter_map(|summary| summary["differences"].as_array()).flatten() {
        let pair = (word(&difference["policy"]), word(&difference["shadow"]));
        *differences.entry(pair).or_default() += difference["count"].as_u64().unwrap_or(0);
    }
    let differences = differences
        .into_iter()
        .map(|((policy, shadow), count)| json!({ "policy": policy, "shadow": shadow, "count": count }));
    let mut last: Vec<Value> = Vec::new();
    for summary in summaries {
        for decision in summary["last"].as_array().into_iter().flatten() {
            let mut decision = decision.clone();
            decision["node"] = summary["node"].clone();
            last.push(decision);
        }
    }
    last.sort_by_key(|decision| decision["time_ms"].as_u64());
    json!({
        "application": application,
        "nodes": summaries.len(),
        "evaluations": total("evaluations"),
        "same": total("same"),
        "differ": total("differ"),
        "failed": total("failed"),
        "differences": differences.collect::<Vec<_>>(),
        "last": last,
    })
}

fn shown(answer: &Value) -> String {
    let count = |key: &str| answer[key].as_u64().unwrap_or(0);
    let mut text = format!(
        "{} evaluations on {} nodes: the same {} times, different {} times; the shadow had no valid answer {} times\n",
        count("evaluations"),
        count("nodes"),
        count("same"),
        count("differ"),
        count("failed"),
    );
    if count("differ") > 0 {
        text += "\nwhere they differ\n";
        text += &table(&answer["differences"], &[("RUNS", "/policy"), ("SHADOW", "/shadow"), ("TIMES", "/count")]);
        text += "\nthe last of these decisions\n";
        text += &table(
            &answer["last"],
            &[("INSTANCE", "/instance"), ("NODE", "/node"), ("RUNS", "/policy"), ("SHADOW", "/shadow")],
        );
    }
    text
}

fn path(application: &str) -> String {
    format!("/v1/applications/{application}/shadow")
}

fn write(
    nodes: &NodesArguments,
    console: &Console,
    answer: &Value,
    shown: impl FnOnce(&Value) -> String,
) -> Result<Outcome, Failure> {
    let text = match nodes.format {
        Format::Json => format!("{answer:#}\n"),
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
