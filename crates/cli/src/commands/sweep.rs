//! `mario sweep`.

use std::path::Path;

use clap::Args;
use mario_experiments::study::{Results, Shard};
use mario_experiments::sweep;
use mario_frontend::studies::{check_figures, check_outcomes, check_shard, keep_sweep, read_shard, variants};

use crate::experiments::{StudyArguments, tell_missing};
use crate::{Console, Failure, Outcome};

/// Arguments of `mario sweep`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  mario sweep paper --key workload.period=20,40,80 --policy latency-aware
  mario sweep paper --key topology.size=4,8 --key mobility.users=51,200 --policy latency-aware --seeds 10 --out sizes
  mario sweep paper --key memory.cycles=1,2,5,10 --policy workload-and-latency-aware-with-memory --shard 1/4 --out part-1
  mario sweep paper --key workload.period=20,40 --policy latency-aware --metric jain='python3 jain.py'")]
pub struct Arguments {
    /// The runs to make.
    #[command(flatten)]
    pub study: StudyArguments,
    /// A key of the scenario and its values, separated by commas; may be repeated: then all combinations are run
    #[arg(long = "key", value_name = "KEY=VALUE,…", required = true, display_order = 0)]
    pub keys: Vec<String>,
    /// Make only the I-th of N parts of the runs, e.g. 2/8; needs --out, with a separate directory for each part;
    /// `mario merge` joins the parts
    #[arg(long, value_name = "I/N", value_parser = read_shard)]
    pub shard: Option<Shard>,
    /// A figure to show in the table, as GROUP.NAME; may be repeated. The group is `all` or a kind of application in
    /// the scenario: in `paper`, LS (latency-sensitive) or WS (workload-sensitive). The name is e.g. response (in ms)
    /// or migrate. `lost` has no group. By default, the response of each kind, the mean number of instances, the
    /// numbers of migrations, inhibited operations and lost requests, and energy, money, carbon and --metric values if
    /// the runs have them
    #[arg(long = "figure", value_name = "GROUP.NAME")]
    pub figures: Vec<String>,
}

pub(super) const LONG_ABOUT: &str = "Run a scenario with all combinations of given settings.

Keys are those of scenario files, as in `--set`. Every policy runs with every combination and every seed. The table has a row \
for each combination and policy, with the mean of each figure and the half-width of its 95 % confidence interval.

With --out, all runs are kept in runs.csv and runs.jsonl, and means and intervals of all figures in sweep.csv and sweep.json. \
A repeated call with the same directory makes only the missing runs.";

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<Outcome, Failure> {
    let variants = variants(&arguments.keys)?;
    check_figures(&arguments.figures)?;
    let shard = arguments.shard.unwrap_or(Shard::WHOLE);
    check_shard(shard, arguments.study.out.as_deref())?;
    let results = arguments.study.carry_out(variants, shard, &[], console)?;
    show(&results, &arguments.figures, arguments.study.out.as_deref(), console)?;
    tell_missing(&results, shard, console);
    Ok(Outcome::Done)
}

/// Prints runs as a table, and stores the results in `directory`, if given.
pub(super) fn show(
    results: &Results,
    figures: &[String],
    directory: Option<&Path>,
    console: &Console,
) -> Result<(), Failure> {
    check_outcomes(results, figures)?;
    if let Some(directory) = directory {
        keep_sweep(directory, results)?;
    }
    let figures = if figures.is_empty() { sweep::usual_figures(results) } else { figures.to_vec() };
    let text = sweep::text(results, &figures);
    console.write_data(|stdout| stdout.write_all(text.as_bytes()))?;
    Ok(())
}
