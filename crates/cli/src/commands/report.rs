//! `mario report`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use mario_diagnostics::Diagnostic;
use mario_experiments::report::Report;

use crate::traces::{read_run, runs_in};
use crate::{Console, Failure, Outcome};

/// Arguments of `mario report`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  mario report runs/paper-1
  mario report runs/paper-1 runs/paper-2 --out comparison.html
  mario report runs/paper-1 --svg figures")]
pub struct Arguments {
    /// The directories of runs, directories that have runs in them, or traces, plain or compressed with gzip
    #[arg(value_name = "RUN", required = true)]
    pub runs: Vec<PathBuf>,
    /// Where to write the page; a former report is replaced
    #[arg(long, value_name = "FILE", default_value = "report.html")]
    pub out: PathBuf,
    /// Also write every figure as an SVG file into this directory
    #[arg(long, value_name = "DIR")]
    pub svg: Option<PathBuf>,
    /// What the page is called
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
}

pub(super) const LONG_ABOUT: &str = "Show runs as one page for a browser.

The page is made from the traces of the runs alone and is one file: it needs no network and nothing beside it. It shows \
operations and movements, instances over time, where they live, response times, what was inhibited and why, and a replay in \
which every instance tells its last decision and the reason for it.

A run that was interrupted, or is still going, is shown as far as it went. `mario view` follows one that is still going.";

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<Outcome, Failure> {
    refuse_to_replace(&arguments.out)?;
    // A directory that has runs in it stands for all of them.
    let expanded = arguments.runs.iter().flat_map(|path| match runs_in(path).as_slice() {
        [] => vec![path.clone()],
        runs => runs.to_vec(),
    });
    let report = read(&expanded.collect::<Vec<PathBuf>>(), arguments.title.as_deref(), console)?;
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
        console.inform(format!("{} figures in {}", drawings.len(), directory.display()));
    }
    Ok(Outcome::Done)
}

/// Reads runs that are to be shown together. Those of the same name are told apart by seed, then by path.
pub(crate) fn read(runs: &[PathBuf], title: Option<&str>, console: &Console) -> Result<Report, Failure> {
    let mut report = Report::default();
    for path in runs {
        let run = read_run(path)?;
        if !run.is_complete() {
            console.inform(format!("note: `{}` is not complete; it is shown as far as it went", path.display()));
        }
        report.runs.push(run);
    }
    tell_apart(&mut report, |report, place| format!("seed {}", report.runs[place].seed()));
    tell_apart(&mut report, |_, place| runs[place].display().to_string());
    report.title = title.map_or_else(|| report.default_title(), str::to_owned);
    Ok(report)
}

/// Adds what `mark` says to the labels that several runs have.
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

/// A file that is there is replaced only when it is a report.
fn refuse_to_replace(path: &Path) -> Result<(), Failure> {
    let Ok(present) = fs::read(path) else { return Ok(()) };
    let opening = String::from_utf8_lossy(&present[..present.len().min(1024)]);
    if present.is_empty() || opening.contains(Report::MARK) {
        return Ok(());
    }
    let diagnostic = Diagnostic::error(format!("`{}` is there already and is no report", path.display()));
    Err(Failure::input(diagnostic.hint("remove it, or name another file with --out")))
}

pub(crate) fn write(path: &Path, content: &[u8]) -> Result<(), Failure> {
    fs::write(path, content).map_err(|error| Failure::file(format!("cannot write `{}`", path.display()), &error))
}
