//! Agents to whom nothing is new rest: they evaluate and are judged as all others, but nobody looks at them.

use mario_scenario::Scenario;

use super::evaluation_schedule::{BatchIndex, TOGETHER};
use super::{Reuse, Simulation};
use crate::flow::Flow;
use crate::population::{AgentIndex, ParkedCounts};
use crate::recorder::Recorder;

impl Simulation<'_> {
    /// Whether agents may rest. Not if somebody wants to hear of every one, nor where more can happen to an agent than what
    /// its own node, room in its reach, and client requests tell; and not where agents evaluate several times before they are
    /// judged once.
    pub(super) fn may_park(&self, recorder: &impl Recorder) -> bool {
        let Scenario { disturbances, agents, management_period, .. } = self.scenario;
        let is_calm = disturbances.is_empty()
            && self.planner.is_none()
            && self.draws.is_empty()
            && *management_period <= agents.period;
        is_calm && self.flow.is_some() && self.options.reuse == Reuse::Proposals && !recorder.wants_everyone()
    }

    /// Lets an agent rest, which has just evaluated, if it will go on so until something happens.
    pub(super) fn park_if_steady(&mut self, agent: AgentIndex) {
        let Some(flow) = &mut self.flow else { return };
        let Some(round) = flow.round(agent) else { return };
        let population = &self.population;
        let application = (population.agent(agent).application(), self.scenario.applications.len());
        if self.due.rest(agent, application, round, |sight| population.steady_outcome(agent, sight)) {
            flow.rest(agent);
            self.population.park(agent);
        }
    }

    /// Wakes the agents for whom something may be new.
    pub(super) fn unpark_agents(&mut self, recorder: &impl Recorder) {
        let mut to_unpark = std::mem::take(&mut self.scratch.to_unpark);
        self.population.take_to_unpark(&mut to_unpark);
        if let Some(flow) = &mut self.flow {
            flow.take_to_unpark(&mut to_unpark);
        }
        for agents in to_unpark.chunks(TOGETHER) {
            // Read a little of each first, so that memory fetches it side by side.
            let sum = agents
                .iter()
                .fold(self.due.prefetch(agents), |sum, agent| sum ^ self.population.prefetch_parked(*agent));
            let moving = |flow: &Flow| agents.iter().filter(|agent| flow.is_moving(**agent)).count();
            std::hint::black_box((sum, self.flow.as_deref().map(moving)));
            for agent in agents {
                self.wake(*agent);
            }
        }
        to_unpark.clear();
        self.scratch.to_unpark = to_unpark;
        if !self.may_park(recorder) {
            for agent in self.due.parked() {
                self.wake(agent);
            }
        }
    }

    /// An agent does not rest any more, if it did.
    pub(super) fn wake(&mut self, agent: AgentIndex) {
        let population = &self.population;
        let application = (population.agent(agent).application(), self.scenario.applications.len());
        let steady_outcome = |sight, was_inhibited| population.former_outcome(agent, sight, was_inhibited);
        let Some(rested) = self.due.wake(agent, application, steady_outcome) else { return };
        let last = if rested.rounds > 0 { rested.next.last() } else { None };
        self.population.unpark(agent, rested.rounds, last);
        if let Some(flow) = &mut self.flow {
            flow.wake(agent, rested.next);
        }
    }

    /// Counts the agents of a list that rest, for whoever listens and for the managers.
    pub(super) fn count_parked(&mut self, due: BatchIndex, recorder: &mut impl Recorder) {
        let parked = &mut self.scratch.parked;
        self.due.parked_outcomes(due, self.scenario.applications.len(), parked);
        if !parked.is_empty() {
            self.effort.rested += parked.iter().map(ParkedCounts::count).sum::<u64>();
            recorder.parked(self.queue.now(), parked);
            self.population.propose_parked(parked);
        }
    }
}
