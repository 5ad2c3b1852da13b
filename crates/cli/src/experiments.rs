//! Arguments and steps that `mario compare` and `mario sweep` share, and the option `--jobs`.

use std::num::NonZero;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use clap::Args;
use mario_experiments::metric::Metric;
use mario_experiments::study::{Results, Shard};
use mario_frontend::Diagnostic;
use mario_frontend::studies::Study;
use mario_policy::PolicyFunctions;
use mario_scenario::Document;

use crate::console::many;
use crate::interruptions::interruptions;
use crate::scenarios::{Disk, open, tell_notes};
use crate::{Console, Failure};

/// How many runs to make at a time.
#[derive(Clone, Copy, Debug, Args)]
pub struct Jobs {
    /// How many runs to make at a time; by default, one per processor. The result does not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
}

impl Jobs {
    pub(crate) fn count(self) -> usize {
        self.jobs.map_or_else(|| thread::available_parallelism().map_or(1, NonZero::get), usize::from)
    }
}

/// Arguments that say which runs to make.
#[derive(Clone, Debug, Args)]
pub struct StudyArguments {
    /// A built-in scenario (paper, prototype, city, shop) or the path of a scenario file
    #[arg(value_name = "SCENARIO")]
    pub scenario: PathBuf,
    /// A policy to run the scenario with, optionally with keys to override for this policy; may be repeated
    #[arg(long = "policy", value_name = "POLICY[@KEY=VALUE,…]", required = true, value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub policies: Vec<String>,
    /// The number of seeds for each policy, and in a sweep for each combination
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub seeds: u64,
    /// The first seed; by default, that of the scenario
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Override a key, e.g. topology.size=16; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub overrides: Vec<String>,
    /// Read the users' access points at each step from this JSON file; docs/scenarios.md has its format
    #[arg(long, value_name = "FILE")]
    pub attachments: Option<PathBuf>,
    /// Add a metric of your own to the results: COMMAND is run, without a shell, with the directory of each run as its
    /// last argument, and prints one number; may be repeated
    #[arg(long = "metric", value_name = "NAME=COMMAND", value_parser = metric)]
    pub metrics: Vec<Metric>,
    /// How many seconds a metric's command may take for one run
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, value_parser = seconds)]
    pub metric_timeout: f64,
    /// Keep the traces of the runs with these seeds, in `runs` below the directory of --out. A run that an earlier call
    /// made is not repeated: its trace is there only if that call kept it
    #[arg(long, value_name = "SEED,…", value_delimiter = ',', requires = "out")]
    pub keep_runs: Vec<u64>,
    /// How many runs to make at a time.
    #[command(flatten)]
    pub jobs: Jobs,
    /// The directory for runs and results; a repeated call with the same directory makes only the missing runs
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

impl StudyArguments {
    fn document(&self) -> Result<Document, Failure> {
        let mut document = open(&self.scenario)?;
        document.set(&self.overrides);
        if let Some(seed) = self.seed {
            document.set_seed(seed);
        }
        if let Some(path) = &self.attachments {
            document.set_attachments(path);
        }
        Ok(document)
    }

    /// Makes the runs of the shard, except those that are already stored in `out`, and prints how many. Returns them
    /// together with the stored ones. `outcomes` are the declared primary outcomes of a comparison.
    pub(crate) fn carry_out(
        &self,
        variants: Vec<Vec<String>>,
        shard: Shard,
        outcomes: &[String],
        console: &Console,
    ) -> Result<Results, Failure> {
        let study = Study {
            policies: self.policies.clone(),
            seeds: self.seeds,
            metrics: self.metrics.clone(),
            metric_timeout: Duration::from_secs_f64(self.metric_timeout),
            outcomes: outcomes.to_vec(),
            kept_seeds: self.keep_runs.clone(),
            functions: PolicyFunctions::default(),
            jobs: self.jobs.count(),
            out: self.out.clone(),
        };
        let document = self.document()?;
        let interrupted = interruptions()?;
        let mut progress = console.progress("runs");
        let mut made = 0;
        let results = study.carry_out(&document, variants, shard, || Disk, &mut |done, total| {
            made = done;
            progress.done_of(done, total);
            !interrupted.load(Ordering::Relaxed)
        });
        drop(progress);
        let results = results?;
        let (warnings, notes): (Vec<_>, Vec<_>) =
            results.identity.notes.iter().cloned().partition(|note| results.warnings.contains(note));
        tell_notes(&notes, "", console);
        let warnings: Vec<Diagnostic> = warnings.into_iter().map(Diagnostic::warning).collect();
        console.show(&warnings);
        let kept = self.out.as_ref().map_or_else(String::new, |out| format!(", kept in {}", out.display()));
        console.inform(format!("{} made, {} in all{kept}", many(made, "run"), results.runs.len()));
        Ok(results)
    }
}

/// If runs are missing, prints how many, and that they belong to other shards or to an earlier call. If the shard has
/// no runs because there are more shards than runs, prints that instead.
pub(crate) fn tell_missing(results: &Results, shard: Shard, console: &Console) {
    match results.missing() {
        0 => {}
        missing if shard.of > missing && results.runs.is_empty() => {
            console.inform(format!("this part has no runs: there are more parts than the {missing} runs"));
        }
        missing if shard.of > 1 => {
            console.inform(format!("{missing} runs belong to the other parts; `mario merge` merges them"));
        }
        missing => console.inform(format!("{missing} runs of an earlier call are missing")),
    }
}

fn metric(text: &str) -> Result<Metric, String> {
    Metric::read(text).map_err(|error| error.to_string())
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| (0.001..=1e6).contains(seconds));
    seconds.ok_or_else(|| "a number of seconds from 0.001 to 1e6 is expected".to_owned())
}
