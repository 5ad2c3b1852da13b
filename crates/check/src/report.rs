//! The report on one text: static analysis, and small worlds for a policy of agents.

use mario_policy::{AllowedFinding, Finding, Policy, PolicyError, PolicySettings, Resolvers, analyse};
use mario_prolog::Engine;

use crate::explore::{Bounds, Exploration, explore};

/// The result of a check.
#[derive(Clone, Debug)]
pub struct CheckReport {
    /// The findings in this order: invalid `allow` comments, static analysis (the main file first, then by file and
    /// position), and last those of small worlds.
    pub findings: Vec<Finding>,
    /// The findings that comments in the text allow.
    pub allowed: Vec<AllowedFinding>,
    /// Statistics about the small worlds; `None` if no world was run, because the text is not a policy of agents or
    /// [`Policy::clauses`] is empty.
    pub exploration: Option<Exploration>,
}

/// Checks a policy, an acceptance policy or a library of predicates. `progress` is called repeatedly with the number of
/// worlds explored so far.
pub fn check(
    engine: &Engine,
    name: &str,
    text: &str,
    resolvers: Resolvers<'_>,
    settings: PolicySettings,
    bounds: &Bounds,
    progress: &mut dyn FnMut(usize),
) -> Result<CheckReport, PolicyError> {
    let mut analysis = analyse(engine, name, text, resolvers)?;
    let mut exploration = None;
    if let Some(interests) = &analysis.interests {
        let policy = Policy::load(engine, name, text, Some(resolvers()), settings)?;
        if !policy.clauses().is_empty() {
            exploration = Some(explore(engine, &policy, interests, bounds, &mut analysis.findings, progress));
        }
    }
    let (findings, allowed) = analysis.apply_allowances();
    Ok(CheckReport { findings, allowed, exploration })
}
