//! `mario policy explain --run`: one decision of a stored run.

use std::io::Write;
use std::path::Path;

use mario_diagnostics::printable_line;
use mario_frontend::Diagnostic;
use mario_report::decision::{DecisionError, DecisionOfRun, explain_decision};
use mario_trace::reader::{TraceReader, rule_text};
use serde_json::json;

use super::super::inputs::Format;
use super::{Arguments, text};
use crate::traces::{cannot_read, open, refuse, trace_path};
use crate::{Console, Failure, Outcome};

pub(super) fn run(arguments: &Arguments, directory: &Path, console: &Console) -> Result<Outcome, Failure> {
    let path = trace_path(directory);
    let instance = arguments.inputs.instance.as_deref().unwrap_or_default();
    let input = open(&path, "reading", console).map_err(|error| cannot_read(&path, &error))?;
    let reader = TraceReader::new(input).map_err(|error| refuse(&path, &error))?;
    let decision = explain_decision(reader, instance, arguments.time)
        .map_err(|error| failure(&error, instance, &path, arguments.time))?;
    show(arguments, &decision, instance, console)
}

pub(super) fn show(
    arguments: &Arguments,
    decision: &DecisionOfRun,
    instance: &str,
    console: &Console,
) -> Result<Outcome, Failure> {
    console.write_data(|stdout| match arguments.format.unwrap_or(Format::Text) {
        Format::Text => write_text(stdout, decision, instance, console.colours_data()),
        Format::Json => writeln!(stdout, "{}", as_json(decision)),
    })?;
    Ok(Outcome::Done)
}

fn write_text(stdout: &mut dyn Write, decision: &DecisionOfRun, instance: &str, coloured: bool) -> std::io::Result<()> {
    let DecisionOfRun { time, node, policy, explained, verdict } = decision;
    writeln!(stdout, "time {time}: instance {instance} on node {node}, policy {policy}")?;
    if let Some(error) = &explained.error {
        writeln!(stdout, "no answer: {}", printable_line(error))?;
    }
    writeln!(stdout)?;
    text::write(stdout, explained, coloured)?;
    let asked = explained
        .proposals
        .first()
        .map(|proof| printable_line(&format!("{} {}", proof.operation, proof.target)).into_owned());
    match (asked, verdict) {
        (Some(asked), Some(judged)) => match &judged.inhibited {
            Some(reason) => {
                let (node, rule) = (&reason.node, &reason.rule);
                writeln!(
                    stdout,
                    "\ntime {}: {asked} was inhibited: node {node}: {}",
                    judged.time,
                    printable_line(&rule_text(rule))
                )
            }
            None => writeln!(stdout, "\ntime {}: {asked} was accepted", judged.time),
        },
        (Some(asked), None) => writeln!(stdout, "\nthe trace does not record the verdict on {asked}"),
        (None, _) => Ok(()),
    }
}

fn as_json(decision: &DecisionOfRun) -> serde_json::Value {
    let DecisionOfRun { time, node, policy, explained, verdict } = decision;
    let verdict = verdict.as_ref().map(|judged| {
        let inhibited = judged.inhibited.as_ref().map(
            |reason| json!({ "node": reason.node, "rule": reason.rule.as_str(), "reason": rule_text(&reason.rule) }),
        );
        json!({ "time": judged.time, "inhibited": inhibited })
    });
    json!({ "time": time, "node": node, "policy": policy, "explained": explained, "verdict": verdict })
}

pub(super) fn failure(error: &DecisionError, instance: &str, path: &Path, until: Option<f64>) -> Failure {
    let title = format!("cannot explain a decision of instance `{instance}` in `{}`", path.display());
    let diagnostic = |hint: String| Failure::input(Diagnostic::error(title.clone()).caused_by(error).hint(hint));
    match error {
        DecisionError::Read(error) => refuse(path, error),
        DecisionError::NoEvaluations(_) => diagnostic("run it again with `--trace full`".to_owned()),
        DecisionError::NoInstance(others) if others.is_empty() => {
            diagnostic("no agent evaluated in this run".to_owned())
        }
        DecisionError::NoInstance(others) => diagnostic(format!("instances are {}, …", others.join(", "))),
        DecisionError::NotYet(first) => {
            let until = until.unwrap_or_default();
            diagnostic(format!("`--time {until}` is before that: write `--time {first}`, or a later time"))
        }
        DecisionError::Policy(_) => diagnostic("`mario audit` tells what is wrong with the trace".to_owned()),
    }
}
