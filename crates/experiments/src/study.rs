//! Many runs: every policy in every variant of a scenario with every seed.
//!
//! A [`StudyPlan`] lists the runs, [`carry_out`] makes the missing ones, and [`Results`] contains all of them. A
//! [`Store`] keeps them in a directory, so that more seeds, policies or variants can be added later, and directories of
//! several machines can be merged.

mod conduct;
mod fingerprint;
mod making;
mod results;
mod store;

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::time::Duration;

use mario_policy::PolicyFunctions;
use mario_scenario::{Document, Files};

use crate::measures::Values;
use crate::metric::Metric;
use crate::runs::{Contender, Progress, RunError, Stop, in_parallel, resolve};
use conduct::Conduct;

pub(crate) use results::cell;
pub use results::{Identity, MergeError, Results, RunKey};
pub use store::{OwnDirectory, STUDY, Store, StoreError, load, save};

/// The runs of a study.
pub struct StudyPlan<'a> {
    /// The scenario.
    pub document: &'a Document,
    /// For each variant of the scenario, its settings as for `--set`. A single variant without settings is the scenario
    /// itself.
    pub variants: Vec<Vec<String>>,
    /// The policies to compare.
    pub contenders: Vec<Contender>,
    /// The number of consecutive seeds, starting with the scenario's own.
    pub seeds: u64,
    /// The part of the runs to make.
    pub shard: Shard,
    /// The number of threads.
    pub jobs: usize,
    /// User-defined metrics, computed for each run.
    pub metrics: Vec<Metric>,
    /// The time limit of a metric's program.
    pub metric_timeout: Duration,
    /// Host functions that decide for policies whose text names them.
    pub functions: PolicyFunctions,
    /// The names of the primary outcomes of a comparison; empty for the usual ones.
    pub outcomes: Vec<String>,
    /// Seeds whose runs are stored with their traces, if the study has a directory.
    pub kept_seeds: Vec<u64>,
}

/// A part of a study.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shard {
    /// The number of the part, from 1.
    pub part: u64,
    /// The number of parts.
    pub of: u64,
}

/// Why a study failed.
#[derive(Debug)]
pub enum StudyError {
    /// A run failed.
    Run(RunError),
    /// Runs cannot be stored, or stored ones cannot be used.
    Store(StoreError),
    /// A seed would exceed the largest 64-bit number.
    Seeds {
        /// How many seeds were wanted.
        wanted: u64,
        /// How many there are from the first one on.
        left: u64,
    },
    /// The study was interrupted. Finished runs are kept in its directory, if it has one.
    Interrupted,
}

impl Shard {
    /// The whole study.
    pub const WHOLE: Shard = Shard { part: 1, of: 1 };

    /// Whether this part makes the run with index `place`. Runs are assigned to parts in round-robin order. Each round
    /// starts at a pseudo-random part, because otherwise one part could get all runs of the slowest policy.
    fn has(self, place: usize) -> bool {
        const GOLDEN_RATIO: u64 = 0x9e37_79b9_7f4a_7c15;
        let (round, seat) = (place as u64 / self.of, place as u64 % self.of);
        let first = (round.wrapping_mul(GOLDEN_RATIO) >> 32) % self.of;
        (first + seat) % self.of == self.part - 1
    }
}

/// A run to make: the indices of its variant and its contender in the plan, and its seed.
struct Missing {
    variant: usize,
    contender: usize,
    seed: u64,
}

/// Makes the runs of the plan's shard and returns them. If there is a `directory`, makes only the runs that it lacks or
/// that lack a metric, stores them in it, and also returns the runs that it already has. `progress` is called after
/// each run and about every tenth of a second, with the number of runs made and the number of runs to make, and returns
/// whether to continue. If it returns `false`, or if a run fails, the runs in progress are stopped without a result,
/// and the finished ones remain in `directory`.
pub fn carry_out<F: Files>(
    plan: &StudyPlan<'_>,
    directory: Option<&std::path::Path>,
    files: impl Fn() -> F + Sync,
    progress: &mut dyn FnMut(usize, usize) -> bool,
) -> Result<Results, StudyError> {
    let (identity, policy_warnings) = Identity::of(plan, &mut files()).map_err(StudyError::Run)?;
    let first = identity.first_seed();
    let seeds: Vec<u64> = (0..plan.seeds).map_while(|more| first.checked_add(more)).collect();
    if (seeds.len() as u64) < plan.seeds {
        return Err(StudyError::Seeds { wanted: plan.seeds, left: seeds.len() as u64 });
    }
    let (mut results, mut store) = match directory {
        None => (Results::new(identity), None),
        Some(directory) => {
            let (store, results) = Store::open(directory, identity).map_err(StudyError::Store)?;
            (results, Some(store))
        }
    };
    let missing = missing(plan, &seeds, &results);
    let count = missing.len();
    results.warnings = policy_warnings;
    let work = |run: &Missing, stop: &Stop| -> Result<(Values, Conduct), RunError> {
        let document = managed(plan, run.variant, run.contender);
        let resolved = resolve(&document, run.seed, &mut files())?;
        let (values, statistics) = making::make(plan, &key(plan, run), &resolved, directory, stop)?;
        Ok((values, Conduct::of(&statistics, &resolved.scenario)))
    };
    let mut conducts: BTreeMap<usize, Conduct> = BTreeMap::new();
    let mut made = 0;
    let mut failure = None;
    in_parallel(plan.jobs, &missing, work, |news| {
        let kept = match news {
            Progress::Done(place, Ok((values, conduct))) => {
                conducts.entry(missing[place].contender).or_default().add(conduct);
                made += 1;
                keep(key(plan, &missing[place]), values, &mut results, store.as_mut())
            }
            Progress::Done(_, Err(error)) => Err(StudyError::Run(error)),
            Progress::Waiting => Ok(()),
        };
        if failure.is_none() {
            // `progress` is called before an error is reported, because an interruption may have caused the error.
            failure = if progress(made, count) { kept.err() } else { Some(StudyError::Interrupted) };
        }
        failure.is_none()
    });
    if let Some(store) = store {
        store.finish(&results).map_err(StudyError::Store)?;
    }
    for (contender, conduct) in conducts {
        results.warnings.extend(conduct.warnings(&plan.contenders[contender].name));
    }
    results.identity.notes.extend(results.warnings.iter().cloned());
    failure.map_or(Ok(results), Err)
}

/// Adds the values of a run to the results and to the directory. Earlier values of the run, such as those of other
/// metrics, are kept.
fn keep(key: RunKey, values: Values, results: &mut Results, store: Option<&mut Store>) -> Result<(), StudyError> {
    let mut joined = results.runs.remove(&key).unwrap_or_default();
    joined.extend(values);
    let appended = store.map_or(Ok(()), |store| store.append(&key, &joined));
    // Inserted even if appending failed, because the earlier values were removed above.
    results.runs.insert(key, joined);
    appended.map_err(StudyError::Store)
}

/// Returns the runs of the plan's shard that are missing, or that lack a metric. In each variant, all policies run with
/// one seed before the next seed, so that they can be compared even if the study is interrupted.
fn missing(plan: &StudyPlan<'_>, seeds: &[u64], known: &Results) -> Vec<Missing> {
    let mut missing = Vec::new();
    let mut place = 0;
    for variant in 0..plan.variants.len() {
        for seed in seeds {
            for contender in 0..plan.contenders.len() {
                let run = Missing { variant, contender, seed: *seed };
                let has_all = |values: &Values| plan.metrics.iter().all(|metric| values.contains_key(&metric.key()));
                if plan.shard.has(place) && !known.runs.get(&key(plan, &run)).is_some_and(has_all) {
                    missing.push(run);
                }
                place += 1;
            }
        }
    }
    missing
}

fn key(plan: &StudyPlan<'_>, run: &Missing) -> RunKey {
    RunKey {
        variant: plan.variants[run.variant].clone(),
        policy: plan.contenders[run.contender].name.clone(),
        seed: run.seed,
    }
}

/// Returns a variant of the scenario with the policy and settings of a contender.
fn managed(plan: &StudyPlan<'_>, variant: usize, contender: usize) -> Document {
    let mut document = plan.document.clone();
    if !plan.variants[variant].is_empty() {
        document.set(&plan.variants[variant]);
    }
    plan.contenders[contender].apply(&mut document);
    document
}

impl fmt::Display for StudyError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StudyError::Run(error) => error.fmt(formatter),
            StudyError::Store(error) => error.fmt(formatter),
            StudyError::Seeds { wanted, left } => {
                write!(formatter, "`--seeds {wanted}` needs {wanted} seeds from the first on; {left} are left")
            }
            StudyError::Interrupted => formatter.write_str("the runs were interrupted"),
        }
    }
}

impl Error for StudyError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            StudyError::Run(error) => error.source(),
            StudyError::Store(error) => error.source(),
            StudyError::Seeds { .. } | StudyError::Interrupted => None,
        }
    }
}
