//! `mario policy explain --snapshot`: the next decision of an instance after a snapshot.

use std::path::Path;

use mario_domain::{Duration, Time};
use mario_frontend::runs::{differs, not_runnable};
use mario_report::decision::explain_decision;
use mario_scenario::Scenario;
use mario_simulator::{Detail, RunOptions, Simulation, TraceRecorder, verify};
use mario_trace::reader::TraceReader;

use super::{Arguments, kept};
use crate::scenarios::{Disk, failure, open};
use crate::{Console, Failure, Outcome};

pub(super) fn run(arguments: &Arguments, snapshot: &Path, console: &Console) -> Result<Outcome, Failure> {
    let mut document = open(snapshot)?;
    if let Some(policy) = &arguments.inputs.policy {
        document.set_policy(&policy.display().to_string());
    }
    let scenario = document.resolve(&mut Disk).map_err(|error| failure(&error))?.scenario;
    verify(&scenario).map_err(|error| differs(snapshot, &error))?;
    let mut simulation = Simulation::new(&scenario, RunOptions::default()).map_err(|error| not_runnable(&error))?;
    let mut trace = TraceRecorder::new(Vec::new(), &scenario, Detail::Full);
    simulation.run_until(until(&scenario), &mut trace);
    let trace = trace.close().expect("writing to memory does not fail");
    let reader = TraceReader::new(trace.as_slice()).expect("what was just written is a trace");
    let instance = arguments.inputs.instance.as_deref().unwrap_or_default();
    let decision =
        explain_decision(reader, instance, None).map_err(|error| kept::failure(&error, instance, snapshot, None))?;
    kept::show(arguments, &decision, instance, console)
}

/// The end of the simulation: from the snapshot until then, every agent evaluates exactly once.
fn until(scenario: &Scenario) -> Time {
    let period = scenario.agents.period;
    match &scenario.past {
        Some(past) => past.time + period,
        // A scenario without a past: the first evaluations are one period after the start of the agents.
        None => scenario.agents.start + period + Duration::of(period.units() / 2.0),
    }
}
