//! `mario scenario …`.

use mario_scenario::schema_text;

mod check;
mod new;
mod show;

use clap::{Args, Subcommand};

use crate::{Console, Failure, Outcome};

/// Arguments of `mario scenario`.
#[derive(Clone, Debug, Args)]
#[command(
    subcommand_required = true,
    after_help = "Examples:
  mario scenario new scenario.toml
  mario scenario check scenario.toml
  mario scenario show paper --set topology.size=16"
)]
pub struct Arguments {
    /// The subcommand.
    #[command(subcommand)]
    pub command: Command,
}

/// A subcommand of `mario scenario`.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Write a commented scenario to start from.
    New(new::Arguments),
    /// List everything that is wrong with scenario files.
    Check(check::Arguments),
    /// Show a scenario with all defaults filled in, and an overview.
    Show(show::Arguments),
    /// Print the JSON schema of scenario files.
    Schema(SchemaArguments),
}

/// Arguments of `mario scenario schema`.
#[derive(Clone, Copy, Debug, Args)]
#[command(after_help = "Examples:
  mario scenario schema > scenario.schema.json")]
pub struct SchemaArguments {}

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<Outcome, Failure> {
    match &arguments.command {
        Command::New(arguments) => new::run(arguments, console),
        Command::Check(arguments) => check::run(arguments, console),
        Command::Show(arguments) => show::run(arguments, console),
        Command::Schema(SchemaArguments {}) => {
            console.write_data(|stdout| stdout.write_all(schema_text().as_bytes()))?;
            Ok(Outcome::Done)
        }
    }
}
