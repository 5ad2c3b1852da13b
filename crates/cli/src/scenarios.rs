//! Arguments that name a scenario.

use std::path::{Path, PathBuf};

use clap::Args;
use mario_scenario::Resolved;

use mario_frontend::drive::quoted;
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

/// Prints the note about a scenario; if there are several, only how many, and the command that prints them. The same
/// scenario is run many times, and its notes stay the same. Notes about policies and about options other than --set are
/// printed; they begin with the name of what they concern.
pub(crate) fn tell_notes(notes: &[String], scenario: &Path, overrides: &[String], console: &Console) {
    let (printed, notes): (Vec<&String>, Vec<&String>) = notes.iter().partition(|note| note.starts_with(['-', '`']));
    for note in printed {
        console.inform(format!("note: {note}"));
    }
    match notes.as_slice() {
        [] => {}
        [note] => console.inform(format!("note: {note}")),
        notes => {
            let mut command = format!("mario scenario check {}", quoted(scenario));
            for set in overrides {
                command += &format!(" --set {}", quoted(Path::new(set)));
            }
            console.inform(format!("note: {} notes about this scenario: `{command}` prints them", notes.len()));
        }
    }
}

impl ScenarioArguments {
    /// Reads the scenario, applies the overrides, and resolves it.
    pub(crate) fn resolve(&self) -> Result<Resolved, Failure> {
        let mut document = open(&self.scenario)?;
        let choices = Choices {
            overrides: self.overrides.clone(),
            policies: self.policies.clone(),
            seed: self.seed,
            budget: self.budget,
            attachments: self.attachments.clone(),
        };
        choices.apply(&mut document);
        document.resolve(&mut Disk).map_err(|error| failure(&error))
    }
}
