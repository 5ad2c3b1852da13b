//! `mario scenario check`.

use std::path::PathBuf;

use clap::Args;

use mario_simulator::scenario::Resolved;
use mario_simulator::{RunOptions, Simulation};

use crate::commands::not_runnable;
use crate::scenarios::ScenarioArguments;
use crate::{Console, Failure, Outcome};

/// Arguments of `mario scenario check`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  mario scenario check scenario.toml
  mario scenario check scenarios/*.toml --set topology.size=4")]
pub struct Arguments {
    /// Scenario files, or names of scenarios that ship
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Override a key in each of them, e.g. topology.size=16; may be given again
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub overrides: Vec<String>,
}

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<Outcome, Failure> {
    let mut problems = Vec::new();
    for file in &arguments.files {
        let scenario = ScenarioArguments {
            scenario: file.clone(),
            overrides: arguments.overrides.clone(),
            policies: Vec::new(),
            seed: None,
            attachments: None,
        };
        match scenario.resolve().and_then(runnable) {
            Ok(Resolved { scenario, notes, cost, .. }) => {
                let overview = scenario.overview();
                let notes: String = notes.iter().map(|note| format!("  note: {note}\n")).collect();
                let report = format!("{}: no mistakes\n{overview}\n{notes}  expected cost: {cost}\n", file.display());
                console.write_data(|stdout| stdout.write_all(report.as_bytes()))?;
            }
            Err(Failure::Input(diagnostics)) => problems.extend(diagnostics),
            Err(other) => return Err(other),
        }
    }
    if problems.is_empty() { Ok(Outcome::Done) } else { Err(Failure::Input(problems)) }
}

/// The scenario, if its beginning can be: there is room for what is deployed, and the management can cope.
fn runnable(resolved: Resolved) -> Result<Resolved, Failure> {
    match Simulation::new(&resolved.scenario, RunOptions::default()) {
        Ok(_) => Ok(resolved),
        Err(error) => Err(not_runnable(&error)),
    }
}
