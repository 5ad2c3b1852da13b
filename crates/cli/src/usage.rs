//! Handles command lines that clap did not parse into a command: prints help, or reports an error.

use std::error::Error;
use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use mario_frontend::Diagnostic;

use crate::{Console, Failure, Outcome};

/// Writes the requested help or version, or reports the error in the command line.
pub(crate) fn answer(error: &clap::Error, typed: &[OsString], console: &Console) -> Result<Outcome, Failure> {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            console.write_help(&error.render())?;
            Ok(Outcome::Done)
        }
        _ => Err(Failure::input(diagnose(error, typed))),
    }
}

fn diagnose(error: &clap::Error, typed: &[OsString]) -> Diagnostic {
    let mut diagnostic = Diagnostic::error(title(error, typed));
    if let Some(cause) = error.source() {
        diagnostic = match number_expected(&cause.to_string()) {
            Some(expected) => diagnostic.hint(expected),
            None => diagnostic.caused_by(cause),
        };
    }
    for suggestion in suggestions(error) {
        diagnostic = diagnostic.hint(suggestion);
    }
    diagnostic.hint(format!("`{} --help` tells more", command_name(error, typed)))
}

/// Returns a hint for a malformed or out-of-range number; `None` if `cause` is another error. It replaces the messages
/// of clap and the standard library, which may name the limits of Rust types.
fn number_expected(cause: &str) -> Option<String> {
    let not_a_number = ["invalid digit found in string", "cannot parse integer from empty string"];
    if not_a_number.contains(&cause) || cause.starts_with("number too") {
        return Some("write a whole number, 0 or more, that is not too large".to_owned());
    }
    if cause == "invalid float literal" {
        return Some("write a number".to_owned());
    }
    let (first, last) = cause.split_once(" is not in ")?.1.split_once("..")?;
    let (last, is_included) = last.strip_prefix('=').map_or((last, false), |last| (last, true));
    let last = last.parse::<u64>().ok()?.checked_sub(u64::from(!is_included))?;
    // The limit of a Rust type means nothing to a user.
    if last >= u64::from(u32::MAX) - 1 {
        return Some(format!("write a whole number, {first} or more"));
    }
    Some(format!("write a whole number from {first} to {last}"))
}

fn title(error: &clap::Error, typed: &[OsString]) -> String {
    let argument = || context(error, ContextKind::InvalidArg).join(", ");
    let value = || context(error, ContextKind::InvalidValue).join(", ");
    match error.kind() {
        ErrorKind::InvalidUtf8 => {
            let broken: Vec<String> = typed
                .iter()
                .filter(|word| word.to_str().is_none())
                .map(|word| format!("`{}`", word.to_string_lossy()))
                .collect();
            format!("argument {} is not valid UTF-8", broken.join(", "))
        }
        ErrorKind::UnknownArgument => format!("unexpected argument `{}`", argument()),
        ErrorKind::InvalidSubcommand => {
            let command = context(error, ContextKind::InvalidSubcommand).join(", ");
            format!("unknown command `{command}`")
        }
        ErrorKind::InvalidValue if value().is_empty() => format!("`{}` needs a value", argument()),
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
            format!("invalid value `{}` for `{}`", value(), argument())
        }
        ErrorKind::MissingRequiredArgument => format!("missing `{}`", argument()),
        ErrorKind::ArgumentConflict => {
            let prior = context(error, ContextKind::PriorArg).join(", ");
            format!("`{}` cannot be used with `{prior}`", argument())
        }
        ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            format!("`{}` needs a command", command_name(error, typed))
        }
        // The arguments that mario defines do not cause other kinds of errors, so these keep clap's message.
        _ => {
            let rendered = error.render().to_string();
            let first = rendered.lines().next().unwrap_or_default();
            first.strip_prefix("error: ").unwrap_or(first).to_owned()
        }
    }
}

fn suggestions(error: &clap::Error) -> Vec<String> {
    let similar = [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand, ContextKind::SuggestedValue];
    let mut suggestions: Vec<String> = similar
        .into_iter()
        .flat_map(|kind| context(error, kind))
        .map(|suggestion| format!("did you mean `{suggestion}`?"))
        .collect();
    for (kind, what) in [(ContextKind::ValidValue, "possible values"), (ContextKind::ValidSubcommand, "commands")] {
        let valid = context(error, kind);
        if !valid.is_empty() {
            suggestions.push(format!("{what}: {}", valid.join(", ")));
        }
    }
    suggestions
}

fn context(error: &clap::Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::String(value)) => vec![value.clone()],
        Some(ContextValue::Strings(values)) => values.clone(),
        _ => Vec::new(),
    }
}

/// Returns the command that the error belongs to, from the usage line of the error or else from the arguments.
fn command_name(error: &clap::Error, typed: &[OsString]) -> String {
    let usage = match error.get(ContextKind::Usage) {
        Some(ContextValue::StyledStr(usage)) => usage.to_string(),
        // If help is shown because a command is missing, the usage is only in the rendered text.
        _ => {
            let rendered = error.render().to_string();
            rendered.lines().find(|line| line.starts_with("Usage:")).unwrap_or_default().to_owned()
        }
    };
    let name: Vec<&str> = usage
        .trim_start_matches("Usage:")
        .split_whitespace()
        .take_while(|word| word.starts_with(|character: char| character.is_ascii_lowercase()))
        .collect();
    if name.is_empty() { typed_command_name(typed) } else { name.join(" ") }
}

/// Returns the command that was typed. Its words may be separated by values of options, so words that are not commands
/// are skipped.
fn typed_command_name(typed: &[OsString]) -> String {
    let root = crate::command();
    let (mut name, mut command) = ("mario".to_owned(), &root);
    for word in typed.iter().skip(1).filter_map(|word| word.to_str()) {
        if let Some(below) = command.find_subcommand(word) {
            name = format!("{name} {word}");
            command = below;
        }
    }
    name
}
