//! `mario figures`.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use mario_experiments::comparison::Comparison;
use mario_experiments::plot::{AxisKind, Figure, figures_of};
use mario_experiments::study::{Results, StoreError, load};
use mario_experiments::sweep;
use mario_frontend::Diagnostic;
use mario_frontend::studies::{absent_figure, store_failure};

use super::report::write;
use crate::console::many;
use crate::labels::read_labels;
use crate::{Console, Failure, Outcome};

/// Arguments of `mario figures`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  mario figures comparison
  mario figures sizes --figure LS.response --figure all.migrate --out paper/figures --format pdf
  mario figures comparison --label new.pl=ours --label 'latency-aware=latency only' --axis log")]
pub struct Arguments {
    /// The directory of `mario compare --out`, `mario sweep --out` or `mario merge --out`
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// The directory for the charts; by default, `figures` below the directory of the results
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// A figure to draw, as GROUP.NAME; may be repeated. The group is `all` or a kind of application in the scenario:
    /// in `paper`, LS (latency-sensitive) or WS (workload-sensitive). The name is e.g. response (in ms) or migrate.
    /// `lost` has no group. By default, the figures that `mario compare` tests
    #[arg(long = "figure", value_name = "GROUP.NAME")]
    pub figures: Vec<String>,
    /// The name of a policy in the charts, e.g. new.pl=ours; may be repeated. By default, policies have the names of the
    /// tables
    #[arg(long = "label", value_name = "POLICY=TEXT")]
    pub labels: Vec<String>,
    /// The axis of the numbers; `auto` is logarithmic if the means span two orders of magnitude
    #[arg(long, value_name = "AXIS", default_value = "auto")]
    pub axis: AxisName,
    /// The format of the files
    #[arg(long, value_name = "FORMAT", default_value = "both")]
    pub format: Format,
}

/// The format of the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// SVG and PDF.
    Both,
    /// SVG.
    Svg,
    /// PDF.
    Pdf,
}

/// The axis of the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AxisName {
    /// Logarithmic if all means are positive, and the largest is at least 100 times the smallest.
    Auto,
    /// Linear.
    Linear,
    /// Logarithmic, unless a mean is not positive.
    Log,
}

impl AxisName {
    fn kind(self) -> AxisKind {
        match self {
            AxisName::Auto => AxisKind::Auto,
            AxisName::Linear => AxisKind::Linear,
            AxisName::Log => AxisKind::Logarithmic,
        }
    }
}

pub(super) const LONG_ABOUT: &str = "Draw the results of a comparison or a sweep as charts for a paper.

A figure is a number such as LS.response. Each chart shows the mean of one figure for each policy, with its 95 % confidence \
interval: as rows, or, for a sweep of one numeric key, as lines over its values. Policies differ in colour, marker and dash. By default, a \
chart is written as NAME.svg and NAME.pdf; the PDF has its fonts embedded. The same runs yield the same bytes.";

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<Outcome, Failure> {
    let results = load(&arguments.directory).map_err(|error| no_results(&error))?;
    let names = names(&results, &arguments.figures)?;
    let results = results.relabelled(&read_labels(&arguments.labels, &results.identity.policies)?);
    let out = arguments.out.clone().unwrap_or_else(|| arguments.directory.join("figures"));
    fs::create_dir_all(&out).map_err(|error| Failure::file(format!("cannot make `{}`", out.display()), &error))?;
    let figures = figures_of(&results, &names, arguments.axis.kind());
    let file = |name: &str, ending: &str| Path::new(&out).join(format!("{name}.{ending}"));
    for figure in &figures {
        if arguments.format != Format::Pdf {
            write(&file(&figure.name, "svg"), figure.svg.as_bytes())?;
        }
        if arguments.format != Format::Svg {
            write(&file(&figure.name, "pdf"), &figure.pdf)?;
        }
    }
    if arguments.format != Format::Svg {
        console.show(&missing(&figures));
    }
    console.inform(format!("{} in {}", many(figures.len(), "figure"), out.display()));
    Ok(Outcome::Done)
}

/// The warning that PDFs show question marks for characters that their font does not have; empty if they have all.
fn missing(figures: &[Figure]) -> Vec<Diagnostic> {
    let mut letters = String::new();
    let mut texts: Vec<&str> = Vec::new();
    for (letter, text) in figures.iter().flat_map(|figure| &figure.missing) {
        if !letters.contains(*letter) {
            letters.push(*letter);
        }
        if !texts.contains(&text.as_str()) {
            texts.push(text);
        }
    }
    if letters.is_empty() {
        return Vec::new();
    }
    let texts = texts.iter().map(|text| format!("`{text}`")).collect::<Vec<_>>().join(", ");
    let title = format!("the font of the PDFs does not have `{letters}`, of {texts}, and shows question marks");
    let hint = "write another name with --label POLICY=TEXT, or use the SVGs, whose fonts are those of the viewer";
    vec![Diagnostic::warning(title).hint(hint)]
}

fn no_results(error: &StoreError) -> Failure {
    let StoreError::NotAStudy(directory) = error else { return store_failure(error) };
    let diagnostic = Diagnostic::error(format!("`{}` holds no comparison and no sweep", directory.display()));
    let made = "name a directory that `mario compare --out`, `mario sweep --out` or `mario merge --out` has made";
    Failure::input(diagnostic.hint(made).hint("a single run is shown by `mario report`"))
}

/// Returns the names of the requested figures, or by default of those that `mario compare` tests. An unknown name is an
/// error.
fn names(results: &Results, asked: &[String]) -> Result<Vec<String>, Failure> {
    let known = sweep::figure_names(results);
    if let Some(unknown) = asked.iter().find(|name| !known.contains(name)) {
        return Err(absent_figure(unknown, &known));
    }
    if !asked.is_empty() {
        return Ok(asked.to_vec());
    }
    let variant = results.identity.variants.first().cloned().unwrap_or_default();
    Ok(Comparison::of(results, &variant).figures.into_iter().map(|row| row.figure.name).collect())
}
