//! `mario reproduce`.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use clap::{Args, ValueEnum};
use mario_diagnostics::Diagnostic;
use mario_experiments::published::published;
use mario_experiments::report::Beside;
use mario_experiments::reproduce::{Options, Preset, ReproduceError, Reproduction, reproduce};
use mario_simulator::Existing;
use mario_simulator::scenario::Document;

use crate::commands::report;
use crate::commands::run::not_kept;
use crate::experiments::{Jobs, cannot_write, run_failure};
use crate::interruptions::interruptions;
use crate::result_directory::ResultDirectory;
use crate::scenarios::{Disk, failure};
use crate::{Console, Failure, Outcome};

/// Arguments of `mario reproduce`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  mario reproduce
  mario reproduce --seeds 30 --out results
  mario reproduce --regret --out regret
  mario reproduce --set topology.access_latency=1 --out nearer
  mario reproduce --traces positions.csv --out taxis
  mario reproduce --preset prototype --attachments users.json --out prototype")]
pub struct Arguments {
    /// Where to keep the runs and the results; without it, in the first directory `runs/reproduction-1`,
    /// `runs/reproduction-2`, … that is not there yet
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// In which world: as the paper describes it, or as its prototype ran it
    #[arg(long, value_name = "PRESET", default_value = "paper")]
    pub preset: PresetName,
    /// Let the users go where this file says: positions in any of the formats of `mobility.file`
    #[arg(long, value_name = "FILE", conflicts_with = "attachments")]
    pub traces: Option<PathBuf>,
    /// Attach the users as this file says: JSON with `users` and `steps`; one serves all experiments
    #[arg(long, value_name = "FILE")]
    pub attachments: Option<PathBuf>,
    /// Override a key of the world, e.g. topology.size=16; may be given again
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub overrides: Vec<String>,
    /// With how many seeds to run each experiment; the first is kept, the others give means and intervals
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub seeds: u64,
    /// How many threads
    #[command(flatten)]
    pub jobs: Jobs,
    /// Compare the placement with the best at each activation of the managers; takes much longer
    #[arg(long)]
    pub regret: bool,
    /// Replace the runs that are in the directory
    #[arg(long, requires = "out")]
    pub force: bool,
}

/// In which world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PresetName {
    /// As the paper describes it.
    Paper,
    /// As its prototype ran it.
    Prototype,
}

pub(super) const LONG_ABOUT: &str = "Run the published experiments again, and compare.

Policies 1, 2, 3, and 4 with a memory of 1 and of 10 cycles manage the same world one after the other. Each run is kept in \
a directory of its own; all figures are computed from the traces there and printed beside the published ones. What was \
claimed about behaviour is told to hold or not to hold, with the numbers. results.json and figures.csv have the same for \
programs, and report.html shows all of it, with a replay of each run.

Without options nothing but mario is needed: the users are generated.";

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<Outcome, Failure> {
    let preset = match arguments.preset {
        PresetName::Paper => Preset::Paper,
        PresetName::Prototype => Preset::Prototype,
    };
    let mut document = Document::preset(preset.as_str()).map_err(|error| failure(&error))?;
    document.set(&arguments.overrides);
    if let Some(path) = &arguments.traces {
        let written = path.display().to_string().replace('\\', "\\\\").replace('"', "\\\"");
        document.set(&["mobility.kind=file".to_owned(), format!("mobility.file=\"{written}\"")]);
    }
    if let Some(path) = &arguments.attachments {
        document.set_attachments(path);
    }
    let directory = ResultDirectory::named_or_free(arguments.out.as_deref(), "reproduction")?;
    let options = Options {
        preset,
        document: &document,
        directory: &directory,
        existing: if arguments.force { Existing::Replace } else { Existing::Refuse },
        seeds: arguments.seeds,
        jobs: arguments.jobs.count(),
        regret: arguments.regret,
    };
    let interrupted = interruptions()?;
    let mut progress = console.progress("runs");
    let reproduction = reproduce(&options, || Disk, &mut |done, _| {
        progress.done(done);
        !interrupted.load(Ordering::Relaxed)
    });
    drop(progress);
    let reproduction = reproduction.map_err(|error| refuse(&error))?;
    reproduction.write(&directory).map_err(|error| cannot_write(&error.0, &error.1))?;
    for note in &reproduction.notes {
        console.inform(format!("note: {note}"));
    }
    let text = reproduction.text();
    console.write_data(|stdout| stdout.write_all(text.as_bytes()))?;
    let page = write_report(&directory, &reproduction, console)?;
    console.inform(format!("kept in {}; look at {}", directory.display(), page.display()));
    Ok(Outcome::Done)
}

/// The page of all experiments, beside what was published.
fn write_report(directory: &Path, reproduction: &Reproduction, console: &Console) -> Result<PathBuf, Failure> {
    let experiments: Vec<_> = reproduction.experiments.iter().map(|reproduced| &reproduced.experiment).collect();
    let runs: Vec<PathBuf> = experiments.iter().map(|experiment| directory.join(experiment.name)).collect();
    let mut report = report::read(&runs, Some("The paper's experiments, reproduced"), console)?;
    for (run, experiment) in report.runs.iter_mut().zip(&experiments) {
        experiment.title.clone_into(&mut run.label);
    }
    let values = experiments
        .iter()
        .map(|experiment| published(experiment.published).map(|known| known.paper.clone()).unwrap_or_default());
    report.published = Some(Beside { source: "the paper".to_owned(), values: values.collect() });
    report.claims = reproduction.claims().into_iter().map(|judged| judged.claim).collect();
    let page = directory.join("report.html");
    report::write(&page, report.html().as_bytes())?;
    Ok(page)
}

fn refuse(error: &ReproduceError) -> Failure {
    match error {
        ReproduceError::Run(error) => run_failure(error),
        ReproduceError::Keep(error) => not_kept(error),
        ReproduceError::Open(path, cause) => Failure::file(format!("cannot read `{}`", path.display()), cause),
        ReproduceError::Read(_, cause) => {
            Failure::Environment(vec![Diagnostic::error(error.to_string()).caused_by(cause)])
        }
        ReproduceError::Seeds => Failure::input(Diagnostic::error(error.to_string()).hint("ask for fewer `--seeds`")),
        ReproduceError::Interrupted => Failure::Environment(vec![
            Diagnostic::error(error.to_string())
                .hint("run it again with another --out, or with --force to replace what was kept"),
        ]),
    }
}
