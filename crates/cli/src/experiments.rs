//! What the commands about many runs have in common.

use std::io::{self, Write};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use clap::Args;
use mario_diagnostics::Diagnostic;
use mario_experiments::metric::{Metric, MetricCause, MetricError};
use mario_experiments::runs::{Contender, RunError};
use mario_experiments::study::{MergeError, Plan, Results, Shard, StoreError, StudyError, carry_out};
use mario_scenario::Document;
use mario_simulator::write_whole;

use crate::commands::not_runnable;
use crate::console::many;
use crate::interruptions::interruptions;
use crate::moments::differs;
use crate::scenarios::{Disk, failure, open};
use crate::{Console, Failure};

/// How many threads.
#[derive(Clone, Copy, Debug, Args)]
pub struct Jobs {
    /// How many runs at a time; as many as there are processors unless given. The result is the same with any number
    #[arg(long, value_name = "J", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
}

impl Jobs {
    pub(crate) fn count(self) -> usize {
        self.jobs.map_or_else(|| thread::available_parallelism().map_or(1, NonZero::get), usize::from)
    }
}

/// Why a run did not take place.
pub(crate) fn run_failure(error: &RunError) -> Failure {
    match error {
        RunError::Scenario(error) => failure(error),
        RunError::Simulation(error) => not_runnable(error),
        RunError::Past(error) => differs(Path::new("the scenario"), error),
        RunError::Metric(error) => metric_failure(error),
    }
}

fn metric_failure(error: &MetricError) -> Failure {
    let hint = match &error.cause {
        MetricCause::Start(..) => "write `--metric NAME=COMMAND` with a program that is installed, or its path",
        MetricCause::Timeout(_) => "give it more time with `--metric-timeout SECONDS`",
        MetricCause::Failed(..) => "the program gets the directory of a run as its last argument",
        MetricCause::NotANumber(_) => "let the program print one finite number and nothing else",
        MetricCause::Keep(_) => "see that there is room for the directory of a run",
    };
    Failure::input(Diagnostic::error(error.to_string()).caused_by(&error.cause).hint(hint))
}

pub(crate) fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    Failure::file(format!("cannot write `{}`", path.display()), error)
}

/// Arguments that say which runs to make.
#[derive(Clone, Debug, Args)]
pub struct StudyArguments {
    /// A scenario that ships (paper, prototype, city) or the path of a scenario file
    #[arg(value_name = "SCENARIO")]
    pub scenario: PathBuf,
    /// A policy to run it with, and keys of the scenario that go with it; may be given again
    #[arg(long = "policy", value_name = "POLICY[@KEY=VALUE,…]", required = true, value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub policies: Vec<String>,
    /// With how many seeds to run each
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub seeds: u64,
    /// The first seed; that of the scenario unless given
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Override a key, e.g. topology.size=16; may be given again
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub overrides: Vec<String>,
    /// Attach the users as this file says: JSON with `users` and `steps`
    #[arg(long, value_name = "FILE")]
    pub attachments: Option<PathBuf>,
    /// Join a number of your own into tables and tests: COMMAND is run with the directory of each run as its last argument,
    /// and prints one number; may be given again
    #[arg(long = "metric", value_name = "NAME=COMMAND", value_parser = metric)]
    pub metrics: Vec<Metric>,
    /// How many seconds a metric's command may take for one run
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, value_parser = seconds)]
    pub metric_timeout: f64,
    /// Keep the runs of these seeds with their traces, in `runs` below the directory of --out, as far as they are made now
    #[arg(long, value_name = "SEED,…", value_delimiter = ',', requires = "out")]
    pub keep_runs: Vec<u64>,
    /// How many threads.
    #[command(flatten)]
    pub jobs: Jobs,
    /// Keep all runs and results here; another call with the same directory makes only what is missing
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

    /// Makes the runs that are missing.
    pub(crate) fn carry_out(
        &self,
        variants: Vec<Vec<String>>,
        shard: Shard,
        console: &Console,
    ) -> Result<Results, Failure> {
        if let Some(twice) =
            (1..self.policies.len()).find(|place| self.policies[..*place].contains(&self.policies[*place]))
        {
            let diagnostic = Diagnostic::error(format!("the policy `{}` is there twice", self.policies[twice]));
            return Err(Failure::input(diagnostic.hint("name each policy once")));
        }
        if let Some(twice) = (1..self.metrics.len())
            .find(|place| self.metrics[..*place].iter().any(|metric| metric.name == self.metrics[*place].name))
        {
            let diagnostic = Diagnostic::error(format!("the metric `{}` is there twice", self.metrics[twice].name));
            return Err(Failure::input(diagnostic.hint("give each metric a name of its own")));
        }
        let document = self.document()?;
        let plan = Plan {
            metrics: self.metrics.clone(),
            metric_timeout: Duration::from_secs_f64(self.metric_timeout),
            kept_seeds: self.keep_runs.clone(),
            document: &document,
            variants,
            contenders: self.policies.iter().map(|policy| Contender::read(policy)).collect(),
            seeds: self.seeds,
            shard,
            jobs: self.jobs.count(),
        };
        let interrupted = interruptions()?;
        let mut progress = console.progress("runs");
        let mut made = 0;
        let results = carry_out(&plan, self.out.as_deref(), || Disk, &mut |done, total| {
            made = done;
            progress.done_of(done, total);
            !interrupted.load(Ordering::Relaxed)
        });
        drop(progress);
        let results = results.map_err(|error| self.refuse(&error))?;
        for note in &results.identity.notes {
            console.inform(format!("note: {note}"));
        }
        let kept = self.out.as_ref().map_or_else(String::new, |out| format!(", kept in {}", out.display()));
        console.inform(format!("{} made, {} there{kept}", many(made, "run"), results.runs.len()));
        Ok(results)
    }

    fn refuse(&self, error: &StudyError) -> Failure {
        match error {
            StudyError::Run(error) => run_failure(error),
            StudyError::Store(error) => store_failure(error),
            StudyError::Seeds => Failure::input(Diagnostic::error(error.to_string()).hint("ask for fewer `--seeds`")),
            StudyError::Interrupted => {
                let diagnostic = Diagnostic::error(error.to_string());
                Failure::Interrupted(vec![match &self.out {
                    Some(_) => diagnostic.hint("the same command makes the runs that are missing"),
                    None => diagnostic.hint("with `--out DIR`, what was done would be kept"),
                }])
            }
        }
    }
}

fn metric(text: &str) -> Result<Metric, String> {
    Metric::read(text).map_err(|error| error.to_string())
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| (0.001..=1e6).contains(seconds));
    seconds.ok_or_else(|| "a number of seconds from 0.001 to 1e6 is expected".to_owned())
}

/// Why runs cannot be kept, or those that were kept cannot be used.
pub(crate) fn store_failure(error: &StoreError) -> Failure {
    match error {
        StoreError::File(_, cause) => Failure::file(error.to_string(), cause),
        StoreError::Busy(_) => {
            let hint = "wait until it is done, or name another directory: each part of a sweep needs one of its own";
            Failure::input(Diagnostic::error(error.to_string()).hint(hint))
        }
        StoreError::NotAStudy(_) => {
            Failure::input(Diagnostic::error(error.to_string()).hint("name another directory, or one that is empty"))
        }
        StoreError::Content(..) => Failure::input(
            Diagnostic::error(error.to_string()).hint("name another directory, or make the runs of this one again"),
        ),
        StoreError::Merge(_, cause) => merge_failure(error.to_string(), cause),
    }
}

/// Why runs cannot be put together.
pub(crate) fn merge_failure(title: String, cause: &MergeError) -> Failure {
    let hint = match cause {
        MergeError::Program(..) => "use the same version for all runs",
        MergeError::Scenario => "name another directory, or the scenario, the seed and the keys that it was made with",
        MergeError::Keys(..) => {
            "name another directory: only sweeps of the same keys, or comparisons, have a table together"
        }
        MergeError::Inputs(_) => "name another directory, or bring back the files as they were",
        MergeError::Run(_) => "make these runs again",
    };
    Failure::input(Diagnostic::error(title).caused_by(cause).hint(hint))
}

/// Writes a file of results.
pub(crate) fn write_results(directory: &Path, name: &str, text: &str) -> Result<(), Failure> {
    let path = directory.join(name);
    write_whole(&path, |file| file.write_all(text.as_bytes())).map_err(|error| cannot_write(&path, &error))
}
