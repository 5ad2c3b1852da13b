//! Agents that evaluate at the same time, as one event.

use mario_colony::AgentIndex;
use serde::{Deserialize, Serialize};

use super::Event;
use crate::queue::EventQueue;

/// Which list of agents.
pub(super) type DueIndex = u32;

/// The agents whose evaluations are scheduled: a list for each event.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Due {
    lists: Vec<Vec<AgentIndex>>,
    free: Vec<DueIndex>,
}

impl Due {
    /// Schedules the evaluation of an agent: with those of the last event, if that is for the same time and for agents too.
    pub(super) fn schedule(&mut self, agent: AgentIndex, time: f64, queue: &mut EventQueue<Event>) {
        if let Some(Event::Evaluations(last)) = queue.last_at(time) {
            self.lists[last as usize].push(agent);
        } else {
            self.schedule_all(vec![agent], time, queue);
        }
    }

    /// Schedules the evaluations of these agents as one event.
    pub(super) fn schedule_all(&mut self, agents: Vec<AgentIndex>, time: f64, queue: &mut EventQueue<Event>) {
        if agents.is_empty() {
            return;
        }
        let list = self.free.pop().unwrap_or_else(|| {
            self.lists.push(Vec::new());
            self.lists.len() as DueIndex - 1
        });
        self.lists[list as usize] = agents;
        queue.schedule(time, Event::Evaluations(list));
    }

    /// The agents of an event that has come, and of those that follow it at once.
    pub(super) fn take(&mut self, first: DueIndex, queue: &mut EventQueue<Event>) -> Vec<AgentIndex> {
        let mut agents = self.take_list(first);
        while let Some(Event::Evaluations(next)) = queue.next_now_if(|event| matches!(event, Event::Evaluations(_))) {
            agents.append(&mut self.take_list(next));
        }
        agents
    }

    fn take_list(&mut self, list: DueIndex) -> Vec<AgentIndex> {
        self.free.push(list);
        std::mem::take(&mut self.lists[list as usize])
    }
}
