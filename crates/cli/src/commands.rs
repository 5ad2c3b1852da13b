//! The commands, one file each.

mod completions;
mod man;
mod policy;
mod prolog;
mod scenario;

use clap::Subcommand;

use crate::{Console, Failure, Outcome};

/// What to do.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Print a completion script for a shell.
    Completions(completions::Arguments),
    /// Print the manual page, or write the pages of all commands.
    Man(man::Arguments),
    /// Decide with policies, explain, check and measure them, and run the tests beside them.
    Policy(policy::Arguments),
    /// Run Prolog: ask one goal of a program, or talk with it at a prompt.
    #[command(long_about = prolog::LONG_ABOUT)]
    Prolog(prolog::Arguments),
    /// Write, check and show scenarios.
    Scenario(scenario::Arguments),
}

pub(crate) fn run(command: Command, console: &Console) -> Result<Outcome, Failure> {
    match command {
        Command::Completions(arguments) => completions::run(&arguments, console),
        Command::Man(arguments) => man::run(&arguments, console),
        Command::Policy(arguments) => policy::run(&arguments, console),
        Command::Prolog(arguments) => prolog::run(&arguments, console),
        Command::Scenario(arguments) => scenario::run(&arguments, console),
    }
}
