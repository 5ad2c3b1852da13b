//! What can go wrong with a decision, told with its remedy.

use mario_diagnostics::{Diagnostic, Source};
use mario_policy::{Constant, Ending, KnowledgeBase, find_unknown_call};
use mario_prolog::{Engine, Explanation};

use super::inputs::InputArguments;
use super::texts::Text;
use crate::Console;

/// How many applications without a descriptor are named.
const NAMED_MAX: usize = 5;

/// Why a policy did not decide; `None` when it did.
pub(super) fn failure(
    ending: &Ending,
    policy_name: &str,
    inputs: &InputArguments,
    engine: &Engine,
) -> Option<Diagnostic> {
    let mut diagnostic = Diagnostic::error(format!("policy `{policy_name}` did not decide"));
    match ending {
        Ending::Complete => return None,
        Ending::Exhausted(resource) => {
            diagnostic.causes.push(format!("it ran out of {resource}"));
            diagnostic = diagnostic.hint("does it loop? `--budget` allows more inferences");
        }
        Ending::Exception(exception) => {
            diagnostic.causes.push(exception.message.clone());
            diagnostic = match unknown_call(exception, inputs, engine) {
                Some(place) => place(diagnostic),
                None => {
                    diagnostic.causes.push(exception.term.clone());
                    diagnostic.hints.extend(exception.hint.clone());
                    diagnostic
                }
            };
        }
        Ending::Halted => diagnostic.causes.push("it called halt".to_owned()),
    }
    Some(diagnostic)
}

/// The goal that called what nobody defines, if that is what the exception is about: it is found in the text, because the
/// exception itself has no place.
fn unknown_call(
    exception: &Explanation,
    inputs: &InputArguments,
    engine: &Engine,
) -> Option<impl FnOnce(Diagnostic) -> Diagnostic> {
    let called = exception.term.strip_prefix("error(existence_error(procedure, ")?;
    let called = &called[..called.find("), ")?];
    let text = Text::find(inputs.policy()).ok()?;
    let finding = find_unknown_call(engine, &text.source.name, &text.source.text, &|| text.resolver(), called)?;
    Some(move |diagnostic: Diagnostic| {
        let source = Source::new(finding.place.source_name(), finding.place.source_text());
        let mut diagnostic = diagnostic.at(&source, finding.place.span.clone(), "");
        diagnostic.hints.extend(finding.hint);
        diagnostic
    })
}

/// Applications of instances that nobody described. Policies ask for what an application handles and tolerates, and without
/// an answer most of them silently do nothing.
#[derive(Default)]
pub(super) struct Descriptors {
    missing: Vec<String>,
}

impl Descriptors {
    /// Looks whether the application of an instance has a descriptor.
    pub(super) fn note(&mut self, facts: &KnowledgeBase, instance: Constant) {
        for [_, application, _] in facts.instances().filter(|row| row[0] == instance) {
            if facts.services().all(|service| service[0] != application) {
                let application = facts.text(application);
                if !self.missing.contains(&application) {
                    self.missing.push(application);
                }
            }
        }
    }

    /// Warns of them.
    pub(super) fn report(mut self, inputs: &InputArguments, console: &Console) {
        let Some(first) = self.missing.first().cloned() else { return };
        let more = self.missing.len().saturating_sub(NAMED_MAX);
        self.missing.truncate(NAMED_MAX);
        let named: Vec<String> = self.missing.iter().map(|application| format!("`{application}`")).collect();
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        let noun = if named.len() == 1 { "application" } else { "applications" };
        let title = format!("nothing is known about {noun} {}{more}", named.join(", "));
        let fact = format!("service({first}, Hardware, MaxRate, MaxLatency).");
        let hint = match (&inputs.batch, &inputs.services) {
            (Some(_), None) => format!("`--services FILE` gives what a batch shares, such as `{fact}`"),
            (Some(_), Some(path)) => format!("add `{fact}` to `{}`", path.display()),
            (None, _) => format!("add `{fact}` to the facts"),
        };
        let mut warning = Diagnostic::warning(title);
        warning.causes.push("there is no service/4 fact of it, and most policies do nothing without".to_owned());
        console.show(&[warning.hint(hint)]);
    }
}
