//! `mario compare`.

mod kept;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use mario_experiments::comparison::Comparison;
use mario_experiments::study::Shard;
use mario_frontend::Diagnostic;
use mario_frontend::studies::{
    check_figures, check_outcomes, check_shard, comparison_json, keep_comparison, read_shard,
};

use crate::experiments::{StudyArguments, tell_missing};
use crate::{Console, Failure, Outcome};

/// Arguments of `mario compare`.
#[derive(Clone, Debug, Args)]
#[command(override_usage = "mario compare [OPTIONS] <SCENARIO> --policy <POLICY[@KEY=VALUE,…]>...\n       mario compare [OPTIONS] <RUN>...",
  after_help = "Examples:
  mario compare paper --policy workload-aware --policy latency-aware
  mario compare scenario.toml --policy old.pl --policy new.pl --seeds 100 --out comparison
  mario compare paper --set workload.period=20 --policy old.pl@memory.cycles=1 --policy old.pl@memory.cycles=10
  mario compare paper --policy old.pl --policy new.pl --figure LS.response --figure all.migrate
  mario compare paper --policy old.pl --policy new.pl --set measures.applications=true
  mario compare paper --policy old.pl --policy new.pl --metric jain='python3 jain.py' --out comparison --keep-runs 1
  mario compare paper --policy old.pl --policy new.pl --seeds 1000 --shard 3/8 --out part-3
  mario compare runs/live-1 runs/live-2",
  mut_arg("policies", |policies| policies.required(false)))]
pub struct Arguments {
    /// The runs to make.
    #[command(flatten)]
    pub study: StudyArguments,
    /// Directories of runs whose figures are shown side by side, instead of a scenario
    #[arg(value_name = "RUN")]
    pub runs: Vec<PathBuf>,
    /// Make only the I-th of N parts of the runs, e.g. 2/8; needs --out, with a separate directory for each part;
    /// `mario merge` joins the parts
    #[arg(long, value_name = "I/N", value_parser = read_shard)]
    pub shard: Option<Shard>,
    /// A primary outcome of the comparison, as GROUP.NAME, such as LS.response, all.migrate or lost; may be repeated.
    /// Only primary outcomes are corrected for multiple testing; all other figures are exploratory. By default, the
    /// response times and the lost client requests
    #[arg(long = "figure", value_name = "GROUP.NAME")]
    pub figures: Vec<String>,
    /// How to print the result
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: Format,
}

/// How to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Text,
    /// The content of comparison.json.
    Json,
    /// The content of comparison.csv.
    Csv,
}

pub(super) const LONG_ABOUT: &str = "Test which policy is better for a scenario, and whether the difference is significant.

Every policy runs with the same seeds, and so with the same users. For each figure, the output has the mean of each policy with \
its 95 % confidence interval, and for each pair of policies the difference, tested by the Wilcoxon signed-rank test.

The comparison is about its primary outcomes, which --figure declares. Their p-values are corrected for multiple testing by \
Holm's method, so that the probability of any false finding among them is at most 5 %. All other figures are listed as \
exploratory, with p-values that are not corrected.

A policy is a name or a file, as in `mario run`. `POLICY@KEY=VALUE,KEY=VALUE` overrides keys of the scenario for this policy, \
e.g. workload-and-latency-aware-with-memory@memory.cycles=10; `@KEY=VALUE` does so with the scenario's own policies.

Given directories of simulated or live runs instead of a scenario, the command prints their figures side by side, without tests: \
each directory is one run.

With --out, all runs are kept in runs.csv and runs.jsonl, and the result in comparison.json and comparison.csv. A repeated call \
with the same directory makes only the missing runs.";

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<Outcome, Failure> {
    if kept::is_run(&arguments.study.scenario) {
        return kept::run(arguments, console);
    }
    if let Some(more) = arguments.runs.first() {
        let title = format!("`{}` is one too many: one scenario is compared under several policies", more.display());
        return Err(Failure::input(Diagnostic::error(title).hint("name directories of runs alone, or one scenario")));
    }
    check_compared(&arguments.study.policies)?;
    let shard = arguments.shard.unwrap_or(Shard::WHOLE);
    check_shard(shard, arguments.study.out.as_deref())?;
    check_figures(&arguments.figures)?;
    let results = arguments.study.carry_out(vec![Vec::new()], shard, &arguments.figures, console)?;
    check_outcomes(&results, &results.identity.outcomes)?;
    let comparison = Comparison::of(&results, &[]);
    if let Some(directory) = &arguments.study.out {
        keep_comparison(directory, &comparison)?;
    }
    let text = match arguments.format {
        Format::Text => comparison.text(),
        Format::Json => comparison_json(&comparison),
        Format::Csv => comparison.csv(),
    };
    console.write_data(|stdout| stdout.write_all(text.as_bytes()))?;
    tell_missing(&results, shard, console);
    Ok(Outcome::Done)
}

/// Rejects a comparison of fewer than two policies.
fn check_compared(policies: &[String]) -> Result<(), Failure> {
    let (title, hint) = match policies.len() {
        0 => {
            let hint = "name at least two policies, or the directories of runs";
            ("there is nothing to compare: `--policy` is missing", hint)
        }
        1 => {
            let hint = "name at least two, each with `--policy`";
            ("one policy has nothing to be compared with: `--policy` is there once", hint)
        }
        _ => return Ok(()),
    };
    Err(Failure::input(Diagnostic::error(title).hint(hint)))
}
