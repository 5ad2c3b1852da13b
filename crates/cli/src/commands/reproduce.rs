//! `mario reproduce`.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use clap::{Args, ValueEnum};
use mario_experiments::reproduce::{Options, Preset, ReproduceError, Reproduction, World, reproduce};
use mario_frontend::Diagnostic;
use mario_frontend::result_directory::ResultDirectory;
use mario_frontend::runs::{not_kept, run_failure};
use mario_frontend::studies::cannot_write;
use mario_report::ReferenceValues;
use mario_scenario::Document;
use mario_simulator::IfExists;

use crate::commands::report;
use crate::experiments::Jobs;
use crate::interruptions::interruptions;
use crate::scenarios::{Disk, failure};
use crate::{Console, Failure, Outcome};

/// Arguments of `mario reproduce`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  mario reproduce
  mario reproduce --seeds 30 --out results
  mario reproduce --regret --out regret
  mario reproduce --preset paper --set mobility.kind=recorded --out text
  mario reproduce --set topology.access_latency=1 --out nearer
  mario reproduce --traces positions.csv --out taxis")]
pub struct Arguments {
    /// The directory for the runs and the results; by default, the first unused one of `runs/reproduction-1`,
    /// `runs/reproduction-2`, …
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// The world: as the paper describes it, or as its prototype ran it; users are generated unless another option sets
    /// them
    #[arg(long, value_name = "PRESET")]
    pub preset: Option<PresetName>,
    /// Read the users' positions from this file, in one of the formats that docs/scenarios.md lists for
    /// `mobility.file`
    #[arg(long, value_name = "FILE", conflicts_with = "attachments")]
    pub traces: Option<PathBuf>,
    /// Read the users' access points at each step from this JSON file; docs/scenarios.md has its format
    #[arg(long, value_name = "FILE")]
    pub attachments: Option<PathBuf>,
    /// Override a key of the world, e.g. topology.size=16; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub overrides: Vec<String>,
    /// The number of seeds for each experiment; means and confidence intervals are over all seeds, but only the run of
    /// the first seed is kept
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub seeds: u64,
    /// How many runs to make at a time.
    #[command(flatten)]
    pub jobs: Jobs,
    /// In every management cycle, search for the best placement of all instances, and record how much worse the actual
    /// one is; takes much longer
    #[arg(long)]
    pub regret: bool,
    /// Replace the runs that are in the directory
    #[arg(long, requires = "out")]
    pub force: bool,
}

/// A world for the experiments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PresetName {
    /// As the paper describes it.
    Paper,
    /// As its prototype ran it.
    Prototype,
}

pub(super) const LONG_ABOUT: &str = "Rerun the published experiments, and compare the results.

The paper's policies 1, 2 and 3 run once each, and policy 4 twice, with a memory of 1 and of 10 cycles, all in the same world. \
Each run is kept in a directory of its own, and all figures are computed from its trace. results.json and figures.csv \
have all figures beside the published ones, report.html shows them with a replay of each run, and -v prints them.

By default, the world is the one of the published figures: that of the paper's prototype, with the recorded users, which are \
part of mario. One table compares the figures with the published ones. Another compares this world with the one that \
the text of the paper describes: with the same users, with generated users, and with a last link of 1 ms.

Any of --preset, --set, --traces and --attachments, or --seeds above 1, changes the world: it is then the one that the text of the paper \
describes, or that of --preset, and users are generated from the seed unless the options set them. `--preset prototype --set \
mobility.kind=recorded` is the world of the published figures again.";

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<Outcome, Failure> {
    let is_published_world = arguments.preset.is_none()
        && arguments.overrides.is_empty()
        && arguments.traces.is_none()
        && arguments.attachments.is_none()
        && arguments.seeds == 1;
    let preset = match arguments.preset {
        _ if is_published_world => World::PUBLISHED.preset,
        None | Some(PresetName::Paper) => Preset::Paper,
        Some(PresetName::Prototype) => Preset::Prototype,
    };
    let mut document = if is_published_world {
        World::PUBLISHED.document().map_err(|error| run_failure(&error))?
    } else {
        Document::preset(preset.as_str()).map_err(|error| failure(&error))?
    };
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
        existing: if arguments.force { IfExists::Replace } else { IfExists::Refuse },
        seeds: arguments.seeds,
        jobs: arguments.jobs.count(),
        regret: arguments.regret,
        worlds: if is_published_world { &World::OTHERS } else { &[] },
    };
    let interrupted = interruptions()?;
    let mut progress = console.progress("runs");
    let reproduction = reproduce(&options, || Disk, &mut |done, total| {
        progress.done_of(done, total);
        !interrupted.load(Ordering::Relaxed)
    });
    drop(progress);
    let reproduction = reproduction.map_err(|error| refuse(&error))?;
    reproduction.write(&directory).map_err(|error| cannot_write(&error.0, &error.1))?;
    let page = write_report(&directory, &reproduction, is_published_world, console)?;
    let mut text = String::new();
    if is_published_world {
        text.push_str(&reproduction.summary());
    }
    if !is_published_world || console.is_verbose() {
        text.push_str(&reproduction.text());
    }
    console.write_data(|stdout| stdout.write_all(text.as_bytes()))?;
    tell_next_steps(&directory, &page, console);
    Ok(Outcome::Done)
}

/// Prints where the results are, and suggests commands to try next.
fn tell_next_steps(directory: &Path, page: &Path, console: &Console) {
    let mario = std::env::args_os().next().map_or_else(|| "mario".into(), |name| name.to_string_lossy().into_owned());
    console.inform(format!(
        "\nkept in {}; all figures are in its results.json and figures.csv. Next:
  replay the runs, ask why      open {} in a browser
  run one of them alone         {mario} run prototype --set mobility.kind=recorded --policy latency-aware
  see which one is better       {mario} compare paper --policy latency-aware --policy workload-aware --seeds 20
  write one of your own         {mario} policy --help",
        directory.display(),
        page.display()
    ));
}

/// Writes the report of all experiments, with the published values for comparison. Returns its path.
fn write_report(
    directory: &Path,
    reproduction: &Reproduction,
    is_published_world: bool,
    console: &Console,
) -> Result<PathBuf, Failure> {
    let experiments: Vec<_> = reproduction.experiments.iter().map(|reproduced| &reproduced.experiment).collect();
    let runs: Vec<PathBuf> = experiments.iter().map(|experiment| directory.join(experiment.name)).collect();
    let mut report = report::read(&runs, Some("The paper's experiments, reproduced"), console)?;
    for (run, experiment) in report.runs.iter_mut().zip(&experiments) {
        experiment.title.clone_into(&mut run.label);
    }
    let values = experiments
        .iter()
        .map(|experiment| experiment.published_values().map(|known| known.paper.clone()).unwrap_or_default());
    report.published = Some(ReferenceValues { source: "the paper".to_owned(), values: values.collect() });
    if is_published_world {
        report.tables = reproduction.tables();
    }
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
            Failure::Environment(vec![Diagnostic::error(error.to_string()).caused_by(cause.as_ref())])
        }
        ReproduceError::Seeds { .. } => {
            Failure::input(Diagnostic::error(error.to_string()).hint("ask for fewer `--seeds`"))
        }
        ReproduceError::Interrupted => Failure::Interrupted(vec![
            Diagnostic::error(error.to_string())
                .hint("run it again with another --out, or with --force to replace what was kept"),
        ]),
    }
}
