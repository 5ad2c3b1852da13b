//! Warnings at the end of a run: policies of agents or nodes failed, or every request of every agent was inhibited, or no
//! agent proposed anything.

mod furthest;

use std::path::Path;

use mario_diagnostics::Source;
use mario_domain::{InstanceId, Time};
use mario_scenario::{Fidelity, Management, PolicyText, PolicyWarningKind, Resolved, Scenario};
use mario_simulator::{Absence, AcceptanceStatistics, FailedDecision, PolicyLocation};

use crate::hints::{Diagnostic, ExplainedRun, Hint};
use crate::run::Stored;
use crate::runs::acceptance_cause;
use crate::scenarios::as_warning;
use furthest::Furthest;

/// What an exception about a call of an undefined predicate contains.
const UNDEFINED: &str = "existence_error(procedure";

/// The warnings about a run, each with its first case and a hint on how to investigate it.
pub(crate) fn warnings(run: &Stored) -> Vec<Diagnostic> {
    let Stored { scenario, directory, summary, statistics } = run;
    let mut warnings = Vec::new();
    warnings.extend(summary.failed_acceptances.as_ref().map(|failed| failed_acceptances(failed, scenario)));
    if let Some(first) = &statistics.first_reasons.failed {
        warnings.push(failed_decisions(first, statistics.failed, statistics.evaluated, scenario, directory));
    }
    warnings.extend(overload(run));
    let is_without_effect = scenario.management == Management::Agents && !statistics.first_reasons.has_accepted;
    if let Some(first) = statistics.first_reasons.inhibited.as_ref().filter(|_| is_without_effect) {
        let mut diagnostic = Diagnostic::warning("every request of every agent was inhibited");
        let (time, instance) = (first.time, &first.instance);
        diagnostic
            .causes
            .push(format!("first at time {time}, instance {instance}, {}: {}", first.request, first.reason));
        warnings.push(diagnostic.hint(explaining(directory, instance, time)));
    }
    warnings.extend(silent(run));
    // A failed decision may have reached the call already, and is reported above.
    let has_reached = statistics.first_reasons.failed.as_ref().is_some_and(|failed| failed.cause.contains(UNDEFINED));
    if !has_reached {
        warnings.extend(of_kind(scenario, PolicyWarningKind::UndefinedPredicate));
    }
    warnings.extend(absences(run));
    warnings
}

/// The warning that requests still wait for overloaded instances or links at the end of a run whose traffic was
/// simulated as rates; `None` if none waits.
fn overload(run: &Stored) -> Option<Diagnostic> {
    let Stored { scenario, summary, .. } = run;
    let waiting = summary.unanswered();
    if scenario.network.fidelity != Fidelity::Flow || waiting == 0 {
        return None;
    }
    let title = format!(
        "overload: {waiting} of {} client requests still wait for instances or links at the end of the run",
        summary.emitted
    );
    let hint = "the response times are those of served requests; rates estimate them under overload, and \
                `network.fidelity = \"messages\"` simulates every request";
    Some(Diagnostic::warning(title).hint(hint))
}

/// Warnings about applications that were without an instance while users sent requests to them.
fn absences(run: &Stored) -> Vec<Diagnostic> {
    let Stored { scenario, statistics, .. } = run;
    let lost = statistics.absences.iter().filter(|absence| absence.lost > 0);
    let warning = |Absence { application, since, lost }: &Absence| {
        let id = &scenario.applications[application.position()].application.id;
        let requests =
            if *lost == 1 { "1 request to it was".to_owned() } else { format!("{lost} requests to it were") };
        let title = format!(
            "application `{id}` had no instance from time {since} on while its users sent requests: {requests} lost"
        );
        Diagnostic::warning(title)
            .hint(format!("`anchor = true` in the [[application]] `{id}`: its policy cannot undeploy the instance that operators deploy"))
            .hint("`delay = 1000` in [redeploy]: operators deploy an application again that long after its last instance is gone")
    };
    lost.map(warning).collect()
}

/// The notes about a scenario, and the warnings about the texts of its policies, as texts.
pub fn notes(resolved: &Resolved) -> Vec<String> {
    let warnings = resolved.scenario.policy_warnings().into_iter().map(|warning| warning.mistake.to_string());
    resolved.notes.iter().cloned().chain(warnings).collect()
}

/// The warnings about the texts of the policies of a scenario.
pub fn policy_warnings(scenario: &Scenario) -> Vec<Diagnostic> {
    scenario.policy_warnings().iter().map(|warning| as_warning(&warning.mistake)).collect()
}

/// The warnings about keys of facts that policies read and that no fact of the scenario has.
pub fn key_warnings(scenario: &Scenario) -> Vec<Diagnostic> {
    of_kind(scenario, PolicyWarningKind::UnknownKey)
}

fn of_kind(scenario: &Scenario, kind: PolicyWarningKind) -> Vec<Diagnostic> {
    let found = scenario.policy_warnings();
    found.iter().filter(|warning| warning.kind == kind).map(|warning| as_warning(&warning.mistake)).collect()
}

/// The warning that no agent proposed an operation in the whole run, unless the policies are made for that.
fn silent(run: &Stored) -> Option<Diagnostic> {
    let Stored { scenario, directory, statistics, .. } = run;
    let is_asked = scenario.management == Management::Agents && !scenario.is_silent_by_purpose();
    if !is_asked || !statistics.is_without_proposals() {
        return None;
    }
    let mut diagnostic = Diagnostic::warning("no agent proposed an operation in the whole run");
    let furthest = Furthest::in_run(directory);
    diagnostic.causes.extend(furthest.as_ref().map(ToString::to_string));
    let instance = furthest.map_or_else(|| "ID".to_owned(), |furthest| furthest.instance);
    Some(diagnostic.hint(Hint::Explain(ExplainedRun { directory: directory.clone(), instance, time: None })))
}

/// The warning that policies of agents failed to answer in a run: how often, and the first failure.
fn failed_decisions(
    first: &FailedDecision,
    count: u64,
    asked: u64,
    scenario: &Scenario,
    directory: &Path,
) -> Diagnostic {
    let title =
        format!("{count} of the {asked} times that a policy was asked, it gave no answer that an agent could follow");
    let mut diagnostic = Diagnostic::warning(title);
    let FailedDecision { time, instance, policy, cause, hint, place } = first;
    diagnostic.causes.push(format!("first at time {time}, instance {instance}, policy `{policy}`: {cause}"));
    diagnostic.hints.extend(hint.clone().map(Hint::Text));
    if let Some((source, place)) =
        place.as_ref().and_then(|place| Some((source(&scenario.policies, policy, place)?, place)))
    {
        diagnostic = diagnostic.at(&source, place.span.clone(), "");
    }
    diagnostic.hint(explaining(directory, instance, *time))
}

/// The file that a location refers to, among the files of the policy with this name; `None` if it is unknown. The main
/// file is shown under the path that the user gave.
fn source(policies: &[PolicyText], policy: &str, place: &PolicyLocation) -> Option<Source> {
    let policy = policies.iter().find(|known| known.name == policy)?;
    let (_, text) = policy.files.iter().find(|(file, _)| *file == place.file)?;
    let is_own = policy.files.first().is_some_and(|(file, _)| *file == place.file);
    let name = if is_own && policy.name.ends_with(&place.file) { &policy.name } else { &place.file };
    Some(Source::new(name.as_str(), text.as_str()))
}

/// A hint to explain an agent's last decision up to a time.
fn explaining(directory: &Path, instance: &InstanceId, time: Time) -> Hint {
    Hint::Explain(ExplainedRun { directory: directory.to_owned(), instance: instance.to_string(), time: Some(time) })
}

/// The warning that acceptance policies failed to answer in a run: how often, and the first failure.
fn failed_acceptances(failed: &AcceptanceStatistics, scenario: &Scenario) -> Diagnostic {
    let title = format!(
        "{} of the {} times that an acceptance policy was asked, it gave no valid answer, and the request was inhibited",
        failed.failed, failed.asked
    );
    let mut diagnostic = Diagnostic::warning(title);
    let Some(first) = &failed.first else { return diagnostic };
    diagnostic.causes.push(format!("first at time {}: {}", first.time, acceptance_cause(first)));
    diagnostic.hints.extend(first.hint.clone().map(Hint::Text));
    let place = first.place.as_ref();
    let text = place.and_then(|place| Some((source(&scenario.acceptances, &first.policy, place)?, place.span.clone())));
    if let Some((source, span)) = text {
        diagnostic = diagnostic.at(&source, span, "");
    }
    diagnostic.hint(Hint::TryAcceptance)
}
