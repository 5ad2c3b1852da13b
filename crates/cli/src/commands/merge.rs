//! `mario merge`.

use std::path::PathBuf;

use clap::Args;
use mario_experiments::comparison::Comparison;
use mario_frontend::studies::{join, keep_comparison};

use super::sweep::show;
use crate::console::many;
use crate::{Console, Failure, Outcome};

/// Arguments of `mario merge`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  mario merge part-1 part-2
  mario merge part-* --out all --figure LS.response")]
pub struct Arguments {
    /// Directories of `mario sweep --out` or `mario compare --out`
    #[arg(value_name = "DIR", required = true)]
    pub directories: Vec<PathBuf>,
    /// The directory for the merged runs; runs that it already has are merged too
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// A figure to show in the table, as GROUP.NAME; may be repeated. The group is `all` or a kind of application in
    /// the scenario: in `paper`, LS (latency-sensitive) or WS (workload-sensitive). The name is e.g. response (in ms)
    /// or migrate. `lost` has no group. For a comparison, these are its primary outcomes, as for `mario compare`; by
    /// default, those that its parts declare
    #[arg(long = "figure", value_name = "GROUP.NAME")]
    pub figures: Vec<String>,
}

pub(super) const LONG_ABOUT: &str = "Merge runs that were made separately: the parts of a sweep from several machines, or \
comparisons of the same scenario that differ in policies or in the number of seeds.

All runs must be of the same scenario and have the same first seed. A run that is in several directories counts once, and must \
have the same result in each. The merged result is the one that a single machine would have produced. If runs are missing, the \
table shows the others, and the exit code is 1.";

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<Outcome, Failure> {
    let out = arguments.out.as_deref();
    let Some(joined) = join(&arguments.directories, out, &arguments.figures)? else { return Ok(Outcome::Done) };
    if let Some(directory) = out {
        console.inform(format!("{} kept in {}", many(joined.runs.len(), "run"), directory.display()));
    }
    if joined.identity.variants.iter().all(Vec::is_empty) {
        let comparison = Comparison::of(&joined, &[]);
        if let Some(directory) = out {
            keep_comparison(directory, &comparison)?;
        }
        console.write_data(|stdout| stdout.write_all(comparison.text().as_bytes()))?;
    } else {
        show(&joined, &arguments.figures, out, console)?;
    }
    if joined.missing() == 0 {
        return Ok(Outcome::Done);
    }
    let first = joined.first_missing().map_or_else(String::new, |run| format!(", the first of them {run}"));
    console.inform(format!("{} of the requested runs are missing{first}", joined.missing()));
    // The exit code lets scripts detect that part of the study is missing.
    Ok(Outcome::CheckFailed)
}
