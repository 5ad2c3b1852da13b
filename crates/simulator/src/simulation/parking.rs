//! Parking: agents whose outcome is predictable are counted in aggregate instead of being evaluated one by one.

use mario_scenario::Scenario;

use super::evaluation_schedule::{BatchIndex, PREFETCHED_AGENTS};
use super::{Reuse, Simulation};
use crate::flow::Flow;
use crate::population::{AgentIndex, ParkedCounts};
use crate::recorder::Recorder;

impl Simulation<'_> {
    /// Whether agents may be parked: only if traffic is modelled as rates, proposals are reused, the recorder does not
    /// want every evaluation, and agents do not evaluate more often than managers judge. The scenario must have no
    /// disturbances, no policy updates, no planner, and no policy that uses randomness, because with these an agent's
    /// outcome depends on more than its node, its client requests and the free hardware of its targets.
    pub(super) fn may_park(&self, recorder: &impl Recorder) -> bool {
        let Scenario { disturbances, updates, agents, management_period, .. } = self.scenario;
        let is_calm = disturbances.is_empty()
            && updates.is_empty()
            && self.planner.is_none()
            && self.draws.is_empty()
            && *management_period <= agents.period;
        is_calm && self.flow.is_some() && self.options.reuse == Reuse::Proposals && !recorder.wants_everyone()
    }

    /// Parks an agent that has just evaluated, if its outcomes are predictable until an event unparks it.
    pub(super) fn park_if_steady(&mut self, agent: AgentIndex) {
        let Some(flow) = &mut self.flow else { return };
        let Some(pattern) = flow.pattern(agent) else { return };
        let population = &self.population;
        let (application, applications) = (population.agent(agent).application(), self.scenario.applications.len());
        let steady_outcome = |snapshot| population.steady_outcome(agent, snapshot);
        if self.due.park(agent, pattern, application, applications, steady_outcome) {
            flow.park(agent);
            self.population.park(agent);
        }
    }

    /// Unparks the agents whose facts may have changed or whose targets may have free hardware again, or all agents if
    /// they may no longer be parked.
    pub(super) fn unpark_agents(&mut self, recorder: &impl Recorder) {
        let mut to_unpark = std::mem::take(&mut self.scratch.to_unpark);
        self.population.take_to_unpark(&mut to_unpark);
        if let Some(flow) = &mut self.flow {
            flow.take_to_unpark(&mut to_unpark);
        }
        for agents in to_unpark.chunks(PREFETCHED_AGENTS) {
            // Prefetches the whole chunk, so that the cache misses overlap.
            let sum = agents
                .iter()
                .fold(self.due.prefetch(agents), |sum, agent| sum ^ self.population.prefetch_parked(*agent));
            let moving = |flow: &Flow| agents.iter().filter(|agent| flow.may_change(**agent)).count();
            std::hint::black_box((sum, self.flow.as_deref().map(moving)));
            for agent in agents {
                self.unpark(*agent);
            }
        }
        to_unpark.clear();
        self.scratch.to_unpark = to_unpark;
        if !self.may_park(recorder) {
            for agent in self.due.parked() {
                self.unpark(agent);
            }
        }
    }

    /// Unparks an agent, if it is parked.
    pub(super) fn unpark(&mut self, agent: AgentIndex) {
        let population = &self.population;
        let (application, applications) = (population.agent(agent).application(), self.scenario.applications.len());
        let steady_outcome = |snapshot, was_inhibited| population.former_outcome(agent, snapshot, was_inhibited);
        let Some(unparked) = self.due.unpark(agent, application, applications, steady_outcome) else { return };
        let last = if unparked.rounds > 0 { unparked.next.last() } else { None };
        self.population.unpark(agent, unparked.rounds, last);
        if let Some(flow) = &mut self.flow {
            flow.unpark(agent, unparked.next);
        }
    }

    /// Counts the outcomes of the parked agents of a batch, for the recorder and for the managers.
    pub(super) fn count_parked(&mut self, due: BatchIndex, recorder: &mut impl Recorder) {
        let parked = &mut self.scratch.parked;
        self.due.parked_outcomes(due, self.scenario.applications.len(), parked);
        if !parked.is_empty() {
            self.statistics.parked += parked.iter().map(ParkedCounts::count).sum::<u64>();
            recorder.parked(self.queue.now(), parked);
            self.population.propose_parked(parked);
        }
    }
}
