//! Warns of acceptance policies that failed to answer.

use mario_diagnostics::{Diagnostic, Source};
use mario_frontend::runs::acceptance_cause;
use mario_scenario::Scenario;
use mario_simulator::AskedAcceptances;

/// Reports how often acceptance policies failed to answer in a run, and the first failure.
pub(super) fn warning(failed: &AskedAcceptances, scenario: &Scenario) -> Diagnostic {
    let title = format!(
        "{} of the {} times that an acceptance policy was asked, it gave no valid answer, and the request was inhibited",
        failed.failed, failed.asked
    );
    let mut diagnostic = Diagnostic::warning(title);
    let Some(first) = &failed.first else { return diagnostic };
    diagnostic.causes.push(format!("first at time {}: {}", first.time, acceptance_cause(first)));
    diagnostic.hints.extend(first.hint.clone());
    let text = first.place.as_ref().and_then(|place| {
        let policy = scenario.acceptances.iter().find(|policy| policy.name == first.policy)?;
        let (_, text) = policy.files.iter().find(|(file, _)| *file == place.file)?;
        // The policy's own file is shown under the path that the scenario states.
        let is_own = policy.files.first().is_some_and(|(file, _)| *file == place.file);
        let name = if is_own && policy.name.ends_with(&place.file) { &policy.name } else { &place.file };
        Some((Source::new(name.as_str(), text.as_str()), place.span.clone()))
    });
    if let Some((source, span)) = text {
        diagnostic = diagnostic.at(&source, span, "");
    }
    diagnostic
        .hint("a full trace has the reason each time; `mario policy check` and `mario policy test` try a policy alone")
}
