//! `mario scenario show`.

use clap::{Args, ValueEnum};
use mario_frontend::Diagnostic;
use mario_frontend::warnings::notes;
use mario_scenario::topology::{ExportError, write_graphml};
use serde_json::json;

use crate::scenarios::ScenarioArguments;
use crate::{Console, Failure, Outcome};

/// Arguments of `mario scenario show`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  mario scenario show paper
  mario scenario show scenario.toml --set workload.period=20 --format json
  mario scenario show city --graphml >city.graphml")]
pub struct Arguments {
    /// The scenario to show.
    #[command(flatten)]
    pub scenario: ScenarioArguments,
    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "toml")]
    pub format: Format,
    /// Print its infrastructure as `GraphML`, which `topology.kind = "file"` reads back
    #[arg(long, conflicts_with = "format")]
    pub graphml: bool,
}

/// How to print a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A scenario file, with an overview as a comment.
    Toml,
    /// An object with `overview` and `settings`.
    Json,
}

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<Outcome, Failure> {
    let resolved = arguments.scenario.resolve()?;
    for note in &notes(&resolved) {
        console.detail(note);
    }
    if arguments.graphml {
        let text = write_graphml(&resolved.scenario.topology).map_err(|error| unwritable(&error))?;
        console.write_data(|stdout| stdout.write_all(text.as_bytes()))?;
        return Ok(Outcome::Done);
    }
    let overview = resolved.scenario.overview();
    let text = match arguments.format {
        Format::Toml => {
            let settings = toml::to_string(&resolved.settings).map_err(|error| unprintable(&error))?;
            let comment = overview.to_string().replace('\n', "\n# ");
            format!("# {comment}\n\n{settings}")
        }
        Format::Json => {
            let value = json!({ "overview": overview, "settings": resolved.settings });
            format!("{value:#}\n")
        }
    };
    console.write_data(|stdout| stdout.write_all(text.as_bytes()))?;
    Ok(Outcome::Done)
}

fn unprintable(error: &toml::ser::Error) -> Failure {
    Failure::input(Diagnostic::from_error(error).hint("`--format json` prints it"))
}

fn unwritable(error: &ExportError) -> Failure {
    Failure::input(Diagnostic::from_error(error).hint("give the node or the fact another name"))
}
