//! Reports failed decisions and missing descriptors, with hints.

use mario_frontend::Diagnostic;
use mario_frontend::policies::undecided;
use mario_frontend::policy_texts::Text;
use mario_policy::{Constant, Ending, KnowledgeBase};
use mario_prolog::Engine;

use super::inputs::InputArguments;
use crate::Console;

/// How many applications without a descriptor are named at most; the others are counted.
const NAMED_MAX: usize = 5;

/// Returns why a policy reached no decision, or `None` if it decided.
pub(super) fn failure(
    ending: &Ending,
    policy_name: &str,
    inputs: &InputArguments,
    engine: &Engine,
) -> Option<Diagnostic> {
    undecided(ending, policy_name, Text::find(inputs.policy()).ok().as_ref(), engine)
}

/// Applications without a descriptor. Policies read the rates and latencies that an application tolerates from its
/// descriptor; without one, most policies silently do nothing.
#[derive(Default)]
pub(super) struct Descriptors {
    missing: Vec<String>,
}

impl Descriptors {
    /// Notes the application of an instance if it has no descriptor.
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

    /// Warns about the applications without a descriptor.
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
