//! `mario merge`.

use std::path::{Path, PathBuf};

use clap::Args;
use mario_diagnostics::Diagnostic;
use mario_experiments::comparison::Comparison;
use mario_experiments::study::{OwnDirectory, Results, StoreError, load, save};

use super::sweep::show;
use crate::console::many;
use crate::experiments::{merge_failure, store_failure, write_results};
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
    /// Keep the joined runs here; those that are there already are joined too
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// A figure that the table shows, e.g. LS.response; may be given again
    #[arg(long = "figure", value_name = "FIGURE")]
    pub figures: Vec<String>,
}

pub(super) const LONG_ABOUT: &str = "Join runs that were made apart: the parts of a sweep that ran on several machines, or \
comparisons with other seeds or policies.

All must be of the same scenario and begin at the same seed. Runs that are in several directories count once, and must have \
come out the same. The result is what one machine would have made. Where runs are missing, those that are there are shown, and the \
exit code is 1.";

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<Outcome, Failure> {
    let mut joined: Option<Results> = None;
    let own = |directory: &Path| OwnDirectory::open(directory).map_err(|error| store_failure(&error));
    // One that is not there is made only when there is something to keep.
    let existing = arguments.out.as_deref().filter(|directory| directory.exists()).map(own).transpose()?;
    let kept = arguments.out.iter().filter(|directory| has_files(directory));
    for directory in kept.chain(&arguments.directories) {
        let part = load(directory).map_err(|error| not_loaded(&error))?;
        match &mut joined {
            None => joined = Some(part),
            Some(joined) => joined.merge(part).map_err(|error| {
                merge_failure(format!("cannot join `{}` with those before it", directory.display()), &error)
            })?,
        }
    }
    let Some(joined) = joined else { return Ok(Outcome::Done) };
    let out = match (existing, &arguments.out) {
        (None, Some(directory)) => Some(own(directory)?),
        (existing, _) => existing,
    };
    if let (Some(out), Some(directory)) = (&out, &arguments.out) {
        save(out, &joined).map_err(|error| store_failure(&error))?;
        console.inform(format!("{} kept in {}", many(joined.runs.len(), "run"), directory.display()));
    }
    if joined.identity.variants.iter().all(Vec::is_empty) && arguments.figures.is_empty() {
        let comparison = Comparison::of(&joined, &[]);
        if let Some(directory) = &arguments.out {
            let json = format!("{:#}\n", serde_json::json!(comparison));
            write_results(directory, "comparison.json", &json)?;
            write_results(directory, "comparison.csv", &comparison.csv())?;
        }
        console.write_data(|stdout| stdout.write_all(comparison.text().as_bytes()))?;
    } else {
        show(&joined, &arguments.figures, arguments.out.as_deref(), console)?;
    }
    if joined.missing() == 0 {
        return Ok(Outcome::Done);
    }
    let first = joined.first_missing().map_or_else(String::new, |run| format!(", the first of them {run}"));
    console.inform(format!("{} runs are missing of those that were wanted{first}", joined.missing()));
    // A script that joins the parts of a study is to notice that one is not there.
    Ok(Outcome::CheckFailed)
}

/// Whether a directory is there and not empty: what is in it is not to be lost.
fn has_files(directory: &Path) -> bool {
    directory.read_dir().is_ok_and(|mut files| files.next().is_some())
}

fn not_loaded(error: &StoreError) -> Failure {
    match error {
        StoreError::NotAStudy(directory) => Failure::input(
            Diagnostic::error(format!("`{}` holds no runs that could be joined", directory.display()))
                .hint("name directories that `mario sweep --out` or `mario compare --out` made; those of `mario run` are single runs"),
        ),
        _ => store_failure(error),
    }
}
