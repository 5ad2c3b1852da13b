//! Runs a simulation to its end: the loop of every run, stored or not.
//!
//! Start at [`to_end`]. [`unless`] is the loop of runs that do nothing in their pauses but stop.

use mario_domain::Time;
use mario_simulator::{Recorder, RunDirectory, RunStatistics, Simulation};

/// Where the events of a run go.
pub trait RunOutput {
    /// The recorder of all events.
    fn recorder(&mut self) -> &mut impl Recorder;
}

impl RunOutput for RunDirectory<'_> {
    fn recorder(&mut self) -> &mut impl Recorder {
        RunDirectory::recorder(self)
    }
}

/// A recorder that belongs to no directory.
pub struct Unstored<'a, R>(pub &'a mut R);

impl<R: Recorder> RunOutput for Unstored<'_, R> {
    fn recorder(&mut self) -> &mut impl Recorder {
        self.0
    }
}

/// Decides when a run pauses, and acts in the pauses. Pauses do not affect the results of a run.
pub trait Pauses<O> {
    /// Why a run ends early.
    type Stop;

    /// The simulation time of the next pause.
    fn until(&self) -> Time {
        Time::NEVER
    }

    /// Whether the run should pause now. Called often, between events.
    fn wants_pause(&mut self) -> bool;

    /// Called in each pause. `has_reached_until` says whether the run has reached [`Pauses::until`]. An error ends the
    /// run.
    fn pause(&mut self, simulation: &Simulation<'_>, output: &mut O, has_reached_until: bool)
    -> Result<(), Self::Stop>;
}

/// Runs a simulation to its end, or until its recorder is broken, which the caller notices when it completes the output.
/// Returns the statistics.
pub fn to_end<O: RunOutput, P: Pauses<O>>(
    simulation: &mut Simulation<'_>,
    output: &mut O,
    pauses: &mut P,
) -> Result<RunStatistics, P::Stop> {
    while !simulation.is_over() && !output.recorder().is_broken() {
        let has_reached = simulation.run_until_pause(pauses.until(), output.recorder(), || pauses.wants_pause());
        if simulation.is_over() || output.recorder().is_broken() {
            break;
        }
        pauses.pause(simulation, output, has_reached)?;
    }
    Ok(simulation.statistics())
}

/// The run was stopped before its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stopped;

/// Runs a simulation to its end, or until `wants_stop`, which is called often, returns true. Returns the statistics.
pub fn unless(
    simulation: &mut Simulation<'_>,
    output: &mut impl RunOutput,
    wants_stop: impl FnMut() -> bool,
) -> Result<RunStatistics, Stopped> {
    to_end(simulation, output, &mut StopOnly(wants_stop))
}

/// Pauses only to stop.
struct StopOnly<F>(F);

impl<O, F: FnMut() -> bool> Pauses<O> for StopOnly<F> {
    type Stop = Stopped;

    fn wants_pause(&mut self) -> bool {
        self.0()
    }

    fn pause(&mut self, _: &Simulation<'_>, _: &mut O, _: bool) -> Result<(), Stopped> {
        Err(Stopped)
    }
}
