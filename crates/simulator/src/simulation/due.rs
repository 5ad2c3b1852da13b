//! Agents that evaluate at the same time, as one event.

use mario_colony::{AgentIndex, Colony};
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

/// So many agents look together: enough for memory to work on, and few enough to be still at hand when they are needed.
const TOGETHER: usize = 32;

/// Goes over a list of agents, some at a time, and drops those that are gone on the way: a look at each agent of a large
/// colony is not for free, and they are looked at anyway.
#[derive(Default)]
pub(super) struct Living {
    /// How many were looked at, and how many of them are kept, at the beginning of the list.
    seen: usize,
    kept: usize,
}

impl Living {
    /// The next agents that are there. At the end, nobody else is left in the list.
    pub(super) fn next<'a>(&mut self, list: &'a mut Vec<AgentIndex>, colony: &Colony) -> Option<&'a [AgentIndex]> {
        if self.seen == list.len() {
            list.truncate(self.kept);
            return None;
        }
        let (first, end) = (self.kept, list.len().min(self.seen + TOGETHER));
        for position in self.seen..end {
            let agent = list[position];
            if colony.agent(agent).is_alive() {
                list[self.kept] = agent;
                self.kept += 1;
            }
        }
        self.seen = end;
        Some(&list[first..self.kept])
    }
}
