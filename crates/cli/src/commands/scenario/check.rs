//! `mario scenario check`.

use std::path::PathBuf;

use clap::Args;
use mario_frontend::runs::start;
use mario_frontend::warnings::policy_warnings;
use mario_simulator::RunOptions;

use crate::scenarios::{ScenarioArguments, tell_notes};
use crate::{Console, Failure, Outcome};

/// Arguments of `mario scenario check`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  mario scenario check scenario.toml
  mario scenario check scenarios/*.toml --set topology.size=4")]
pub struct Arguments {
    /// Scenario files, or names of built-in scenarios
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Override a key in each of them, e.g. topology.size=16; may be repeated
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
            budget: None,
            attachments: None,
        };
        // Also creates the simulation, as `mario run` does, because some errors are found only then.
        let checked = scenario.resolve().and_then(|resolved| {
            let of_file = if arguments.files.len() > 1 { format!("{}: ", file.display()) } else { String::new() };
            tell_notes(&resolved.notes, &of_file, console);
            start(&resolved, RunOptions::default())?;
            console.show(&policy_warnings(&resolved.scenario));
            Ok(resolved)
        });
        match checked {
            Ok(resolved) => {
                let (overview, cost) = (resolved.scenario.overview(), resolved.cost);
                let report = format!("{}: no mistakes\n{overview}\n  expected cost: {cost}\n", file.display());
                console.write_data(|stdout| stdout.write_all(report.as_bytes()))?;
            }
            Err(Failure::Input(diagnostics)) => problems.extend(diagnostics),
            Err(other) => return Err(other),
        }
    }
    if problems.is_empty() { Ok(Outcome::Done) } else { Err(Failure::Input(problems)) }
}
