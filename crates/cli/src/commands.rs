//! The commands, one file each.

mod audit;
mod completions;
mod man;
mod policy;
mod prolog;
mod run;
mod scenario;

use clap::Subcommand;

use crate::{Console, Failure, Outcome};

/// What to do.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Check a trace without trusting the program that wrote it.
    #[command(long_about = audit::LONG_ABOUT)]
    Audit(audit::Arguments),
    /// Print a completion script for a shell.
    Completions(completions::Arguments),
    /// Print the manual page, or write the pages of all commands.
    Man(man::Arguments),
    /// Decide with policies, explain, check and measure them, and run the tests beside them.
    Policy(policy::Arguments),
    /// Run Prolog: ask one goal of a program, or talk with it at a prompt.
    #[command(long_about = prolog::LONG_ABOUT)]
    Prolog(prolog::Arguments),
    /// Run a scenario in the simulator.
    #[command(long_about = run::LONG_ABOUT)]
    Run(run::Arguments),
    /// Write, check and show scenarios.
    Scenario(scenario::Arguments),
}

pub(crate) fn run(command: Command, console: &Console) -> Result<Outcome, Failure> {
    match command {
        Command::Audit(arguments) => audit::run(&arguments, console),
        Command::Completions(arguments) => completions::run(&arguments, console),
        Command::Man(arguments) => man::run(&arguments, console),
        Command::Policy(arguments) => policy::run(&arguments, console),
        Command::Prolog(arguments) => prolog::run(&arguments, console),
        Command::Run(arguments) => run::run(&arguments, console),
        Command::Scenario(arguments) => scenario::run(&arguments, console),
    }
}
