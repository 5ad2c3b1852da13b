//! The whole state of a run between two events, to be written down and taken up again.
//!
//! What follows from the scenario alone, and memory that is only used again and again, is made anew.

use serde::{Deserialize, Deserializer, Serialize};

use super::{RunOptions, Simulation, SimulationError};
use crate::scenario::Scenario;

impl<'a> Simulation<'a> {
    /// The whole state, to be written down. [`Simulation::restore`] takes it up in the same order.
    pub(crate) fn saved(&self) -> impl Serialize + '_ {
        // Whoever adds a field decides here whether it is part of the state.
        let Simulation {
            scenario: _,
            options: _,
            judge: _,
            evaluators: _,
            draws: _,
            scratch: _,
            queue,
            due,
            colony,
            decisions,
            placement,
            paths,
            router,
            flow,
            links,
            messages,
            arriving,
            observations,
            instances,
            users,
            users_due,
            planner,
            deployments,
            deploys_begun,
            is_redeploying,
            has_begun,
            has_ended,
            agents_have_started,
            effort,
        } = self;
        let agents = (colony.saved(), decisions.saved());
        let world = ((queue, due), agents, placement, paths, router, instances, (users, users_due));
        let traffic = (flow, links, messages, arriving, observations);
        let memory = planner.as_ref().and_then(|planner| planner.memory());
        let operators = (memory, deployments, deploys_begun, is_redeploying);
        (world, traffic, operators, (has_begun, has_ended, agents_have_started, effort))
    }

    /// The run of which [`Simulation::saved`] was written down, as it was then.
    pub(crate) fn restored<'de, D: Deserializer<'de>>(
        scenario: &'a Scenario,
        options: RunOptions,
        saved: D,
    ) -> Result<Result<Simulation<'a>, D::Error>, SimulationError> {
        let mut simulation = Simulation::empty(scenario, options)?;
        Ok(simulation.restore(saved).map(|()| simulation))
    }

    fn restore<'de, D: Deserializer<'de>>(&mut self, saved: D) -> Result<(), D::Error> {
        let (world, traffic, operators, course) = Deserialize::deserialize(saved)?;
        let (colony, decisions);
        (
            (self.queue, self.due),
            (colony, decisions),
            self.placement,
            self.paths,
            self.router,
            self.instances,
            (self.users, self.users_due),
        ) = world;
        self.colony.restore(colony);
        self.decisions.restore(decisions);
        (self.flow, self.links, self.messages, self.arriving, self.observations) = traffic;
        let memory;
        (memory, self.deployments, self.deploys_begun, self.is_redeploying) = operators;
        if let (Some(planner), Some(memory)) = (&mut self.planner, memory) {
            planner.remember(memory);
        }
        (self.has_begun, self.has_ended, self.agents_have_started, self.effort) = course;
        Ok(())
    }
}
