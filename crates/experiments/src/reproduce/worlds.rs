//! Runs the same experiments in other worlds, to show what a result depends on.

use mario_policy::PolicyFunctions;
use mario_scenario::{Document, Files};

use super::claims::{Claim, claims};
use super::{Experiment, Preset, ReproduceError};
use crate::figures::TraceFigures;
use crate::runs::{Progress, RunError, Stop, in_parallel, run_with_trace};

/// A world for the experiments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct World {
    /// Its name in files.
    pub name: &'static str,
    /// The name shown to users.
    pub title: &'static str,
    /// The preset on which it is based.
    pub preset: Preset,
    /// The settings that differ from the preset, as `KEY=VALUE`.
    pub overrides: &'static [&'static str],
}

/// The results of the experiments in a world.
#[derive(Clone, PartialEq, Debug)]
pub struct WorldFigures {
    /// The world.
    pub world: World,
    /// The experiments, in the order of [`Preset::experiments`], each with its figures in this world.
    pub experiments: Vec<(Experiment, TraceFigures)>,
}

impl World {
    /// The world of the prototype's stored runs, which have the published response times.
    pub const PUBLISHED: World = World {
        name: "prototype",
        title: "prototype, recorded users",
        preset: Preset::Prototype,
        overrides: &["mobility.kind=recorded"],
    };

    /// Three variants of the world of the paper's text: with recorded users, with generated users, and with recorded
    /// users and the one setting of the prototype that explains most of the differences from [`World::PUBLISHED`].
    pub const OTHERS: [World; 3] = [
        World {
            name: "text",
            title: "paper's text, recorded users",
            preset: Preset::Paper,
            overrides: &["mobility.kind=recorded"],
        },
        World { name: "text-generated", title: "paper's text, generated users", preset: Preset::Paper, overrides: &[] },
        World {
            name: "text-1-ms",
            title: "paper's text, recorded, last link 1 ms",
            preset: Preset::Paper,
            overrides: &["mobility.kind=recorded", "topology.access_latency=1"],
        },
    ];

    /// Returns the world as a scenario. [`Experiment::document`] sets its policy.
    pub fn document(&self) -> Result<Document, RunError> {
        let mut document = Document::preset(self.preset.as_str()).map_err(RunError::Scenario)?;
        document.set(&self.overrides.iter().map(|&key| key.to_owned()).collect::<Vec<_>>());
        Ok(document)
    }
}

impl WorldFigures {
    /// The paper's claims, checked in this world.
    pub fn claims(&self) -> Vec<Claim> {
        claims(&self.experiments.iter().map(|(experiment, figures)| (experiment, figures)).collect::<Vec<_>>())
    }
}

/// Runs all experiments in each of these worlds. `progress` is called repeatedly with the number of finished runs, and
/// returns whether to continue.
pub(super) fn run<F: Files>(
    worlds: &[World],
    jobs: usize,
    files: &(impl Fn() -> F + Sync),
    progress: &mut dyn FnMut(usize) -> bool,
) -> Result<Vec<WorldFigures>, ReproduceError> {
    let items: Vec<(&World, Experiment)> =
        worlds.iter().flat_map(|world| world.preset.experiments().map(|experiment| (world, experiment))).collect();
    let work = |(world, experiment): &(&World, Experiment), stop: &Stop| {
        let document = experiment.document(&world.document()?);
        let resolved = document.resolve(&mut files()).map_err(RunError::Scenario)?;
        run_with_trace(&resolved.scenario, &PolicyFunctions::default(), stop).map(|(figures, _)| figures)
    };
    let mut found: Vec<WorldFigures> =
        worlds.iter().map(|world| WorldFigures { world: *world, experiments: Vec::new() }).collect();
    let mut made = 0;
    let mut failure = None;
    in_parallel(jobs, &items, work, |news| {
        let made_run = match news {
            Progress::Done(place, Ok(figures)) => {
                let (world, experiment) = items[place];
                let of_world = found.iter_mut().find(|known| known.world == *world);
                of_world.expect("it was made above").experiments.push((experiment, figures));
                made += 1;
                Ok(())
            }
            Progress::Done(_, Err(error)) => Err(ReproduceError::Run(error)),
            Progress::Waiting => Ok(()),
        };
        if failure.is_none() {
            failure = if progress(made) { made_run.err() } else { Some(ReproduceError::Interrupted) };
        }
        failure.is_none()
    });
    failure.map_or(Ok(found), Err)
}
