//! Compiles the policies of agents and node managers in a header.

use mario_policy::{Acceptance, AcceptanceError, Policy, PolicyError, PolicySettings};
use mario_prolog::{Allowance, Engine, LoadError, Resolver};

use crate::reader::{Header, TracedPolicy};

/// The files of a policy in a header. A file is found by its name, else by the last component of its path; the ending
/// `.pl` may be omitted.
struct Files(Vec<(String, String)>);

impl Resolver for Files {
    fn resolve(&mut self, _from: &str, wanted: &str) -> Result<(String, String), String> {
        let with_ending = format!("{wanted}.pl");
        let last = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
        let is_wanted = |name: &str| name == wanted || name == with_ending;
        let ends_so = |name: &str| last(name) == last(wanted) || last(name) == last(&with_ending);
        let found = self.0.iter().find(|(name, _)| is_wanted(name));
        found
            .or_else(|| self.0.iter().find(|(name, _)| ends_so(name)))
            .cloned()
            .ok_or_else(|| "the trace does not have this file".to_owned())
    }
}

/// Returns a resolver that finds the files loaded by a policy in the header of a trace.
fn resolver(policy: &TracedPolicy) -> Box<dyn Resolver> {
    Box::new(Files(policy.files.clone()))
}

/// Compiles an agent policy, with the header's budget for one decision. The allowance limits what the directives of its
/// text may consume. The error is a message for findings.
pub(crate) fn of_agents(
    engine: &Engine,
    header: &Header,
    policy: &TracedPolicy,
    allowance: &Allowance,
) -> Result<Policy, String> {
    let (name, text, files) = parts(policy)?;
    let mut settings = PolicySettings::default();
    let inferences = &mut settings.budget.inferences;
    *inferences = header.decision_budget.unwrap_or(*inferences);
    Policy::load_within(engine, name, text, Some(files), settings, allowance).map_err(|error| match &error {
        PolicyError::Load { problems, .. } => with_first(&error, problems),
        _ => error.to_string(),
    })
}

/// Compiles the policy of a node manager, with the default budget for one answer. The allowance limits what the
/// directives of its text may consume. The error is a message for findings.
pub(crate) fn of_managers(engine: &Engine, policy: &TracedPolicy, allowance: &Allowance) -> Result<Acceptance, String> {
    let (name, text, files) = parts(policy)?;
    let budget = PolicySettings::default().budget;
    Acceptance::load_within(engine, name, text, Some(files), budget, allowance).map_err(|error| match &error {
        AcceptanceError::Load { problems, .. } => with_first(&error, problems),
        _ => error.to_string(),
    })
}

fn parts(policy: &TracedPolicy) -> Result<(&str, &str, Box<dyn Resolver>), String> {
    let (name, text) = policy.files.first().ok_or("it has no text")?;
    Ok((name, text, resolver(policy)))
}

/// The message of an error, followed by the first of its problems.
fn with_first(error: &dyn std::error::Error, problems: &LoadError) -> String {
    match problems.errors.first() {
        Some(first) => format!("{error}: {}", first.message),
        None => error.to_string(),
    }
}
