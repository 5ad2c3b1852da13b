//! `mario policy explain --acceptance`: the verdict of a manager on a request, and the reason.

use std::io::{self, Write};
use std::path::Path;

use mario_diagnostics::{Source, printable_line};
use mario_frontend::policy_texts::Text;
use mario_frontend::{Diagnostic, Hint};
use mario_policy::{
    AcceptanceText, ExplainedInitiative, ExplainedVerdict, FactsError, explain_initiative, explain_verdict,
};
use mario_prolog::Engine;

use super::super::inputs::{Format, facts_failure, load_acceptance};
use super::Arguments;
use crate::{Console, Failure, Outcome, read_text};

pub(super) fn run(
    arguments: &Arguments,
    engine: &Engine,
    policy: &Path,
    facts: &Path,
    console: &Console,
) -> Result<Outcome, Failure> {
    let acceptance = load_acceptance(engine, policy, console)?;
    let text = Text::find(policy)?;
    let facts = read_text(facts)?;
    let request = arguments.request.as_deref().unwrap_or_default().trim().trim_end_matches('.');
    let source = AcceptanceText { name: &text.source.name, text: &text.source.text, resolvers: &|| text.resolver() };
    if request == "initiative" {
        let explained = explain_initiative(engine, &acceptance, &source, (&facts.name, &facts.text))
            .map_err(|error| refuse(&error, &facts, request))?;
        console.write_data(|stdout| match arguments.format.unwrap_or(Format::Text) {
            Format::Text => write_initiative(stdout, &explained),
            Format::Json => writeln!(stdout, "{}", serde_json::json!(explained)),
        })?;
        return Ok(Outcome::Done);
    }
    let explained = explain_verdict(engine, &acceptance, &source, (&facts.name, &facts.text), request)
        .map_err(|error| refuse(&error, &facts, request))?;
    console.write_data(|stdout| match arguments.format.unwrap_or(Format::Text) {
        Format::Text => write_text(stdout, &explained, request),
        Format::Json => writeln!(stdout, "{}", serde_json::json!(explained)),
    })?;
    Ok(Outcome::Done)
}

fn write_text(stdout: &mut dyn Write, explained: &ExplainedVerdict, request: &str) -> io::Result<()> {
    let ExplainedVerdict { is_accepted, reason, clause, failed, changes } = explained;
    let (request, reason) = (printable_line(request), reason.as_deref().map(printable_line));
    match (is_accepted, reason) {
        (true, _) => writeln!(stdout, "accepted: {request}")?,
        (false, Some(reason)) => writeln!(stdout, "inhibited: {request}: {reason}")?,
        (false, None) => writeln!(stdout, "inhibited: {request}")?,
    }
    if let Some(clause) = clause {
        writeln!(stdout, "  by the clause at {}:{}", clause.file, clause.line)?;
    }
    for clause in failed {
        let goal = printable_line(clause.goal.as_deref().unwrap_or("the clause as a whole"));
        writeln!(stdout, "  the clause at {}:{} failed: {goal}", clause.file, clause.line)?;
    }
    for change in changes {
        writeln!(stdout, "  => {}", printable_line(change))?;
    }
    if !is_accepted && changes.is_empty() {
        writeln!(stdout, "  found no small change of facts that would get it accepted")?;
    }
    Ok(())
}

fn write_initiative(stdout: &mut dyn Write, explained: &ExplainedInitiative) -> io::Result<()> {
    let ExplainedInitiative { acts, failure, failed } = explained;
    for act in acts {
        writeln!(stdout, "wanted: {}", printable_line(&act.wanted))?;
        if let Some(clause) = &act.clause {
            writeln!(stdout, "  by the clause at {}:{}", clause.file, clause.line)?;
        }
    }
    match failure {
        Some(failure) => {
            writeln!(
                stdout,
                "no eviction or shrink: the policy returned no valid answer: {}",
                printable_line(failure)
            )?;
        }
        None if acts.is_empty() => writeln!(stdout, "no eviction or shrink")?,
        None => {}
    }
    for clause in failed {
        let goal = printable_line(clause.goal.as_deref().unwrap_or("the clause as a whole"));
        writeln!(stdout, "  the clause at {}:{} failed: {goal}", clause.file, clause.line)?;
    }
    Ok(())
}

/// Converts errors to a failure. The request was parsed as text appended to the facts; if an error is in the request,
/// only the first such error is reported.
fn refuse(error: &FactsError, facts: &Source, request: &str) -> Failure {
    let in_facts = error.problems.iter().all(|problem| problem.span.end <= facts.text.len());
    if in_facts {
        return facts_failure(error, facts, "facts");
    }
    let title = format!("`--request {request}` cannot be judged with the facts of `{}`", facts.name);
    let mut diagnostic = Diagnostic::error(title);
    if let Some(problem) = error.problems.iter().find(|problem| problem.span.end > facts.text.len()) {
        diagnostic.causes.push(problem.message.clone());
        diagnostic.hints.extend(problem.hint.clone().map(Hint::Text));
    }
    Failure::input(diagnostic)
}
