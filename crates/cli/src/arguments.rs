//! The arguments of the command line: the options that all commands share, and the command.

use std::ffi::OsString;

use clap::{Args, Parser, ValueEnum};

use crate::{Command, Exit};

/// Declarative, decentralised application management for the Cloud-IoT continuum.
///
/// Every instance of an application has an agent that observes only its neighbourhood. The agent evaluates a policy, a
/// small logic program, which may propose to migrate, replicate or undeploy the instance. The managers of the nodes
/// accept or inhibit each proposal.
///
/// mario runs policies in a simulator and on live nodes. A scenario describes a world to simulate, and a trace records
/// what happened in a run. A colony is a set of live nodes that trust the same certificate authority.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "mario",
    bin_name = "mario",
    version,
    args_override_self = true,
    disable_help_subcommand = true,
    subcommand_required = true,
    after_help = EXAMPLES,
    after_long_help = after_long_help()
)]
pub struct Arguments {
    /// What to print, and in which colours.
    #[command(flatten)]
    pub output: OutputArguments,
    /// The command to run.
    #[command(subcommand)]
    pub command: Command,
}

/// The options that every command has: what to print, and in which colours.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArguments {
    /// When to use colour
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: Colour,
    /// Print results and errors only: no warnings, notes or progress
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Print more details
    #[arg(short, long, global = true)]
    pub verbose: bool,
}

/// When to use colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Colour {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Always, even into a file.
    Always,
    /// Never.
    Never,
}

impl OutputArguments {
    /// Extracts the colour setting from a command line that does not parse, so that its error message and help honour
    /// it.
    pub fn salvage(typed: &[OsString]) -> Self {
        let mut words = typed.iter().map_while(|word| word.to_str());
        let mut color = None;
        while let Some(word) = words.next() {
            let value = match word.strip_prefix("--color") {
                Some("") => words.next(),
                Some(rest) => rest.strip_prefix('='),
                None => None,
            };
            color = value.and_then(|value| Colour::from_str(value, false).ok()).or(color);
        }
        Self { color: color.unwrap_or_default(), ..Self::default() }
    }
}

const EXAMPLES: &str = "Examples:
  mario reproduce
  mario run paper --policy latency-aware --out first
  mario report first
  mario policy explain --run first --instance 1";

fn after_long_help() -> String {
    let exits: Vec<String> = Exit::ALL.iter().map(|exit| format!("  {:>3}  {}", exit.code(), exit.meaning())).collect();
    format!("{EXAMPLES}\n\nExit codes:\n{}", exits.join("\n"))
}

/// Parses a simulation time: a finite number, 0 or more.
pub(crate) fn parse_time(typed: &str) -> Result<f64, String> {
    let wrong = || "a time is a number that is not negative".to_owned();
    typed.parse().ok().filter(|time: &f64| time.is_finite() && *time >= 0.0).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn salvage(line: &str) -> Colour {
        let typed: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        OutputArguments::salvage(&typed).color
    }

    #[test]
    fn salvages_the_colour_of_a_wrong_command_line() {
        assert_eq!(salvage("mario --color never --wrong"), Colour::Never);
        assert_eq!(salvage("mario --wrong --color=always"), Colour::Always);
        assert_eq!(salvage("mario --color=always --color never"), Colour::Never);
        assert_eq!(salvage("mario --color"), Colour::Auto);
        assert_eq!(salvage("mario --color=sometimes"), Colour::Auto);
        assert_eq!(salvage("mario --colorful never"), Colour::Auto);
    }
}
