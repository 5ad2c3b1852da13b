//! `mario compare`.

use clap::{Args, ValueEnum};
use mario_diagnostics::Diagnostic;
use mario_experiments::comparison::Comparison;
use mario_experiments::study::Shard;

use crate::experiments::{StudyArguments, write_results};
use crate::{Console, Failure, Outcome};

/// Arguments of `mario compare`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  mario compare paper --policy workload-aware --policy latency-aware
  mario compare scenario.toml --policy old.pl --policy new.pl --seeds 100 --out comparison
  mario compare paper --set workload.period=20 --policy old.pl@memory.cycles=1 --policy old.pl@memory.cycles=10
  mario compare paper --policy old.pl --policy new.pl --set measures.applications=true
  mario compare paper --policy old.pl --policy new.pl --metric jain='python3 jain.py' --out comparison --keep-runs 1")]
pub struct Arguments {
    /// Which runs.
    #[command(flatten)]
    pub study: StudyArguments,
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

pub(super) const LONG_ABOUT: &str = "Tell which policy is better for a scenario, and whether the difference is real.

Every policy runs with the same seeds, and so with the same users. For each figure there is the mean of each policy with its \
95 % interval, and for each pair of policies the difference, tested by Wilcoxon's signed ranks of the pairs; the \
probabilities are corrected by Holm's method for all the tests that were made, so that the chance of any false finding at all is 5 %.

A policy is a name or a file, as in `mario run`. `POLICY@KEY=VALUE,KEY=VALUE` gives it keys of the scenario of its own, \
e.g. workload-and-latency-aware-with-memory@memory.cycles=10, and `@KEY=VALUE` leaves the scenario its policies.

With --out, all runs are kept in runs.csv and runs.jsonl, and the result in comparison.json and comparison.csv. Another call \
with the same directory makes only the runs that are missing.";

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<Outcome, Failure> {
    if arguments.study.policies.len() < 2 {
        let diagnostic = Diagnostic::error("one policy has nothing to be compared with: `--policy` is there once");
        return Err(Failure::input(diagnostic.hint("name at least two, each with `--policy`")));
    }
    let results = arguments.study.carry_out(vec![Vec::new()], Shard::WHOLE, console)?;
    let comparison = Comparison::of(&results, &[]);
    let json = format!("{:#}\n", serde_json::json!(comparison));
    if let Some(directory) = &arguments.study.out {
        write_results(directory, "comparison.json", &json)?;
        write_results(directory, "comparison.csv", &comparison.csv())?;
    }
    let text = match arguments.format {
        Format::Text => comparison.text(),
        Format::Json => json,
        Format::Csv => comparison.csv(),
    };
    console.write_data(|stdout| stdout.write_all(text.as_bytes()))?;
    Ok(Outcome::Done)
}
