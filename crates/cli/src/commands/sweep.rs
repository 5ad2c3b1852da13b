//! `mario sweep`.

use std::path::Path;

use clap::Args;
use mario_diagnostics::Diagnostic;
use mario_experiments::measures::{Measure, is_name};
use mario_experiments::study::{Results, Shard};
use mario_experiments::sweep;

use crate::experiments::{StudyArguments, write_results};
use crate::{Console, Failure, Outcome};

/// Arguments of `mario sweep`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  mario sweep paper --key workload.period=20,40,80 --policy latency-aware
  mario sweep paper --key topology.size=4,8 --key mobility.users=51,200 --policy latency-aware --seeds 10 --out sizes
  mario sweep paper --key memory.cycles=1,2,5,10 --policy workload-and-latency-aware-with-memory --shard 1/4 --out part-1
  mario sweep paper --key workload.period=20,40 --policy latency-aware --metric jain='python3 jain.py'")]
pub struct Arguments {
    /// Which runs.
    #[command(flatten)]
    pub study: StudyArguments,
    /// A key and its values, separated by commas; with several keys, all combinations
    #[arg(long = "key", value_name = "KEY=VALUE,…", required = true)]
    pub keys: Vec<String>,
    /// Make one part of the runs only, e.g. 2/8, into a directory of its own; `mario merge` joins the parts
    #[arg(long, value_name = "I/N", value_parser = shard)]
    pub shard: Option<Shard>,
    /// A figure that the table shows, e.g. LS.response; may be given again
    #[arg(long = "figure", value_name = "FIGURE")]
    pub figures: Vec<String>,
}

pub(super) const LONG_ABOUT: &str = "Run a scenario with every combination of values of some keys.

Keys are those of scenario files, as in `--set`. Every policy runs with every combination and every seed. The table has a row \
for each combination and policy: the mean of each figure and how far its 95 % interval reaches to both sides.

With --out, all runs are kept in runs.csv and runs.jsonl, and means and intervals of all figures in sweep.csv and sweep.json. \
Another call with the same directory makes only the runs that are missing.";

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<Outcome, Failure> {
    let variants = sweep::variants(&arguments.keys).map_err(|error| {
        let hint = match error {
            sweep::KeyError::Seed => "ask for `--seeds N`, from `--seed N` on",
            _ => "write `--key KEY=VALUE,VALUE`, e.g. `--key workload.period=20,40,80`",
        };
        Failure::input(Diagnostic::error(error.to_string()).hint(hint))
    })?;
    if let Some(unknown) = arguments.figures.iter().find(|figure| !is_name(figure)) {
        let figures = Measure::ALL.map(Measure::as_str).join(", ");
        let hint = format!("write GROUP.FIGURE, e.g. LS.response; figures are {figures}");
        return Err(Failure::input(Diagnostic::error(format!("there is no figure `{unknown}`")).hint(hint)));
    }
    let shard = arguments.shard.unwrap_or(Shard::WHOLE);
    if shard.of > 1 && arguments.study.out.is_none() {
        let diagnostic =
            Diagnostic::error("a part of a sweep is made for the others to join it, and this one is kept nowhere");
        return Err(Failure::input(diagnostic.hint("say where with `--out DIR`; `mario merge` joins the parts")));
    }
    let results = arguments.study.carry_out(variants, shard, console)?;
    show(&results, &arguments.figures, arguments.study.out.as_deref(), console)?;
    match results.missing() {
        0 => {}
        missing if shard.of > missing && results.runs.is_empty() => {
            console.inform(format!("this part has no runs: there are {missing}, and more parts"));
        }
        missing if shard.of > 1 => {
            console.inform(format!("{missing} runs are for the other parts to make; `mario merge` joins them"));
        }
        missing => console.inform(format!("{missing} runs are missing of those that were wanted before")),
    }
    Ok(Outcome::Done)
}

/// Shows runs as a table, and keeps what they came to.
pub(super) fn show(
    results: &Results,
    figures: &[String],
    directory: Option<&Path>,
    console: &Console,
) -> Result<(), Failure> {
    let known = sweep::figure_names(results);
    if let Some(unknown) = figures.iter().find(|figure| !known.contains(figure)) {
        let diagnostic = Diagnostic::error(format!("there is no figure `{unknown}`"));
        return Err(Failure::input(diagnostic.hint(format!("there are {}", known.join(", ")))));
    }
    if let Some(directory) = directory {
        let json = format!("{:#}\n", sweep::json(results));
        write_results(directory, "sweep.json", &json)?;
        write_results(directory, "sweep.csv", &sweep::csv(results))?;
    }
    let figures = if figures.is_empty() { sweep::usual_figures(results) } else { figures.to_vec() };
    let text = sweep::text(results, &figures);
    console.write_data(|stdout| stdout.write_all(text.as_bytes()))?;
    Ok(())
}

/// Reads `2/8`.
fn shard(text: &str) -> Result<Shard, String> {
    let parts = text.split_once('/').and_then(|(part, of)| Some((part.parse().ok()?, of.parse().ok()?)));
    match parts {
        Some((part, of)) if part >= 1 && part <= of => Ok(Shard { part, of }),
        _ => Err("a part is written as I/N, with I from 1 to N".to_owned()),
    }
}
