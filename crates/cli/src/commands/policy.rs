//! `mario policy …`.

mod batch;
mod bench;
mod check;
mod decide;
mod explain;
mod inputs;
mod show;
mod test;
mod trouble;

use clap::{Args, Subcommand};

use crate::{Console, Failure, Outcome};

pub(crate) use check::found;

/// Arguments of `mario policy`.
#[derive(Clone, Debug, Args)]
#[command(
    subcommand_required = true,
    after_help = "Examples:
  mario policy decide --policy policies/workload-aware.pl --facts facts.pl --all
  mario policy explain --policy policies/workload-aware.pl --facts facts.pl
  mario policy check policies/workload-aware.pl
  mario policy show latency-aware
  mario policy test policies/workload-aware.test.pl"
)]
pub struct Arguments {
    /// The subcommand.
    #[command(subcommand)]
    pub command: Command,
}

/// A subcommand of `mario policy`.
// The long help is set here, because the doc comment of a variant overrides that of its arguments.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Show what an agent proposes, given its facts.
    #[command(long_about = decide::LONG_ABOUT)]
    Decide(decide::Arguments),
    /// Show why an agent proposes an operation, and why no other.
    #[command(long_about = explain::LONG_ABOUT)]
    Explain(explain::Arguments),
    /// Find problems in a policy before it is deployed.
    #[command(long_about = check::LONG_ABOUT)]
    Check(check::Arguments),
    /// Measure how long a policy takes to decide.
    #[command(long_about = bench::LONG_ABOUT)]
    Bench(bench::Arguments),
    /// Print a built-in policy, or list all of them.
    #[command(long_about = show::LONG_ABOUT)]
    Show(show::Arguments),
    /// Run the tests of policies.
    #[command(long_about = test::LONG_ABOUT)]
    Test(test::Arguments),
}

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<Outcome, Failure> {
    match &arguments.command {
        Command::Decide(arguments) => decide::run(arguments, console),
        Command::Explain(arguments) => explain::run(arguments, console),
        Command::Check(arguments) => check::run(arguments, console),
        Command::Bench(arguments) => bench::run(arguments, console),
        Command::Show(arguments) => show::run(arguments, console),
        Command::Test(arguments) => test::run(arguments, console),
    }
}
