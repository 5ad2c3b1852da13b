//! The arguments of the command line: the options that all commands share, and the command.

use std::ffi::OsString;

use clap::{ArgAction, Args, Parser, ValueEnum};

use crate::{Command, Exit};

/// Declarative, decentralised application management for the Cloud-IoT continuum.
///
/// Every instance of an application has an agent that observes only its neighbourhood. The agent evaluates a policy, a
/// small logic program, which decides whether the instance migrates, replicates, undeploys or stays. mario runs such
/// policies, in a simulator and on real nodes.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "mario",
    bin_name = "mario",
    version,
    args_override_self = true,
    disable_help_subcommand = true,
    subcommand_required = true,
    after_long_help = after_help()
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
    /// When to use colour; `auto` means on a terminal, unless `NO_COLOR` is set
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: Colour,
    /// Print only errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Print details of what is being done
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub verbose: u8,
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

fn after_help() -> String {
    let exits: Vec<String> = Exit::ALL.iter().map(|exit| format!("  {:>3}  {}", exit.code(), exit.meaning())).collect();
    format!(
        "Examples:\n  mario reproduce\n  mario run paper --policy latency-aware\n  mario policy decide --policy policy.pl --facts facts.pl\n\nExit codes:\n{}",
        exits.join("\n")
    )
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
