//! `mario policy show`.

use std::io::{self, Write};
use std::path::Path;

use clap::Args;
use mario_frontend::Diagnostic;
use mario_frontend::policy_texts::{Text, tests_by_name};
use mario_scenario::{acceptance_names, policy_names, shipped_library, shipped_policy};

use crate::{Console, Failure, Outcome};

/// Arguments of `mario policy show`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  mario policy show
  mario policy show latency-aware
  mario policy show library
  mario policy show sustained-demand > mine.pl
  mario policy show sustained-demand --tests > mine.test.pl")]
pub struct Arguments {
    /// The name of a built-in policy; without it, all are listed
    #[arg(value_name = "NAME", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub name: Option<String>,
    /// Print the tests of the policy instead
    #[arg(long, requires = "name")]
    pub tests: bool,
}

pub(super) const LONG_ABOUT: &str = "Print a built-in policy, or list all of them.

NAME is a policy that `mario run --policy` takes, an acceptance policy, or `library`, which has the predicates that the policies \
share. To start a policy of your own, redirect the output to a file. The library need not be copied: if there is no `library.pl` \
beside a policy, the built-in one is loaded (but not by `mario prolog`).";

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<Outcome, Failure> {
    let Some(name) = &arguments.name else {
        console.write_data(list)?;
        return Ok(Outcome::Done);
    };
    // Looks up the policy first, so that an unknown name is reported as such.
    let policy = Text::shipped(name)?.source;
    let source = if arguments.tests {
        let missing = || Failure::input(Diagnostic::error(format!("`{name}` has no tests")));
        tests_by_name(Path::new(name)).ok_or_else(missing)?
    } else {
        policy
    };
    console.write_data(|stdout| stdout.write_all(source.text.as_bytes()))?;
    Ok(Outcome::Done)
}

fn list(stdout: &mut dyn Write) -> io::Result<()> {
    let groups: [(&str, Vec<&str>); 2] =
        [("policies of agents", policy_names().collect()), ("acceptance policies", acceptance_names().collect())];
    for (title, names) in groups {
        writeln!(stdout, "{title}")?;
        for name in names {
            let text = shipped_policy(name).ok();
            let opening = text.as_ref().and_then(|text| text.main()).map_or("", |(_, text)| opening(text));
            writeln!(stdout, "  {name:<40}{opening}")?;
        }
        writeln!(stdout)?;
    }
    let (library, text) = shipped_library();
    writeln!(stdout, "library\n  {:<40}{}", library.trim_end_matches(".pl"), opening(text))
}

/// The first line of the comment at the start of a text.
fn opening(text: &str) -> &str {
    text.lines().next().and_then(|line| line.strip_prefix("% ")).unwrap_or_default()
}
