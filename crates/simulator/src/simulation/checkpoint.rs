//! The whole state of a run between two events, stored and restored.
//!
//! Scratch memory, and what follows from the scenario alone, is not stored but rebuilt.

use mario_policy::PolicyFunctions;
use mario_scenario::{Fidelity, Scenario, UserPlan};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use super::{Event, RunOptions, Simulation, SimulationError, User};
use crate::population::AgentIndex;
use crate::validation::Limits;

impl<'a> Simulation<'a> {
    /// The whole state, to be stored. [`Simulation::restore`] reads it in the same order.
    pub(crate) fn saved(&self) -> impl Serialize + '_ {
        // A new field must be handled here: is it part of the state?
        let Simulation {
            scenario: _,
            options: _,
            judge: _,
            watch: _,
            evaluators: _,
            draws: _,
            scratch: _,
            queue,
            due,
            population,
            decision_cache,
            placement,
            sleepers,
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
            calls,
            planner,
            deployments,
            deploys_begun,
            is_redeploying,
            has_begun,
            has_ended,
            agents_have_started,
            effort,
        } = self;
        let agents = (population.saved(), decision_cache.saved());
        let world = ((queue, due), agents, (placement, sleepers), paths, router, instances, (users, users_due));
        let traffic = (flow, links, messages, arriving, (observations, calls.saved()));
        let memory = planner.as_ref().and_then(|planner| planner.memory());
        let operators = (memory, deployments, deploys_begun, is_redeploying);
        (world, traffic, operators, (has_begun, has_ended, agents_have_started, effort))
    }

    /// Restores the run from the state stored by [`Simulation::saved`].
    pub(crate) fn restored<'de, D: Deserializer<'de>>(
        scenario: &'a Scenario,
        options: RunOptions,
        saved: D,
    ) -> Result<Result<Simulation<'a>, D::Error>, SimulationError> {
        let mut simulation = Simulation::empty(scenario, options, &PolicyFunctions::default())?;
        let restored = simulation.restore(saved).and_then(|is_sound| {
            if is_sound { Ok(simulation) } else { Err(D::Error::custom("the state does not hold together")) }
        });
        Ok(restored)
    }

    /// Whether any event has happened.
    pub(crate) fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Restores the state, and returns whether it is valid for this run. An invalid one must not be used.
    fn restore<'de, D: Deserializer<'de>>(&mut self, saved: D) -> Result<bool, D::Error> {
        let (world, traffic, operators, course) = Deserialize::deserialize(saved)?;
        let (population, decision_cache);
        (
            (self.queue, self.due),
            (population, decision_cache),
            (self.placement, self.sleepers),
            self.paths,
            self.router,
            self.instances,
            (self.users, self.users_due),
        ) = world;
        let are_agents = self.population.restore(population) && self.decision_cache.restore(decision_cache);
        let pending;
        (self.flow, self.links, self.messages, self.arriving, (self.observations, pending)) = traffic;
        self.calls.restore(pending);
        let memory;
        (memory, self.deployments, self.deploys_begun, self.is_redeploying) = operators;
        if let (Some(planner), Some(memory)) = (&mut self.planner, memory) {
            planner.remember(memory);
        }
        (self.has_begun, self.has_ended, self.agents_have_started, self.effort) = course;
        Ok(are_agents && self.holds_together())
    }

    /// Whether all parts of the state are consistent with each other and with the scenario.
    fn holds_together(&mut self) -> bool {
        let scenario = self.scenario;
        let agents = self.population.agent_count();
        // Where traffic is rates, messages are not counted per instance.
        let served = if self.flow.is_none() { agents } else { 0 };
        let (cells, turns) = self.flow.as_ref().map_or((0, 0), |flow| flow.counts());
        let (pending, calls) = self.calls.counts();
        let limits = Limits {
            agents,
            pending,
            calls,
            paths: self.paths.count(),
            messages: self.messages.len(),
            cells: self.router.cell_count(),
            turns,
            batches: self.due.batch_count(),
            ..Limits::of(scenario)
        };
        let are_numbers = limits.hold_for(&self.saved())
            && self.flow.as_ref().is_none_or(|flow| Limits { cells, ..limits.clone() }.hold_for(flow));
        are_numbers
            && self.flow.is_some() == (scenario.network.fidelity == Fidelity::Flow)
            && self.queue.holds_together()
            && self.due.holds_together(scenario.applications.len())
            && self.placement.holds_together(
                &self.population,
                scenario.applications.len(),
                scenario.topology.node_count(),
            )
            && self.sleepers.is_some() == (self.flow.is_some() && scenario.has_sleep())
            && self.sleepers.as_ref().is_none_or(|sleepers| sleepers.hold_together(&self.population, scenario))
            && self.paths.resume(&scenario.topology)
            && self.router.holds_together(scenario, agents)
            && self.flow.as_ref().is_none_or(|flow| {
                flow.holds_together(scenario, agents, |agent| self.population.agent(agent).application())
            })
            && self.links.holds_together(&scenario.topology, scenario.network)
            && self.messages.holds_together(&self.paths)
            && self.instances.len() == served
            && self.calls_hold_together()
            && self.observations.holds_together(scenario.observation, served)
            && self.users_hold_together()
            && self.deploys_begun <= scenario.deploys.len()
            && self.is_redeploying.len() == scenario.applications.len()
            && self.planner.as_ref().is_none_or(|planner| planner.holds_together(scenario))
    }

    /// Whether each pending request waits for as many events as refer to it.
    fn calls_hold_together(&self) -> bool {
        let stages = |agent: AgentIndex| {
            let application = self.population.agent(agent).application();
            self.scenario.applications[application.position()].stages.len()
        };
        let answers = self.queue.events().filter_map(|event| match event {
            Event::Answer(pending) => Some(pending),
            _ => None,
        });
        let sent = self.messages.iter().map(|message| message.origin);
        let waiting = self.instances.iter().flat_map(|service| &service.waiting).map(|waiting| waiting.origin);
        self.calls.saved().holds_together(stages, answers, sent.chain(waiting))
    }

    fn users_hold_together(&self) -> bool {
        let plans = &self.scenario.users;
        let is_planned = |(user, plan): (&User, &UserPlan)| {
            user.application == plan.application && user.emitter.is_of(plan.workload)
        };
        self.users.len() == plans.len()
            && self.users.iter().zip(plans).all(is_planned)
            && self.users_due.len() == self.scenario.attachments.first_due().len()
    }
}
