//! The command line of mario: parses the arguments, runs one command, returns one exit code.
//!
//! Start at [`main`]. It parses the arguments ([`Arguments`], exactly what was typed), interprets them for this
//! terminal ([`Console`]), and runs one [`Command`]. Each command has its own file under `commands/`, with an
//! `Arguments` struct whose help ends in examples, and a function `run` that returns an [`Outcome`] or a [`Failure`].
//!
//! **Invariant:** a command writes data to standard output and messages to standard error, through [`Console`].
//! Exceptions are the prompt of `mario prolog` and the log of a daemon.
//!
//! **Invariant:** the exit code of a command is chosen in one place, [`Exit`]. Only processes of workloads, which the
//! daemon starts from this binary, choose their own.
//!
//! A command calls libraries and shows their results. What the Python package needs as well is in `mario_frontend`.
//!
//! **Invariant:** no input makes it panic. `tests/it/bad_input/rows.rs` and its module `colony` have bad input for each
//! command.
//!
//! Typed and interpreted arguments are separate types. The interpretation depends on the environment (is this a
//! terminal? is `NO_COLOR` set?), and a parser that read the environment would make all its tests depend on it.

#![allow(clippy::disallowed_methods, reason = "a shell: files, clocks and the environment are its work")]
#![warn(clippy::print_stdout, clippy::print_stderr)]

mod arguments;
mod bug;
mod commands;
mod console;
mod exit;
mod experiments;
mod groups;
mod hints;
mod interruptions;
mod labels;
mod live;
mod replacing;
mod scenarios;
mod traces;
mod usage;

use std::ffi::OsString;
use std::process::ExitCode;

pub use arguments::{Arguments, Colour, OutputArguments};
pub use commands::Command;
pub use console::{Console, Environment, Verbosity};
pub use exit::{Exit, Outcome};
pub use mario_frontend::{Failure, TEXT_SIZE_BYTES_MAX, read_text};

use clap::{CommandFactory, FromArgMatches};
use mario_frontend::{gzip, input, problems};

/// Runs mario with these arguments, the first of which is the name of the program.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    bug::report_panics();
    interruptions::survive_file_size_limit();
    let typed: Vec<OsString> = arguments.into_iter().collect();
    if let Some(code) = commands::node::workload_process(&typed) {
        return ExitCode::from(code);
    }
    let environment = Environment::observe();
    let (console, result) = match parse(&typed) {
        Ok(arguments) => {
            let console = Console::new(&arguments.output, &environment);
            let result = commands::run(arguments.command, &console);
            (console, result)
        }
        Err(error) => {
            let console = Console::new(&OutputArguments::salvage(&typed), &environment);
            let result = usage::answer(&error, &typed, &console);
            (console, result)
        }
    };
    if let Err(failure) = &result {
        console.report(failure);
    }
    Exit::from(&result).into()
}

/// Whether a process with these arguments may be long-lived: a daemon, or a process of a workload. Also true for
/// subcommands of `mario node` that end soon.
pub fn is_long_lived(arguments: impl IntoIterator<Item = OsString>) -> bool {
    let words = arguments.into_iter().skip(1);
    let command = words.into_iter().find(|word| !word.to_string_lossy().starts_with('-'));
    command.is_some_and(|word| commands::node::LONG_LIVED.iter().any(|known| word == *known))
}

/// Returns the definition of the command line for clap, from which help, completions, manual pages and tests are
/// derived.
pub fn command() -> clap::Command {
    groups::in_groups(accepting_negative_numbers(Arguments::command()))
}

/// Lets every option accept a negative number, so that `--seed -1` is reported as a bad value of `--seed` and not as an
/// unknown option `-1`.
fn accepting_negative_numbers(command: clap::Command) -> clap::Command {
    command
        .mut_args(|argument| {
            let is_option = argument.get_long().is_some() && argument.get_action().takes_values();
            argument.allow_negative_numbers(is_option)
        })
        .mut_subcommands(accepting_negative_numbers)
}

fn parse(typed: &[OsString]) -> Result<Arguments, clap::Error> {
    Arguments::from_arg_matches(&command().try_get_matches_from(asking_for_help(typed))?)
}

/// Turns `mario help COMMAND` into `mario COMMAND --help`, and `mario help` into `mario --help`.
fn asking_for_help(typed: &[OsString]) -> Vec<OsString> {
    match typed {
        [program, help, rest @ ..] if help == "help" => {
            [std::slice::from_ref(program), rest, &["--help".into()]].concat()
        }
        _ => typed.to_vec(),
    }
}

/// Returns mario itself, and then every command and subcommand. `get_bin_name` of each is its full name.
pub fn every_command() -> Vec<clap::Command> {
    let mut root = command();
    // Propagates full names and global options to all commands.
    root.build();
    let mut commands = vec![root];
    let mut next = 0;
    while next < commands.len() {
        let below: Vec<clap::Command> = commands[next].get_subcommands().cloned().collect();
        commands.extend(below);
        next += 1;
    }
    commands
}
