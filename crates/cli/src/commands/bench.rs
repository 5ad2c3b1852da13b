//! `mario bench …`.

mod scale;

use clap::{Args, Subcommand};

use crate::{Console, Failure, Outcome};

/// Arguments of `mario bench`.
#[derive(Clone, Debug, Args)]
#[command(
    subcommand_required = true,
    after_help = "Examples:
  mario bench scale
  mario bench scale --nodes 85,1365 --format json"
)]
pub struct Arguments {
    /// The subcommand.
    #[command(subcommand)]
    pub command: Command,
}

/// A subcommand of `mario bench`.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Measure how the cost of a run grows with the size of its world.
    #[command(long_about = scale::LONG_ABOUT)]
    Scale(scale::Arguments),
}

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<Outcome, Failure> {
    match &arguments.command {
        Command::Scale(arguments) => scale::run(arguments, console),
    }
}
