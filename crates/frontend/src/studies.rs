//! Performs, stores and merges comparisons and sweeps, and reports their failures.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use mario_experiments::comparison::Comparison;
use mario_experiments::measures::{LOST, Measure, candidates, extra_names, is_name};
use mario_experiments::metric::Metric;
use mario_experiments::runs::Contender;
use mario_experiments::study::{
    MergeError, OwnDirectory, Results, Shard, StoreError, StudyError, StudyPlan, carry_out, load, save,
};
use mario_experiments::sweep;
use mario_policy::PolicyFunctions;
use mario_scenario::{Document, Files};
use mario_settings::did_you_mean;
use mario_simulator::write_atomically;

use crate::failure::Failure;
use crate::hints::{Diagnostic, Hint};
use crate::runs::run_failure;

/// Many runs of one scenario.
#[derive(Clone)]
pub struct Study {
    /// Policies, each with optional overrides: `POLICY[@KEY=VALUE,…]`.
    pub policies: Vec<String>,
    /// The number of seeds with which each policy runs in each variant.
    pub seeds: u64,
    /// Programs and functions that compute a number for each run.
    pub metrics: Vec<Metric>,
    /// The maximum time that a metric program may take.
    pub metric_timeout: Duration,
    /// The names of the primary outcomes of a comparison; empty for the usual ones. See [`check_outcomes`].
    pub outcomes: Vec<String>,
    /// Seeds whose runs are stored in `out` with their traces; without effect if `out` is `None`.
    pub kept_seeds: Vec<u64>,
    /// Host functions that decide for the policies whose texts name them.
    pub functions: PolicyFunctions,
    /// The number of parallel runs.
    pub jobs: usize,
    /// The directory for runs and results; with `None`, they are not stored.
    pub out: Option<PathBuf>,
}

impl Study {
    /// Performs the runs of this shard that are not stored yet, or that lack a metric, and stores them in `out`, if
    /// given. Returns them with the runs that were already stored. Rejects a policy or a metric that is given twice.
    /// `progress` is called with the number of runs performed so far and the number of runs to perform. It returns
    /// whether to continue.
    pub fn carry_out<F: Files>(
        &self,
        document: &Document,
        variants: Vec<Vec<String>>,
        shard: Shard,
        files: impl Fn() -> F + Sync,
        progress: &mut dyn FnMut(usize, usize) -> bool,
    ) -> Result<Results, Failure> {
        if let Some(twice) = repeated(&self.policies) {
            let diagnostic = Diagnostic::error(format!("the policy `{twice}` is there twice"));
            return Err(Failure::input(diagnostic.hint("name each policy once")));
        }
        let names: Vec<String> = self.metrics.iter().map(|metric| metric.name.clone()).collect();
        if let Some(twice) = repeated(&names) {
            let diagnostic = Diagnostic::error(format!("the metric `{twice}` is there twice"));
            return Err(Failure::input(diagnostic.hint("give each metric a name of its own")));
        }
        let plan = StudyPlan {
            metrics: self.metrics.clone(),
            metric_timeout: self.metric_timeout,
            functions: self.functions.clone(),
            outcomes: self.outcomes.clone(),
            kept_seeds: self.kept_seeds.clone(),
            document,
            variants,
            contenders: self.policies.iter().map(|policy| Contender::read(policy)).collect(),
            seeds: self.seeds,
            shard,
            jobs: self.jobs,
        };
        carry_out(&plan, self.out.as_deref(), files, progress).map_err(|error| self.refuse(&error))
    }

    fn refuse(&self, error: &StudyError) -> Failure {
        match error {
            StudyError::Run(error) => run_failure(error),
            StudyError::Store(error) => store_failure(error),
            StudyError::Seeds { .. } => Failure::input(Diagnostic::error(error.to_string()).hint(Hint::FewerSeeds)),
            StudyError::Interrupted => {
                let diagnostic = Diagnostic::error(error.to_string());
                Failure::Interrupted(vec![match &self.out {
                    Some(_) => diagnostic.hint(Hint::RepeatStudy),
                    None => diagnostic.hint(Hint::KeepStudy),
                }])
            }
        }
    }
}

/// The first word that also occurs earlier in the list; `None` if all are distinct.
fn repeated(words: &[String]) -> Option<&String> {
    (1..words.len()).find(|place| words[..*place].contains(&words[*place])).map(|place| &words[place])
}

/// Returns the overrides of each variant of a scenario: every combination of the values of all keys. Each item of
/// `keys` has the form `KEY=VALUE,VALUE,…`.
pub fn variants(keys: &[String]) -> Result<Vec<Vec<String>>, Failure> {
    sweep::variants(keys).map_err(|error| {
        let hint = match error {
            sweep::KeyError::Seed => Hint::VarySeeds,
            _ => Hint::WriteKeys,
        };
        Failure::input(Diagnostic::error(error.to_string()).hint(hint))
    })
}

/// Rejects words that do not name a figure.
pub fn check_figures(figures: &[String]) -> Result<(), Failure> {
    let unknown = figures.iter().find(|figure| !is_name(figure));
    unknown.map_or(Ok(()), |unknown| Err(unknown_figure(unknown, &candidates(unknown))))
}

/// The failure for a figure that does not exist. `known` are names that may be meant.
pub fn unknown_figure(unknown: &str, known: &[String]) -> Failure {
    let mut diagnostic = Diagnostic::error(format!("there is no figure `{unknown}`"));
    if let Some(meant) = did_you_mean(unknown, known.iter().map(String::as_str)) {
        diagnostic = diagnostic.hint(format!("did you mean `{meant}`?"));
    }
    let of_groups = Measure::ALL.map(Measure::as_str).join(", ");
    let of_groups = format!(
        "for `all` applications or a kind of them, such as all.response, there are GROUP.FIGURE with {of_groups}"
    );
    let others = format!("for a run, there are {LOST}, {}", extra_names().join(", "));
    Failure::input(
        diagnostic.hint(of_groups).hint(format!("{others}; most of these need [measures], [energy] or [price]")),
    )
}

/// Rejects primary outcomes that no run has.
pub fn check_outcomes(results: &Results, outcomes: &[String]) -> Result<(), Failure> {
    let known = sweep::figure_names(results);
    let Some(unknown) = outcomes.iter().find(|figure| !known.contains(figure)) else { return Ok(()) };
    if known.is_empty() {
        return Ok(());
    }
    Err(absent_figure(unknown, &known))
}

/// The failure for a figure that no run of a study has, although there may be such a name.
pub fn absent_figure(unknown: &str, known: &[String]) -> Failure {
    let mut diagnostic = Diagnostic::error(format!("there is no figure `{unknown}`"));
    if let Some(meant) = did_you_mean(unknown, known.iter().map(String::as_str)) {
        diagnostic = diagnostic.hint(format!("did you mean `{meant}`?"));
    }
    Failure::input(diagnostic.hint(format!("there are {}", known.join(", "))))
}

/// Parses a shard of a sweep, such as `2/8`.
pub fn read_shard(text: &str) -> Result<Shard, String> {
    let parts = text.split_once('/').and_then(|(part, of)| Some((part.parse().ok()?, of.parse().ok()?)));
    match parts {
        Some((part, of)) if part >= 1 && part <= of => Ok(Shard { part, of }),
        _ => Err("a part is written as I/N, with I from 1 to N".to_owned()),
    }
}

/// Rejects a sweep that is split into several shards, but has no directory to store this shard in.
pub fn check_shard(shard: Shard, out: Option<&Path>) -> Result<(), Failure> {
    if shard.of == 1 || out.is_some() {
        return Ok(());
    }
    let title = "a part of a sweep is made for the others to join it, and this one is kept nowhere";
    Err(Failure::input(Diagnostic::error(title).hint(Hint::KeepShard)))
}

/// Stores the result of a comparison beside its runs.
pub fn keep_comparison(directory: &Path, comparison: &Comparison) -> Result<(), Failure> {
    write_results(directory, "comparison.json", &comparison_json(comparison))?;
    write_results(directory, "comparison.csv", &comparison.csv())
}

/// The content of `comparison.json`.
pub fn comparison_json(comparison: &Comparison) -> String {
    format!("{:#}\n", serde_json::json!(comparison))
}

/// Stores the result of a sweep beside its runs.
pub fn keep_sweep(directory: &Path, results: &Results) -> Result<(), Failure> {
    write_results(directory, "sweep.json", &format!("{:#}\n", sweep::json(results)))?;
    write_results(directory, "sweep.csv", &sweep::csv(results))
}

/// Merges the runs of several directories, including those already in `out`, and stores the result in `out`, if given.
/// If it is a comparison and `outcomes` is not empty, declares these primary outcomes for it. Returns `None` if there is
/// nothing to merge.
pub fn join(directories: &[PathBuf], out: Option<&Path>, outcomes: &[String]) -> Result<Option<Results>, Failure> {
    let mut joined: Option<Results> = None;
    let own = |directory: &Path| OwnDirectory::open(directory).map_err(|error| store_failure(&error));
    // A missing directory is created only once there is a result to store.
    let existing = out.filter(|directory| directory.exists()).map(own).transpose()?;
    let kept = out.into_iter().filter(|directory| has_files(directory));
    for directory in kept.chain(directories.iter().map(PathBuf::as_path)) {
        let part = load(directory).map_err(|error| not_loaded(&error))?;
        match &mut joined {
            None => joined = Some(part),
            Some(joined) => joined.merge(part).map_err(|error| {
                merge_failure(format!("cannot join `{}` with those before it", directory.display()), &error)
            })?,
        }
    }
    let Some(mut joined) = joined else { return Ok(None) };
    check_outcomes(&joined, outcomes)?;
    if !outcomes.is_empty() && joined.identity.variants.iter().all(Vec::is_empty) {
        joined.identity.outcomes = outcomes.to_vec();
    }
    let own = match (existing, out) {
        (None, Some(directory)) => Some(own(directory)?),
        (existing, _) => existing,
    };
    if let Some(own) = &own {
        save(own, &joined).map_err(|error| store_failure(&error))?;
    }
    Ok(Some(joined))
}

/// Whether a directory exists and is not empty.
fn has_files(directory: &Path) -> bool {
    directory.read_dir().is_ok_and(|mut files| files.next().is_some())
}

fn not_loaded(error: &StoreError) -> Failure {
    match error {
        StoreError::NotAStudy(directory) => Failure::input(
            Diagnostic::error(format!("`{}` holds no runs that could be joined", directory.display()))
                .hint(Hint::NameStudies),
        ),
        _ => store_failure(error),
    }
}

/// The failure for a file of results that cannot be written.
pub fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    Failure::file(format!("cannot write `{}`", path.display()), error)
}

/// The failure for runs that cannot be stored, or stored runs that cannot be used.
pub fn store_failure(error: &StoreError) -> Failure {
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

/// The failure for runs that cannot be merged.
pub fn merge_failure(title: String, cause: &MergeError) -> Failure {
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

/// Writes a file of results into a directory. An existing file is replaced atomically.
pub fn write_results(directory: &Path, name: &str, text: &str) -> Result<(), Failure> {
    let path = directory.join(name);
    write_atomically(&path, |file| file.write_all(text.as_bytes())).map_err(|error| cannot_write(&path, &error))
}
