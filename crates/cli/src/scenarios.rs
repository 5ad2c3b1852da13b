//! Arguments that name a scenario.

use std::path::PathBuf;

use clap::Args;
use mario_scenario::{Document, Resolved};

pub(crate) use mario_frontend::scenarios::{Choices, Disk, failure, open};

use crate::{Console, Failure};

/// Arguments that name a scenario and its overrides.
#[derive(Clone, Debug, Args)]
pub struct ScenarioArguments {
    /// A built-in scenario (paper, prototype, city, shop), or the path of a scenario file or of the run.json of a run
    #[arg(value_name = "SCENARIO")]
    pub scenario: PathBuf,
    /// Override a key, e.g. topology.size=16; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub overrides: Vec<String>,
    /// The policy of all applications: a path, the name of a built-in policy (`mario policy show` lists them), or
    /// baseline:NAME, a strategy to compare with. APP=POLICY sets a path or a built-in policy for one application; may
    /// be repeated. Baselines are the built-in policies never-move, popularity and cells, and the planners
    /// edge-first-fit, central-greedy and central-exact, which see the whole infrastructure
    #[arg(long = "policy", value_name = "POLICY|APP=POLICY", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub policies: Vec<String>,
    /// The seed of the random number generator; by default, that of the scenario
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Limit each decision of an agent to N inferences (roughly, calls of predicates); an agent that has found no
    /// operation by then proposes nothing; the same as --set agents.budget=N; by default, that of the scenario, or
    /// 10000000
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub budget: Option<u64>,
    /// Read the users' access points at each step from this JSON file; docs/scenarios.md has its format
    #[arg(long, value_name = "FILE")]
    pub attachments: Option<PathBuf>,
}

/// Prints the notes about a scenario on one line. `of` names the scenario, unless it is empty.
pub(crate) fn tell_notes(notes: &[String], of: &str, console: &Console) {
    if !notes.is_empty() {
        console.inform(format!("note: {of}{}", notes.join("; ")));
    }
}

impl ScenarioArguments {
    /// Reads the scenario, and applies the overrides.
    pub(crate) fn document(&self) -> Result<Document, Failure> {
        let mut document = open(&self.scenario)?;
        let choices = Choices {
            overrides: self.overrides.clone(),
            policies: self.policies.clone(),
            seed: self.seed,
            budget: self.budget,
            attachments: self.attachments.clone(),
        };
        choices.apply(&mut document);
        Ok(document)
    }

    /// Reads the scenario, applies the overrides, and resolves it.
    pub(crate) fn resolve(&self) -> Result<Resolved, Failure> {
        self.document()?.resolve(&mut Disk).map_err(|error| failure(&error))
    }
}
