//! What the commands about many runs have in common.

use std::io;
use std::num::NonZero;
use std::path::Path;
use std::thread;

use clap::Args;
use mario_experiments::runs::RunError;

use crate::Failure;
use crate::commands::not_runnable;
use crate::scenarios::failure;

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
    }
}

pub(crate) fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    Failure::file(format!("cannot write `{}`", path.display()), error)
}
