//! Agents to whom nothing is new rest: they evaluate and are judged as all others, but nobody looks at them.

use mario_scenario::Scenario;

use super::due::{DueIndex, TOGETHER};
use super::{Reuse, Simulation};
use crate::flow::Flow;
use crate::population::{AgentIndex, Resting};
use crate::recorder::Recorder;

impl Simulation<'_> {
    /// Whether agents may rest. Not if somebody wants to hear of every one, nor where more can happen to an agent than what
    /// its own node, room in its reach, and client requests tell; and not where agents evaluate several times before they are
    /// judged once.
    pub(super) fn may_rest(&self, recorder: &impl Recorder) -> bool {
        let Scenario { disturbances, agents, management_period, .. } = self.scenario;
        let is_calm = disturbances.is_empty()
            && self.planner.is_none()
            && self.draws.is_empty()
            && *management_period <= agents.period;
        is_calm && self.flow.is_some() && self.options.reuse == Reuse::Proposals && !recorder.wants_everyone()
    }

    /// Lets an agent rest, which has just evaluated, if it will go on so until something happens.
    pub(super) fn let_rest(&mut self, agent: AgentIndex) {
        let Some(flow) = &mut self.flow else { return };
        let Some(round) = flow.round(agent) else { return };
        let colony = &self.colony;
        let application = (colony.agent(agent).application(), self.scenario.applications.len());
        if self.due.rest(agent, application, round, |sight| colony.habit(agent, sight)) {
            flow.rest(agent);
            self.colony.rest(agent);
        }
    }

    /// Wakes the agents for whom something may be new.
    pub(super) fn wake_agents(&mut self, recorder: &impl Recorder) {
        let mut woken = std::mem::take(&mut self.scratch.woken);
        self.colony.take_roused(&mut woken);
        if let Some(flow) = &mut self.flow {
            flow.take_woken(&mut woken);
        }
        for agents in woken.chunks(TOGETHER) {
            // Read a little of each first, so that memory fetches it side by side.
            let sum = agents.iter().fold(self.due.glance(agents), |sum, agent| sum ^ self.colony.glance_at(*agent));
            let moving = |flow: &Flow| agents.iter().filter(|agent| flow.is_moving(**agent)).count();
            std::hint::black_box((sum, self.flow.as_deref().map(moving)));
            for agent in agents {
                self.wake(*agent);
            }
        }
        woken.clear();
        self.scratch.woken = woken;
        if !self.may_rest(recorder) {
            for agent in self.due.resting() {
                self.wake(agent);
            }
        }
    }

    /// An agent does not rest any more, if it did.
    pub(super) fn wake(&mut self, agent: AgentIndex) {
        let colony = &self.colony;
        let application = (colony.agent(agent).application(), self.scenario.applications.len());
        let habit = |sight, was_refused| colony.former_habit(agent, sight, was_refused);
        let Some(rested) = self.due.wake(agent, application, habit) else { return };
        let last = if rested.rounds > 0 { rested.next.last() } else { None };
        self.colony.wake(agent, rested.rounds, last);
        if let Some(flow) = &mut self.flow {
            flow.wake(agent, rested.next);
        }
    }

    /// Counts the agents of a list that rest, for whoever listens and for the managers.
    pub(super) fn count_resting(&mut self, due: DueIndex, recorder: &mut impl Recorder) {
        let resting = &mut self.scratch.resting;
        self.due.habits(due, self.scenario.applications.len(), resting);
        if !resting.is_empty() {
            self.effort.rested += resting.iter().map(Resting::count).sum::<u64>();
            recorder.resting(self.queue.now(), resting);
            self.colony.propose_resting(resting);
        }
    }
}
