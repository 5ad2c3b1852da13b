//! The published experiments, repeated and compared with the published results.
//!
//! Start at [`reproduce`]. It stores one run of each experiment in its own directory and computes the figures from the
//! stored trace. Of runs with further seeds and in other worlds, only the figures are kept. [`Reproduction::summary`]
//! is a short overview, and [`Reproduction::text`] compares each experiment with its published figures and lists all
//! claims.

mod agreement;
mod claims;
mod results;
mod summary;
mod text;
mod worlds;

use std::error::Error;
use std::fmt;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::time::Instant;

use mario_audit::{Options as AuditOptions, audit};
use mario_policy::PolicyFunctions;
use mario_scenario::{Document, Files, Resolved};
use mario_simulator::{Detail, IfExists, OutputError, OutputOptions, RunDirectory, RunOptions, Simulation};

use crate::drive::unless;
use crate::figures::{TraceFigures, from_trace};
use crate::published::{PublishedResults, published};
use crate::runs::{POLL_INTERVAL, Progress, RunError, Stop, in_parallel, resolve, run_with_trace};

pub use agreement::{Agreement, equals_printed};
pub use claims::{Claim, claims};
pub use results::{Difference, WriteError};
pub use worlds::{World, WorldFigures};

/// The world of the experiments: nodes, users, applications, and the strategies of agents and managers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Preset {
    /// As the paper describes it.
    Paper,
    /// As its prototype ran it.
    Prototype,
}

/// One of the published experiments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Experiment {
    /// The name of its directory.
    pub name: &'static str,
    /// The name shown to users.
    pub title: &'static str,
    /// The name of the shipped policy.
    pub policy: &'static str,
    /// The length of the agents' memory of inhibitions in cycles, as in the title; `None` if the policy does not use
    /// memory. With [`Preset::Prototype`], the memory is cleared at intervals instead: see [`Preset::experiments`].
    pub memory: Option<u32>,
    /// The setting of the scenario for this memory, as `KEY=VALUE`; `None` if the policy does not use memory.
    pub setting: Option<&'static str>,
    /// The name of its published results, for [`published`]; `None` if no figures of the experiment were published.
    pub published: Option<&'static str>,
}

/// The options of a reproduction.
pub struct Options<'a> {
    /// The preset, which determines the settings of the experiments.
    pub preset: Preset,
    /// The world as a scenario: the preset with the user's changes.
    pub document: &'a Document,
    /// The directory in which each experiment has a subdirectory for its stored run.
    pub directory: &'a Path,
    /// What to do with existing runs.
    pub existing: IfExists,
    /// The number of seeds, including the scenario's own.
    pub seeds: u64,
    /// The number of threads for runs that are not stored. Stored runs are made one after another.
    pub jobs: usize,
    /// Whether the placements of the stored runs are compared with the best ones.
    pub regret: bool,
    /// Other worlds in which the experiments are run, without storing the runs.
    pub worlds: &'a [World],
}

/// The results of one experiment.
#[derive(Clone, PartialEq, Debug)]
pub struct ExperimentResults {
    /// The experiment.
    pub experiment: Experiment,
    /// The seed of the stored run.
    pub seed: u64,
    /// The directory of the stored run.
    pub directory: PathBuf,
    /// The figures of the stored run.
    pub figures: TraceFigures,
    /// The number of the auditor's findings in the stored run.
    pub findings: u64,
    /// The figures of the runs with further seeds, in the order of seeds.
    pub others: Vec<TraceFigures>,
}

/// The results of all experiments.
#[derive(Clone, PartialEq, Debug)]
pub struct Reproduction {
    /// The preset of the world.
    pub preset: Preset,
    /// Notes for the user about the scenario.
    pub notes: Vec<String>,
    /// The results of each experiment.
    pub experiments: Vec<ExperimentResults>,
    /// The results of the same experiments in other worlds.
    pub worlds: Vec<WorldFigures>,
}

/// Why the experiments were not reproduced.
#[derive(Debug)]
pub enum ReproduceError {
    /// A run failed.
    Run(RunError),
    /// A run cannot be stored.
    Keep(OutputError),
    /// A stored trace cannot be opened.
    Open(PathBuf, io::Error),
    /// A stored trace cannot be read.
    Read(PathBuf, Box<dyn Error + Send + Sync>),
    /// A seed would exceed the largest 64-bit number.
    Seeds {
        /// How many seeds were wanted.
        wanted: u64,
        /// How many there are from the first one on.
        left: u64,
    },
    /// The reproduction was interrupted.
    Interrupted,
}

impl Preset {
    /// The name in files and on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Preset::Paper => "paper",
            Preset::Prototype => "prototype",
        }
    }

    /// The experiments of this world. In the prototype, agents with a memory of ten cycles clear it at every fifth
    /// evaluation, after ten activations of the managers, and agents with a memory of one cycle at every evaluation.
    pub fn experiments(self) -> [Experiment; 5] {
        let plain = |name, title, policy| Experiment {
            name,
            title,
            policy,
            memory: None,
            setting: None,
            published: Some(name),
        };
        let [of_one, of_ten] = match self {
            Preset::Paper => ["memory.cycles=1", "memory.cycles=10"],
            Preset::Prototype => ["memory.every=1", "memory.every=5"],
        };
        let with_memory = |name, title, cycles, setting, published| Experiment {
            name,
            title,
            policy: "workload-and-latency-aware-with-memory",
            memory: Some(cycles),
            setting: Some(setting),
            published,
        };
        [
            plain("policy-1", "policy 1, workload-aware", "workload-aware"),
            plain("policy-2", "policy 2, latency-aware", "latency-aware"),
            plain("policy-3", "policy 3, workload- and latency-aware", "workload-and-latency-aware"),
            with_memory("policy-4-memory-1", "policy 4, with memory of 1 cycle", 1, of_one, None),
            with_memory("policy-4-memory-10", "policy 4, with memory of 10 cycles", 10, of_ten, Some("policy-4")),
        ]
    }
}

/// The published results of a shipped policy, by its name; `None` if there are none.
pub fn published_about(policy: &str) -> Option<&'static PublishedResults> {
    let experiments = Preset::Paper.experiments();
    let mut of_policy = experiments.iter().filter(|experiment| experiment.policy == policy);
    of_policy.find_map(Experiment::published_values)
}

/// The policies with published results.
pub fn published_policies() -> Vec<&'static str> {
    let mut policies: Vec<&str> = Preset::Paper.experiments().iter().map(|experiment| experiment.policy).collect();
    policies.dedup();
    policies
}

impl Experiment {
    /// Returns the world with the policy and the memory of the experiment.
    pub fn document(&self, world: &Document) -> Document {
        let mut document = world.clone();
        document.set_policy(self.policy);
        document.set(&self.setting.map(str::to_owned).into_iter().collect::<Vec<_>>());
        document
    }

    /// The published results of the experiment; `None` if there are none.
    pub fn published_values(&self) -> Option<&'static PublishedResults> {
        published(self.published?)
    }

    /// The title in a table: `policy 1`, or `policy 4 (10)` with the length of memory.
    pub fn short_title(&self) -> String {
        let title = self.title.split(',').next().unwrap_or(self.title);
        self.memory.map_or_else(|| title.to_owned(), |memory| format!("{title} ({memory})"))
    }
}

/// Runs all experiments with the scenario's seed and stores these runs. Then runs them with the further seeds, and in
/// the other worlds. `progress` is called repeatedly with the number of finished runs and the number of all runs, and
/// returns whether to continue.
pub fn reproduce<F: Files>(
    options: &Options<'_>,
    files: impl Fn() -> F + Sync,
    progress: &mut dyn FnMut(usize, usize) -> bool,
) -> Result<Reproduction, ReproduceError> {
    let experiments = options.preset.experiments();
    let first = resolve_first(&experiments, options, &mut files())?;
    let seeds: Vec<u64> = (1..options.seeds).map_while(|more| first[0].scenario.seed.checked_add(more)).collect();
    if seeds.len() as u64 + 1 < options.seeds {
        return Err(ReproduceError::Seeds { wanted: options.seeds, left: seeds.len() as u64 + 1 });
    }
    refuse_former_runs(&experiments, options)?;
    let count = experiments.len() * (seeds.len() + 1 + options.worlds.len());
    let mut reproduction = Reproduction {
        preset: options.preset,
        notes: first[0].notes.clone(),
        experiments: Vec::new(),
        worlds: Vec::new(),
    };
    for (experiment, resolved) in experiments.iter().zip(&first) {
        let directory = options.directory.join(experiment.name);
        let done = reproduction.experiments.len();
        keep(resolved, &directory, options, &mut || !progress(done, count))?;
        let (figures, findings) = read(&directory)?;
        let seed = resolved.scenario.seed;
        let others = Vec::new();
        reproduction.experiments.push(ExperimentResults {
            experiment: *experiment,
            seed,
            directory,
            figures,
            findings,
            others,
        });
        if !progress(reproduction.experiments.len(), count) {
            return Err(ReproduceError::Interrupted);
        }
    }
    let items: Vec<(usize, u64)> =
        (0..experiments.len()).flat_map(|place| seeds.iter().map(move |seed| (place, *seed))).collect();
    let work = |(place, seed): &(usize, u64), stop: &Stop| {
        let document = experiments[*place].document(options.document);
        let resolved = resolve(&document, *seed, &mut files())?;
        run_with_trace(&resolved.scenario, &PolicyFunctions::default(), stop).map(|(figures, _)| figures)
    };
    let mut made = experiments.len();
    let mut failure = None;
    in_parallel(options.jobs, &items, work, |news| {
        let made_run = match news {
            Progress::Done(place, Ok(figures)) => {
                reproduction.experiments[items[place].0].others.push(figures);
                made += 1;
                Ok(())
            }
            Progress::Done(_, Err(error)) => Err(ReproduceError::Run(error)),
            Progress::Waiting => Ok(()),
        };
        if failure.is_none() {
            failure = if progress(made, count) { made_run.err() } else { Some(ReproduceError::Interrupted) };
        }
        failure.is_none()
    });
    if let Some(failure) = failure {
        return Err(failure);
    }
    let before = experiments.len() * (seeds.len() + 1);
    reproduction.worlds =
        worlds::run(options.worlds, options.jobs, &files, &mut |done| progress(before + done, count))?;
    Ok(reproduction)
}

fn resolve_first(
    experiments: &[Experiment],
    options: &Options<'_>,
    files: &mut dyn Files,
) -> Result<Vec<Resolved>, ReproduceError> {
    let resolve = |experiment: &Experiment| experiment.document(options.document).resolve(files);
    let resolved: Result<Vec<Resolved>, _> = experiments.iter().map(resolve).collect();
    resolved.map_err(|error| ReproduceError::Run(RunError::Scenario(error)))
}

/// Fails if a directory already has content that must not be replaced. Called before the first experiment runs.
fn refuse_former_runs(experiments: &[Experiment], options: &Options<'_>) -> Result<(), ReproduceError> {
    // A directory that is itself a stored run is refused, even if existing experiments may be replaced.
    if options.directory.join("run.json").exists() || options.directory.join("trace.jsonl").exists() {
        return Err(ReproduceError::Keep(OutputError::Exists(options.directory.to_owned())));
    }
    for experiment in experiments {
        let directory = options.directory.join(experiment.name);
        let is_filled = directory.read_dir().is_ok_and(|mut entries| entries.next().is_some());
        if is_filled && options.existing == IfExists::Refuse {
            return Err(ReproduceError::Keep(OutputError::Exists(directory)));
        }
    }
    Ok(())
}

/// Runs an experiment and stores it. Calls `wants_stop` about every tenth of a second, and fails with
/// [`ReproduceError::Interrupted`] when it returns true.
fn keep(
    resolved: &Resolved,
    directory: &Path,
    options: &Options<'_>,
    wants_stop: &mut dyn FnMut() -> bool,
) -> Result<(), ReproduceError> {
    let scenario = &resolved.scenario;
    let mut simulation = Simulation::new(scenario, RunOptions::default())
        .map_err(|error| ReproduceError::Run(RunError::Simulation(error)))?;
    let keep = OutputOptions { detail: Detail::Full, messages: false };
    let mut kept = RunDirectory::create(directory, resolved, keep, options.existing).map_err(ReproduceError::Keep)?;
    if options.regret {
        kept = kept.with_regret(scenario);
    }
    let mut next_poll = Instant::now();
    let statistics = unless(&mut simulation, &mut kept, || {
        let is_due = Instant::now() >= next_poll;
        if is_due {
            next_poll = Instant::now() + POLL_INTERVAL;
        }
        is_due && wants_stop()
    });
    let statistics = statistics.map_err(|_| ReproduceError::Interrupted)?;
    kept.complete(scenario, statistics).map_err(ReproduceError::Keep)?;
    Ok(())
}

/// Returns the figures of a stored run, and the number of the auditor's findings.
fn read(directory: &Path) -> Result<(TraceFigures, u64), ReproduceError> {
    let path = directory.join("trace.jsonl");
    let open = || File::open(&path).map(BufReader::new).map_err(|error| ReproduceError::Open(path.clone(), error));
    let figures = from_trace(open()?).map_err(|error| ReproduceError::Read(path.clone(), error.into()))?;
    let report = audit(open()?, AuditOptions::default(), &mut |_| {})
        .map_err(|error| ReproduceError::Read(path.clone(), error.into()))?;
    Ok((figures, report.found.values().sum()))
}

impl fmt::Display for ReproduceError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReproduceError::Run(error) => error.fmt(formatter),
            ReproduceError::Keep(error) => error.fmt(formatter),
            ReproduceError::Open(path, _) | ReproduceError::Read(path, _) => {
                write!(formatter, "cannot read `{}`", path.display())
            }
            ReproduceError::Seeds { wanted, left } => {
                write!(formatter, "`--seeds {wanted}` needs {wanted} seeds from the first on; {left} are left")
            }
            ReproduceError::Interrupted => formatter.write_str("the experiments were interrupted"),
        }
    }
}

impl Error for ReproduceError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            ReproduceError::Run(error) => error.source(),
            ReproduceError::Keep(error) => error.source(),
            ReproduceError::Open(_, error) => Some(error),
            ReproduceError::Read(_, error) => Some(error.as_ref()),
            ReproduceError::Seeds { .. } | ReproduceError::Interrupted => None,
        }
    }
}
