//! Nodes and links that go up and down, and nodes that announce their departure.

use mario_scenario::{DisturbanceEvent, NodeIndex, UserIndex};

use super::Simulation;
use crate::population::ContextChange;
use crate::recorder::{Cause, Recorder};
use mario_colony::Availability;

impl Simulation<'_> {
    pub(super) fn disturb(&mut self, position: u32, recorder: &mut impl Recorder) {
        let now = self.queue.now();
        match self.scenario.disturbances[position as usize].event {
            DisturbanceEvent::Crash(node) => self.take_down(node, Cause::Crash, recorder),
            DisturbanceEvent::Leave(node) => self.take_down(node, Cause::Leave, recorder),
            DisturbanceEvent::Notice(node) => {
                if self.population.node(node).manager().availability() == Availability::Up {
                    self.population.r2(ContextChange::Leaving(node));
                    recorder.node_leaving(now, node);
                }
            }
            DisturbanceEvent::Join(node) => {
                if !self.paths.is_node_up(node) {
                    self.paths.set_node(&self.scenario.topology, node, true);
                    self.population.r2(ContextChange::Up(node));
                    recorder.node_up(now, node);
                    self.infrastructure_changed(&[node], recorder);
                }
            }
            DisturbanceEvent::LinkDown(one, other) => self.switch_link(one, other, false, recorder),
            DisturbanceEvent::LinkUp(one, other) => self.switch_link(one, other, true, recorder),
        }
    }

    /// Takes a node down, with all instances on it, unless it is down already. Messages that reach it while it is down
    /// are lost.
    pub(super) fn take_down(&mut self, node: NodeIndex, cause: Cause, recorder: &mut impl Recorder) {
        if !self.paths.is_node_up(node) {
            return;
        }
        self.paths.set_node(&self.scenario.topology, node, false);
        let gone = self.population.r2(ContextChange::Down(node));
        for agent in &gone {
            self.remove_instance(*agent, node, recorder);
        }
        recorder.node_down(self.queue.now(), node, cause, &gone, &self.population);
        self.infrastructure_changed(&[node], recorder);
        self.watch_over_applications();
    }

    fn switch_link(&mut self, one: NodeIndex, other: NodeIndex, is_up: bool, recorder: &mut impl Recorder) {
        if !self.paths.set_link(&self.scenario.topology, one, other, is_up) {
            return;
        }
        recorder.link(self.queue.now(), one, other, is_up);
        self.infrastructure_changed(&[one, other], recorder);
    }

    /// Updates routes, traffic and the neighbours of nodes, and reconnects users if needed. `changed` has the node that
    /// went up or down, or both ends of such a link.
    fn infrastructure_changed(&mut self, changed: &[NodeIndex], recorder: &mut impl Recorder) {
        let topology = &self.scenario.topology;
        let mut concerned: Vec<NodeIndex> = changed.to_vec();
        concerned.extend(changed.iter().flat_map(|node| topology.links_from(*node).map(|(_, link)| link.to)));
        for node in concerned {
            let neighbours: Vec<NodeIndex> = self.paths.neighbours(topology, node).collect();
            self.population.r2(ContextChange::Neighbours { node, neighbours: &neighbours });
        }
        let (router, context) = self.routing();
        router.infrastructure_changed(&context);
        self.settle_flow();
        for user in (0..self.users.len()).map(UserIndex::at) {
            let state = &self.users[user.position()];
            // A user who is not at the wanted access point may connect to a nearer one that came up.
            if state.access_point != state.wanted || state.wanted.is_some_and(|node| changed.contains(&node)) {
                self.connect(user, recorder);
            }
        }
        self.settle_calls();
    }
}
