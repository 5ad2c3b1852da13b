//! `mario report`.

mod moving;

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use mario_experiments::comparison::Comparison;
use mario_experiments::published::{PublishedResults, PublishedValues};
use mario_experiments::reproduce::{published_about, published_policies};
use mario_experiments::study::{Results, STUDY, load};
use mario_frontend::Diagnostic;
use mario_frontend::studies::store_failure;
use mario_report::{EXPLAINING_INFERENCES_DEFAULT, ReferenceValues, Report, Run, Scale, ScaleError};
use mario_simulator::write_atomically;

use crate::console::many;
use crate::labels::read_labels;
use crate::replacing::{contains, refuse_to_replace};
use crate::traces::{Explain, read_run, runs_in};
use crate::{Console, Failure, Outcome, read_text};

/// Arguments of `mario report`.
#[derive(Clone, Debug, Args)]
#[command(
    override_usage = "mario report [OPTIONS] <RUN>...\n       mario report [OPTIONS] --scale <FILE>",
    after_help = "Examples:
  mario report runs/paper-1
  mario report runs/paper-1 runs/paper-2 --out comparison.html
  mario report comparison --out comparison.html
  mario report runs/paper-1 --svg figures
  mario report runs/live-1 --animation run.svg
  mario report runs --published
  mario report runs/paper-1 --scale scale.json"
)]
pub struct Arguments {
    /// Directories of runs, of a comparison or of a sweep, directories that contain runs, or traces, plain or
    /// compressed with gzip
    #[arg(value_name = "RUN", required_unless_present = "scale")]
    pub runs: Vec<PathBuf>,
    /// Where to write the page; an existing report is replaced
    #[arg(long, value_name = "FILE", default_value = "report.html")]
    pub out: PathBuf,
    /// Also write every chart as an SVG file into this directory
    #[arg(long, value_name = "DIR")]
    pub svg: Option<PathBuf>,
    /// Also write an animation of one run with up to 1,000 instances: an SVG that any browser plays, in which instances
    /// move from node to node
    #[arg(long, value_name = "FILE")]
    pub animation: Option<PathBuf>,
    /// Also show published values for the same policies: from the paper, which is the default, or computed from the
    /// stored runs of its prototype
    #[arg(long, value_name = "WHERE", num_args = 0..=1, require_equals = true, default_missing_value = "paper")]
    pub published: Option<Source>,
    /// Also show how the cost of a run grows with its size: a file written by `mario bench scale --format json`; may be
    /// repeated
    #[arg(long, value_name = "FILE")]
    pub scale: Vec<PathBuf>,
    /// The name of a policy on the page, e.g. new.pl=ours; may be repeated. A run is named after its policy
    #[arg(long = "label", value_name = "POLICY=TEXT")]
    pub labels: Vec<String>,
    /// The title of the page
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// Spend about N inferences (calls of a predicate) on explaining the decisions of each trace; the page marks the
    /// decisions for which they did not suffice
    #[arg(long, value_name = "N", default_value_t = EXPLAINING_INFERENCES_DEFAULT)]
    pub budget: u64,
    /// Do not explain decisions, which takes most of the time because it runs the policies of the traces
    #[arg(long)]
    pub no_explanations: bool,
}

/// A source of published values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Source {
    /// The tables and sentences of the paper.
    Paper,
    /// The stored runs of its prototype.
    Prototype,
}

pub(super) const LONG_ABOUT: &str = "Write a report on runs as one HTML page.

For runs, the page is made from their traces alone; for a comparison or a sweep, from its results. It is a single file that needs no network. It shows operations and movements, instances \
over time and by node, response times, what was inhibited and why, and a replay in which every instance shows its last decision, \
the reason for it, and why it proposed no other operation. For runs made with `--regret`, it shows how far the placement was from \
the optimum.

A run that was interrupted or is in progress is shown up to its last record. `mario view` follows a run in progress.";

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<Outcome, Failure> {
    refuse_to_replace(&arguments.out, |opening| contains(opening, Report::MARK), "a report", "--out")?;
    // A directory that contains runs stands for all of them. A comparison or a sweep is shown as tables.
    let (studies, runs): (Vec<&PathBuf>, Vec<&PathBuf>) =
        arguments.runs.iter().partition(|path| runs_in(path).is_empty() && path.join(STUDY).is_file());
    let expanded = runs.into_iter().flat_map(|path| match runs_in(path).as_slice() {
        [] => vec![path.clone()],
        runs => runs.to_vec(),
    });
    let expanded: Vec<PathBuf> = expanded.collect();
    if let Some(path) = &arguments.animation {
        moving::write(&expanded, path, console)?;
    }
    let explain = if arguments.no_explanations { Explain::No } else { Explain::Within(arguments.budget) };
    let studies = studies.into_iter().map(|directory| load(directory).map_err(|error| store_failure(&error)));
    let studies: Vec<Results> = studies.collect::<Result<_, Failure>>()?;
    let mut runs =
        expanded.iter().map(|path| read_run(path, explain, console)).collect::<Result<Vec<Run>, Failure>>()?;
    let labels = labels(arguments, &studies, &runs)?;
    for run in &mut runs {
        run.label = labels.get(&run.label).unwrap_or(&run.label).clone();
    }
    let mut report = of_runs(runs, &expanded, arguments.title.as_deref(), console);
    report.tables = report.measured_tables();
    for (place, results) in studies.iter().enumerate() {
        let results = results.relabelled(&labels);
        for (nth, variant) in results.identity.variants.iter().enumerate() {
            let id = format!("comparison-{}-{}", place + 1, nth + 1);
            report.tables.extend(Comparison::of(&results, variant).tables(&id));
        }
        if report.runs.is_empty() && arguments.title.is_none() {
            let name = results.identity.scenario["name"].as_str().unwrap_or("scenario");
            report.title = format!("{name}, compared");
        }
    }
    report.scale = arguments.scale.iter().map(|path| read_scale(path)).collect::<Result<Vec<Scale>, Failure>>()?;
    if let Some(source) = arguments.published {
        report.published = Some(beside(&report, source)?);
    }
    let page = report.html();
    write(&arguments.out, page.as_bytes())?;
    console.inform(format!("{} ({:.1} MB)", arguments.out.display(), page.len() as f64 / 1e6));
    if let Some(directory) = &arguments.svg {
        fs::create_dir_all(directory)
            .map_err(|error| Failure::file(format!("cannot make `{}`", directory.display()), &error))?;
        let drawings = report.drawings();
        for drawing in &drawings {
            write(&directory.join(&drawing.file_name), drawing.svg.as_bytes())?;
        }
        console.inform(format!("{} in {}", many(drawings.len(), "figure"), directory.display()));
    }
    Ok(Outcome::Done)
}

/// Reads runs for one report. Runs of the same name are also labelled with their seed, and if necessary with their
/// path.
pub(crate) fn read(runs: &[PathBuf], title: Option<&str>, console: &Console) -> Result<Report, Failure> {
    read_with(|path| read_run(path, Explain::Within(EXPLAINING_INFERENCES_DEFAULT), console), runs, title, console)
}

/// Like [`read`], but `read_one` reads each run.
pub(crate) fn read_with(
    read_one: impl Fn(&Path) -> Result<Run, Failure>,
    runs: &[PathBuf],
    title: Option<&str>,
    console: &Console,
) -> Result<Report, Failure> {
    let read = runs.iter().map(|path| read_one(path)).collect::<Result<Vec<Run>, Failure>>()?;
    Ok(of_runs(read, runs, title, console))
}

/// Returns the labels of `--label`: of policies of studies, and of runs, which have the names of their policies.
fn labels(arguments: &Arguments, studies: &[Results], runs: &[Run]) -> Result<BTreeMap<String, String>, Failure> {
    let of_studies = studies.iter().flat_map(|results| &results.identity.policies);
    let known: BTreeSet<String> = of_studies.chain(runs.iter().map(|run| &run.label)).cloned().collect();
    read_labels(&arguments.labels, &known.into_iter().collect::<Vec<String>>())
}

/// A report of runs, which were read from these paths.
fn of_runs(read: Vec<Run>, runs: &[PathBuf], title: Option<&str>, console: &Console) -> Report {
    let mut report = Report::default();
    for (run, path) in read.into_iter().zip(runs) {
        if !run.is_complete() {
            console.inform(format!("note: `{}` is not complete; it is shown up to its last record", path.display()));
        }
        report.runs.push(run);
    }
    tell_apart(&mut report, |report, place| format!("seed {}", report.runs[place].seed()));
    tell_apart(&mut report, |_, place| runs[place].display().to_string());
    report.title = title.map_or_else(|| report.default_title(), str::to_owned);
    report
}

/// Returns the published values for the policies of the runs; empty values for a policy without any. If no policy has
/// published values, that is an error.
fn beside(report: &Report, source: Source) -> Result<ReferenceValues, Failure> {
    let known = report.runs.iter().map(|run| run.policy().and_then(published_about));
    let known: Vec<Option<&PublishedResults>> = known.collect();
    if known.iter().all(Option::is_none) {
        let diagnostic = Diagnostic::error("nothing was published about the policies of these runs");
        return Err(Failure::input(diagnostic.hint(format!("it was about {}", published_policies().join(", ")))));
    }
    let (name, values): (&str, fn(&PublishedResults) -> &PublishedValues) = match source {
        Source::Paper => ("the paper", |published| &published.paper),
        Source::Prototype => ("the stored runs of the paper's prototype", |published| &published.run),
    };
    let values = known.into_iter().map(|known| known.map(|known| values(known).clone()).unwrap_or_default());
    Ok(ReferenceValues { source: name.to_owned(), values: values.collect() })
}

/// Reads measurements of `mario bench scale`, named after their file.
fn read_scale(path: &Path) -> Result<Scale, Failure> {
    let text = read_text(path)?.text;
    let name = path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy();
    Scale::read(&name, &text).map_err(|error| {
        let diagnostic = Diagnostic::error(format!("`{}` holds no measurements of scale", path.display()));
        let cause: &dyn Error = match &error {
            ScaleError::Json(cause) => cause,
            ScaleError::Empty | ScaleError::Number { .. } => &error,
        };
        Failure::input(diagnostic.caused_by(cause).hint("`mario bench scale --format json` writes them"))
    })
}

/// Appends a mark to each label that several runs share. `mark` returns the mark of the run at an index.
fn tell_apart(report: &mut Report, mark: impl Fn(&Report, usize) -> String) {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    report.runs.iter().for_each(|run| *counts.entry(run.label.clone()).or_default() += 1);
    for place in 0..report.runs.len() {
        if counts[&report.runs[place].label] > 1 {
            let mark = mark(report, place);
            let label = &mut report.runs[place].label;
            *label = format!("{label}, {mark}");
        }
    }
}

pub(crate) fn write(path: &Path, content: &[u8]) -> Result<(), Failure> {
    write_atomically(path, |file| file.write_all(content))
        .map_err(|error| Failure::file(format!("cannot write `{}`", path.display()), &error))
}
